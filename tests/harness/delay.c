#include "delay.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"

typedef struct delay_store {
    pp_store store;
    pp_store *inner;
    const delay_plan *plan;
} delay_store;

typedef struct delay_reader {
    pp_reader reader;
    pp_reader *inner;
} delay_reader;

typedef struct delay_writer {
    pp_writer writer;
    pp_writer *inner;
} delay_writer;

static const delay_plan *plan_of(pp_store *store)
{
    return ((delay_store *)store)->plan;
}

static pp_store *inner_of(pp_store *store)
{
    return ((delay_store *)store)->inner;
}

static void begin(pp_store *store, const char *operation)
{
    const delay_plan *plan = plan_of(store);
    struct timespec left = {.tv_sec = (time_t)plan->seconds};
    left.tv_nsec = (long)(1e9 * (plan->seconds - (double)left.tv_sec));
    if (plan->operation != NULL && strcmp(plan->operation, operation) != 0)
        return;
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        continue;
}

static parapet_status end(pp_store *store, const char *operation, parapet_status status)
{
    const delay_plan *plan = plan_of(store);
    if (plan->record != NULL)
        plan->record(plan->context, operation);
    return status;
}

static parapet_status delay_open(pp_store *store, const char *key, pp_reader **reader)
{
    delay_reader *self;
    parapet_status status = pp_allocate(&self, sizeof *self);
    if (status != PARAPET_OK)
        return status;
    begin(store, "open");
    status = pp_store_open_object(inner_of(store), key, &self->inner);
    if (status != PARAPET_OK) {
        pp_free(self);
        return status;
    }
    self->reader = (pp_reader){.store = store, .bytes = self->inner->bytes, .version = self->inner->version};
    *reader = &self->reader;
    return end(store, "open", status);
}

static parapet_status delay_read(pp_reader *reader, uint64_t offset, size_t bytes, void *target)
{
    begin(reader->store, "read");
    return end(reader->store, "read", pp_reader_read(((delay_reader *)reader)->inner, offset, bytes, target));
}

static void delay_close_reader(pp_reader *reader)
{
    pp_reader_free(((delay_reader *)reader)->inner);
    pp_free(reader);
}

static parapet_status delay_begin(pp_store *store, const pp_write_request *request, pp_writer **writer)
{
    delay_writer *self;
    parapet_status status = pp_allocate(&self, sizeof *self);
    if (status != PARAPET_OK)
        return status;
    begin(store, "begin");
    status = pp_store_begin(inner_of(store), request, &self->inner);
    if (status != PARAPET_OK) {
        pp_free(self);
        return status;
    }
    self->writer.store = store;
    *writer = &self->writer;
    return end(store, "begin", status);
}

static parapet_status delay_append(pp_writer *writer, const void *data, size_t bytes)
{
    begin(writer->store, "append");
    return end(writer->store, "append", pp_writer_append(((delay_writer *)writer)->inner, data, bytes));
}

static parapet_status delay_stage(pp_writer *writer)
{
    begin(writer->store, "stage");
    return end(writer->store, "stage", pp_writer_stage(((delay_writer *)writer)->inner));
}

static parapet_status delay_publish(pp_writer *writer, pp_publish_mode mode)
{
    begin(writer->store, "publish");
    return end(writer->store, "publish", pp_writer_publish(((delay_writer *)writer)->inner, mode));
}

static void delay_free_writer(pp_writer *writer)
{
    pp_writer_free(((delay_writer *)writer)->inner);
    pp_free(writer);
}

static parapet_status delay_settle(pp_store *store)
{
    begin(store, "settle");
    return end(store, "settle", pp_store_settle(inner_of(store)));
}

static parapet_status delay_remove(pp_store *store, const char *key)
{
    begin(store, "remove");
    return end(store, "remove", pp_store_remove(inner_of(store), key));
}

static parapet_status delay_remove_prefix(pp_store *store, const char *prefix)
{
    begin(store, "remove_prefix");
    return end(store, "remove_prefix", pp_store_remove_prefix(inner_of(store), prefix));
}

static parapet_status delay_list(pp_store *store, const char *prefix, pp_list_visitor visit, void *context)
{
    begin(store, "list");
    return end(store, "list", pp_store_list(inner_of(store), prefix, visit, context));
}

static void delay_free(pp_store *store)
{
    pp_free(store);
}

static const pp_store_ops delay_ops = {
    .name = "delay",
    .open = delay_open,
    .read = delay_read,
    .close_reader = delay_close_reader,
    .begin = delay_begin,
    .append = delay_append,
    .stage = delay_stage,
    .publish = delay_publish,
    .free_writer = delay_free_writer,
    .settle = delay_settle,
    .remove = delay_remove,
    .remove_prefix = delay_remove_prefix,
    .list = delay_list,
    .free = delay_free,
};

parapet_status delay_store_build(pp_store **store, pp_store *inner, const delay_plan *plan)
{
    delay_store *self;
    parapet_status status = pp_allocate(&self, sizeof *self);
    *store = NULL;
    if (status != PARAPET_OK)
        return status;
    *self = (delay_store){.store.ops = &delay_ops, .store.locks_of = inner, .inner = inner, .plan = plan};
    *store = &self->store;
    return PARAPET_OK;
}
