#include "base/gate.h"

#include <assert.h>

void pp_gate_init(pp_gate *gate)
{
    *gate = (pp_gate){.mutex = PTHREAD_MUTEX_INITIALIZER, .has_changed = PTHREAD_COND_INITIALIZER};
}

void pp_gate_destroy(pp_gate *gate)
{
    (void)pthread_cond_destroy(&gate->has_changed);
    (void)pthread_mutex_destroy(&gate->mutex);
}

void pp_gate_enter(pp_gate *gate)
{
    (void)pthread_mutex_lock(&gate->mutex);
    while (gate->is_closed)
        (void)pthread_cond_wait(&gate->has_changed, &gate->mutex);
    gate->inside++;
    (void)pthread_mutex_unlock(&gate->mutex);
}

void pp_gate_leave(pp_gate *gate)
{
    (void)pthread_mutex_lock(&gate->mutex);
    if (--gate->inside == 0 && gate->is_closed)
        (void)pthread_cond_broadcast(&gate->has_changed);
    (void)pthread_mutex_unlock(&gate->mutex);
}

void pp_gate_close(pp_gate *gate)
{
    (void)pthread_mutex_lock(&gate->mutex);
    assert(!gate->is_closed);
    gate->is_closed = true;
    while (gate->inside > 0)
        (void)pthread_cond_wait(&gate->has_changed, &gate->mutex);
    (void)pthread_mutex_unlock(&gate->mutex);
}

void pp_gate_open(pp_gate *gate)
{
    (void)pthread_mutex_lock(&gate->mutex);
    gate->is_closed = false;
    (void)pthread_cond_broadcast(&gate->has_changed);
    (void)pthread_mutex_unlock(&gate->mutex);
}
