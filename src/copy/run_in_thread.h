/* run_in_thread.h - work on a thread of its own, while the calling thread looks after something else. */
#ifndef PARAPET_COPY_RUN_IN_THREAD_H
#define PARAPET_COPY_RUN_IN_THREAD_H

#include <parapet_status.h>

typedef struct pp_thread_work {
    void *context;
    parapet_status (*work)(void *context); /* once, on its own thread */
    void (*look)(void *context);           /* on the calling thread, every millisecond until the work is done */
} pp_thread_work;

/* Returns what the work returns, with its sentence. */
parapet_status pp_run_in_thread(const pp_thread_work *aside);

#endif
