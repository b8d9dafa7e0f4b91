#include "stores/throttled.h"

#include <pthread.h>

#include "base/clock.h"
#include "stores/wrapper.h"

typedef struct throttled_store {
    pp_wrapper wrapper;
    pp_throttle throttle;
    int64_t free_ns;       /* when the disk has done everything that was asked of it so far */
    int64_t overslept_ns;  /* by operations that ended, and not made up for yet */
    pthread_mutex_t mutex; /* of these three */
} throttled_store;

static int64_t cost_ns(const pp_throttle *throttle, size_t bytes)
{
    double seconds = throttle->latency_s;
    if (throttle->bytes_per_second > 0)
        seconds += (double)bytes / throttle->bytes_per_second;
    return (int64_t)(seconds * (double)PP_SECOND_NS);
}

/* The disk begins when it is free and asked. A process that was woken late asks late, without fault of its own: a
 * real disk would have been asked in time. */
static parapet_status throttled_begin(pp_wrapper *wrapper, pp_operation *operation)
{
    throttled_store *self = (throttled_store *)wrapper;
    int64_t now, asked;
    (void)pthread_mutex_lock(&self->mutex);
    now = pp_clock_now_ns();
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
    if (pp_clock_now_ns() >= due_ns)
        return status;
    pp_clock_sleep_until_ns(due_ns);
    (void)pthread_mutex_lock(&self->mutex);
    self->overslept_ns = pp_clock_now_ns() - due_ns;
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

parapet_status pp_store_throttled_build(pp_store **store, pp_store *inner, const pp_throttle *throttle)
{
    throttled_store *self;
    parapet_status status = pp_allocate(&self, sizeof *self);
    *store = NULL;
    if (status != PARAPET_OK)
        return status;
    pp_wrapper_init(&self->wrapper, inner, &throttled_hooks);
    self->throttle = *throttle;
    self->free_ns = INT64_MIN;
    (void)pthread_mutex_init(&self->mutex, NULL);
    *store = &self->wrapper.store;
    return PARAPET_OK;
}
