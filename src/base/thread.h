/* thread.h - threads of this library: signals that come from outside are for the threads of the program. */
#ifndef PARAPET_BASE_THREAD_H
#define PARAPET_BASE_THREAD_H

#include <parapet.h>
#include <pthread.h>
#include <stdbool.h>

/* False: the system refuses. Join it with pthread_join. */
bool pp_thread_start(pthread_t *thread, void *(*run)(void *context), void *context);

/* How often this process is a fork of one that has asked this: it has none of the threads that were started before.
 */
int pp_thread_forks(void);

/* How many threads of this process can run at the same time. */
int pp_thread_processors(void);

/* Of the machine, whether this process may use them or not: ranks that are bound to processors each have their own.
 */
int pp_thread_machine_processors(void);

/* The failure of a caller that cannot do without a thread. */
parapet_status pp_thread_fail(void);

#endif
