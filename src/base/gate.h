/* gate.h - lets many threads use something, and keeps them out while it is changed.
 *
 * Whoever uses it enters and leaves. Whoever changes it closes the gate, which waits until everybody has left, and
 * opens it again. From the moment it is being closed nobody enters, so those who keep coming cannot hold up a change.
 * One thread at a time closes a gate. Whoever frees what is behind it closes it for good: then those who wait at the
 * gate are turned away, and it waits for them, too. */
#ifndef PARAPET_BASE_GATE_H
#define PARAPET_BASE_GATE_H

#include <pthread.h>
#include <stdbool.h>

typedef enum pp_gate_state { PP_GATE_OPEN, PP_GATE_CLOSED, PP_GATE_CLOSED_FOR_GOOD } pp_gate_state;

typedef struct pp_gate {
    pthread_mutex_t mutex;
    pthread_cond_t has_changed;
    int inside, waiting;
    pp_gate_state state;
} pp_gate;

void pp_gate_init(pp_gate *gate);
void pp_gate_destroy(pp_gate *gate);

/* Waits while the gate is closed. False: it is closed for good, and nobody has entered. */
bool pp_gate_enter(pp_gate *gate);
void pp_gate_leave(pp_gate *gate);

/* Waits until nobody is inside. */
void pp_gate_close(pp_gate *gate);
void pp_gate_open(pp_gate *gate);

/* Waits until nobody is inside or waits to enter. Only destroy it afterwards. */
void pp_gate_close_for_good(pp_gate *gate);

#endif
