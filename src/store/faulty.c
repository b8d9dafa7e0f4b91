#include <pthread.h>
#include <string.h>

#include "store/store.h"

typedef struct faulty_store {
    pp_store store;
    pp_store *inner;
    pp_fault_plan *plan;
    pthread_mutex_t mutex; /* of the plan */
} faulty_store;

typedef struct faulty_reader {
    pp_reader reader;
    pp_reader *inner;
    char *key;
} faulty_reader;

typedef struct faulty_writer {
    pp_writer writer;
    pp_writer *inner;
    char *key;
} faulty_writer;

typedef struct faulty_log {
    pp_log log;
    pp_log *inner;
    char *key;
    bool has_failed;
} faulty_log;

typedef struct faulty_lock {
    pp_lock lock;
    pp_lock *inner;
    char *key;
} faulty_lock;

/* What happens to one operation, decided when it begins. */
typedef struct fault {
    const char *operation;
    const char *key;
    bool fails;
    bool fails_after;
    bool is_torn;
    parapet_status status;
} fault;

static fault count_operation(pp_store *store, const char *operation, const char *key)
{
    faulty_store *self = (faulty_store *)store;
    pp_fault_plan *plan = self->plan;
    fault result = {.operation = operation, .key = key};
    long number;
    (void)pthread_mutex_lock(&self->mutex);
    number = plan->operations++;
    result.fails = plan->fail_at >= 0 && (number == plan->fail_at || (plan->fail_forever && number > plan->fail_at));
    result.fails_after = result.fails && plan->fail_after;
    result.is_torn = result.fails && plan->is_torn;
    result.status = plan->status != PARAPET_OK ? plan->status : PARAPET_ERR_IO;
    plan->failures += result.fails ? 1 : 0;
    (void)pthread_mutex_unlock(&self->mutex);
    return result;
}

static bool fails_before(const fault *injected)
{
    return injected->fails && !injected->fails_after;
}

static parapet_status inject(const fault *injected)
{
    return pp_fail(injected->status, "injected failure of %s %s", injected->operation, injected->key);
}

/* The status of an operation that was carried out: whatever came of it, the answer is lost. */
static parapet_status conclude(const fault *injected, parapet_status status)
{
    return injected->fails ? inject(injected) : status;
}

static pp_store *inner_of(pp_store *store)
{
    return ((faulty_store *)store)->inner;
}

static void faulty_close_reader(pp_reader *reader)
{
    faulty_reader *self = (faulty_reader *)reader;
    pp_reader_free(self->inner);
    pp_free(self->key);
    pp_free(self);
}

static parapet_status faulty_open(pp_store *store, const char *key, pp_reader **reader)
{
    fault injected = count_operation(store, "open", key);
    faulty_reader *self;
    parapet_status status;
    if (fails_before(&injected))
        return inject(&injected);
    if ((status = pp_allocate(&self, sizeof *self)) != PARAPET_OK)
        return status;
    if ((status = pp_text_duplicate(&self->key, key)) != PARAPET_OK ||
        (status = conclude(&injected, pp_store_open_object(inner_of(store), key, &self->inner))) != PARAPET_OK) {
        faulty_close_reader(&self->reader);
        return status;
    }
    self->reader = (pp_reader){.store = store, .bytes = self->inner->bytes, .version = self->inner->version};
    *reader = &self->reader;
    return PARAPET_OK;
}

static void faulty_expect(pp_reader *reader, uint64_t offset, size_t bytes)
{
    pp_reader_expect(((faulty_reader *)reader)->inner, offset, bytes);
}

static parapet_status faulty_read(pp_reader *reader, uint64_t offset, size_t bytes, void *target)
{
    faulty_reader *self = (faulty_reader *)reader;
    fault injected = count_operation(reader->store, "read", self->key);
    if (fails_before(&injected))
        return inject(&injected);
    return conclude(&injected, pp_reader_read(self->inner, offset, bytes, target));
}

static void faulty_free_writer(pp_writer *writer)
{
    faulty_writer *self = (faulty_writer *)writer;
    pp_writer_free(self->inner);
    pp_free(self->key);
    pp_free(self);
}

static parapet_status faulty_begin(pp_store *store, const pp_write_request *request, pp_writer **writer)
{
    fault injected = count_operation(store, "begin", request->key);
    faulty_writer *self;
    parapet_status status;
    if (fails_before(&injected))
        return inject(&injected);
    if ((status = pp_allocate(&self, sizeof *self)) != PARAPET_OK)
        return status;
    self->writer.store = store;
    if ((status = pp_text_duplicate(&self->key, request->key)) != PARAPET_OK ||
        (status = conclude(&injected, pp_store_begin(inner_of(store), request, &self->inner))) != PARAPET_OK) {
        faulty_free_writer(&self->writer);
        return status;
    }
    *writer = &self->writer;
    return PARAPET_OK;
}

static void faulty_suspend(pp_writer *writer)
{
    faulty_writer *self = (faulty_writer *)writer;
    pp_writer_suspend(self->inner);
    pp_free(self->key);
    pp_free(self);
}

/* A failure after it took effect leaves the temporary object: it was there before. */
static parapet_status faulty_resume(pp_store *store, const pp_write_request *request, uint64_t bytes,
                                    pp_writer **writer)
{
    fault injected = count_operation(store, "resume", request->key);
    faulty_writer *self;
    parapet_status status;
    if (fails_before(&injected))
        return inject(&injected);
    if ((status = pp_allocate(&self, sizeof *self)) != PARAPET_OK)
        return status;
    self->writer.store = store;
    if ((status = pp_text_duplicate(&self->key, request->key)) != PARAPET_OK ||
        (status = conclude(&injected, pp_store_resume(inner_of(store), request, bytes, &self->inner))) !=
            PARAPET_OK) {
        faulty_suspend(&self->writer);
        return status;
    }
    *writer = &self->writer;
    return PARAPET_OK;
}

static parapet_status faulty_sync(pp_writer *writer)
{
    faulty_writer *self = (faulty_writer *)writer;
    fault injected = count_operation(writer->store, "sync", self->key);
    if (fails_before(&injected))
        return inject(&injected);
    return conclude(&injected, pp_writer_sync(self->inner));
}

static parapet_status faulty_append(pp_writer *writer, const void *data, size_t bytes)
{
    faulty_writer *self = (faulty_writer *)writer;
    fault injected = count_operation(writer->store, "append", self->key);
    parapet_status status;
    if (injected.is_torn) {
        status = pp_writer_append(self->inner, data, bytes / 2);
        return conclude(&injected, status);
    }
    if (fails_before(&injected))
        return inject(&injected);
    return conclude(&injected, pp_writer_append(self->inner, data, bytes));
}

static parapet_status faulty_stage(pp_writer *writer)
{
    faulty_writer *self = (faulty_writer *)writer;
    fault injected = count_operation(writer->store, "stage", self->key);
    if (fails_before(&injected))
        return inject(&injected);
    return conclude(&injected, pp_writer_stage(self->inner));
}

static parapet_status faulty_publish(pp_writer *writer, pp_publish_mode mode)
{
    faulty_writer *self = (faulty_writer *)writer;
    fault injected = count_operation(writer->store, "publish", self->key);
    parapet_status status;
    if (fails_before(&injected))
        return inject(&injected);
    status = pp_writer_publish(self->inner, mode);
    writer->version = self->inner->version;
    return conclude(&injected, status);
}

static void faulty_close_log(pp_log *log)
{
    faulty_log *self = (faulty_log *)log;
    pp_log_close(self->inner);
    pp_free(self->key);
    pp_free(self);
}

static parapet_status faulty_open_log(pp_store *store, const char *key, uint64_t keep_bytes, pp_log **log)
{
    fault injected = count_operation(store, "open_log", key);
    faulty_log *self;
    parapet_status status;
    if (fails_before(&injected))
        return inject(&injected);
    if ((status = pp_allocate(&self, sizeof *self)) != PARAPET_OK)
        return status;
    self->log.store = store;
    if ((status = pp_text_duplicate(&self->key, key)) != PARAPET_OK ||
        (status = conclude(&injected, pp_store_open_log(inner_of(store), key, keep_bytes, &self->inner))) !=
            PARAPET_OK) {
        faulty_close_log(&self->log);
        return status;
    }
    *log = &self->log;
    return PARAPET_OK;
}

static parapet_status append_to_inner(faulty_log *self, const void *data, size_t bytes)
{
    fault injected = count_operation(self->log.store, "append_log", self->key);
    if (injected.is_torn)
        return conclude(&injected, pp_log_append(self->inner, data, bytes / 2));
    if (fails_before(&injected))
        return inject(&injected);
    return conclude(&injected, pp_log_append(self->inner, data, bytes));
}

/* Who goes on with a log that failed is wrong, even where the store below would let him. */
static parapet_status faulty_append_log(pp_log *log, const void *data, size_t bytes)
{
    faulty_log *self = (faulty_log *)log;
    parapet_status status;
    if (self->has_failed)
        return pp_fail(PARAPET_ERR_INTERNAL, "the log %s failed before and was not opened again", self->key);
    status = append_to_inner(self, data, bytes);
    self->has_failed = status != PARAPET_OK;
    return status;
}

static void faulty_close_lock(pp_lock *lock)
{
    faulty_lock *self = (faulty_lock *)lock;
    pp_lock_close(self->inner);
    pp_free(self->key);
    pp_free(self);
}

static parapet_status faulty_open_lock(pp_store *store, const char *key, pp_lock **lock)
{
    fault injected = count_operation(store, "open_lock", key);
    faulty_lock *self;
    parapet_status status;
    if (fails_before(&injected))
        return inject(&injected);
    if ((status = pp_allocate(&self, sizeof *self)) != PARAPET_OK)
        return status;
    self->lock.store = store;
    if ((status = pp_text_duplicate(&self->key, key)) != PARAPET_OK ||
        (status = conclude(&injected, pp_store_open_lock(inner_of(store), key, &self->inner))) != PARAPET_OK) {
        faulty_close_lock(&self->lock);
        return status;
    }
    *lock = &self->lock;
    return PARAPET_OK;
}

/* Letting go never fails: storage frees what it cannot be asked to free. */
static parapet_status faulty_set_lock(pp_lock *lock, pp_lock_byte byte, pp_lock_mode mode)
{
    faulty_lock *self = (faulty_lock *)lock;
    fault injected;
    if (mode == PP_LOCK_FREE)
        return pp_lock_set(self->inner, byte, mode);
    injected = count_operation(lock->store, "set_lock", self->key);
    if (fails_before(&injected))
        return inject(&injected);
    return conclude(&injected, pp_lock_set(self->inner, byte, mode));
}

static parapet_status faulty_test_lock(pp_lock *lock, pp_lock_byte byte, bool *is_held)
{
    faulty_lock *self = (faulty_lock *)lock;
    fault injected = count_operation(lock->store, "test_lock", self->key);
    if (fails_before(&injected))
        return inject(&injected);
    return conclude(&injected, pp_lock_test(self->inner, byte, is_held));
}

static parapet_status faulty_prove_lock(pp_lock *lock)
{
    faulty_lock *self = (faulty_lock *)lock;
    fault injected = count_operation(lock->store, "prove_lock", self->key);
    if (fails_before(&injected))
        return inject(&injected);
    return conclude(&injected, pp_lock_prove(self->inner));
}

static parapet_status faulty_write_lock(pp_lock *lock, const char *text)
{
    faulty_lock *self = (faulty_lock *)lock;
    fault injected;
    if (text[0] == '\0')
        return pp_lock_write(self->inner, text);
    injected = count_operation(lock->store, "write_lock", self->key);
    if (fails_before(&injected))
        return inject(&injected);
    return conclude(&injected, pp_lock_write(self->inner, text));
}

static parapet_status faulty_view_lock(pp_store *store, const char *key, pp_lock_view *view)
{
    fault injected = count_operation(store, "view_lock", key);
    if (fails_before(&injected))
        return inject(&injected);
    return conclude(&injected, pp_store_view_lock(inner_of(store), key, view));
}

static parapet_status faulty_settle(pp_store *store)
{
    fault injected = count_operation(store, "settle", "the store");
    if (fails_before(&injected))
        return inject(&injected);
    return conclude(&injected, pp_store_settle(inner_of(store)));
}

static parapet_status faulty_move(pp_store *store, const char *key, const char *new_key)
{
    fault injected = count_operation(store, "move", key);
    if (fails_before(&injected))
        return inject(&injected);
    return conclude(&injected, pp_store_move(inner_of(store), key, new_key));
}

static parapet_status faulty_remove(pp_store *store, const char *key)
{
    fault injected = count_operation(store, "remove", key);
    if (fails_before(&injected))
        return inject(&injected);
    return conclude(&injected, pp_store_remove(inner_of(store), key));
}

static parapet_status faulty_remove_prefix(pp_store *store, const char *prefix)
{
    fault injected = count_operation(store, "remove_prefix", prefix);
    if (fails_before(&injected))
        return inject(&injected);
    return conclude(&injected, pp_store_remove_prefix(inner_of(store), prefix));
}

static parapet_status faulty_remove_empty(pp_store *store, const char *prefix)
{
    fault injected = count_operation(store, "remove_empty", prefix);
    if (fails_before(&injected))
        return inject(&injected);
    return conclude(&injected, pp_store_remove_empty(inner_of(store), prefix));
}

static parapet_status faulty_list(pp_store *store, const char *prefix, pp_list_visitor visit, void *context)
{
    fault injected = count_operation(store, "list", prefix);
    if (fails_before(&injected))
        return inject(&injected);
    return conclude(&injected, pp_store_list(inner_of(store), prefix, visit, context));
}

static void faulty_free(pp_store *store)
{
    faulty_store *self = (faulty_store *)store;
    (void)pthread_mutex_destroy(&self->mutex);
    pp_free(self);
}

static const pp_store_ops faulty_ops = {
    .name = "faulty",
    .open = faulty_open,
    .read = faulty_read,
    .expect = faulty_expect,
    .close_reader = faulty_close_reader,
    .begin = faulty_begin,
    .resume = faulty_resume,
    .append = faulty_append,
    .sync = faulty_sync,
    .suspend = faulty_suspend,
    .stage = faulty_stage,
    .publish = faulty_publish,
    .free_writer = faulty_free_writer,
    .open_log = faulty_open_log,
    .append_log = faulty_append_log,
    .close_log = faulty_close_log,
    .open_lock = faulty_open_lock,
    .set_lock = faulty_set_lock,
    .test_lock = faulty_test_lock,
    .prove_lock = faulty_prove_lock,
    .write_lock = faulty_write_lock,
    .view_lock = faulty_view_lock,
    .close_lock = faulty_close_lock,
    .settle = faulty_settle,
    .move = faulty_move,
    .remove = faulty_remove,
    .remove_prefix = faulty_remove_prefix,
    .remove_empty = faulty_remove_empty,
    .list = faulty_list,
    .free = faulty_free,
};

parapet_status pp_store_faulty_build(pp_store **store, pp_store *inner, pp_fault_plan *plan)
{
    faulty_store *self;
    parapet_status status = pp_allocate(&self, sizeof *self);
    *store = NULL;
    if (status != PARAPET_OK)
        return status;
    self->store.ops = &faulty_ops;
    memcpy(self->store.place, inner->place, sizeof self->store.place);
    self->inner = inner;
    self->plan = plan;
    (void)pthread_mutex_init(&self->mutex, NULL);
    *store = &self->store;
    return PARAPET_OK;
}
