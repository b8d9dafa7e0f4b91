/* gate.h - lets many threads use something, and keeps them out while it is changed.
 *
 * Whoever uses it enters and leaves. Whoever changes it closes the gate, which waits until everybody has left, and
 * opens it again. From the moment it is being closed nobody enters, so those who keep coming cannot hold up a change.
 * One thread at a time closes a gate. */
#ifndef PARAPET_BASE_GATE_H
#define PARAPET_BASE_GATE_H

#include <pthread.h>
#include <stdbool.h>

typedef struct pp_gate {
    pthread_mutex_t mutex;
    pthread_cond_t has_changed;
    int inside;
    bool is_closed;
} pp_gate;

void pp_gate_init(pp_gate *gate);
void pp_gate_destroy(pp_gate *gate);

/* Waits while the gate is closed. */
void pp_gate_enter(pp_gate *gate);
void pp_gate_leave(pp_gate *gate);

/* Waits until nobody is inside. */
void pp_gate_close(pp_gate *gate);
void pp_gate_open(pp_gate *gate);

#endif
