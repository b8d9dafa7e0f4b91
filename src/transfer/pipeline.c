/* pipeline.c - the slots of the ring and who may move them; pipeline.h says what passes through it.
 *
 * The states of a slot, without ITEM_:
 *
 *     FREE --make_item--> WANTS_FETCH --pp_pipeline_take_to_fetch--> FETCHING
 *      |                       ^                                        | pp_pipeline_fetched
 *      |                       | finish_item, if it needs messages      v
 *      +----make_item----------|-----------------------------------> TO_PRODUCE
 *                              |                                        | try_to_produce
 *                              |                                        v
 *                              +------------------------------------ PRODUCING
 *                                                                       | finish_item
 *                                                                       v
 *                                                                    TO_CONSUME
 *                                                                       | try_to_consume
 *                                                                       v
 *     FREE <---finish_item------------------------------------------ CONSUMING <------------+
 *      ^                                                                | finish_item       |
 *      |                                                                v                   |
 *      |                                                             WANTS_SEND             |
 *      |                                     pp_pipeline_take_to_send   |                   | try_to_consume
 *      |                                                                v                   |
 *      +----pp_pipeline_sent---------------------------------------- SENDING                |
 *                                                                       | pp_pipeline_sent  |
 *                                                                       v                   |
 *                                                                    TO_CONSUME_AGAIN ------+
 *
 * An item that fails while it is produced or consumed leaves a FREE slot (finish_item).
 *
 * Invariants:
 *
 *  1. Item n is in slot n modulo slot_count. make_item waits for that one slot even if others are free, so the
 *     ring holds the last slot_count items and no others (find_oldest).
 *  2. Items are handed to consumers in order. TO_CONSUME_AGAIN comes first, but such an item is older than all
 *     that have not been handed over. So the oldest item never waits for a younger one, and any number of slots
 *     will do.
 *  3. The lock guards states and counts, never what is in an item. An item belongs to the thread that has moved
 *     it to PRODUCING, CONSUMING, FETCHING or SENDING.
 *  4. Between what job->wants_send says of an item and pp_pipeline_sent, job->has_more does not change its
 *     answer: both look at it, one to count the item in unfinished and the other to bring it back.
 *  5. After a failure or pp_pipeline_stop slots stay as they are; pp_pipeline_is_over then only waits for
 *     threads.
 *
 * The option `threads` sets worker_count. pool is NULL with io_thread=none, and where a thread would not pay
 * (pipeline_of in transfer/run.c). Panda proposed to send messages during storage calls, and Kuo et al.
 * gathered during them (docs/design/papers.md, 3 and 4). Two threads for storage were tried in copies and
 * gained nothing (docs/results/benchmarks.md, "2 GiB"). */
#include "transfer/pipeline.h"

#include <pthread.h>

#include "base/clock.h"
#include "base/status.h"

typedef enum item_state {
    ITEM_FREE,
    ITEM_WANTS_FETCH,
    ITEM_FETCHING,
    ITEM_TO_PRODUCE,
    ITEM_PRODUCING,
    ITEM_TO_CONSUME,
    ITEM_CONSUMING,
    ITEM_WANTS_SEND,
    ITEM_SENDING,
    ITEM_TO_CONSUME_AGAIN
} item_state;

typedef struct pipeline_thread {
    pp_pipeline *line;
    pp_pool_thread *thread;
    int worker;
    pp_pipeline_role role;
    bool is_calling;
} pipeline_thread;

struct pp_pipeline {
    const pp_pipeline_job *job;
    item_state *states;
    long made;      /* items that next has given */
    long consumed;  /* items handed to consumers */
    int unproduced; /* items that next has given and that are not produced yet */
    int unfinished; /* items that will be consumed once more when they have been sent */
    bool is_ended, is_stopped, is_next_busy;
    int threads_alive;
    pp_failure failure;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pipeline_thread *threads;
    int thread_count;
};

static void *item_of(const pp_pipeline_job *job, long number)
{
    return (char *)job->items + (size_t)(number % job->slot_count) * job->item_bytes;
}

static item_state *state_of(pp_pipeline *line, long number)
{
    return &line->states[number % line->job->slot_count];
}

static item_state *state_of_item(pp_pipeline *line, const void *item)
{
    return &line->states[(size_t)((const char *)item - (const char *)line->job->items) / line->job->item_bytes];
}

static bool must_stop(const pp_pipeline *line)
{
    return line->is_stopped || line->failure.status != PARAPET_OK;
}

/* The state in which an item waits to be produced. With the lock held; no other thread uses the item. */
static item_state state_after_next(const pp_pipeline *line, const void *item)
{
    const pp_pipeline_job *job = line->job;
    return job->wants_fetch != NULL && job->wants_fetch(job->context, item) ? ITEM_WANTS_FETCH : ITEM_TO_PRODUCE;
}

/* The oldest item in a state; -1: none. */
static long find_oldest(pp_pipeline *line, item_state state)
{
    long number = line->made - line->job->slot_count;
    for (number = number < 0 ? 0 : number; number < line->made; number++)
        if (*state_of(line, number) == state)
            return number;
    return -1;
}

/* Calls next without the lock: it may touch storage. */
static void make_item(pp_pipeline *line)
{
    void *item = item_of(line->job, line->made);
    bool is_end = false;
    parapet_status status;
    /* The slot stays FREE while it is filled: is_next_busy is what keeps other threads from making this item too,
     * and made is only raised when the state is set. */
    line->is_next_busy = true;
    pthread_mutex_unlock(&line->lock);
    status = line->job->next(line->job->context, item, &is_end);
    pthread_mutex_lock(&line->lock);
    line->is_next_busy = false;
    pp_failure_take(&line->failure, status);
    line->is_ended = line->is_ended || is_end;
    if (status == PARAPET_OK && !is_end) {
        *state_of(line, line->made) = state_after_next(line, item);
        line->made++;
        line->unproduced++;
    }
    pthread_cond_broadcast(&line->changed);
}

static bool can_make(pp_pipeline *line)
{
    return !line->is_ended && !line->is_next_busy && *state_of(line, line->made) == ITEM_FREE;
}

/* With the lock held: an item to produce, made if need be; -1: none now. */
static long try_to_produce(pp_pipeline *line)
{
    long number = find_oldest(line, ITEM_TO_PRODUCE);
    while (number < 0 && !must_stop(line) && can_make(line)) {
        make_item(line);
        number = find_oldest(line, ITEM_TO_PRODUCE);
    }
    if (number >= 0)
        *state_of(line, number) = ITEM_PRODUCING;
    return number;
}

static long try_to_consume(pp_pipeline *line)
{
    long number = line->unfinished > 0 ? find_oldest(line, ITEM_TO_CONSUME_AGAIN) : -1;
    if (number >= 0) {
        *state_of(line, number) = ITEM_CONSUMING;
        line->unfinished--;
        return number;
    }
    if (line->consumed == line->made || *state_of(line, line->consumed) != ITEM_TO_CONSUME)
        return -1;
    *state_of(line, line->consumed) = ITEM_CONSUMING;
    return line->consumed++;
}

static bool is_side_done(const pp_pipeline *line, pp_pipeline_role role)
{
    if (must_stop(line))
        return true;
    if (role == PP_PIPELINE_PRODUCES)
        return line->is_ended && line->unproduced == 0;
    return line->is_ended && line->consumed == line->made && line->unfinished == 0;
}

/* Waits for an item; -1 when none will come. */
static long take(pp_pipeline *line, pp_pipeline_role role)
{
    long number = -1;
    pthread_mutex_lock(&line->lock);
    while (!is_side_done(line, role) &&
           (number = role == PP_PIPELINE_PRODUCES ? try_to_produce(line) : try_to_consume(line)) < 0 &&
           !is_side_done(line, role))
        pthread_cond_wait(&line->changed, &line->lock);
    pthread_mutex_unlock(&line->lock);
    return number;
}

static bool has_more(const pp_pipeline_job *job, const void *item)
{
    return job->has_more != NULL && job->has_more(job->context, item);
}

static void finish_item(pp_pipeline *line, long number, pp_pipeline_role role, parapet_status status)
{
    const pp_pipeline_job *job = line->job;
    void *item = item_of(job, number);
    item_state *state = state_of(line, number);
    pthread_mutex_lock(&line->lock);
    pp_failure_take(&line->failure, status);
    if (status != PARAPET_OK) {
        *state = ITEM_FREE;
    } else if (role == PP_PIPELINE_CONSUMES) {
        *state = job->wants_send != NULL && job->wants_send(job->context, item) ? ITEM_WANTS_SEND : ITEM_FREE;
        /* Counted now and not when it comes back: until then the last consumer would find nothing left, and go. */
        line->unfinished += *state == ITEM_WANTS_SEND && has_more(job, item);
    } else if (state_after_next(line, item) == ITEM_WANTS_FETCH) {
        /* A direct copy was refused. The item still counts as unproduced, so a producer waits for it. */
        *state = ITEM_WANTS_FETCH;
    } else {
        *state = ITEM_TO_CONSUME;
        line->unproduced--;
    }
    pthread_cond_broadcast(&line->changed);
    pthread_mutex_unlock(&line->lock);
}

static parapet_status work_on(pp_pipeline *line, long number, pp_pipeline_role role, int worker)
{
    const pp_pipeline_job *job = line->job;
    void *item = item_of(job, number);
    return role == PP_PIPELINE_PRODUCES ? job->produce(job->context, worker, item)
                                        : job->consume(job->context, worker, item);
}

static void run_thread(void *argument)
{
    pipeline_thread *self = argument;
    pp_pipeline *line = self->line;
    long number;
    while ((number = take(line, self->role)) >= 0) {
        parapet_status status = work_on(line, number, self->role, self->worker);
        if (status == PARAPET_OK && self->is_calling && line->job->tick != NULL)
            status = line->job->tick(line->job->context);
        finish_item(line, number, self->role, status);
    }
    pthread_mutex_lock(&line->lock);
    line->threads_alive--;
    pthread_cond_broadcast(&line->changed);
    pthread_mutex_unlock(&line->lock);
}

static parapet_status run_as_loop(const pp_pipeline_job *job)
{
    for (;;) {
        bool is_end = false;
        parapet_status status = job->next(job->context, job->items, &is_end);
        if (status != PARAPET_OK || is_end)
            return status;
        if ((status = job->produce(job->context, 0, job->items)) != PARAPET_OK ||
            (status = job->consume(job->context, 0, job->items)) != PARAPET_OK)
            return status;
        if (job->tick != NULL && (status = job->tick(job->context)) != PARAPET_OK)
            return status;
    }
}

static parapet_status build_line(pp_pipeline **line, const pp_pipeline_job *job, int thread_count)
{
    parapet_status status = pp_allocate(line, sizeof **line);
    if (status != PARAPET_OK)
        return status;
    (*line)->job = job;
    (*line)->thread_count = thread_count;
    if ((status = pp_allocate_array(&(*line)->states, (size_t)job->slot_count, sizeof(*line)->states[0])) !=
            PARAPET_OK ||
        (status = pp_allocate_array(&(*line)->threads, (size_t)thread_count, sizeof(*line)->threads[0])) !=
            PARAPET_OK) {
        pp_free((*line)->states);
        pp_free(*line);
        *line = NULL;
        return status;
    }
    pthread_mutex_init(&(*line)->lock, NULL);
    pp_clock_init_condition(&(*line)->changed);
    return PARAPET_OK;
}

/* Thread 0 is the storage thread, the rest are workers. One that cannot be started is a failure of the line. */
static void start_threads(pp_pipeline *line, int first_worker)
{
    pp_pipeline_role workers = line->job->workers;
    pp_pipeline_role storage = workers == PP_PIPELINE_PRODUCES ? PP_PIPELINE_CONSUMES : PP_PIPELINE_PRODUCES;
    parapet_status status = PARAPET_OK;
    int i, wanted = line->thread_count;
    for (i = 0; i < wanted; i++) {
        line->threads[i] = (pipeline_thread){
            .line = line, .worker = i == 0 ? 0 : first_worker + i - 1, .role = i == 0 ? storage : workers};
        /* Before it runs: a thread that has already ended would otherwise be counted as alive for ever. */
        pthread_mutex_lock(&line->lock);
        line->threads_alive++;
        pthread_mutex_unlock(&line->lock);
        status = pp_pool_start(line->job->pool, &line->threads[i].thread, run_thread, &line->threads[i]);
        if (status != PARAPET_OK)
            break;
    }
    if (i == wanted)
        return;
    line->thread_count = i;
    pthread_mutex_lock(&line->lock);
    line->threads_alive--;
    pp_failure_take(&line->failure, status);
    pthread_cond_broadcast(&line->changed);
    pthread_mutex_unlock(&line->lock);
}

parapet_status pp_pipeline_run(const pp_pipeline_job *job)
{
    pp_pipeline *line;
    pipeline_thread self;
    parapet_status status;
    if (job->pool == NULL)
        return run_as_loop(job);
    if ((status = build_line(&line, job, job->worker_count)) != PARAPET_OK)
        return status;
    line->threads_alive++;
    start_threads(line, 1);
    self = (pipeline_thread){.line = line, .role = job->workers, .is_calling = true};
    run_thread(&self);
    return pp_pipeline_finish(line);
}

parapet_status pp_pipeline_start(pp_pipeline **line, const pp_pipeline_job *job)
{
    int thread_count = job->pool != NULL ? job->worker_count + 1 : 0;
    parapet_status status = build_line(line, job, thread_count);
    if (status == PARAPET_OK)
        start_threads(*line, 0);
    return status;
}

bool pp_pipeline_step(pp_pipeline *line)
{
    pp_pipeline_role role = PP_PIPELINE_CONSUMES;
    long number = -1;
    bool is_made;
    if (line->thread_count > 0)
        return false;
    pthread_mutex_lock(&line->lock);
    is_made = !must_stop(line) && (number = try_to_consume(line)) < 0 && can_make(line);
    if (number < 0 && !must_stop(line)) {
        role = PP_PIPELINE_PRODUCES;
        number = try_to_produce(line);
    }
    pthread_mutex_unlock(&line->lock);
    if (number >= 0)
        finish_item(line, number, role, work_on(line, number, role, 0));
    return number >= 0 || is_made;
}

static void *take_outside(pp_pipeline *line, item_state from, item_state to)
{
    long number;
    pthread_mutex_lock(&line->lock);
    if ((number = find_oldest(line, from)) >= 0)
        *state_of(line, number) = to;
    pthread_mutex_unlock(&line->lock);
    return number >= 0 ? item_of(line->job, number) : NULL;
}

static void pass_outside(pp_pipeline *line, const void *item, item_state to)
{
    pthread_mutex_lock(&line->lock);
    *state_of_item(line, item) = to;
    pthread_cond_broadcast(&line->changed);
    pthread_mutex_unlock(&line->lock);
}

void *pp_pipeline_take_to_fetch(pp_pipeline *line)
{
    return take_outside(line, ITEM_WANTS_FETCH, ITEM_FETCHING);
}

void *pp_pipeline_take_to_send(pp_pipeline *line)
{
    return take_outside(line, ITEM_WANTS_SEND, ITEM_SENDING);
}

void pp_pipeline_fetched(pp_pipeline *line, void *item)
{
    pass_outside(line, item, ITEM_TO_PRODUCE);
}

void pp_pipeline_sent(pp_pipeline *line, void *item)
{
    pass_outside(line, item, has_more(line->job, item) ? ITEM_TO_CONSUME_AGAIN : ITEM_FREE);
}

void pp_pipeline_stop(pp_pipeline *line, parapet_status status)
{
    pthread_mutex_lock(&line->lock);
    line->is_stopped = true;
    pp_failure_take(&line->failure, status);
    pthread_cond_broadcast(&line->changed);
    pthread_mutex_unlock(&line->lock);
}

bool pp_pipeline_is_stopping(pp_pipeline *line)
{
    bool stops;
    pthread_mutex_lock(&line->lock);
    stops = must_stop(line);
    pthread_mutex_unlock(&line->lock);
    return stops;
}

static bool is_all_free(const pp_pipeline *line)
{
    int i;
    for (i = 0; i < line->job->slot_count; i++)
        if (line->states[i] != ITEM_FREE)
            return false;
    return true;
}

bool pp_pipeline_is_over(pp_pipeline *line)
{
    bool is_over;
    pthread_mutex_lock(&line->lock);
    is_over = line->threads_alive == 0 && (must_stop(line) || (line->is_ended && is_all_free(line)));
    pthread_mutex_unlock(&line->lock);
    return is_over;
}

void pp_pipeline_wait(pp_pipeline *line, long nanoseconds)
{
    pthread_mutex_lock(&line->lock);
    pp_clock_wait(&line->changed, &line->lock, nanoseconds);
    pthread_mutex_unlock(&line->lock);
}

parapet_status pp_pipeline_finish(pp_pipeline *line)
{
    parapet_status status;
    int i;
    for (i = 0; i < line->thread_count; i++)
        pp_pool_join(line->threads[i].thread);
    status = pp_failure_put(&line->failure);
    pthread_cond_destroy(&line->changed);
    pthread_mutex_destroy(&line->lock);
    pp_free(line->threads);
    pp_free(line->states);
    pp_free(line);
    return status;
}
