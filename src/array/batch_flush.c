/* batch_flush.c - writing with write_back: what a call may leave in memory, and how that is written as a call of its
 * own, a batch without parts. */
#include "array/batch_flush.h"

#include <string.h>

#include "array/batch.h"
#include "array/batch_locks.h"
#include "array/batch_stage.h"
#include "array/part_calls.h"

/* How often another job may write a shard between the look of a flush and its publishing. */
#define FLUSHES_MOST 3

typedef struct handle_list {
    parapet_array *const *arrays;
    int count;
} handle_list;

static parapet_status list_flushed(pp_batch *all, parapet_array *const *arrays, int count, parapet_array_parts *list)
{
    parapet_status status;
    int i;
    for (i = 0; i < count; i++)
        list[i] = (parapet_array_parts){.array = arrays[i]};
    all->list = list;
    all->count = count;
    if ((status = pp_batch_build(all)) == PARAPET_OK)
        pp_batch_list_paths(all);
    return status;
}

/* [collective] If all shards of all ranks stay in memory, there is nothing to publish. */
static parapet_status publish_rest(pp_batch *all, pp_staged *staged)
{
    int64_t is_all = staged->count == 0;
    parapet_status status = pp_comm_agree_min(all->store->comm, "staged", PARAPET_OK, &is_all);
    if (status == PARAPET_OK && is_all)
        pp_staged_note_outcome(all->contexts, staged, true);
    return status == PARAPET_OK && !is_all ? pp_batch_publish(all, staged) : status;
}

/* [collective] */
static parapet_status flush_batch(pp_batch *all)
{
    pp_staged staged = {0};
    parapet_status status = pp_batch_stage(all, &staged);
    if (status == PARAPET_OK && (status = publish_rest(all, &staged)) == PARAPET_OK)
        pp_failure_take(&all->left_out, pp_batch_check_uncut(all));
    all->is_flushed = status == PARAPET_OK;
    if (all->is_flushed)
        status = pp_comm_agree(all->store->comm, "flushing", pp_failure_put(&all->left_out));
    pp_staged_clear(&staged);
    return status;
}

/* [collective] */
static parapet_status flush_once(parapet_store *store, parapet_array *const *arrays, int count, parapet_status mine,
                                 bool *is_flushed)
{
    pp_batch flushed = {.direction = PP_WRITING, .store = store, .flushes = true};
    parapet_array_parts *list = NULL;
    parapet_status status = mine;
    if (status == PARAPET_OK && (status = pp_allocate_array(&list, (size_t)count, sizeof list[0])) == PARAPET_OK)
        status = list_flushed(&flushed, arrays, count, list);
    if ((status = pp_batch_hold(&flushed, status)) == PARAPET_OK)
        status = flush_batch(&flushed);
    *is_flushed = flushed.is_flushed;
    pp_batch_clear(&flushed);
    pp_free(list);
    return status;
}

/* [collective] All of what is delayed of these arrays, or as much as servers need room for. mine is the status of
 * this rank so far; where it is a failure, arrays may be NULL. PARAPET_ERR_STALE: the rest is written, as a rule. */
static parapet_status flush_arrays(parapet_store *store, parapet_array *const *arrays, int count, bool all,
                                   parapet_status mine)
{
    parapet_status status = PARAPET_ERR_STALE;
    bool is_flushed = false;
    int i;
    pp_write_back_choose(store->write_back, all);
    for (i = 0; i < FLUSHES_MOST && status == PARAPET_ERR_STALE && !is_flushed; i++)
        status = flush_once(store, arrays, count, mine, &is_flushed);
    return status;
}

static parapet_status name_flushed(parapet_status status, const parapet_array *first)
{
    return status == PARAPET_OK ? status : pp_fail_within(status, "cannot flush array \"%s\"", first->path);
}

/* [collective] One after the other, so that a failure of one of them does not keep the others from being
 * flushed. */
static parapet_status flush_each(parapet_store *store, const pp_dirty_choice *choice, pp_failure *failure)
{
    pp_failure first = {0};
    parapet_array *array;
    parapet_status status;
    int failed = 0;
    while (!pp_comm_is_lost(store->comm) &&
           (array = pp_dirty_arrays_at(&store->dirty_arrays, choice, failed)) != NULL) {
        status = name_flushed(flush_arrays(store, &array, 1, true, PARAPET_OK), array);
        if (status == PARAPET_OK)
            pp_dirty_arrays_remove(&store->dirty_arrays, array);
        else
            failed++;
        pp_failure_take(&first, status);
    }
    return pp_failure_put(pp_comm_is_lost(store->comm) && first.status == PARAPET_OK ? failure : &first);
}

/* [collective, if there is one] */
parapet_status pp_batch_flush_chosen(parapet_store *store, const pp_dirty_choice *choice, bool all)
{
    pp_failure failure = {0};
    parapet_array **chosen = NULL;
    int i, count = pp_dirty_arrays_list(&store->dirty_arrays, choice, NULL);
    parapet_status status;
    if (count == 0)
        return PARAPET_OK;
    if ((status = pp_allocate_array(&chosen, (size_t)count, sizeof chosen[0])) == PARAPET_OK)
        (void)pp_dirty_arrays_list(&store->dirty_arrays, choice, chosen);
    status = name_flushed(flush_arrays(store, chosen, count, all, status),
                          pp_dirty_arrays_at(&store->dirty_arrays, choice, 0));
    for (i = 0; i < count && all && status == PARAPET_OK; i++)
        pp_dirty_arrays_remove(&store->dirty_arrays, chosen[i]);
    pp_free(chosen);
    if (status == PARAPET_OK || !all || count == 1)
        return status;
    pp_failure_take(&failure, status);
    return flush_each(store, choice, &failure);
}

static bool is_listed(const parapet_array *array, const void *context)
{
    const handle_list *of = context;
    int i;
    for (i = 0; i < of->count; i++)
        if (of->arrays[i] == array)
            return true;
    return false;
}

static bool is_same_path(const parapet_array *array, const void *other)
{
    return strcmp(array->path, ((const parapet_array *)other)->path) == 0;
}

parapet_status pp_array_flush(parapet_array *array)
{
    return pp_batch_flush_chosen(array->store, &(pp_dirty_choice){.has = is_same_path, .context = array}, true);
}

parapet_status pp_arrays_flush(parapet_array *const *arrays, int count, parapet_store *store)
{
    handle_list listed = {.arrays = arrays, .count = count};
    return pp_batch_flush_chosen(store, &(pp_dirty_choice){.has = is_listed, .context = &listed}, true);
}

/* ---- Writes that may leave something in memory ---- */

static parapet_status prepare(pp_batch *all, bool *has_room)
{
    *has_room = !pp_write_back_is_crowded(all->store->write_back);
    return pp_dirty_arrays_reserve(&all->store->dirty_arrays, all->count);
}

static parapet_status stage(pp_batch *all, pp_staged *staged)
{
    pp_write_back_begin(all->store->write_back);
    return pp_batch_stage(all, staged);
}

static parapet_status flush_all(void *store)
{
    return pp_batch_flush_chosen(store, &(pp_dirty_choice){0}, true);
}

static parapet_status publish(pp_batch *all, pp_staged *staged)
{
    parapet_status status = publish_rest(all, staged);
    int i;
    if (status != PARAPET_OK)
        return status;
    pp_comm_set_first(all->store->comm, flush_all, all->store);
    for (i = 0; i < all->count; i++)
        if (!all->list[i].array->is_detached)
            pp_dirty_arrays_add(&all->store->dirty_arrays, all->list[i].array);
    return PARAPET_OK;
}

const pp_write_steps pp_writing_later = {.prepare = prepare, .stage = stage, .publish = publish};
