#include "crash.h"

#include "support.h"

/* The operations of a store, one of them changed. */
typedef struct crash_ops {
    pp_store_ops ops;
    const pp_store_ops *base;
    const pp_fault_plan *plan;
} crash_ops;

static void leave_writer(pp_writer *writer)
{
    const crash_ops *own = (const crash_ops *)writer->store->ops;
    if (own->plan->fail_forever && own->plan->failures > 0)
        own->base->suspend(writer);
    else
        own->base->free_writer(writer);
}

static void free_store(pp_store *store)
{
    crash_ops *own = (crash_ops *)(uintptr_t)store->ops;
    store->ops = own->base;
    free(own);
    pp_store_free(store);
}

void crash_prepare(pp_store *store, const pp_fault_plan *plan)
{
    crash_ops *own = calloc(1, sizeof *own);
    assert_non_null(own);
    *own = (crash_ops){.ops = *store->ops, .base = store->ops, .plan = plan};
    own->ops.free_writer = leave_writer;
    own->ops.free = free_store;
    store->ops = &own->ops;
}
