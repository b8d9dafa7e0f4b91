#include "stores/faulty.h"

#include <pthread.h>
#include <string.h>

#include "base/status.h"
#include "stores/wrapper.h"

typedef struct faulty_store {
    pp_wrapper wrapper;
    pp_fault_plan *plan;
    pthread_mutex_t mutex; /* of the plan */
} faulty_store;

/* Whether the operation with this number fails; the note says so to faulty_end. */
static void count_operation(pp_fault_plan *plan, pp_operation *operation)
{
    long number;
    if (plan->only != NULL && strcmp(plan->only, operation->name) != 0)
        return;
    number = plan->operations++;
    operation->note =
        plan->fail_at >= 0 && (number == plan->fail_at || (plan->fail_forever && number > plan->fail_at));
    plan->failures += (long)operation->note;
}

static parapet_status inject(const pp_fault_plan *plan, const pp_operation *operation)
{
    parapet_status status = plan->status != PARAPET_OK ? plan->status : PARAPET_ERR_IO;
    return pp_fail(status, "injected failure of %s %s", operation->name, operation->key);
}

static bool is_append(const pp_operation *operation)
{
    return strncmp(operation->name, "append", strlen("append")) == 0; /* to an object or to a log */
}

static parapet_status faulty_begin(pp_wrapper *wrapper, pp_operation *operation)
{
    faulty_store *self = (faulty_store *)wrapper;
    (void)pthread_mutex_lock(&self->mutex);
    count_operation(self->plan, operation);
    (void)pthread_mutex_unlock(&self->mutex);
    if (operation->note == 0)
        return PARAPET_OK;
    if (self->plan->is_torn && is_append(operation)) {
        operation->bytes /= 2;
        return PARAPET_OK;
    }
    return self->plan->fail_after ? PARAPET_OK : inject(self->plan, operation);
}

/* Whatever came of it, the answer is lost. */
static parapet_status faulty_end(pp_wrapper *wrapper, const pp_operation *operation, parapet_status status)
{
    return operation->note != 0 ? inject(((faulty_store *)wrapper)->plan, operation) : status;
}

static void faulty_free(pp_wrapper *wrapper)
{
    faulty_store *self = (faulty_store *)wrapper;
    (void)pthread_mutex_destroy(&self->mutex);
    pp_free(self);
}

static const pp_wrapper_hooks faulty_hooks = {
    .name = "faulty", .begin = faulty_begin, .end = faulty_end, .free = faulty_free};

parapet_status pp_store_faulty_build(pp_store **store, pp_store *inner, pp_fault_plan *plan)
{
    faulty_store *self;
    parapet_status status = pp_allocate(&self, sizeof *self);
    *store = NULL;
    if (status != PARAPET_OK)
        return status;
    pp_wrapper_init(&self->wrapper, inner, &faulty_hooks);
    self->plan = plan;
    (void)pthread_mutex_init(&self->mutex, NULL);
    *store = &self->wrapper.store;
    return PARAPET_OK;
}
