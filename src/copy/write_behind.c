#include "copy/write_behind.h"

static void write_slot(pp_copy_behind *behind, pp_copy_slot *slot)
{
    int64_t cell[PARAPET_MAX_NDIM];
    parapet_status status;
    pp_copy_slots_cell(behind->slots, slot->chunk, cell);
    status = pp_copy_target_append(behind->target, cell, slot->encoded);
    if (status != PARAPET_OK) {
        (void)pthread_mutex_lock(&behind->lock);
        pp_failure_take(&behind->failure, status);
        (void)pthread_mutex_unlock(&behind->lock);
        pp_copy_slots_give_up(behind->slots);
    }
    pp_copy_slots_give_back(behind->slots, slot);
}

/* The slot that has waited longest; NULL: the end. */
static pp_copy_slot *take(pp_copy_behind *behind)
{
    pp_copy_slot *slot;
    (void)pthread_mutex_lock(&behind->lock);
    behind->is_writing = false;
    (void)pthread_cond_broadcast(&behind->changed);
    while (behind->first == NULL && !behind->is_ended)
        (void)pthread_cond_wait(&behind->changed, &behind->lock);
    slot = behind->first;
    if (slot != NULL) {
        behind->first = slot->following;
        behind->is_writing = true;
    }
    (void)pthread_mutex_unlock(&behind->lock);
    return slot;
}

static void *run(void *argument)
{
    pp_copy_behind *behind = argument;
    pp_copy_slot *slot;
    while ((slot = take(behind)) != NULL)
        write_slot(behind, slot);
    return NULL;
}

parapet_status pp_copy_behind_start(pp_copy_behind *behind, pp_copy_slots *slots, pp_copy_target *target)
{
    *behind = (pp_copy_behind){.slots = slots, .target = target};
    (void)pthread_mutex_init(&behind->lock, NULL);
    (void)pthread_cond_init(&behind->changed, NULL);
    if (pthread_create(&behind->thread, NULL, run, behind) != 0)
        return pp_fail(PARAPET_ERR_MEMORY, "the system refuses to start another thread");
    behind->is_running = true;
    return PARAPET_OK;
}

void pp_copy_behind_put(pp_copy_behind *behind, pp_copy_slot *slot, pp_bytes encoded)
{
    slot->encoded = encoded;
    slot->following = NULL;
    (void)pthread_mutex_lock(&behind->lock);
    if (behind->first == NULL)
        behind->first = slot;
    else
        behind->last->following = slot;
    behind->last = slot;
    (void)pthread_cond_broadcast(&behind->changed);
    (void)pthread_mutex_unlock(&behind->lock);
}

parapet_status pp_copy_behind_drain(pp_copy_behind *behind)
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

void pp_copy_behind_stop(pp_copy_behind *behind)
{
    if (behind->slots == NULL)
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
    *behind = (pp_copy_behind){0};
}
