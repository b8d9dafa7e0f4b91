#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "store/wrapper.h"

#define SECOND_NS INT64_C(1000000000)

typedef struct throttled_store {
    pp_wrapper wrapper;
    pp_throttle throttle;
    pp_throttle_clock clock;
    int64_t free_ns;       /* when the disk has done everything that was asked of it so far */
    int64_t overslept_ns;  /* by operations that ended, and not made up for yet */
    pthread_mutex_t mutex; /* of these four */
} throttled_store;

static int64_t now_ns(void *context)
{
    struct timespec now;
    (void)context;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * SECOND_NS + now.tv_nsec;
}

static void sleep_until_ns(void *context, int64_t due_ns)
{
    struct timespec due = {.tv_sec = (time_t)(due_ns / SECOND_NS), .tv_nsec = (long)(due_ns % SECOND_NS)};
    (void)context;
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR)
        continue;
}

static int64_t cost_ns(const pp_throttle *throttle, size_t bytes)
{
    double seconds = throttle->latency_s;
    if (throttle->bytes_per_second > 0)
        seconds += (double)bytes / throttle->bytes_per_second;
    return (int64_t)(seconds * (double)SECOND_NS);
}

/* The disk begins when it is free and asked. A process that was woken late asks late, without fault of its own: a
 * real disk would have been asked in time. */
static parapet_status throttled_begin(pp_wrapper *wrapper, pp_operation *operation)
{
    throttled_store *self = (throttled_store *)wrapper;
    int64_t now, asked;
    (void)pthread_mutex_lock(&self->mutex);
    now = self->clock.now_ns(self->clock.context);
    asked = now - self->overslept_ns;
    self->free_ns = (self->free_ns < asked ? asked : self->free_ns) + cost_ns(&self->throttle, operation->bytes);
    self->overslept_ns = self->free_ns < now ? now - self->free_ns : 0; /* what is still to be made up for */
    operation->note = self->free_ns;
    (void)pthread_mutex_unlock(&self->mutex);
    return PARAPET_OK;
}

static parapet_status throttled_end(pp_wrapper *wrapper, const pp_operation *operation, parapet_status status)
{
    throttled_store *self = (throttled_store *)wrapper;
    int64_t due_ns = operation->note;
    if (self->clock.now_ns(self->clock.context) >= due_ns)
        return status;
    self->clock.sleep_until_ns(self->clock.context, due_ns);
    (void)pthread_mutex_lock(&self->mutex);
    self->overslept_ns = self->clock.now_ns(self->clock.context) - due_ns;
    (void)pthread_mutex_unlock(&self->mutex);
    return status;
}

static void throttled_free(pp_wrapper *wrapper)
{
    throttled_store *self = (throttled_store *)wrapper;
    (void)pthread_mutex_destroy(&self->mutex);
    pp_free(self);
}

static const pp_wrapper_hooks throttled_hooks = {
    .name = "throttled", .begin = throttled_begin, .end = throttled_end, .free = throttled_free};

void pp_store_throttled_set(pp_store *store, const pp_throttle *throttle)
{
    throttled_store *self = (throttled_store *)store;
    (void)pthread_mutex_lock(&self->mutex);
    self->throttle = *throttle;
    (void)pthread_mutex_unlock(&self->mutex);
}

parapet_status pp_store_throttled_build(pp_store **store, pp_store *inner, const pp_throttle *throttle,
                                        const pp_throttle_clock *clock)
{
    throttled_store *self;
    parapet_status status = pp_allocate(&self, sizeof *self);
    *store = NULL;
    if (status != PARAPET_OK)
        return status;
    pp_wrapper_init(&self->wrapper, inner, &throttled_hooks);
    self->throttle = *throttle;
    self->clock = clock != NULL ? *clock : (pp_throttle_clock){now_ns, sleep_until_ns, NULL};
    self->free_ns = INT64_MIN;
    (void)pthread_mutex_init(&self->mutex, NULL);
    *store = &self->wrapper.store;
    return PARAPET_OK;
}
