#include "comm/beside.h"

#include "base/thread.h"
#include "comm/internal.h"

/* What the calling thread runs. */
static _Thread_local const pp_beside *here;

void pp_beside_init(pp_beside *beside)
{
    (void)pthread_mutex_init(&beside->mutex, NULL);
    (void)pthread_cond_init(&beside->is_over, NULL);
}

static void wait_until_over(pp_beside *beside)
{
    (void)pthread_mutex_lock(&beside->mutex);
    while (beside->is_running)
        (void)pthread_cond_wait(&beside->is_over, &beside->mutex);
    (void)pthread_mutex_unlock(&beside->mutex);
}

static void join_thread(pp_beside *beside)
{
    wait_until_over(beside);
    if (beside->has_thread)
        (void)pthread_join(beside->thread, NULL);
    beside->has_thread = false;
}

void pp_beside_clear(pp_beside *beside)
{
    join_thread(beside);
    (void)pthread_cond_destroy(&beside->is_over);
    (void)pthread_mutex_destroy(&beside->mutex);
}

static void set_running(pp_beside *beside, bool is_running)
{
    (void)pthread_mutex_lock(&beside->mutex);
    beside->is_running = is_running;
    if (!is_running)
        (void)pthread_cond_broadcast(&beside->is_over);
    (void)pthread_mutex_unlock(&beside->mutex);
}

static void *run_thread(void *argument)
{
    pp_beside *beside = argument;
    here = beside;
    beside->run(beside->context);
    set_running(beside, false);
    return NULL;
}

/* It is the same to that function. */
static void run_at_once(const pp_beside *beside)
{
    const pp_beside *outer = here;
    here = beside;
    beside->run(beside->context);
    here = outer;
}

void pp_comm_run_beside(pp_comm *comm, void (*run)(void *context), void *context, bool has_thread)
{
    pp_beside *beside = &comm->beside;
    join_thread(beside);
    beside->run = run;
    beside->context = context;
    if (has_thread) {
        set_running(beside, true);
        beside->has_thread = pp_thread_start(&beside->thread, run_thread, beside);
        if (beside->has_thread)
            return;
        set_running(beside, false);
    }
    run_at_once(beside);
}

bool pp_comm_is_beside(const pp_comm *comm)
{
    return here == &comm->beside;
}

void pp_comm_complete(pp_comm *comm)
{
    if (!pp_comm_is_beside(comm))
        wait_until_over(&comm->beside);
}
