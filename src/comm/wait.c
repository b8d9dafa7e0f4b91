#include "comm/wait.h"

#include <sched.h>

#include "base/clock.h"

#define YIELDS 24
#define SLEEP_LEAST_NS 20000L
#define SLEEP_MOST_NS 1000000L
#define STEP 8 /* sleeps before the next is twice as long */
#define IDLE_MOST 1000
#define CROWDED_SECONDS 200e-6 /* a yield that takes longer gave the core to somebody who keeps it */
#define CROWDED_WAITS 256      /* how many times to sleep instead, until the next try */

/* On a crowded machine whoever yields gets the core back after the others' time slices, and whoever sleeps gets it
 * back on waking: 6,566 collective operations of 4 ranks on 2 cores beside other programs took 88 to 235 s with
 * yields, 25 to 62 s without for a while after each one that came back late. With a core for each rank yielding
 * answers within microseconds, and sleeping does not. */
static _Thread_local int crowded_waits;

long pp_wait_next(pp_wait *wait)
{
    long sleep = SLEEP_LEAST_NS;
    int i;
    wait->idle += wait->idle < IDLE_MOST;
    if (crowded_waits > 0)
        crowded_waits--;
    else if (wait->idle <= YIELDS)
        return 0;
    for (i = YIELDS; i + STEP < wait->idle && sleep < SLEEP_MOST_NS; i += STEP)
        sleep *= 2;
    return sleep < SLEEP_MOST_NS ? sleep : SLEEP_MOST_NS;
}

void pp_wait_yield(void)
{
    double start = pp_clock_seconds();
    (void)sched_yield();
    if (pp_clock_seconds() - start > CROWDED_SECONDS)
        crowded_waits = CROWDED_WAITS;
}

void pp_wait_briefly(pp_wait *wait)
{
    long sleep = pp_wait_next(wait);
    if (sleep == 0)
        pp_wait_yield();
    else
        pp_clock_pause_ns(sleep);
}

void pp_wait_reset(pp_wait *wait)
{
    wait->idle = 0;
}
