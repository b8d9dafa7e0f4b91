#include "store/store.h"

#include <inttypes.h>
#include <string.h>

#include "base/status.h"
#include "store/meter.h"

static parapet_status check_component(const char *key, const char *start, size_t bytes)
{
    if (bytes == 0)
        return pp_fail(PARAPET_ERR_ARGUMENT, "key \"%s\" has an empty component", key);
    if ((bytes == 1 && start[0] == '.') || (bytes == 2 && start[0] == '.' && start[1] == '.'))
        return pp_fail(PARAPET_ERR_ARGUMENT, "key \"%s\" has the component \"%.*s\"", key, (int)bytes, start);
    return PARAPET_OK;
}

static parapet_status check_characters(const char *key)
{
    size_t i;
    for (i = 0; i < PP_MAX_KEY_BYTES && key[i] != '\0'; i++)
        if ((unsigned char)key[i] < 0x20 || key[i] == 0x7f)
            return pp_fail(PARAPET_ERR_ARGUMENT, "a key has a control character (%d) at byte %zu", key[i], i);
    if (i == PP_MAX_KEY_BYTES)
        return pp_fail(PARAPET_ERR_ARGUMENT, "key \"%.64s...\" has %d bytes or more", key, PP_MAX_KEY_BYTES);
    return PARAPET_OK;
}

parapet_status pp_key_check(const char *key)
{
    parapet_status status;
    const char *start;
    if (key == NULL || key[0] == '\0')
        return pp_fail(PARAPET_ERR_ARGUMENT, "a key is empty");
    if ((status = check_characters(key)) != PARAPET_OK)
        return status;
    for (start = key;; start++) {
        size_t bytes = strcspn(start, "/");
        if ((status = check_component(key, start, bytes)) != PARAPET_OK)
            return status;
        start += bytes;
        if (*start == '\0')
            return PARAPET_OK;
    }
}

/* A prefix is a key, or "" for the root. */
static parapet_status check_prefix(const char *prefix)
{
    return prefix != NULL && prefix[0] == '\0' ? PARAPET_OK : pp_key_check(prefix);
}

bool pp_store_is_same(const pp_store *one, const pp_store *other)
{
    return one == other || (one->place[0] == other->place[0] && one->place[1] == other->place[1]);
}

parapet_status pp_store_open_object(pp_store *store, const char *key, pp_reader **reader)
{
    parapet_status status = pp_key_check(key);
    *reader = NULL;
    if (status != PARAPET_OK)
        return status;
    pp_meter_begin(store->meter);
    return pp_meter_end(store->meter, store->ops->open(store, key, reader));
}

parapet_status pp_reader_read(pp_reader *reader, uint64_t offset, size_t bytes, void *target)
{
    if (offset > reader->bytes || bytes > reader->bytes - offset)
        return pp_fail(PARAPET_ERR_INTERNAL, "%zu bytes at %" PRIu64 " are outside an object of %" PRIu64 " bytes",
                       bytes, offset, reader->bytes);
    pp_meter_begin(reader->store->meter);
    return pp_meter_end(reader->store->meter, reader->store->ops->read(reader, offset, bytes, target));
}

void pp_reader_expect(pp_reader *reader, uint64_t offset, size_t bytes)
{
    if (reader->store->ops->expect != NULL)
        reader->store->ops->expect(reader, offset, bytes);
}

void pp_reader_free(pp_reader *reader)
{
    if (reader != NULL)
        reader->store->ops->close_reader(reader);
}

/* The name of a temporary object is one component of a key, and with its prefix not too long for one. */
static parapet_status check_name(const pp_write_request *request)
{
    parapet_status status = pp_key_check(request->name);
    if (status != PARAPET_OK)
        return status;
    if (strchr(request->name, '/') != NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "the temporary name \"%s\" has more than one component", request->name);
    if (strlen(request->staging) + 1 + strlen(request->name) >= PP_MAX_KEY_BYTES)
        return pp_fail(PARAPET_ERR_ARGUMENT, "the temporary name \"%.64s...\" is too long", request->name);
    return PARAPET_OK;
}

static parapet_status check_request(const pp_write_request *request)
{
    parapet_status status;
    if ((status = pp_key_check(request->key)) != PARAPET_OK ||
        (status = check_prefix(request->staging)) != PARAPET_OK)
        return status;
    return request->name != NULL ? check_name(request) : PARAPET_OK;
}

parapet_status pp_store_begin(pp_store *store, const pp_write_request *request, pp_writer **writer)
{
    parapet_status status = check_request(request);
    *writer = NULL;
    if (status != PARAPET_OK)
        return status;
    pp_meter_begin(store->meter);
    return pp_meter_end(store->meter, store->ops->begin(store, request, writer));
}

parapet_status pp_store_resume(pp_store *store, const pp_write_request *request, uint64_t bytes, pp_writer **writer)
{
    parapet_status status = check_request(request);
    *writer = NULL;
    if (status != PARAPET_OK)
        return status;
    if (request->name == NULL)
        return pp_fail(PARAPET_ERR_INTERNAL, "%s cannot be resumed: its temporary object has no name", request->key);
    pp_meter_begin(store->meter);
    status = pp_meter_end(store->meter, store->ops->resume(store, request, bytes, writer));
    if (status == PARAPET_OK)
        (*writer)->bytes = bytes;
    return status;
}

parapet_status pp_writer_append(pp_writer *writer, const void *data, size_t bytes)
{
    parapet_status status;
    pp_meter_begin(writer->store->meter);
    status = pp_meter_end(writer->store->meter, writer->store->ops->append(writer, data, bytes));
    if (status == PARAPET_OK)
        writer->bytes += bytes;
    return status;
}

parapet_status pp_writer_sync(pp_writer *writer)
{
    pp_meter_begin(writer->store->meter);
    return pp_meter_end(writer->store->meter, writer->store->ops->sync(writer));
}

void pp_writer_suspend(pp_writer *writer)
{
    if (writer != NULL)
        writer->store->ops->suspend(writer);
}

parapet_status pp_writer_stage(pp_writer *writer)
{
    pp_meter_begin(writer->store->meter);
    return pp_meter_end(writer->store->meter, writer->store->ops->stage(writer));
}

parapet_status pp_writer_publish(pp_writer *writer, pp_publish_mode mode)
{
    pp_meter_begin(writer->store->meter);
    return pp_meter_end(writer->store->meter, writer->store->ops->publish(writer, mode));
}

void pp_writer_free(pp_writer *writer)
{
    if (writer != NULL)
        writer->store->ops->free_writer(writer);
}

parapet_status pp_store_open_log(pp_store *store, const char *key, uint64_t keep_bytes, pp_log **log)
{
    parapet_status status = pp_key_check(key);
    *log = NULL;
    if (status != PARAPET_OK)
        return status;
    pp_meter_begin(store->meter);
    status = pp_meter_end(store->meter, store->ops->open_log(store, key, keep_bytes, log));
    if (status == PARAPET_OK)
        (*log)->bytes = keep_bytes;
    return status;
}

parapet_status pp_log_append(pp_log *log, const void *data, size_t bytes)
{
    parapet_status status;
    pp_meter_begin(log->store->meter);
    status = pp_meter_end(log->store->meter, log->store->ops->append_log(log, data, bytes));
    if (status == PARAPET_OK)
        log->bytes += bytes;
    return status;
}

void pp_log_close(pp_log *log)
{
    if (log != NULL)
        log->store->ops->close_log(log);
}

static pp_store *owner_of_locks(pp_store *store)
{
    while (store->locks_of != NULL)
        store = store->locks_of;
    return store;
}

parapet_status pp_store_open_lock(pp_store *store, const char *key, pp_lock **lock)
{
    parapet_status status = pp_key_check(key);
    *lock = NULL;
    store = owner_of_locks(store);
    return status != PARAPET_OK ? status : store->ops->open_lock(store, key, lock);
}

parapet_status pp_lock_set(pp_lock *lock, pp_lock_byte byte, pp_lock_mode mode)
{
    return lock->store->ops->set_lock(lock, byte, mode);
}

parapet_status pp_lock_test(pp_lock *lock, pp_lock_byte byte, bool *is_held)
{
    return lock->store->ops->test_lock(lock, byte, is_held);
}

parapet_status pp_lock_prove(pp_lock *lock)
{
    return lock->store->ops->prove_lock(lock);
}

parapet_status pp_lock_write(pp_lock *lock, const char *text)
{
    if (strlen(text) > PP_LOCK_TEXT_BYTES)
        return pp_fail(PARAPET_ERR_INTERNAL, "the text of a lock has more than %d bytes", PP_LOCK_TEXT_BYTES);
    return lock->store->ops->write_lock(lock, text);
}

bool pp_lock_is_readable(const pp_lock *lock)
{
    return lock->store->ops->read_lock != NULL;
}

parapet_status pp_lock_read(pp_lock *lock, char text[PP_LOCK_TEXT_BYTES + 1])
{
    text[0] = '\0';
    return pp_lock_is_readable(lock) ? lock->store->ops->read_lock(lock, text) : PARAPET_OK;
}

parapet_status pp_store_view_lock(pp_store *store, const char *key, pp_lock_view *view)
{
    parapet_status status = pp_key_check(key);
    *view = (pp_lock_view){0};
    store = owner_of_locks(store);
    return status != PARAPET_OK ? status : store->ops->view_lock(store, key, view);
}

void pp_lock_close(pp_lock *lock)
{
    if (lock != NULL)
        lock->store->ops->close_lock(lock);
}

parapet_status pp_store_sync_dirs(pp_store *store)
{
    pp_meter_begin(store->meter);
    return pp_meter_end(store->meter, store->ops->sync_dirs(store));
}

bool pp_store_is_dealt_out(const pp_store *store)
{
    return store->is_dealt_out;
}

void pp_store_list_unsynced_dirs(pp_store *store, pp_text *prefixes)
{
    store->ops->list_unsynced_dirs(store, prefixes);
}

parapet_status pp_store_take_unsynced_dirs(pp_store *store, const char *prefix)
{
    pp_meter_begin(store->meter);
    return pp_meter_end(store->meter, store->ops->take_unsynced_dirs(store, prefix));
}

parapet_status pp_store_sync_taken_dirs(pp_store *store)
{
    pp_meter_begin(store->meter);
    return pp_meter_end(store->meter, store->ops->sync_taken_dirs(store));
}

void pp_store_forget_unsynced_dirs(pp_store *store)
{
    if (store->is_dealt_out)
        store->ops->forget_unsynced_dirs(store);
}

bool pp_store_has_failed_sync(pp_store *store)
{
    return store->is_dealt_out && store->ops->has_failed_sync(store);
}

void pp_store_fail_unsynced_dirs(pp_store *store, parapet_status status)
{
    if (store->is_dealt_out)
        store->ops->fail_unsynced_dirs(store, status);
}

parapet_status pp_store_move(pp_store *store, const char *key, const char *new_key)
{
    parapet_status status;
    if ((status = pp_key_check(key)) != PARAPET_OK || (status = pp_key_check(new_key)) != PARAPET_OK)
        return status;
    pp_meter_begin(store->meter);
    return pp_meter_end(store->meter, store->ops->move(store, key, new_key));
}

parapet_status pp_store_remove(pp_store *store, const char *key)
{
    parapet_status status = pp_key_check(key);
    if (status != PARAPET_OK)
        return status;
    pp_meter_begin(store->meter);
    return pp_meter_end(store->meter, store->ops->remove(store, key));
}

parapet_status pp_store_remove_prefix(pp_store *store, const char *prefix)
{
    parapet_status status = check_prefix(prefix);
    if (status != PARAPET_OK)
        return status;
    pp_meter_begin(store->meter);
    return pp_meter_end(store->meter, store->ops->remove_prefix(store, prefix));
}

parapet_status pp_store_remove_empty(pp_store *store, const char *prefix)
{
    parapet_status status = pp_key_check(prefix);
    if (status != PARAPET_OK || store->ops->remove_empty == NULL)
        return status;
    pp_meter_begin(store->meter);
    return pp_meter_end(store->meter, store->ops->remove_empty(store, prefix));
}

parapet_status pp_store_list(pp_store *store, const char *prefix, pp_list_visitor visit, void *context)
{
    parapet_status status = check_prefix(prefix);
    return status != PARAPET_OK ? status : store->ops->list(store, prefix, visit, context);
}

void pp_store_free(pp_store *store)
{
    if (store != NULL)
        store->ops->free(store);
}

static parapet_status read_whole(pp_reader *reader, char **data)
{
    size_t bytes = (size_t)reader->bytes;
    parapet_status status = pp_allocate(data, bytes + 1);
    if (status != PARAPET_OK || bytes == 0)
        return status;
    if ((status = pp_reader_read(reader, 0, bytes, *data)) != PARAPET_OK) {
        pp_free(*data);
        *data = NULL;
    }
    return status;
}

parapet_status pp_store_read_all(pp_store *store, const char *key, size_t limit_bytes, char **data, size_t *bytes)
{
    uint64_t version;
    return pp_store_read_version(store, key, limit_bytes, data, bytes, &version);
}

parapet_status pp_store_read_version(pp_store *store, const char *key, size_t limit_bytes, char **data, size_t *bytes,
                                     uint64_t *version)
{
    pp_reader *reader;
    parapet_status status = pp_store_open_object(store, key, &reader);
    *data = NULL;
    *bytes = 0;
    *version = 0;
    if (status != PARAPET_OK)
        return status;
    *version = reader->version;
    if (reader->bytes > limit_bytes || reader->bytes >= SIZE_MAX)
        status = pp_fail(PARAPET_ERR_FORMAT, "%s has %" PRIu64 " bytes, more than the %zu allowed there", key,
                         reader->bytes, limit_bytes);
    else if ((status = read_whole(reader, data)) == PARAPET_OK)
        *bytes = (size_t)reader->bytes;
    pp_reader_free(reader);
    return status;
}

parapet_status pp_store_version(pp_store *store, const char *key, uint64_t *version)
{
    pp_reader *reader = NULL;
    parapet_status status = pp_key_check(key);
    *version = status == PARAPET_OK && store->ops->version != NULL ? store->ops->version(store, key) : 0;
    if (status != PARAPET_OK || *version != 0)
        return status;
    status = pp_store_open_object(store, key, &reader);
    *version = status == PARAPET_OK ? reader->version : 0;
    pp_reader_free(reader);
    return pp_accept_absence(status);
}

parapet_status pp_store_write_all(pp_store *store, const pp_write_request *request, const void *data, size_t bytes,
                                  pp_publish_mode mode)
{
    pp_writer *writer;
    parapet_status status = pp_store_begin(store, request, &writer);
    if (status != PARAPET_OK || (status = pp_writer_append(writer, data, bytes)) != PARAPET_OK ||
        (status = pp_writer_stage(writer)) != PARAPET_OK)
        goto done;
    status = pp_writer_publish(writer, mode);
done:
    pp_writer_free(writer);
    return status;
}
