#include "copy/write_behind.h"

#include "base/thread.h"

static void write_open_chunk(pp_write_behind *behind, pp_open_chunk *open_chunk)
{
    int64_t cell[PARAPET_MAX_NDIM];
    parapet_status status;
    pp_open_chunks_cell(behind->open_chunks, open_chunk->chunk, cell);
    status = pp_copy_target_append(behind->target, cell, open_chunk->encoded, open_chunk->checksum);
    if (status != PARAPET_OK) {
        (void)pthread_mutex_lock(&behind->lock);
        pp_failure_take(&behind->failure, status);
        (void)pthread_mutex_unlock(&behind->lock);
        pp_open_chunks_give_up(behind->open_chunks);
    }
    pp_open_chunks_close(behind->open_chunks, open_chunk);
}

/* The open chunk that has waited longest; NULL: the end. */
static pp_open_chunk *take(pp_write_behind *behind)
{
    pp_open_chunk *open_chunk;
    (void)pthread_mutex_lock(&behind->lock);
    behind->is_writing = false;
    (void)pthread_cond_broadcast(&behind->changed);
    while (behind->first == NULL && !behind->is_ended)
        (void)pthread_cond_wait(&behind->changed, &behind->lock);
    open_chunk = behind->first;
    if (open_chunk != NULL) {
        behind->first = open_chunk->following;
        behind->is_writing = true;
    }
    (void)pthread_mutex_unlock(&behind->lock);
    return open_chunk;
}

static void *run(void *argument)
{
    pp_write_behind *behind = argument;
    pp_open_chunk *open_chunk;
    while ((open_chunk = take(behind)) != NULL)
        write_open_chunk(behind, open_chunk);
    return NULL;
}

parapet_status pp_write_behind_start(pp_write_behind *behind, pp_open_chunks *open_chunks, pp_copy_target *target)
{
    *behind = (pp_write_behind){.open_chunks = open_chunks, .target = target};
    (void)pthread_mutex_init(&behind->lock, NULL);
    (void)pthread_cond_init(&behind->changed, NULL);
    if (!pp_thread_start(&behind->thread, run, behind))
        return pp_thread_fail();
    behind->is_running = true;
    return PARAPET_OK;
}

void pp_write_behind_put(pp_write_behind *behind, pp_open_chunk *open_chunk, pp_bytes encoded)
{
    open_chunk->encoded = encoded;
    open_chunk->checksum = pp_copy_target_checksum(behind->target, encoded);
    open_chunk->following = NULL;
    (void)pthread_mutex_lock(&behind->lock);
    if (behind->first == NULL)
        behind->first = open_chunk;
    else
        behind->last->following = open_chunk;
    behind->last = open_chunk;
    (void)pthread_cond_broadcast(&behind->changed);
    (void)pthread_mutex_unlock(&behind->lock);
}

parapet_status pp_write_behind_drain(pp_write_behind *behind)
{
    parapet_status status;
    if (!behind->is_running)
        return PARAPET_OK;
    (void)pthread_mutex_lock(&behind->lock);
    while (behind->first != NULL || behind->is_writing)
        (void)pthread_cond_wait(&behind->changed, &behind->lock);
    status = pp_failure_put(&behind->failure);
    (void)pthread_mutex_unlock(&behind->lock);
    return status;
}

void pp_write_behind_stop(pp_write_behind *behind)
{
    if (behind->open_chunks == NULL)
        return;
    if (behind->is_running) {
        (void)pthread_mutex_lock(&behind->lock);
        behind->is_ended = true;
        (void)pthread_cond_broadcast(&behind->changed);
        (void)pthread_mutex_unlock(&behind->lock);
        (void)pthread_join(behind->thread, NULL);
    }
    (void)pthread_cond_destroy(&behind->changed);
    (void)pthread_mutex_destroy(&behind->lock);
    *behind = (pp_write_behind){0};
}
