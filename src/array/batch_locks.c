/* batch_locks.c - who else may change the arrays of a call: nobody alone while it stages, nobody at all while it
 * publishes (node_lock.h). */
#include "array/batch_locks.h"

#include "array/attributes.h"
#include "array/batch.h"
#include "array/refresh.h"
#include "array/resize.h"

static pp_node_lock_wish wish_of(const pp_batch *all, pp_lock_mode mode)
{
    return (pp_node_lock_wish){
        .store = all->store, .paths = all->paths, .count = all->path_count, .mode = mode, .purpose = "writing"};
}

/* Completes what a crash left undone, first of all. A seal that is in force stays until the new shards are staged. */
static bool must_change_first(const parapet_array *array)
{
    return !array->is_sealed && (array->has_head || array->is_mark_ignored ||
                                 pp_json_has(array->document.attributes, PP_RESERVED_ATTRIBUTE));
}

/* Rank 0: shares the arrays with others that write, and looks whether they can be written as they are. */
static parapet_status share_arrays(pp_batch *all, bool may_wait, int64_t *is_ready)
{
    pp_node_lock_wish wish = wish_of(all, PP_LOCK_SHARED);
    parapet_status status = (may_wait ? pp_node_locks_take : pp_node_locks_try)(all->holds, &wish);
    int i;
    for (i = 0; i < all->count && status == PARAPET_OK; i++) {
        parapet_array *array = all->list[i].array;
        bool is_aged = false;
        if (!array->is_detached)
            status = pp_array_look(array, &is_aged);
        if (is_aged || must_change_first(array))
            *is_ready = 0;
    }
    return status;
}

/* A flush goes on with an array that another job has made smaller: flush_batch reports that in the end. */
static parapet_status make_ready(parapet_array *array, bool flushes)
{
    pp_array_document before = array->document; /* its shape only */
    parapet_status status = array->is_detached ? PARAPET_OK : pp_array_refresh(array);
    int d;
    for (d = 0; d < before.ndim && status == PARAPET_OK && !flushes; d++)
        if (array->document.shape[d] < before.shape[d])
            status =
                pp_fail(PARAPET_ERR_STALE, "another job has made it smaller since it was opened; close it and open "
                                           "it again");
    return status == PARAPET_OK && must_change_first(array) ? pp_array_make_changeable(array) : status;
}

/* Rank 0: has the arrays alone for what must be changed first, then shares them. */
static parapet_status ready_arrays(void *subject, const void *argument)
{
    pp_batch *all = subject;
    pp_node_lock_wish wish = wish_of(all, PP_LOCK_EXCLUSIVE);
    parapet_status status;
    int i;
    (void)argument;
    pp_node_locks_release(all->holds, all->path_count);
    status = pp_node_locks_take(all->holds, &wish);
    for (i = 0; i < all->count && status == PARAPET_OK; i++)
        if ((status = make_ready(all->list[i].array, all->flushes)) != PARAPET_OK && i > 0)
            status = pp_fail_within(status, "array \"%s\"", all->list[i].array->path);
    return status == PARAPET_OK ? pp_node_locks_share(all->holds, all->path_count) : status;
}

/* Then this rank may know less of it than others do. */
static bool has_broken(const pp_batch *all)
{
    int i;
    for (i = 0; i < all->count; i++)
        if (all->list[i].array->is_broken)
            return true;
    return false;
}

/* [collective] From here on other jobs can only write parts of the arrays, and the handles agree with what is
 * stored. For calls that could not hold the arrays where they began. */
static parapet_status hold_guarded(pp_batch *all, parapet_status mine)
{
    pp_comm *comm = all->store->comm;
    int64_t is_ready = mine == PARAPET_OK && !has_broken(all);
    parapet_status status = mine;
    if (status == PARAPET_OK && pp_comm_rank(comm) == 0)
        status = share_arrays(all, true, &is_ready);
    if ((status = pp_comm_agree_min(comm, "locking", status, &is_ready)) != PARAPET_OK || is_ready)
        return status;
    return pp_batch_do(all, "locking", ready_arrays);
}

parapet_status pp_batch_hold(pp_batch *all, parapet_status mine)
{
    parapet_status status;
    pp_batch_close_guards(all);
    status = hold_guarded(all, mine);
    pp_batch_open_guards(all);
    return status;
}

/* Rank 0: as a rule no other job holds the arrays, and they are as the handles know them. Then the agreement
 * with which the call begins says so to all ranks. Otherwise nothing is held, and pp_batch_hold follows on all of
 * them. */
parapet_status pp_batch_hold_at_once(pp_batch *all, int64_t *is_held)
{
    parapet_status status = share_arrays(all, false, is_held);
    if (status == PARAPET_ERR_BUSY)
        *is_held = 0;
    if (status != PARAPET_OK || !*is_held)
        pp_node_locks_release(all->holds, all->path_count);
    return status == PARAPET_ERR_BUSY ? PARAPET_OK : status;
}

/* A rank other than 0 holds PUBLISHING of the arrays of which it has shards, and of no others. */
static parapet_status join_publishing(pp_batch *all, const pp_staged *staged)
{
    pp_node_lock_wish wish;
    bool *publishes = NULL;
    parapet_status status = pp_allocate_array(&publishes, (size_t)all->count, sizeof publishes[0]);
    size_t k;
    int i;
    if (status != PARAPET_OK)
        return status;
    for (k = 0; k < staged->count; k++)
        publishes[staged->notes[k].target] = true;
    all->path_count = 0;
    for (i = 0; i < all->count; i++)
        if (publishes[i] && !all->list[i].array->is_detached)
            all->paths[all->path_count++] = all->list[i].array->path;
    pp_free(publishes);
    wish = wish_of(all, PP_LOCK_SHARED);
    return pp_node_locks_join_publishing(all->holds, &wish);
}

/* [collective] From here on no other job publishes shards of these arrays, and those that are stored are the
 * ones that the new ones were built from. If only rank 0 has any, the second agreement is left out. */
parapet_status pp_batch_enter_publishing(pp_batch *all, const pp_staged *staged)
{
    pp_comm *comm = all->store->comm;
    pp_node_lock_wish wish = wish_of(all, PP_LOCK_SHARED);
    bool leads = pp_comm_rank(comm) == 0;
    int64_t is_entered = leads || staged->count == 0;
    parapet_status status = PARAPET_OK;
    if (leads && (status = pp_node_locks_begin_publishing(all->holds, &wish)) == PARAPET_OK)
        status = pp_staged_check(all->contexts, staged);
    status = pp_comm_agree_min(comm, "publishing", status, &is_entered);
    all->leads_alone = is_entered != 0;
    if (status != PARAPET_OK || is_entered)
        return status;
    /* After all know that rank 0 has SHORT, and before any shard gets its name. Should rank 0 die from here on, the
     * next job meets PUBLISHING, and waits. */
    if (!leads && staged->count > 0 && (status = join_publishing(all, staged)) == PARAPET_OK)
        status = pp_staged_check(all->contexts, staged);
    return pp_comm_agree(comm, "entering", status);
}
