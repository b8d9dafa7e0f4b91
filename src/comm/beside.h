/* beside.h - one function at a time that runs beside the program, on a thread of its own, with the communicator.
 *
 * Nothing else uses the communicator, or what belongs to it, meanwhile: whatever does completes that function first.
 * That function needs nothing of the program, so waiting for it never waits for another rank's program. */
#ifndef PARAPET_COMM_BESIDE_H
#define PARAPET_COMM_BESIDE_H

#include <pthread.h>

#include "comm/comm.h"

typedef struct pp_beside {
    pthread_mutex_t mutex; /* held to use is_running */
    pthread_cond_t is_over;
    bool is_running;
    bool has_thread; /* to be joined; only where calls begin */
    pthread_t thread;
    void (*run)(void *context);
    void *context;
} pp_beside;

void pp_beside_init(pp_beside *beside);
void pp_beside_clear(pp_beside *beside); /* completes it */

/* [local] In a call that has begun: the function runs on a thread from here on. If it is to have none, or there can
 * be none, it has run when this returns. */
void pp_comm_run_beside(pp_comm *comm, void (*run)(void *context), void *context, bool has_thread);

/* Whether the caller is that function. */
bool pp_comm_is_beside(const pp_comm *comm);

#endif
