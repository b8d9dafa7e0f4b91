#include "stores/null.h"

#include <string.h>

#include "base/status.h"

typedef struct null_store {
    pp_store store;
    pp_store *inner; /* for everything that is no data */
    pp_store *marks; /* in memory: an empty object for each one whose bytes were dropped, temporary ones too */
} null_store;

typedef struct null_writer {
    pp_writer writer;
    pp_writer *mark;
} null_writer;

static pp_store *inner_of(pp_store *store)
{
    return ((null_store *)store)->inner;
}

static pp_store *marks_of(pp_store *store)
{
    return ((null_store *)store)->marks;
}

/* The version of what was dropped under that key; 0: nothing was. */
static uint64_t dropped_version(pp_store *store, const char *key)
{
    uint64_t version = 0;
    (void)pp_store_version(marks_of(store), key, &version); /* in memory, where this cannot fail */
    return version;
}

/* A reader, log or small writer is one of the inner store, which then gets its operations directly. */
static parapet_status null_open(pp_store *store, const char *key, pp_reader **reader)
{
    if (dropped_version(store, key) != 0)
        return pp_fail(PARAPET_ERR_UNSUPPORTED,
                       "%s cannot be read: it was written to a null store, which keeps no data", key);
    return pp_store_open_object(inner_of(store), key, reader);
}

static uint64_t null_version(pp_store *store, const char *key)
{
    uint64_t version = dropped_version(store, key);
    if (version == 0)
        (void)pp_store_version(inner_of(store), key, &version);
    return version;
}

static void null_free_writer(pp_writer *writer)
{
    pp_writer_free(((null_writer *)writer)->mark);
    pp_free(writer);
}

static parapet_status null_begin(pp_store *store, const pp_write_request *request, pp_writer **writer)
{
    null_writer *self;
    parapet_status status;
    if (request->is_small)
        return pp_store_begin(inner_of(store), request, writer);
    if ((status = pp_allocate(&self, sizeof *self)) != PARAPET_OK)
        return status;
    self->writer.store = store;
    if ((status = pp_store_begin(marks_of(store), request, &self->mark)) != PARAPET_OK) {
        null_free_writer(&self->writer);
        return status;
    }
    *writer = &self->writer;
    return PARAPET_OK;
}

static void null_suspend(pp_writer *writer)
{
    pp_writer_suspend(((null_writer *)writer)->mark);
    pp_free(writer);
}

/* How much was appended before, only the caller knows. */
static parapet_status null_resume(pp_store *store, const pp_write_request *request, uint64_t bytes,
                                  pp_writer **writer)
{
    null_writer *self;
    parapet_status status;
    if (request->is_small)
        return pp_store_resume(inner_of(store), request, bytes, writer);
    if ((status = pp_allocate(&self, sizeof *self)) != PARAPET_OK)
        return status;
    self->writer.store = store;
    if ((status = pp_store_resume(marks_of(store), request, 0, &self->mark)) != PARAPET_OK) {
        null_suspend(&self->writer);
        return status;
    }
    *writer = &self->writer;
    return PARAPET_OK;
}

static parapet_status null_append(pp_writer *writer, const void *data, size_t bytes)
{
    (void)writer;
    (void)data;
    (void)bytes;
    return PARAPET_OK;
}

static parapet_status null_sync(pp_writer *writer)
{
    return pp_writer_sync(((null_writer *)writer)->mark);
}

static parapet_status null_stage(pp_writer *writer)
{
    return pp_writer_stage(((null_writer *)writer)->mark);
}

static parapet_status null_publish(pp_writer *writer, pp_publish_mode mode)
{
    null_writer *self = (null_writer *)writer;
    parapet_status status = pp_writer_publish(self->mark, mode);
    writer->version = self->mark->version;
    return status;
}

static parapet_status null_open_log(pp_store *store, const char *key, uint64_t keep_bytes, pp_log **log)
{
    return pp_store_open_log(inner_of(store), key, keep_bytes, log);
}

static parapet_status null_sync_dirs(pp_store *store)
{
    return pp_store_sync_dirs(inner_of(store));
}

static pp_store *holder_of(pp_store *store, const char *key)
{
    return dropped_version(store, key) != 0 ? marks_of(store) : inner_of(store);
}

static parapet_status null_move(pp_store *store, const char *key, const char *new_key)
{
    return pp_store_move(holder_of(store, key), key, new_key);
}

static parapet_status null_remove(pp_store *store, const char *key)
{
    return pp_store_remove(holder_of(store, key), key);
}

static parapet_status null_remove_prefix(pp_store *store, const char *prefix)
{
    (void)pp_store_remove_prefix(marks_of(store), prefix); /* in memory, where this cannot fail */
    return pp_store_remove_prefix(inner_of(store), prefix);
}

static parapet_status null_remove_empty(pp_store *store, const char *prefix)
{
    return pp_store_remove_empty(inner_of(store), prefix);
}

static parapet_status null_list(pp_store *store, const char *prefix, pp_list_visitor visit, void *context)
{
    return pp_store_list(inner_of(store), prefix, visit, context);
}

static void null_free(pp_store *store)
{
    pp_store_free(marks_of(store));
    pp_free(store);
}

static const pp_store_ops null_ops = {
    .name = "null",
    .open = null_open,
    .version = null_version,
    .begin = null_begin,
    .resume = null_resume,
    .append = null_append,
    .sync = null_sync,
    .suspend = null_suspend,
    .stage = null_stage,
    .publish = null_publish,
    .free_writer = null_free_writer,
    .open_log = null_open_log,
    .sync_dirs = null_sync_dirs,
    .move = null_move,
    .remove = null_remove,
    .remove_prefix = null_remove_prefix,
    .remove_empty = null_remove_empty,
    .list = null_list,
    .free = null_free,
};

parapet_status pp_store_null_build(pp_store **store, pp_store *inner)
{
    null_store *self;
    parapet_status status = pp_allocate(&self, sizeof *self);
    *store = NULL;
    if (status != PARAPET_OK)
        return status;
    if ((status = pp_store_memory_build(&self->marks, NULL)) != PARAPET_OK) {
        pp_free(self);
        return status;
    }
    self->inner = inner;
    self->store.ops = &null_ops;
    self->store.locks_of = inner;
    memcpy(self->store.place, inner->place, sizeof self->store.place);
    *store = &self->store;
    return PARAPET_OK;
}
