#include "delay.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "stores/wrapper.h"

typedef struct delay_store {
    pp_wrapper wrapper;
    const delay_plan *plan;
} delay_store;

static parapet_status delay_begin(pp_wrapper *wrapper, pp_operation *operation)
{
    const delay_plan *plan = ((delay_store *)wrapper)->plan;
    struct timespec left = {.tv_sec = (time_t)plan->seconds};
    left.tv_nsec = (long)(1e9 * (plan->seconds - (double)left.tv_sec));
    if (plan->operation != NULL && strcmp(plan->operation, operation->name) != 0)
        return PARAPET_OK;
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        continue;
    if (plan->wait != NULL)
        plan->wait(plan->context, operation->name, operation->key);
    return PARAPET_OK;
}

static parapet_status delay_end(pp_wrapper *wrapper, const pp_operation *operation, parapet_status status)
{
    const delay_plan *plan = ((delay_store *)wrapper)->plan;
    if (plan->record != NULL)
        plan->record(plan->context, operation->name, operation->key);
    return status;
}

static void delay_free(pp_wrapper *wrapper)
{
    pp_free(wrapper);
}

static const pp_wrapper_hooks delay_hooks = {
    .name = "delay", .begin = delay_begin, .end = delay_end, .free = delay_free};

parapet_status delay_store_build(pp_store **store, pp_store *inner, const delay_plan *plan)
{
    delay_store *self;
    parapet_status status = pp_allocate(&self, sizeof *self);
    *store = NULL;
    if (status != PARAPET_OK)
        return status;
    pp_wrapper_init(&self->wrapper, inner, &delay_hooks);
    self->wrapper.store.locks_of = inner;
    self->plan = plan;
    *store = &self->wrapper.store;
    return PARAPET_OK;
}

bool delay_until(const atomic_bool *is_due, double seconds)
{
    const struct timespec moment = {.tv_nsec = 500000};
    long looks = (long)(seconds / 5e-4);
    while (!atomic_load(is_due) && looks-- > 0)
        (void)nanosleep(&moment, NULL);
    return atomic_load(is_due);
}
