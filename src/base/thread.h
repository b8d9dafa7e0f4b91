/* thread.h - threads of this library: signals that come from outside are for the threads of the program. */
#ifndef PARAPET_BASE_THREAD_H
#define PARAPET_BASE_THREAD_H

#include <parapet_status.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

/* False: the system refuses. Join it with pthread_join. */
bool pp_thread_start(pthread_t *thread, void *(*run)(void *context), void *context);

/* A write beyond the limit of the shell (ulimit -f) ends a process by SIGXFSZ, which the thread raises that writes.
 * While a thread of the program holds it back, the write fails instead, with EFBIG; the threads above always do. */
typedef struct pp_file_limit {
    sigset_t before; /* the signals that the thread had blocked */
} pp_file_limit;

void pp_file_limit_hold(pp_file_limit *limit);
void pp_file_limit_release(const pp_file_limit *limit);

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
