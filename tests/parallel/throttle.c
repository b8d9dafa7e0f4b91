#include "throttle.h"

#include <errno.h>
#include <time.h>

#include "base/memory.h"

typedef struct throttle_store {
    pp_store store;
    pp_store *inner;
    double bytes_per_second;
} throttle_store;

typedef struct throttle_reader {
    pp_reader reader;
    pp_reader *inner;
} throttle_reader;

typedef struct throttle_writer {
    pp_writer writer;
    pp_writer *inner;
} throttle_writer;

static pp_store *inner_of(pp_store *store)
{
    return ((throttle_store *)store)->inner;
}

/* When so many bytes may be done that were begun now. */
static struct timespec due_time(const pp_store *store, size_t bytes)
{
    double rate = ((const throttle_store *)store)->bytes_per_second, seconds = rate > 0 ? (double)bytes / rate : 0;
    struct timespec due;
    (void)clock_gettime(CLOCK_MONOTONIC, &due);
    due.tv_sec += (time_t)seconds;
    due.tv_nsec += (long)(1e9 * (seconds - (double)(time_t)seconds));
    if (due.tv_nsec >= 1000000000) {
        due.tv_nsec -= 1000000000;
        due.tv_sec++;
    }
    return due;
}

static void sleep_until(const struct timespec *due)
{
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, due, NULL) == EINTR)
        continue;
}

static parapet_status throttle_open(pp_store *store, const char *key, pp_reader **reader)
{
    throttle_reader *self;
    parapet_status status = pp_allocate(&self, sizeof *self);
    if (status != PARAPET_OK)
        return status;
    if ((status = pp_store_open_object(inner_of(store), key, &self->inner)) != PARAPET_OK) {
        pp_free(self);
        return status;
    }
    self->reader = (pp_reader){.store = store, .bytes = self->inner->bytes, .version = self->inner->version};
    *reader = &self->reader;
    return PARAPET_OK;
}

static parapet_status throttle_read(pp_reader *reader, uint64_t offset, size_t bytes, void *target)
{
    struct timespec due = due_time(reader->store, bytes);
    parapet_status status = pp_reader_read(((throttle_reader *)reader)->inner, offset, bytes, target);
    sleep_until(&due);
    return status;
}

static void throttle_close_reader(pp_reader *reader)
{
    pp_reader_free(((throttle_reader *)reader)->inner);
    pp_free(reader);
}

static parapet_status throttle_begin(pp_store *store, const pp_write_request *request, pp_writer **writer)
{
    throttle_writer *self;
    parapet_status status = pp_allocate(&self, sizeof *self);
    if (status != PARAPET_OK)
        return status;
    if ((status = pp_store_begin(inner_of(store), request, &self->inner)) != PARAPET_OK) {
        pp_free(self);
        return status;
    }
    self->writer.store = store;
    *writer = &self->writer;
    return PARAPET_OK;
}

static parapet_status throttle_append(pp_writer *writer, const void *data, size_t bytes)
{
    struct timespec due = due_time(writer->store, bytes);
    parapet_status status = pp_writer_append(((throttle_writer *)writer)->inner, data, bytes);
    sleep_until(&due);
    return status;
}

static parapet_status throttle_stage(pp_writer *writer)
{
    return pp_writer_stage(((throttle_writer *)writer)->inner);
}

static parapet_status throttle_publish(pp_writer *writer, pp_publish_mode mode)
{
    return pp_writer_publish(((throttle_writer *)writer)->inner, mode);
}

static void throttle_free_writer(pp_writer *writer)
{
    pp_writer_free(((throttle_writer *)writer)->inner);
    pp_free(writer);
}

static parapet_status throttle_settle(pp_store *store)
{
    return pp_store_settle(inner_of(store));
}

static parapet_status throttle_remove(pp_store *store, const char *key)
{
    return pp_store_remove(inner_of(store), key);
}

static parapet_status throttle_remove_prefix(pp_store *store, const char *prefix)
{
    return pp_store_remove_prefix(inner_of(store), prefix);
}

static parapet_status throttle_list(pp_store *store, const char *prefix, pp_list_visitor visit, void *context)
{
    return pp_store_list(inner_of(store), prefix, visit, context);
}

static void throttle_free(pp_store *store)
{
    pp_free(store);
}

static const pp_store_ops throttle_ops = {
    .name = "throttle",
    .open = throttle_open,
    .read = throttle_read,
    .close_reader = throttle_close_reader,
    .begin = throttle_begin,
    .append = throttle_append,
    .stage = throttle_stage,
    .publish = throttle_publish,
    .free_writer = throttle_free_writer,
    .settle = throttle_settle,
    .remove = throttle_remove,
    .remove_prefix = throttle_remove_prefix,
    .list = throttle_list,
    .free = throttle_free,
};

parapet_status throttle_store_build(pp_store **store, pp_store *inner, double bytes_per_second)
{
    throttle_store *self;
    parapet_status status = pp_allocate(&self, sizeof *self);
    *store = NULL;
    if (status != PARAPET_OK)
        return status;
    *self = (throttle_store){
        .store.ops = &throttle_ops, .store.locks_of = inner, .inner = inner, .bytes_per_second = bytes_per_second};
    *store = &self->store;
    return PARAPET_OK;
}
