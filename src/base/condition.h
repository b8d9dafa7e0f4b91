/* condition.h - a condition that is waited for at most for some time, by a clock that nobody sets. */
#ifndef PARAPET_BASE_CONDITION_H
#define PARAPET_BASE_CONDITION_H

#include <pthread.h>

/* Destroy it with pthread_cond_destroy. */
void pp_condition_init(pthread_cond_t *condition);

/* Until it is signalled, or so many nanoseconds, less than a second, have passed; the lock is held. */
void pp_condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock, long nanoseconds);

#endif
