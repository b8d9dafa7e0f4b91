/* clock.h - the two clocks. By the monotonic one everything is measured and waited for; the wall clock only dates
 * what people read, because somebody may set it.
 *
 * Nothing else in src/ or tool/ reads a time or sleeps (scripts/check_layers). So a test that gives the process
 * another clock decides how fast storage, ranks and threads appear to be, and what the library concludes from speeds
 * is exact: tests/harness/hand_clock.h. */
#ifndef PARAPET_BASE_CLOCK_H
#define PARAPET_BASE_CLOCK_H

#include <pthread.h>
#include <stdint.h>

#define PP_SECOND_NS INT64_C(1000000000)

/* Monotonic: since some instant. A handler of signals may call them. */
int64_t pp_clock_now_ns(void);
double pp_clock_seconds(void);

/* The time of day: since 1970. */
int64_t pp_clock_wall_ns(void);

/* "2026-11-19T15:53:58Z", or "?" of a time that no calendar has. */
#define PP_CLOCK_TEXT_BYTES 32
void pp_clock_print(int64_t wall_seconds, char text[PP_CLOCK_TEXT_BYTES]);

/* Until the time has come, whatever signals arrive. For storage that tests and benchmarks slow down
 * (tests/harness/stores/throttled.c): the library itself pauses, or waits for a condition. */
void pp_clock_sleep_until_ns(int64_t due_ns);

/* For a moment, because somebody else has to act before there is anything to do. */
void pp_clock_pause_ns(int64_t nanoseconds);

/* A condition that pp_clock_wait can wait for. Destroy it with pthread_cond_destroy. */
void pp_clock_init_condition(pthread_cond_t *condition);

/* Until it is signalled, or so many nanoseconds have passed; the lock is held. It may also return early. */
void pp_clock_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t nanoseconds);

/* Where times come from. A pause may be shorter than asked for, or longer. */
typedef struct pp_clock {
    int64_t (*now_ns)(void *context);
    int64_t (*wall_ns)(void *context);
    void (*sleep_until_ns)(void *context, int64_t due_ns);
    void (*pause_ns)(void *context, int64_t nanoseconds);
    void *context;
} pp_clock;

/* From now on all threads of this process go by that clock, which must outlive its use; NULL: by the system's. For
 * tests, before there are threads that wait. */
void pp_clock_use(const pp_clock *clock);

#endif
