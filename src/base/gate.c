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

bool pp_gate_enter(pp_gate *gate)
{
    bool has_entered;
    (void)pthread_mutex_lock(&gate->mutex);
    gate->waiting++;
    while (gate->state == PP_GATE_CLOSED)
        (void)pthread_cond_wait(&gate->has_changed, &gate->mutex);
    gate->waiting--;
    has_entered = gate->state == PP_GATE_OPEN;
    if (has_entered)
        gate->inside++;
    else
        (void)pthread_cond_broadcast(&gate->has_changed);
    (void)pthread_mutex_unlock(&gate->mutex);
    return has_entered;
}

void pp_gate_leave(pp_gate *gate)
{
    (void)pthread_mutex_lock(&gate->mutex);
    if (--gate->inside == 0 && gate->state != PP_GATE_OPEN)
        (void)pthread_cond_broadcast(&gate->has_changed);
    (void)pthread_mutex_unlock(&gate->mutex);
}

void pp_gate_close(pp_gate *gate)
{
    (void)pthread_mutex_lock(&gate->mutex);
    assert(gate->state == PP_GATE_OPEN);
    gate->state = PP_GATE_CLOSED;
    while (gate->inside > 0)
        (void)pthread_cond_wait(&gate->has_changed, &gate->mutex);
    (void)pthread_mutex_unlock(&gate->mutex);
}

void pp_gate_open(pp_gate *gate)
{
    (void)pthread_mutex_lock(&gate->mutex);
    gate->state = PP_GATE_OPEN;
    (void)pthread_cond_broadcast(&gate->has_changed);
    (void)pthread_mutex_unlock(&gate->mutex);
}

void pp_gate_close_for_good(pp_gate *gate)
{
    (void)pthread_mutex_lock(&gate->mutex);
    gate->state = PP_GATE_CLOSED_FOR_GOOD;
    (void)pthread_cond_broadcast(&gate->has_changed);
    while (gate->inside > 0 || gate->waiting > 0)
        (void)pthread_cond_wait(&gate->has_changed, &gate->mutex);
    (void)pthread_mutex_unlock(&gate->mutex);
}
