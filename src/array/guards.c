#include "array/guards.h"

#include "array/array_handle.h"

parapet_status pp_guard_build(pp_guard **guard)
{
    parapet_status status = pp_allocate(guard, sizeof **guard);
    if (status != PARAPET_OK)
        return status;
    pp_gate_init(&(*guard)->gate);
    (void)pthread_mutex_init(&(*guard)->page_mutex, NULL);
    return PARAPET_OK;
}

void pp_guard_free(pp_guard *guard)
{
    if (guard == NULL)
        return;
    pp_gate_destroy(&guard->gate);
    (void)pthread_mutex_destroy(&guard->page_mutex);
    pp_free(guard);
}

void pp_guard_close_for_good(pp_guard *guard)
{
    pp_gate_close_for_good(&guard->gate);
}

void pp_guards_close(parapet_array *const *arrays, int count)
{
    int i;
    for (i = 0; i < count; i++)
        pp_gate_close(&arrays[i]->guard->gate);
}

void pp_guards_open(parapet_array *const *arrays, int count)
{
    int i;
    for (i = 0; i < count; i++)
        pp_gate_open(&arrays[i]->guard->gate);
}
