/* failing.h - a call at which one thing fails: in turn each operation of its store, or each allocation. */
#ifndef PARAPET_TESTS_FAILING_H
#define PARAPET_TESTS_FAILING_H

#include <parapet_store.h>

#include "array/open.h"
#include "base/memory.h"
#include "store/store.h"
#include "stores/faulty.h"

typedef struct failing {
    bool is_memory;        /* allocations fail, and not operations */
    long at;               /* which of them, counted from 0 */
    parapet_status status; /* of operations that fail */
    long allocations;      /* since failing_begin */
    pp_fault_plan plan;
    pp_store *faulty;
    parapet_store *store; /* whose operations fail */
} failing;

/* Another handle of what is in a backend. */
static inline void failing_open(failing *self, pp_store *backend, bool is_memory)
{
    *self = (failing){.is_memory = is_memory, .status = PARAPET_ERR_IO, .plan = {.fail_at = -1}};
    assert_ok(pp_store_faulty_build(&self->faulty, backend, &self->plan));
    assert_ok(pp_store_open_over(&self->store, MPI_COMM_NULL, self->faulty, PARAPET_UPDATE, NULL));
}

static inline void failing_close(failing *self)
{
    assert_ok(parapet_store_close(&self->store));
    pp_store_free(self->faulty);
}

static inline int failing_refuse(void *context, size_t bytes)
{
    failing *self = context;
    (void)bytes;
    return self->allocations++ == self->at;
}

static inline void failing_begin(failing *self)
{
    self->plan = (pp_fault_plan){.fail_at = self->is_memory ? -1 : self->at, .status = self->status};
    self->allocations = 0;
    if (self->is_memory)
        pp_memory_hook_set(failing_refuse, self);
}

/* False: the call had not so many. Then the next one is at hand. */
static inline bool failing_end(failing *self)
{
    bool has_failed = self->is_memory ? self->allocations > self->at : self->plan.failures > 0;
    pp_memory_hook_set(NULL, NULL);
    self->plan.fail_at = -1;
    assert_true(self->at < 10000);
    self->at++;
    return has_failed;
}

static inline const char *failing_words(const failing *self)
{
    return self->is_memory ? "allocation" : "operation";
}

#endif
