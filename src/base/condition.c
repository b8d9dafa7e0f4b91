#include "base/condition.h"

#include <time.h>

#define NANOSECONDS 1000000000L

void pp_condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(condition, &attributes);
    (void)pthread_condattr_destroy(&attributes);
}

void pp_condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock, long nanoseconds)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += nanoseconds;
    until.tv_sec += until.tv_nsec / NANOSECONDS;
    until.tv_nsec %= NANOSECONDS;
    (void)pthread_cond_timedwait(condition, lock, &until);
}
