#include "transfer/pipeline.h"

#include <pthread.h>

typedef enum slot_state { SLOT_FREE, SLOT_PRODUCING, SLOT_READY, SLOT_CONSUMING } slot_state;

typedef struct pipeline {
    const pp_pipeline_job *job;
    slot_state *slots;
    long produced; /* items handed to producers */
    long consumed; /* items handed to consumers */
    bool is_ended;
    pp_failure failure;
    pthread_mutex_t next_lock; /* taken before lock */
    pthread_mutex_t lock;
    pthread_cond_t changed;
} pipeline;

typedef struct pipeline_thread {
    pipeline *line;
    pthread_t thread;
    int worker;
    pp_pipeline_role role;
    bool is_calling;
} pipeline_thread;

static void *item_of(const pp_pipeline_job *job, long number)
{
    return (char *)job->items + (size_t)(number % job->slot_count) * job->item_bytes;
}

static slot_state *slot_of(pipeline *line, long number)
{
    return &line->slots[number % line->job->slot_count];
}

static void fail_locked(pipeline *line, parapet_status status)
{
    pp_failure_take(&line->failure, status);
}

static bool has_failed(const pipeline *line)
{
    return line->failure.status != PARAPET_OK;
}

static bool wait_for_free_slot(pipeline *line)
{
    bool is_free;
    pthread_mutex_lock(&line->lock);
    while (!has_failed(line) && !line->is_ended && *slot_of(line, line->produced) != SLOT_FREE)
        pthread_cond_wait(&line->changed, &line->lock);
    is_free = !has_failed(line) && !line->is_ended;
    pthread_mutex_unlock(&line->lock);
    return is_free;
}

/* Waits for a free slot and fills its item; returns its number, or -1 when there is nothing more to produce.
 * next may touch storage, so it runs under a lock of its own that consumers never wait for. */
static long take_to_produce(pipeline *line)
{
    long number = -1;
    pthread_mutex_lock(&line->next_lock);
    if (wait_for_free_slot(line)) {
        bool is_end = false;
        parapet_status status = line->job->next(line->job->context, item_of(line->job, line->produced), &is_end);
        pthread_mutex_lock(&line->lock);
        fail_locked(line, status);
        line->is_ended = is_end;
        if (status == PARAPET_OK && !is_end) {
            number = line->produced++;
            *slot_of(line, number) = SLOT_PRODUCING;
        }
        pthread_cond_broadcast(&line->changed);
        pthread_mutex_unlock(&line->lock);
    }
    pthread_mutex_unlock(&line->next_lock);
    return number;
}

/* Waits for the next item in order to be ready; returns -1 when none will come. */
static long take_to_consume(pipeline *line)
{
    long number = -1;
    pthread_mutex_lock(&line->lock);
    while (!has_failed(line) && !(line->is_ended && line->consumed == line->produced) &&
           !(line->consumed < line->produced && *slot_of(line, line->consumed) == SLOT_READY))
        pthread_cond_wait(&line->changed, &line->lock);
    if (!has_failed(line) && line->consumed < line->produced) {
        number = line->consumed++;
        *slot_of(line, number) = SLOT_CONSUMING;
    }
    pthread_mutex_unlock(&line->lock);
    return number;
}

static void finish_item(pipeline *line, long number, slot_state state, parapet_status status)
{
    pthread_mutex_lock(&line->lock);
    *slot_of(line, number) = state;
    fail_locked(line, status);
    pthread_cond_broadcast(&line->changed);
    pthread_mutex_unlock(&line->lock);
}

static void *run_thread(void *argument)
{
    pipeline_thread *self = argument;
    pipeline *line = self->line;
    const pp_pipeline_job *job = line->job;
    bool produces = self->role == PP_PIPELINE_PRODUCES;
    long number;
    while ((number = produces ? take_to_produce(line) : take_to_consume(line)) >= 0) {
        void *item = item_of(job, number);
        parapet_status status = produces ? job->produce(job->context, self->worker, item)
                                         : job->consume(job->context, self->worker, item);
        if (status == PARAPET_OK && self->is_calling && job->tick != NULL)
            status = job->tick(job->context);
        finish_item(line, number, produces ? SLOT_READY : SLOT_FREE, status);
    }
    return NULL;
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

/* Thread 0 is the caller, 1 the storage thread, the rest further workers. */
static void run_threads(pipeline *line, pipeline_thread *threads, int thread_count)
{
    int i, started = 1;
    pp_pipeline_role workers = line->job->workers;
    pp_pipeline_role storage = workers == PP_PIPELINE_PRODUCES ? PP_PIPELINE_CONSUMES : PP_PIPELINE_PRODUCES;
    for (i = 0; i < thread_count; i++)
        threads[i] = (pipeline_thread){
            .line = line, .worker = i < 2 ? 0 : i - 1, .role = i == 1 ? storage : workers, .is_calling = i == 0};
    for (i = 1; i < thread_count; i++, started++) {
        if (pthread_create(&threads[i].thread, NULL, run_thread, &threads[i]) != 0) {
            pthread_mutex_lock(&line->lock);
            fail_locked(line, pp_fail(PARAPET_ERR_MEMORY, "the system refuses to start another thread"));
            pthread_cond_broadcast(&line->changed);
            pthread_mutex_unlock(&line->lock);
            break;
        }
    }
    run_thread(&threads[0]);
    for (i = 1; i < started; i++)
        pthread_join(threads[i].thread, NULL);
}

parapet_status pp_pipeline_run(const pp_pipeline_job *job)
{
    pipeline line = {.job = job};
    pipeline_thread *threads = NULL;
    int thread_count = job->worker_count + 1;
    parapet_status status;
    if (!job->has_storage_thread && job->worker_count == 1)
        return run_as_loop(job);
    if ((status = pp_allocate_array(&line.slots, (size_t)job->slot_count, sizeof line.slots[0])) != PARAPET_OK ||
        (status = pp_allocate_array(&threads, (size_t)thread_count, sizeof threads[0])) != PARAPET_OK)
        goto done;
    pthread_mutex_init(&line.next_lock, NULL);
    pthread_mutex_init(&line.lock, NULL);
    pthread_cond_init(&line.changed, NULL);
    run_threads(&line, threads, thread_count);
    status = pp_failure_put(&line.failure);
    pthread_cond_destroy(&line.changed);
    pthread_mutex_destroy(&line.lock);
    pthread_mutex_destroy(&line.next_lock);
done:
    pp_free(threads);
    pp_free(line.slots);
    return status;
}
