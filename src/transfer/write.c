/* write.c - the operations of a transfer that writes: new shards, staged one after the other. Trimming is a transfer
 * of shards that nobody claims anything of. */
#include "transfer/write_item.h"

#include "base/checked.h"
#include "transfer/partial_shards.h"
#include "transfer/point_transfer.h"

typedef struct write_transfer {
    pp_transfer head;
    pp_staged *staged;
    size_t others; /* that were staged before, of other arrays */
} write_transfer;

static parapet_status store_item(pp_transfer *transfer, int worker, pp_transfer_item *head)
{
    const pp_write_item *item = (const pp_write_item *)head;
    pp_shard_build *build = ((pp_write_shard *)head->shard)->build;
    const pp_transfer_context *context = pp_session_context(transfer->session, head->shard->target);
    parapet_status status = PARAPET_OK;
    int i;
    (void)worker;
    for (i = 0; i < head->window.chunk_count && status == PARAPET_OK; i++)
        if (!item->chunks[i].is_elided || build->sink.is_overlay)
            status = pp_shard_build_append(build, context, head->window.chunks[i],
                                           item->chunks[i].is_elided ? (pp_bytes){0} : item->chunks[i].encoded);
    if (status != PARAPET_OK || !item->is_last || !((pp_write_shard *)head->shard)->is_ending)
        return status;
    return pp_shard_build_finish(build, context, ((write_transfer *)transfer)->staged);
}

/* ---- All that can be refused before anything is written ---- */

static parapet_status check_writable(const pp_layout *layout)
{
    if (!pp_chain_can_encode(layout->chain))
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "codecs: this chain can be read, but not written");
    if (layout->is_sharded && layout->index.is_at_start)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "index_location \"start\" can be read, but not written");
    return PARAPET_OK;
}

/* Of lists before this one, whose notes are taken when all is published. */
static size_t count_staged(const pp_transfer *transfer, int target)
{
    const write_transfer *self = (const write_transfer *)transfer;
    const pp_staged *staged = self->staged;
    size_t i, count = 0;
    for (i = self->others; i < staged->count; i++)
        count += staged->notes[i].target == target;
    return count;
}

/* Groups of one array follow each other. */
static parapet_status reserve_notes(pp_transfer *transfer)
{
    const pp_worklist *list = &transfer->view->list;
    size_t first, end, shards = 0;
    parapet_status status = PARAPET_OK;
    for (first = 0; first < list->count && status == PARAPET_OK; first = end) {
        int target = list->work[first].target;
        pp_shard_notes *notes = transfer->session->arrays[target].notes;
        end = pp_worklist_group_end(list, first);
        shards++;
        if (end < list->count && list->work[end].target == target)
            continue;
        if (notes != NULL)
            status = pp_shard_notes_reserve(notes, count_staged(transfer, target) + shards);
        shards = 0;
    }
    return status;
}

/* Picks share none: whoever collected them has seen to it. */
static parapet_status check_disjoint(const pp_transfer *transfer)
{
    const pp_view *view = transfer->view;
    return view->picked != NULL ? PARAPET_OK
                                : pp_worklist_check_disjoint(&view->list, &view->plan, transfer->session->rank_count);
}

static parapet_status prepare(pp_transfer *transfer)
{
    const pp_session *session = transfer->session;
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < session->array_count && status == PARAPET_OK; i++)
        status = check_writable(pp_session_context(session, i)->layout);
    if (status != PARAPET_OK || (status = check_disjoint(transfer)) != PARAPET_OK)
        return status;
    return reserve_notes(transfer);
}

static bool some_shard_keeps_old(const pp_transfer *transfer)
{
    const pp_worklist *list = &transfer->view->list;
    size_t first, end;
    for (first = 0; first < list->count; first = end) {
        end = pp_worklist_group_end(list, first);
        if (pp_write_shard_keeps_old(transfer, first, end))
            return true;
    }
    return false;
}

static parapet_status plan_memory(const pp_transfer *transfer, const pp_layout *const *layouts,
                                  const pp_memory_case *memory, pp_memory_plan *plan)
{
    pp_memory_case writing_memory = *memory;
    writing_memory.keeps_old = some_shard_keeps_old(transfer);
    return pp_memory_plan_write(layouts, transfer->session->array_count, &writing_memory, plan);
}

/* Without what stays in memory when the transfer ends, and is not there yet. */
static parapet_status plan_partial(const pp_transfer *transfer, const pp_layout *const *layouts,
                                   const pp_memory_case *memory, pp_memory_plan *plan)
{
    const pp_partial_shards *divided = pp_session_context(transfer->session, 0)->divided;
    pp_memory_case writing_memory = *memory;
    size_t staying = pp_min_size(pp_partial_shards_bytes_to_come(divided), memory->available_bytes);
    parapet_status status;
    writing_memory.keeps_old = divided->keeps_old && transfer->view->list.count > 0;
    writing_memory.available_bytes -= staying;
    writing_memory.used_bytes += staying;
    status = pp_memory_plan_write(layouts, 1, &writing_memory, plan);
    plan->planned_bytes += staying;
    return status;
}

/* ---- The whole ---- */

static const pp_transfer_operations writing = {
    .direction = PP_WRITING,
    .shard_bytes = sizeof(pp_write_shard),
    .item_bytes = sizeof(pp_write_item),
    .prepare = prepare,
    .prepare_more = reserve_notes,
    .plan_memory = plan_memory,
    .open_shard = pp_write_shard_open,
    .close_shard = pp_write_shard_close,
    .take = pp_write_item_take,
    .produce = pp_write_item_encode,
    .consume = store_item,
    .clear_item = pp_write_item_clear,
};

/* Of some chunks of shards, of which transfers before and after this one have others. */
static pp_transfer_operations writing_parts(void)
{
    pp_transfer_operations operations = writing;
    operations.plan_memory = plan_partial;
    operations.open_shard = pp_write_shard_open_partial;
    operations.close_shard = pp_write_shard_leave_partial;
    return operations;
}

parapet_status pp_transfer_stage_after(const pp_failure *before, const pp_team *team, const pp_transfer_array *arrays,
                                       int array_count, pp_staged *staged)
{
    pp_failure failure = *before;
    pp_session session;
    write_transfer self = {.head = {.operations = &writing, .session = &session, .reported_bytes = -1},
                           .staged = staged};
    pp_failure_take(&failure, pp_session_build(&session, PP_WRITING, team, arrays, array_count));
    return pp_transfer_run(&self.head, pp_failure_put(&failure));
}

parapet_status pp_transfer_stage(const pp_team *team, const pp_transfer_array *arrays, int array_count,
                                 pp_staged *staged)
{
    return pp_transfer_stage_after(&(pp_failure){0}, team, arrays, array_count, staged);
}

static parapet_status stage_points(const pp_transfer_operations *operations, const pp_transfer_array *array,
                                   const pp_point_claims *picked, pp_staged *staged)
{
    pp_session session;
    write_transfer self = {.head = {.operations = operations, .session = &session, .reported_bytes = -1},
                           .staged = staged};
    return pp_transfer_run(&self.head, pp_session_build_points(&session, array, picked));
}

parapet_status pp_transfer_stage_points(const pp_transfer_array *array, const pp_point_claims *picked,
                                        pp_staged *staged)
{
    return stage_points(&writing, array, picked, staged);
}

parapet_status pp_transfer_stage_partial(const pp_transfer_array *array, const pp_point_claims *picked,
                                         pp_staged *staged)
{
    const pp_transfer_operations operations = writing_parts();
    return stage_points(&operations, array, picked, staged);
}

/* Shards that were begun in earlier passes, as a list of numbers; returns how many. */
static size_t list_begun(const pp_partial_shards *divided, int64_t *numbers)
{
    const pp_partial_shard *shard;
    size_t count = 0;
    for (shard = divided->shards; shard != NULL; shard = shard->next)
        if (shard->build != NULL && shard->next_chunk < divided->chunk_count) {
            if (numbers != NULL)
                numbers[count] = shard->number;
            count++;
        }
    return count;
}

parapet_status pp_transfer_stage_rest(const pp_transfer_array *array, pp_staged *staged)
{
    pp_partial_shards *divided = array->context->divided;
    const pp_point_claims none = {.tiling = &array->context->layout->tiling};
    size_t count = list_begun(divided, NULL);
    int64_t *numbers = NULL;
    pp_session session;
    const pp_transfer_operations operations = writing_parts();
    write_transfer self = {.head = {.operations = &operations, .session = &session}, .staged = staged};
    parapet_status status;
    if (count == 0)
        return PARAPET_OK;
    if ((status = pp_allocate_array(&numbers, count, sizeof numbers[0])) != PARAPET_OK)
        return status;
    (void)list_begun(divided, numbers);
    divided->chunk_end = divided->chunk_count;
    status = pp_session_build_again(&session, array, numbers, count);
    session.own.picked = &none;
    pp_free(numbers);
    return pp_transfer_run(&self.head, status);
}

/* ---- What was delayed ---- */

/* Leaves out what another job has written: the rest is written nevertheless. */
static parapet_status leave_out_stale(const pp_transfer_context *context, int64_t *numbers, size_t *count,
                                      pp_failure *left_out)
{
    parapet_status status = PARAPET_OK;
    size_t i, kept = 0;
    for (i = 0; i < *count && status == PARAPET_OK; i++) {
        status = pp_write_back_check(context, numbers[i]);
        if (status == PARAPET_ERR_STALE) {
            pp_failure_take(left_out, status);
            status = PARAPET_OK;
        } else {
            numbers[kept++] = numbers[i];
        }
    }
    *count = kept;
    return status;
}

static parapet_status stage_numbers(const pp_transfer_array *array, const int64_t *numbers, size_t count,
                                    pp_staged *staged)
{
    pp_session session;
    write_transfer self = {
        .head = {.operations = &writing, .session = &session}, .staged = staged, .others = staged->count};
    parapet_status status = pp_transfer_run(&self.head, pp_session_build_again(&session, array, numbers, count));
    size_t i;
    for (i = self.others; i < staged->count; i++)
        staged->notes[i].is_dirty = true;
    return status;
}

parapet_status pp_transfer_stage_write_back(const pp_transfer_array *array, pp_staged *staged, pp_failure *left_out)
{
    const pp_transfer_context *context = array->context;
    const pp_grid *shards = &context->layout->tiling.shards;
    size_t count = pp_write_back_list(context->write_back, context->cache_array, shards, NULL);
    size_t bytes = count * sizeof(int64_t);
    int64_t *numbers = NULL;
    parapet_status status = pp_budget_reserve(context->budget, bytes, "lists of shards");
    if (status != PARAPET_OK)
        return status;
    if (count > 0 && (status = pp_allocate_array(&numbers, count, sizeof numbers[0])) == PARAPET_OK) {
        (void)pp_write_back_list(context->write_back, context->cache_array, shards, numbers);
        if ((status = leave_out_stale(context, numbers, &count, left_out)) == PARAPET_OK && count > 0)
            status = stage_numbers(array, numbers, count, staged);
    }
    pp_free(numbers);
    pp_budget_release(context->budget, bytes);
    return status;
}

parapet_status pp_transfer_stage_trimmed(const pp_transfer_context *context, const bool *is_shrunk, pp_staged *staged)
{
    pp_transfer_array array = {.context = context};
    pp_session session;
    write_transfer self = {.head = {.operations = &writing, .session = &session}, .staged = staged};
    return pp_transfer_run(&self.head, pp_session_build_trim(&session, &array, is_shrunk));
}
