/* turn.h - one thread at a time is inside a call on a store, and none calls it from within its own callback.
 *
 * Every public function takes a turn before it looks at what a call may change, and has it until it returns. Local
 * reads take none: gates keep them apart from changes. What a call calls within itself has a turn inside that turn.
 *
 *  - In a callback of a call, the same thread is refused: the call is in the middle of something.
 *  - Of the threads of the program, one makes collective calls. Where another is inside one, the second is refused:
 *    at once, or, if other ranks may be waiting for it, when its turn has come, on all ranks together. So every rank
 *    has as many calls as it made, and none waits for one that another rank was refused.
 *  - Local calls wait for their turn. A call that is in a callback lends them its own, so that a callback can wait
 *    for a thread that makes one.
 *  - A call that was started (request/request.h) runs on a thread of its own, and everybody waits for it. It needs
 *    nothing of the program, so that wait never is one for another rank's program. */
#ifndef PARAPET_COMM_TURN_H
#define PARAPET_COMM_TURN_H

#include <pthread.h>

#include "comm/comm.h"

/* Those of a communicator. */
typedef struct pp_call_turns {
    pthread_mutex_t mutex; /* held to use the following */
    pthread_cond_t has_changed;
    pp_turn_kind kind; /* of the turn that was taken */
    bool is_taken;
    bool is_lent;    /* its thread is in a callback */
    bool has_guest;  /* another one has it meanwhile */
    bool is_closing; /* nobody gets one any more */
    int waiting;
    int forks; /* of this process, when it looked last */
    bool is_inherited;
    const char *refusal; /* why the call that begins next fails; only for whoever has the turn. NULL: it does not */
    bool is_running;     /* what was started */
    bool has_thread;     /* to be joined; only for whoever has the turn */
    pthread_t thread;
    void (*run)(void *context);
    void *context;
} pp_call_turns;

void pp_call_turns_init(pp_call_turns *turns);
void pp_call_turns_clear(pp_call_turns *turns); /* completes what was started */

/* [local] In a call that has begun: the function runs on a thread from here on. If it is to have none, or there can
 * be none, it has run when this returns. */
void pp_comm_run_beside(pp_comm *comm, void (*run)(void *context), void *context, bool has_thread);

#endif
