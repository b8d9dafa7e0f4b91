/* batch.c - the arrays of one call: checked, listed for the transfer, and what all ranks know of them. */
#include "array/batch.h"

#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "array/epochs.h"
#include "array/state.h"
#include "array/store_queries.h"
#include "base/reserved.h"
#include "transfer/session_cache.h"

void pp_batch_clear(pp_batch *all)
{
    pp_batch_forget_description(all);
    pp_node_locks_release(all->holds, all->path_count);
    pp_free(all->holds);
    pp_free(all->paths);
    pp_free(all->parts);
    pp_free(all->contexts);
    pp_free(all->arrays);
    pp_turn_end(&all->turn);
}

parapet_status pp_batch_build(pp_batch *all)
{
    parapet_status status;
    size_t count = (size_t)all->count;
    if ((status = pp_allocate_array(&all->parts, count, sizeof all->parts[0])) != PARAPET_OK ||
        (status = pp_allocate_array(&all->contexts, count, sizeof all->contexts[0])) != PARAPET_OK ||
        (status = pp_allocate_array(&all->paths, count, sizeof all->paths[0])) != PARAPET_OK ||
        (status = pp_allocate_array(&all->holds, count, sizeof all->holds[0])) != PARAPET_OK)
        return status;
    return pp_allocate_array(&all->arrays, count, sizeof all->arrays[0]);
}

void pp_batch_choose_team(pp_batch *all)
{
    all->team = pp_store_team(all->store, all->direction);
    all->team.kept = all->store->kept;
}

void pp_batch_forget_description(pp_batch *all)
{
    if (all->described != 0)
        (void)pp_session_cache_choose(all->team.kept, 0);
    all->team.is_described = false;
}

int pp_batch_count_sealed(const pp_batch *all)
{
    int i, count = 0;
    for (i = 0; i < all->count; i++)
        count += all->list[i].array->is_sealed;
    return count;
}

static parapet_status check_listed(const pp_batch *all, int i)
{
    parapet_array *array = all->list[i].array;
    parapet_status status = PP_RESERVED_CHECK(parapet_array_parts, &all->list[i]);
    int j;
    if (status != PARAPET_OK)
        return pp_fail_within(status, "entry %d of the list", i);
    if (array == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "entry %d of the list has no array", i);
    if (array->store != all->store)
        return pp_fail(PARAPET_ERR_ARGUMENT, "arrays \"%s\" and \"%s\" belong to different stores", array->path,
                       all->list[0].array->path);
    for (j = 0; j < i; j++)
        if (all->list[j].array == array)
            return pp_fail(PARAPET_ERR_ARGUMENT, "array \"%s\" is in the list twice", array->path);
    return PARAPET_OK;
}

static parapet_status take_parts(pp_batch *all, int i)
{
    const parapet_array_parts *entry = &all->list[i];
    const pp_layout *layout = &entry->array->layout;
    parapet_type type = entry->array->document.type.id;
    if (all->listed != NULL)
        return pp_index_list_check(all->listed, entry->array, &all->indices);
    if (all->step == NULL)
        return pp_parts_init(&all->parts[i], entry->parts, entry->part_count, layout, type);
    return pp_parts_init_step(&all->parts[i], entry->parts, entry->part_count, layout, type, *all->step);
}

/* Only what is read and written here goes through the cache: who verifies or seals wants to know what is stored, and
 * the arrays of series and checkpoints are written once. */
static parapet_status find_context(pp_batch *all, int i)
{
    parapet_array *array = all->list[i].array;
    pp_transfer_context *context = &all->contexts[i];
    parapet_status status = pp_array_transfer_context(array, context);
    if (status != PARAPET_OK)
        return status;
    context->layer = array->is_detached ? &pp_plain_layer : all->store->layer;
    context->cache = all->store->cache;
    context->write_back = all->store->write_back;
    context->cache_array = array->cache_number;
    return pp_epochs_place(array, all->direction, context);
}

static void list_array(pp_batch *all, int i)
{
    all->arrays[i] = (pp_transfer_array){
        .context = &all->contexts[i], .parts = &all->parts[i], .notes = &all->list[i].array->notes};
}

/* Everything about the call that this rank can find wrong by itself. */
parapet_status pp_batch_check(pp_batch *all)
{
    parapet_status status = pp_batch_build(all);
    int i;
    for (i = 0; i < all->count && status == PARAPET_OK; i++) {
        parapet_array *array = all->list[i].array;
        if ((status = check_listed(all, i)) == PARAPET_OK &&
            (status = all->direction == PP_WRITING ? pp_array_check_writable(array) : pp_array_check_usable(array)) ==
                PARAPET_OK &&
            (status = find_context(all, i)) == PARAPET_OK)
            status = take_parts(all, i);
        if (status == PARAPET_OK)
            list_array(all, i);
    }
    return status;
}

void pp_batch_name_call(const pp_batch *all, pp_call *call)
{
    const char *verb = all->direction == PP_WRITING ? "write" : "read";
    int i;
    if (all->listed != NULL)
        pp_call_init(call, "%s_%s(%s)", verb, pp_index_list_words(all->listed), all->list[0].array->path);
    else if (all->count == 1)
        pp_call_init(call, "%s(%s)", verb, all->list[0].array->path);
    else
        pp_call_init(call, "%s(%s and %d more)", verb, all->list[0].array->path, all->count - 1);
    for (i = 0; i < all->count; i++)
        pp_call_add_element(call, "list", i, all->list[i].array != NULL ? all->list[i].array->path : NULL);
}

parapet_status pp_batch_list_arrays(pp_batch *all)
{
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < all->count && status == PARAPET_OK; i++) {
        status = find_context(all, i);
        list_array(all, i);
    }
    return status;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* In order, so that equal ones are neighbours. */
void pp_batch_list_paths(pp_batch *all)
{
    int i;
    for (i = 0; i < all->count; i++)
        if (!all->list[i].array->is_detached)
            all->paths[all->path_count++] = all->list[i].array->path;
    if (all->path_count > 1)
        qsort(all->paths, (size_t)all->path_count, sizeof all->paths[0], compare_paths);
}

/* Two handles of one array would replace each other's shards. */
parapet_status pp_batch_check_distinct(const pp_batch *all)
{
    int i;
    for (i = 1; i < all->path_count; i++)
        if (strcmp(all->paths[i - 1], all->paths[i]) == 0)
            return pp_fail(PARAPET_ERR_ARGUMENT, "array \"%s\" is in the list twice", all->paths[i]);
    return PARAPET_OK;
}

/* Refuses an array that another job has made smaller than what was written to it and not flushed, until it is
 * closed. */
parapet_status pp_batch_check_uncut(const pp_batch *all)
{
    int i;
    for (i = 0; i < all->count; i++)
        if (all->list[i].array->is_cut)
            return pp_fail(
                PARAPET_ERR_STALE,
                "another job has made array \"%s\" smaller, and what was not flushed of the shards that it "
                "has cut is lost; close it and open it again",
                all->list[i].array->path);
    return PARAPET_OK;
}

static parapet_status print_states(void *subject, pp_text *bytes)
{
    const pp_batch *all = subject;
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < all->count && status == PARAPET_OK; i++)
        status = pp_array_state_print(all->list[i].array, bytes);
    return status;
}

static parapet_status adopt_states(void *subject, pp_cursor *bytes)
{
    const pp_batch *all = subject;
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < all->count && status == PARAPET_OK; i++)
        status = pp_array_state_adopt(all->list[i].array, bytes);
    return status;
}

static void mark_broken(void *subject)
{
    const pp_batch *all = subject;
    int i;
    for (i = 0; i < all->count; i++)
        all->list[i].array->is_broken = true;
}

parapet_status pp_batch_do(pp_batch *all, const char *phase, pp_rank0_work work)
{
    pp_rank0_task task = {
        .subject = all, .work = work, .print = print_states, .adopt = adopt_states, .mark_broken = mark_broken};
    return pp_rank0_do(all->store->comm, phase, &task);
}

void pp_batch_close_guards(const pp_batch *all)
{
    int i;
    for (i = 0; i < all->count; i++)
        pp_guards_close(&all->list[i].array, 1);
}

void pp_batch_open_guards(const pp_batch *all)
{
    int i;
    for (i = 0; i < all->count; i++)
        pp_guards_open(&all->list[i].array, 1);
}

/* After a failure of any kind, nothing of these arrays is answered from the cache. */
void pp_batch_forget(const pp_batch *all)
{
    int i;
    for (i = 0; i < all->count; i++)
        if (all->list[i].array != NULL && all->list[i].array->cache_number != 0)
            pp_cache_forget(all->store->cache, all->list[i].array->cache_number);
}
