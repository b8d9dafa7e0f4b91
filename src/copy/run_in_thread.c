#include "copy/run_in_thread.h"

#include <stdbool.h>

#include "base/clock.h"
#include "base/status.h"
#include "base/thread.h"

#define LOOK_NS 1000000L

typedef struct worker {
    const pp_thread_work *aside;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_done;
    pp_failure failure;
} worker;

static void *run(void *argument)
{
    worker *self = argument;
    pp_failure_take(&self->failure, self->aside->work(self->aside->context));
    (void)pthread_mutex_lock(&self->lock);
    self->is_done = true;
    (void)pthread_cond_signal(&self->changed);
    (void)pthread_mutex_unlock(&self->lock);
    return NULL;
}

/* Until the work is done, or it is time to look again; true: it is done. */
static bool wait_for(worker *self)
{
    bool is_done;
    (void)pthread_mutex_lock(&self->lock);
    if (!self->is_done)
        pp_clock_wait(&self->changed, &self->lock, LOOK_NS);
    is_done = self->is_done;
    (void)pthread_mutex_unlock(&self->lock);
    return is_done;
}

parapet_status pp_run_in_thread(const pp_thread_work *aside)
{
    worker self = {.aside = aside};
    pthread_t thread;
    (void)pthread_mutex_init(&self.lock, NULL);
    pp_clock_init_condition(&self.changed);
    if (!pp_thread_start(&thread, run, &self))
        pp_failure_take(&self.failure, pp_thread_fail());
    else {
        while (!wait_for(&self))
            aside->look(aside->context);
        (void)pthread_join(thread, NULL);
    }
    (void)pthread_cond_destroy(&self.changed);
    (void)pthread_mutex_destroy(&self.lock);
    return pp_failure_put(&self.failure);
}
