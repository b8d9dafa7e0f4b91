/* hand_clock.h - a clock that stands still unless somebody sleeps by it or moves it, for what is decided from times
 * and speeds. A sleeper is woken at once, at the time it asked for. Each process has a clock of its own. */
#ifndef PARAPET_HARNESS_HAND_CLOCK_H
#define PARAPET_HARNESS_HAND_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "base/clock.h"

#define HAND_CLOCK_START_NS (1000 * PP_SECOND_NS)
#define HAND_CLOCK_WALL_NS (INT64_C(1767225600) * PP_SECOND_NS) /* 2026 begins */

static _Atomic int64_t hand_clock_ns;
static _Atomic int64_t hand_clock_day_ns; /* what the wall clock shows beyond that */
static bool hand_clock_pauses_pass;

static inline int64_t hand_clock_now(void *context)
{
    (void)context;
    return atomic_load(&hand_clock_ns);
}

static inline int64_t hand_clock_wall(void *context)
{
    (void)context;
    return atomic_load(&hand_clock_ns) + atomic_load(&hand_clock_day_ns);
}

static inline void hand_clock_move(int64_t nanoseconds)
{
    (void)atomic_fetch_add(&hand_clock_ns, nanoseconds);
}

/* Somebody sets the time of day, by hours or more, forwards or back. */
static inline void hand_clock_set_day(int64_t nanoseconds)
{
    (void)atomic_fetch_add(&hand_clock_day_ns, nanoseconds);
}

static inline void hand_clock_sleep_until(void *context, int64_t due_ns)
{
    int64_t now = atomic_load(&hand_clock_ns);
    (void)context;
    while (now < due_ns && !atomic_compare_exchange_weak(&hand_clock_ns, &now, due_ns))
        continue;
}

/* Others need the processor; how long they need it is not part of the test. */
static inline void hand_clock_pause(void *context, int64_t nanoseconds)
{
    (void)context;
    if (hand_clock_pauses_pass)
        hand_clock_move(nanoseconds);
    else
        (void)nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
}

/* From now on the process goes by it, until hand_clock_drop. pauses_pass: a pause moves it too, which suits one
 * process that waits for what never comes; else time passes only in sleeps, such as those of a throttled store. */
static inline void hand_clock_take(bool pauses_pass)
{
    static const pp_clock clock = {hand_clock_now, hand_clock_wall, hand_clock_sleep_until, hand_clock_pause, NULL};
    hand_clock_pauses_pass = pauses_pass;
    atomic_store(&hand_clock_ns, HAND_CLOCK_START_NS);
    atomic_store(&hand_clock_day_ns, HAND_CLOCK_WALL_NS - HAND_CLOCK_START_NS);
    pp_clock_use(&clock);
}

static inline void hand_clock_drop(void)
{
    pp_clock_use(NULL);
}

#endif
