/* pool.h - threads that wait for work between calls, so that a call need not start its own. */
#ifndef PARAPET_BASE_POOL_H
#define PARAPET_BASE_POOL_H

#include <parapet_status.h>

typedef struct pp_pool pp_pool;
typedef struct pp_pool_thread pp_pool_thread;

/* Without threads as yet. */
parapet_status pp_pool_build(pp_pool **pool);

/* Runs it on a thread that is free, or on another one, for which the system may not have enough. Join it with
 * pp_pool_join. */
parapet_status pp_pool_start(pp_pool *pool, pp_pool_thread **thread, void (*run)(void *context), void *context);

/* Waits until it has ended; then the thread is free again. */
void pp_pool_join(pp_pool_thread *thread);

/* All that was started has been joined. NULL is allowed. */
void pp_pool_free(pp_pool *pool);

#endif
