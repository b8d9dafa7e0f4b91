/* guards.h - what keeps handles whole when several threads use them: local reads on any thread, beside the collective
 * calls of one.
 *
 * A local read is inside the gate of its array. Whatever changes what a handle says, or frees it, closes the gate
 * around that: it waits for the local reads of this process, and later ones wait for it. The collective calls
 * themselves come one after the other and need no gate to read a handle.
 *
 * A gate is closed only where a call has begun, so that all ranks are inside it: a rank that another one waits for
 * must never wait for a gate. */
#ifndef PARAPET_ARRAY_GUARDS_H
#define PARAPET_ARRAY_GUARDS_H

#include <parapet_types.h>
#include <pthread.h>

#include "base/gate.h"

typedef struct pp_guard {
    pp_gate gate;
    pthread_mutex_t page_mutex; /* held to use the page of the manifest that was read last */
} pp_guard;

parapet_status pp_guard_build(pp_guard **guard);
void pp_guard_free(pp_guard *guard); /* takes NULL */

/* Before the array is freed: waits for the local reads, and those that come meanwhile are refused. */
void pp_guard_close_for_good(pp_guard *guard);

/* Around a change of what handles say. */
void pp_guards_close(parapet_array *const *arrays, int count);
void pp_guards_open(parapet_array *const *arrays, int count);

#endif
