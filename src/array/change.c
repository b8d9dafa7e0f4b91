/* change.c - changes of an array that no other job may change meanwhile: see change.h.
 *
 *     pp_array_change_alone:       gates closed --> LONG --> take_up --> the change --> released --> gates open
 *     pp_array_lock_collectively:  LONG, delegates --> gates closed --> take_up --> gates open; LONG stays
 *
 * Invariants:
 *
 *  1. A handle changes only while the gate of its rank is closed, so that no local read is inside. Where
 *     storage changes as well (pp_array_change_alone), an agreement first says that all ranks have closed
 *     theirs.
 *  2. The change is based on what is stored while the lock is held, not on what the handle remembers (take_up).
 *  3. What an interrupted append has left beyond the end of the array stays hidden: it is refused before the
 *     change (invariant 12 of docs/design/change.md).
 *
 * docs/guide/jobs.md says which changes may run alongside each other. */
#include "array/change.h"

#include "array/announcement.h"
#include "array/array_handle.h"
#include "array/refresh.h"
#include "array/state.h"

static pp_node_lock_wish wish_of(const parapet_array *array, const char *purpose)
{
    return (pp_node_lock_wish){.store = array->store,
                               .paths = (const char *const *)&array->path,
                               .count = 1,
                               .mode = PP_LOCK_EXCLUSIVE,
                               .purpose = purpose};
}

/* Refuses where an interrupted append has left elements beyond the end: growing would show them, and a seal
 * would keep them. */
static parapet_status take_up(parapet_array *array)
{
    parapet_status status = pp_announcement_refuse_above(array->store, array->path);
    return status == PARAPET_OK ? pp_array_refresh(array) : status;
}

typedef struct alone_job {
    const char *purpose;
    pp_array_change change;
    const void *argument;
} alone_job;

static parapet_status change_alone(void *node, const void *argument)
{
    parapet_array *array = node;
    const alone_job *job = argument;
    pp_node_lock_wish wish = wish_of(array, job->purpose);
    pp_node_lock hold = {0};
    parapet_status status;
    if ((status = pp_node_locks_take(&hold, &wish)) != PARAPET_OK)
        return status;
    if ((status = take_up(array)) == PARAPET_OK)
        status = job->change(array, job->argument);
    pp_node_locks_release(&hold, 1);
    return status;
}

parapet_status pp_array_change_alone(parapet_array *array, const char *purpose, pp_array_change change,
                                     const void *argument)
{
    alone_job job = {.purpose = purpose, .change = change, .argument = argument};
    parapet_status status;
    pp_guards_close(&array, 1);
    if ((status = pp_comm_agree(array->store->comm, "waiting for local reads", PARAPET_OK)) == PARAPET_OK)
        status = pp_array_rank0_do(array, purpose, change_alone, &job);
    pp_guards_open(&array, 1);
    return status;
}

static parapet_status refresh(void *array, const void *argument)
{
    (void)argument;
    return take_up(array);
}

parapet_status pp_array_lock_collectively(parapet_array *array, const char *purpose, pp_node_lock *hold)
{
    pp_node_lock_wish wish = wish_of(array, purpose);
    parapet_status status;
    if ((status = pp_node_locks_take_collectively(hold, &wish)) != PARAPET_OK)
        return status;
    pp_guards_close(&array, 1);
    status = pp_array_rank0_do(array, purpose, refresh, NULL);
    pp_guards_open(&array, 1);
    return status;
}
