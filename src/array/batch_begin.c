/* batch_begin.c - the agreement with which a call begins, and what the ranks find out with it: whether the arrays are
 * held (hold_at_once), which descriptions of earlier calls fit (session_cache), whether servers have room
 * (write_back). */
#include "array/batch_begin.h"

#include <string.h>

#include "array/batch.h"
#include "array/batch_flush.h"
#include "array/batch_locks.h"
#include "array/epochs.h"
#include "transfer/session_cache.h"

/* What ranks say where a call begins; the least counts. */
enum { BEGINS_UNHELD, BEGINS_WITH_SPEEDS, BEGINS_AT_ONCE };

/* The bit that says that a rank has room for what a write may leave in memory; the others are of descriptions. */
#define HAS_ROOM (UINT64_C(1) << 63)

/* Which of the descriptions that this rank keeps fit its parts. */
static uint64_t find_described(pp_batch *all, parapet_status status)
{
    if (all->team.kept != NULL && status == PARAPET_OK)
        all->described = pp_session_cache_find(all->team.kept, &all->team, all->arrays, all->count);
    return all->described;
}

/* [collective] What all ranks have found out where the call began. */
static parapet_status begin_with_others(pp_batch *all, int64_t least, uint64_t common)
{
    if (all->described != 0)
        all->team.is_described =
            pp_session_cache_choose(all->team.kept, least == BEGINS_AT_ONCE ? common & ~HAS_ROOM : 0);
    if (least != BEGINS_WITH_SPEEDS)
        return PARAPET_OK;
    return pp_epochs_renew(all->store, all->direction, all->list, all->count);
}

/* Another handle of an array of the call; it may be in the list as well. */
static bool is_twin(const parapet_array *array, const void *context)
{
    const pp_batch *all = context;
    int i;
    for (i = 0; i < all->count; i++)
        if (all->list[i].array != array && strcmp(all->list[i].array->path, array->path) == 0)
            return true;
    return false;
}

/* [collective] Flushes what must be flushed before the call, for which the arrays are held in turn: other handles of
 * the same arrays; and, if a server has no room for such a call as the last one, the oldest of what it has. That may
 * fail: then this call finds no room, and writes at once. */
static parapet_status flush_before(pp_batch *all, bool needs_room, int64_t *is_held)
{
    parapet_store *store = all->store;
    pp_dirty_choice twins = {.has = is_twin, .context = all};
    parapet_status status;
    if (store->dirty_arrays.count == 0 ||
        (!needs_room && pp_dirty_arrays_list(&store->dirty_arrays, &twins, NULL) == 0))
        return PARAPET_OK;
    pp_batch_forget_description(all);
    /* The flush takes locks of the same arrays, alone if it has to, and would wait for this very call. */
    pp_node_locks_release(all->holds, all->path_count);
    *is_held = 0;
    if ((status = pp_batch_flush_chosen(store, &twins, true)) == PARAPET_OK && needs_room)
        (void)pp_batch_flush_chosen(store, &(pp_dirty_choice){0}, false);
    return status == PARAPET_OK ? pp_batch_check_uncut(all) : status; /* its parts were those of a larger array */
}

/* [collective] Starts the call: all ranks bring the same arrays, and none has a reason to refuse. Where arrays have
 * to be held first, speeds wait for the next call. */
parapet_status pp_batch_begin(pp_batch *all, int64_t *is_held)
{
    pp_call call;
    int64_t least;
    uint64_t common;
    bool has_room = true;
    parapet_status status = pp_batch_check(all);
    pp_batch_name_call(all, &call);
    if (status == PARAPET_OK && all->direction == PP_WRITING) {
        pp_batch_list_paths(all);
        if ((status = pp_batch_check_distinct(all)) == PARAPET_OK)
            status = all->steps->prepare(all, &has_room);
    }
    if (status == PARAPET_OK && all->direction == PP_WRITING) {
        if (pp_comm_rank(all->store->comm) == 0)
            status = pp_batch_hold_at_once(all, is_held);
    }
    least = !*is_held                                        ? BEGINS_UNHELD
            : pp_epochs_has_left(all->store, all->direction) ? BEGINS_WITH_SPEEDS
                                                             : BEGINS_AT_ONCE;
    common = find_described(all, status) | (has_room ? HAS_ROOM : 0);
    if ((status = pp_comm_begin_with(all->store->comm, &call, status, &least, &common)) != PARAPET_OK)
        return status;
    *is_held = least != BEGINS_UNHELD;
    if ((status = begin_with_others(all, least, common)) != PARAPET_OK)
        return status;
    return flush_before(all, (common & HAS_ROOM) == 0, is_held);
}

/* [collective] As pp_batch_begin, for arrays of which no other job knows. */
parapet_status pp_batch_begin_new(pp_batch *all, const pp_call *call, parapet_status mine)
{
    parapet_status status = mine;
    int64_t least = BEGINS_AT_ONCE;
    uint64_t common;
    if (status == PARAPET_OK && (status = pp_batch_check(all)) != PARAPET_OK)
        status = pp_fail_within(status, "cannot write array \"%s\"", all->list[0].array->path);
    if (pp_epochs_has_left(all->store, PP_WRITING))
        least = BEGINS_WITH_SPEEDS;
    common = find_described(all, status);
    status = pp_comm_begin_with(all->store->comm, call, status, &least, &common);
    return status == PARAPET_OK ? begin_with_others(all, least, common) : status;
}
