#include "stores/wrapper.h"

#include <string.h>

#include "base/status.h"

typedef struct wrapped_reader {
    pp_reader reader;
    pp_reader *inner;
    char *key;
} wrapped_reader;

typedef struct wrapped_writer {
    pp_writer writer;
    pp_writer *inner;
    char *key;
} wrapped_writer;

typedef struct wrapped_log {
    pp_log log;
    pp_log *inner;
    char *key;
    bool has_failed;
} wrapped_log;

typedef struct wrapped_lock {
    pp_lock lock;
    pp_lock *inner;
    char *key;
} wrapped_lock;

static pp_store *inner_of(pp_store *store)
{
    return ((pp_wrapper *)store)->inner;
}

static parapet_status begin(pp_store *store, pp_operation *operation)
{
    pp_wrapper *wrapper = (pp_wrapper *)store;
    return wrapper->hooks->begin(wrapper, operation);
}

static parapet_status end(pp_store *store, const pp_operation *operation, parapet_status status)
{
    pp_wrapper *wrapper = (pp_wrapper *)store;
    return wrapper->hooks->end(wrapper, operation, status);
}

static void wrapper_close_reader(pp_reader *reader)
{
    wrapped_reader *self = (wrapped_reader *)reader;
    pp_reader_free(self->inner);
    pp_free(self->key);
    pp_free(self);
}

static parapet_status wrapper_open(pp_store *store, const char *key, pp_reader **reader)
{
    pp_operation operation = {.name = "open", .key = key};
    wrapped_reader *self;
    parapet_status status;
    if ((status = begin(store, &operation)) != PARAPET_OK ||
        (status = pp_allocate(&self, sizeof *self)) != PARAPET_OK)
        return status;
    if ((status = pp_text_duplicate(&self->key, key)) != PARAPET_OK ||
        (status = end(store, &operation, pp_store_open_object(inner_of(store), key, &self->inner))) != PARAPET_OK) {
        wrapper_close_reader(&self->reader);
        return status;
    }
    self->reader = (pp_reader){.store = store, .bytes = self->inner->bytes, .version = self->inner->version};
    *reader = &self->reader;
    return PARAPET_OK;
}

static void wrapper_expect(pp_reader *reader, uint64_t offset, size_t bytes)
{
    pp_reader_expect(((wrapped_reader *)reader)->inner, offset, bytes);
}

static parapet_status wrapper_read(pp_reader *reader, uint64_t offset, size_t bytes, void *target)
{
    wrapped_reader *self = (wrapped_reader *)reader;
    pp_operation operation = {.name = "read", .key = self->key, .bytes = bytes};
    parapet_status status = begin(reader->store, &operation);
    if (status != PARAPET_OK)
        return status;
    return end(reader->store, &operation, pp_reader_read(self->inner, offset, bytes, target));
}

static void wrapper_free_writer(pp_writer *writer)
{
    wrapped_writer *self = (wrapped_writer *)writer;
    pp_writer_free(self->inner);
    pp_free(self->key);
    pp_free(self);
}

static parapet_status wrapper_begin(pp_store *store, const pp_write_request *request, pp_writer **writer)
{
    pp_operation operation = {.name = "begin", .key = request->key};
    wrapped_writer *self;
    parapet_status status;
    if ((status = begin(store, &operation)) != PARAPET_OK ||
        (status = pp_allocate(&self, sizeof *self)) != PARAPET_OK)
        return status;
    self->writer.store = store;
    if ((status = pp_text_duplicate(&self->key, request->key)) != PARAPET_OK ||
        (status = end(store, &operation, pp_store_begin(inner_of(store), request, &self->inner))) != PARAPET_OK) {
        wrapper_free_writer(&self->writer);
        return status;
    }
    *writer = &self->writer;
    return PARAPET_OK;
}

static void wrapper_suspend(pp_writer *writer)
{
    wrapped_writer *self = (wrapped_writer *)writer;
    pp_writer_suspend(self->inner);
    pp_free(self->key);
    pp_free(self);
}

/* A failure after it took effect leaves the temporary object: it was there before. */
static parapet_status wrapper_resume(pp_store *store, const pp_write_request *request, uint64_t bytes,
                                     pp_writer **writer)
{
    pp_operation operation = {.name = "resume", .key = request->key};
    wrapped_writer *self;
    parapet_status status;
    if ((status = begin(store, &operation)) != PARAPET_OK ||
        (status = pp_allocate(&self, sizeof *self)) != PARAPET_OK)
        return status;
    self->writer.store = store;
    if ((status = pp_text_duplicate(&self->key, request->key)) != PARAPET_OK ||
        (status = end(store, &operation, pp_store_resume(inner_of(store), request, bytes, &self->inner))) !=
            PARAPET_OK) {
        wrapper_suspend(&self->writer);
        return status;
    }
    *writer = &self->writer;
    return PARAPET_OK;
}

static parapet_status wrapper_append(pp_writer *writer, const void *data, size_t bytes)
{
    wrapped_writer *self = (wrapped_writer *)writer;
    pp_operation operation = {.name = "append", .key = self->key, .bytes = bytes};
    parapet_status status = begin(writer->store, &operation);
    if (status != PARAPET_OK)
        return status;
    return end(writer->store, &operation, pp_writer_append(self->inner, data, operation.bytes));
}

static parapet_status wrapper_sync(pp_writer *writer)
{
    wrapped_writer *self = (wrapped_writer *)writer;
    pp_operation operation = {.name = "sync", .key = self->key};
    parapet_status status = begin(writer->store, &operation);
    return status != PARAPET_OK ? status : end(writer->store, &operation, pp_writer_sync(self->inner));
}

static parapet_status wrapper_stage(pp_writer *writer)
{
    wrapped_writer *self = (wrapped_writer *)writer;
    pp_operation operation = {.name = "stage", .key = self->key};
    parapet_status status = begin(writer->store, &operation);
    return status != PARAPET_OK ? status : end(writer->store, &operation, pp_writer_stage(self->inner));
}

static parapet_status wrapper_publish(pp_writer *writer, pp_publish_mode mode)
{
    wrapped_writer *self = (wrapped_writer *)writer;
    pp_operation operation = {.name = "publish", .key = self->key};
    parapet_status status = begin(writer->store, &operation);
    if (status != PARAPET_OK)
        return status;
    status = pp_writer_publish(self->inner, mode);
    writer->version = self->inner->version;
    return end(writer->store, &operation, status);
}

static void wrapper_close_log(pp_log *log)
{
    wrapped_log *self = (wrapped_log *)log;
    pp_log_close(self->inner);
    pp_free(self->key);
    pp_free(self);
}

static parapet_status wrapper_open_log(pp_store *store, const char *key, uint64_t keep_bytes, pp_log **log)
{
    pp_operation operation = {.name = "open_log", .key = key};
    wrapped_log *self;
    parapet_status status;
    if ((status = begin(store, &operation)) != PARAPET_OK ||
        (status = pp_allocate(&self, sizeof *self)) != PARAPET_OK)
        return status;
    self->log.store = store;
    if ((status = pp_text_duplicate(&self->key, key)) != PARAPET_OK ||
        (status = end(store, &operation, pp_store_open_log(inner_of(store), key, keep_bytes, &self->inner))) !=
            PARAPET_OK) {
        wrapper_close_log(&self->log);
        return status;
    }
    *log = &self->log;
    return PARAPET_OK;
}

static parapet_status append_to_inner(wrapped_log *self, const void *data, size_t bytes)
{
    pp_operation operation = {.name = "append_log", .key = self->key, .bytes = bytes};
    parapet_status status = begin(self->log.store, &operation);
    if (status != PARAPET_OK)
        return status;
    return end(self->log.store, &operation, pp_log_append(self->inner, data, operation.bytes));
}

/* Who goes on with a log that failed is wrong, even where the store below would let him. */
static parapet_status wrapper_append_log(pp_log *log, const void *data, size_t bytes)
{
    wrapped_log *self = (wrapped_log *)log;
    parapet_status status;
    if (self->has_failed)
        return pp_fail(PARAPET_ERR_INTERNAL, "the log %s failed before and was not opened again", self->key);
    status = append_to_inner(self, data, bytes);
    self->has_failed = status != PARAPET_OK;
    return status;
}

static void wrapper_close_lock(pp_lock *lock)
{
    wrapped_lock *self = (wrapped_lock *)lock;
    pp_lock_close(self->inner);
    pp_free(self->key);
    pp_free(self);
}

static parapet_status wrapper_open_lock(pp_store *store, const char *key, pp_lock **lock)
{
    pp_operation operation = {.name = "open_lock", .key = key};
    wrapped_lock *self;
    parapet_status status;
    if ((status = begin(store, &operation)) != PARAPET_OK ||
        (status = pp_allocate(&self, sizeof *self)) != PARAPET_OK)
        return status;
    self->lock.store = store;
    if ((status = pp_text_duplicate(&self->key, key)) != PARAPET_OK ||
        (status = end(store, &operation, pp_store_open_lock(inner_of(store), key, &self->inner))) != PARAPET_OK) {
        wrapper_close_lock(&self->lock);
        return status;
    }
    *lock = &self->lock;
    return PARAPET_OK;
}

/* Letting go never fails: storage frees what it cannot be asked to free. */
static parapet_status wrapper_set_lock(pp_lock *lock, pp_lock_byte byte, pp_lock_mode mode)
{
    wrapped_lock *self = (wrapped_lock *)lock;
    pp_operation operation = {.name = "set_lock", .key = self->key};
    parapet_status status = mode == PP_LOCK_FREE ? PARAPET_OK : begin(lock->store, &operation);
    if (status != PARAPET_OK)
        return status;
    status = pp_lock_set(self->inner, byte, mode);
    return mode == PP_LOCK_FREE ? status : end(lock->store, &operation, status);
}

static parapet_status wrapper_test_lock(pp_lock *lock, pp_lock_byte byte, bool *is_held)
{
    wrapped_lock *self = (wrapped_lock *)lock;
    pp_operation operation = {.name = "test_lock", .key = self->key};
    parapet_status status = begin(lock->store, &operation);
    return status != PARAPET_OK ? status : end(lock->store, &operation, pp_lock_test(self->inner, byte, is_held));
}

static parapet_status wrapper_prove_lock(pp_lock *lock)
{
    wrapped_lock *self = (wrapped_lock *)lock;
    pp_operation operation = {.name = "prove_lock", .key = self->key};
    parapet_status status = begin(lock->store, &operation);
    return status != PARAPET_OK ? status : end(lock->store, &operation, pp_lock_prove(self->inner));
}

static parapet_status wrapper_write_lock(pp_lock *lock, const char *text)
{
    wrapped_lock *self = (wrapped_lock *)lock;
    pp_operation operation = {.name = "write_lock", .key = self->key};
    parapet_status status = text[0] == '\0' ? PARAPET_OK : begin(lock->store, &operation);
    if (status != PARAPET_OK)
        return status;
    status = pp_lock_write(self->inner, text);
    return text[0] == '\0' ? status : end(lock->store, &operation, status);
}

static parapet_status wrapper_view_lock(pp_store *store, const char *key, pp_lock_view *view)
{
    pp_operation operation = {.name = "view_lock", .key = key};
    parapet_status status = begin(store, &operation);
    return status != PARAPET_OK ? status : end(store, &operation, pp_store_view_lock(inner_of(store), key, view));
}

static parapet_status wrapper_sync_dirs(pp_store *store)
{
    pp_operation operation = {.name = "sync_dirs", .key = "the store"};
    parapet_status status = begin(store, &operation);
    return status != PARAPET_OK ? status : end(store, &operation, pp_store_sync_dirs(inner_of(store)));
}

static void wrapper_list_unsynced_dirs(pp_store *store, pp_text *prefixes)
{
    pp_store_list_unsynced_dirs(inner_of(store), prefixes);
}

static parapet_status wrapper_take_unsynced_dirs(pp_store *store, const char *prefix)
{
    return pp_store_take_unsynced_dirs(inner_of(store), prefix);
}

static parapet_status wrapper_sync_taken_dirs(pp_store *store)
{
    pp_operation operation = {.name = "sync_dirs", .key = "the store"};
    parapet_status status = begin(store, &operation);
    return status != PARAPET_OK ? status : end(store, &operation, pp_store_sync_taken_dirs(inner_of(store)));
}

static void wrapper_forget_unsynced_dirs(pp_store *store)
{
    pp_store_forget_unsynced_dirs(inner_of(store));
}

static bool wrapper_has_failed_sync(pp_store *store)
{
    return pp_store_has_failed_sync(inner_of(store));
}

static void wrapper_fail_unsynced_dirs(pp_store *store, parapet_status status)
{
    pp_store_fail_unsynced_dirs(inner_of(store), status);
}

static parapet_status wrapper_move(pp_store *store, const char *key, const char *new_key)
{
    pp_operation operation = {.name = "move", .key = key};
    parapet_status status = begin(store, &operation);
    return status != PARAPET_OK ? status : end(store, &operation, pp_store_move(inner_of(store), key, new_key));
}

static parapet_status wrapper_remove(pp_store *store, const char *key)
{
    pp_operation operation = {.name = "remove", .key = key};
    parapet_status status = begin(store, &operation);
    return status != PARAPET_OK ? status : end(store, &operation, pp_store_remove(inner_of(store), key));
}

static parapet_status wrapper_remove_prefix(pp_store *store, const char *prefix)
{
    pp_operation operation = {.name = "remove_prefix", .key = prefix};
    parapet_status status = begin(store, &operation);
    return status != PARAPET_OK ? status : end(store, &operation, pp_store_remove_prefix(inner_of(store), prefix));
}

static parapet_status wrapper_remove_empty(pp_store *store, const char *prefix)
{
    pp_operation operation = {.name = "remove_empty", .key = prefix};
    parapet_status status = begin(store, &operation);
    return status != PARAPET_OK ? status : end(store, &operation, pp_store_remove_empty(inner_of(store), prefix));
}

static parapet_status wrapper_list(pp_store *store, const char *prefix, pp_list_visitor visit, void *context)
{
    pp_operation operation = {.name = "list", .key = prefix};
    parapet_status status = begin(store, &operation);
    if (status != PARAPET_OK)
        return status;
    return end(store, &operation, pp_store_list(inner_of(store), prefix, visit, context));
}

static void wrapper_free(pp_store *store)
{
    pp_wrapper *wrapper = (pp_wrapper *)store;
    wrapper->hooks->free(wrapper);
}

static const pp_store_ops wrapper_ops = {
    .open = wrapper_open,
    .read = wrapper_read,
    .expect = wrapper_expect,
    .close_reader = wrapper_close_reader,
    .begin = wrapper_begin,
    .resume = wrapper_resume,
    .append = wrapper_append,
    .sync = wrapper_sync,
    .suspend = wrapper_suspend,
    .stage = wrapper_stage,
    .publish = wrapper_publish,
    .free_writer = wrapper_free_writer,
    .open_log = wrapper_open_log,
    .append_log = wrapper_append_log,
    .close_log = wrapper_close_log,
    .open_lock = wrapper_open_lock,
    .set_lock = wrapper_set_lock,
    .test_lock = wrapper_test_lock,
    .prove_lock = wrapper_prove_lock,
    .write_lock = wrapper_write_lock,
    .view_lock = wrapper_view_lock,
    .close_lock = wrapper_close_lock,
    .sync_dirs = wrapper_sync_dirs,
    .list_unsynced_dirs = wrapper_list_unsynced_dirs,
    .take_unsynced_dirs = wrapper_take_unsynced_dirs,
    .sync_taken_dirs = wrapper_sync_taken_dirs,
    .forget_unsynced_dirs = wrapper_forget_unsynced_dirs,
    .has_failed_sync = wrapper_has_failed_sync,
    .fail_unsynced_dirs = wrapper_fail_unsynced_dirs,
    .move = wrapper_move,
    .remove = wrapper_remove,
    .remove_prefix = wrapper_remove_prefix,
    .remove_empty = wrapper_remove_empty,
    .list = wrapper_list,
    .free = wrapper_free,
};

void pp_wrapper_init(pp_wrapper *wrapper, pp_store *inner, const pp_wrapper_hooks *hooks)
{
    *wrapper = (pp_wrapper){.ops = wrapper_ops, .inner = inner, .hooks = hooks};
    wrapper->ops.name = hooks->name;
    wrapper->store.ops = &wrapper->ops;
    wrapper->store.is_dealt_out = inner->is_dealt_out;
    memcpy(wrapper->store.place, inner->place, sizeof wrapper->store.place);
}
