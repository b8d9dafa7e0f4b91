#include "base/clock.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

static int64_t read_ns(clockid_t which)
{
    struct timespec now = {0};
    (void)clock_gettime(which, &now);
    return (int64_t)now.tv_sec * PP_SECOND_NS + now.tv_nsec;
}

static struct timespec timespec_of(int64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / PP_SECOND_NS), .tv_nsec = (long)(ns % PP_SECOND_NS)};
}

static int64_t system_now_ns(void *context)
{
    (void)context;
    return read_ns(CLOCK_MONOTONIC);
}

static int64_t system_wall_ns(void *context)
{
    (void)context;
    return read_ns(CLOCK_REALTIME);
}

static void system_sleep_until_ns(void *context, int64_t due_ns)
{
    struct timespec due = timespec_of(due_ns);
    (void)context;
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR)
        continue;
}

static void system_pause_ns(void *context, int64_t nanoseconds)
{
    struct timespec time = timespec_of(nanoseconds);
    (void)context;
    (void)nanosleep(&time, NULL);
}

static const pp_clock system_clock = {system_now_ns, system_wall_ns, system_sleep_until_ns, system_pause_ns, NULL};
static const pp_clock *_Atomic current = &system_clock;

void pp_clock_use(const pp_clock *clock)
{
    atomic_store(&current, clock != NULL ? clock : &system_clock);
}

int64_t pp_clock_now_ns(void)
{
    const pp_clock *clock = atomic_load(&current);
    return clock->now_ns(clock->context);
}

double pp_clock_seconds(void)
{
    return 1e-9 * (double)pp_clock_now_ns();
}

int64_t pp_clock_wall_ns(void)
{
    const pp_clock *clock = atomic_load(&current);
    return clock->wall_ns(clock->context);
}

void pp_clock_print(int64_t wall_seconds, char text[PP_CLOCK_TEXT_BYTES])
{
    time_t seconds = (time_t)wall_seconds;
    struct tm parts;
    if (gmtime_r(&seconds, &parts) == NULL || strftime(text, PP_CLOCK_TEXT_BYTES, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        (void)snprintf(text, PP_CLOCK_TEXT_BYTES, "?");
}

void pp_clock_sleep_until_ns(int64_t due_ns)
{
    const pp_clock *clock = atomic_load(&current);
    clock->sleep_until_ns(clock->context, due_ns);
}

void pp_clock_pause_ns(int64_t nanoseconds)
{
    const pp_clock *clock = atomic_load(&current);
    clock->pause_ns(clock->context, nanoseconds);
}

void pp_clock_init_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(condition, &attributes);
    (void)pthread_condattr_destroy(&attributes);
}

/* Another clock has no conditions: it pauses with the lock released, as if nobody had signalled. */
void pp_clock_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t nanoseconds)
{
    const pp_clock *clock = atomic_load(&current);
    struct timespec due = timespec_of(pp_clock_now_ns() + nanoseconds);
    if (clock == &system_clock) {
        (void)pthread_cond_timedwait(condition, lock, &due);
        return;
    }
    (void)pthread_mutex_unlock(lock);
    clock->pause_ns(clock->context, nanoseconds);
    (void)pthread_mutex_lock(lock);
}
