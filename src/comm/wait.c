#include "comm/wait.h"

#include <sched.h>
#include <time.h>

#define YIELDS 24
#define SLEEP_LEAST_NS 20000L
#define SLEEP_MOST_NS 1000000L
#define STEP 8 /* sleeps before the next is twice as long */
#define IDLE_MOST 1000

long pp_wait_next(pp_wait *wait)
{
    long sleep = SLEEP_LEAST_NS;
    int i;
    wait->idle += wait->idle < IDLE_MOST;
    if (wait->idle <= YIELDS)
        return 0;
    for (i = YIELDS; i + STEP < wait->idle && sleep < SLEEP_MOST_NS; i += STEP)
        sleep *= 2;
    return sleep < SLEEP_MOST_NS ? sleep : SLEEP_MOST_NS;
}

void pp_wait_briefly(pp_wait *wait)
{
    long sleep = pp_wait_next(wait);
    if (sleep == 0)
        (void)sched_yield();
    else
        (void)nanosleep(&(struct timespec){.tv_nsec = sleep}, NULL);
}

void pp_wait_reset(pp_wait *wait)
{
    wait->idle = 0;
}

double pp_clock_seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
