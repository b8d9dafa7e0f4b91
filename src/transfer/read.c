/* read.c - the operations of a transfer that reads: requests to storage, chunks decoded and handed to every rank that
 * claims some of them. */
#include "transfer/read_shard.h"

#include "base/checked.h"
#include "transfer/point_transfer.h"
#include "transfer/read_part.h"
#include "transfer/read_planned.h"

typedef struct read_transfer {
    pp_transfer head;
    pp_chain_scratch **scratches; /* one of each worker */
} read_transfer;

/* One worker and its item. */
typedef struct read_task {
    pp_transfer *transfer;
    pp_read_item *item;
    int worker;
    pp_chain_scratch *scratch;
} read_task;

static const pp_shard *stored_shard(const pp_read_item *item)
{
    return &((const pp_read_shard *)item->head.shard)->stored;
}

static parapet_status fetch(pp_transfer *transfer, int worker, pp_transfer_item *head)
{
    pp_read_item *item = (pp_read_item *)head;
    const pp_transfer_context *context = pp_context_of(transfer, head->shard);
    size_t batch = transfer->memory.batch_bytes;
    /* Small reads take a small buffer; others one that serves all requests after it. */
    size_t bytes = item->bytes <= batch / 4 ? item->bytes : pp_max_size(item->bytes, batch);
    parapet_status status;
    (void)worker;
    if (head->news != PP_WINDOW_DATA)
        return PARAPET_OK;
    item->buffer.budget = context->budget;
    item->buffer.wants_huge_pages = bytes >= batch;
    if ((status = pp_buffer_ensure(&item->buffer, bytes, "read buffers")) != PARAPET_OK)
        return status;
    return pp_read_part_fetch(transfer, item);
}

/* ---- What is not stored ---- */

/* Sets what this rank's own claims have of a box; the others are told to do so. */
static void fill_box(pp_transfer *transfer, const pp_transfer_item *item, const pp_box *box)
{
    const pp_view *view = transfer->view;
    const pp_layout *layout = pp_context_of(transfer, item->shard)->layout;
    pp_box common;
    size_t i;
    for (i = item->shard->first; i < item->shard->end; i++) {
        pp_move move = {
            .box = &common, .ndim_most = view->claims.ndim_most, .element_bytes = layout->tiling.element_bytes};
        if (!pp_view_intersect(view, i, box, &common))
            continue;
        move.claim = pp_view_claim(view, i);
        if (view->list.work[i].rank == transfer->session->rank)
            pp_move_fill(&move, layout->fill_value);
        transfer->done_bytes += pp_box_element_count(&common) * (int64_t)move.element_bytes;
    }
}

/* The same for picks. */
static void fill_picks(pp_transfer *transfer, const pp_transfer_item *item, const pp_point_range *range)
{
    const void *value = pp_context_of(transfer, item->shard)->layout->fill_value;
    transfer->done_bytes += pp_point_claims_fill(transfer->view->picked, range, value);
}

static void fill_shard(pp_transfer *transfer, const pp_transfer_item *item)
{
    pp_point_range range;
    pp_box box;
    if (transfer->view->picked != NULL) {
        range = pp_point_claims_shard(transfer->view->picked, item->shard->number);
        fill_picks(transfer, item, &range);
        return;
    }
    pp_tiling_shard_box(&pp_context_of(transfer, item->shard)->layout->tiling, item->shard->number, &box);
    fill_box(transfer, item, &box);
}

static void fill_chunk(pp_transfer *transfer, const pp_transfer_item *item, int64_t chunk)
{
    pp_point_range range;
    pp_box box;
    if (transfer->view->picked != NULL) {
        range = pp_point_claims_chunk(transfer->view->picked, item->shard->number, chunk);
        fill_picks(transfer, item, &range);
        return;
    }
    pp_tiling_chunk_box(&pp_context_of(transfer, item->shard)->layout->tiling, item->shard->number, chunk, &box);
    fill_box(transfer, item, &box);
}

static void fill_absent(pp_transfer *transfer, const pp_transfer_item *item)
{
    const pp_transfer_context *context = pp_context_of(transfer, item->shard);
    int i;
    if (item->news == PP_WINDOW_FILL_SHARD) {
        context->counters->chunks_missing += pp_read_shard_count_touched(transfer, item->shard);
        fill_shard(transfer, item);
    }
    for (i = 0; i < item->window.chunk_count; i++) {
        context->counters->chunks_missing += 1;
        fill_chunk(transfer, item, item->window.chunks[i]);
    }
}

/* ---- What is stored ---- */

static parapet_status find_deliveries(const pp_transfer *transfer, pp_transfer_item *item)
{
    pp_delivery_case of = pp_transfer_delivery_case(transfer, item);
    return pp_deliveries_build(&item->deliveries, &of);
}

/* The system refuses to copy to one of the ranks that share the run: from now on all of them get messages. */
static void refuse_direct(const pp_transfer *transfer, const pp_transfer_shard *shard)
{
    const pp_worklist *list = &transfer->view->list;
    size_t i;
    for (i = shard->first; i < shard->end; i = pp_worklist_rank_end(list, i, shard->end))
        pp_peers_refuse(&transfer->session->peers, list->work[i].rank);
}

/* The elements of a chunk, decoded; those of a band are stored as they are. */
static parapet_status find_elements(const read_task *task, pp_chunk_move *move)
{
    pp_read_item *item = task->item;
    const pp_transfer_context *context = pp_context_of(task->transfer, item->head.shard);
    const pp_shard *stored = stored_shard(item);
    const pp_chunk_entry *entry = &stored->entries[move->chunk];
    pp_bytes decoded, encoded = {item->buffer.data + (entry->offset - item->offset), (size_t)entry->bytes};
    parapet_status status;
    pp_tiling_chunk_box(&context->layout->tiling, stored->number, move->chunk, &move->inside);
    if (item->is_band) {
        move->whole = item->band;
        move->elements = item->buffer.data + item->band_skip;
        (void)pp_box_intersect(&move->inside, &item->band, &move->inside);
        return PARAPET_OK;
    }
    if ((status = pp_shard_verify_chunk(context, stored, move->chunk, encoded)) != PARAPET_OK)
        return status;
    if ((status = pp_chain_decode(context->layout->chain, task->scratch, encoded, &decoded)) != PARAPET_OK)
        return pp_fail_within(status, "%s: chunk %lld", stored->key, (long long)move->chunk);
    context->counters->chunks_decoded += 1;
    pp_tiling_chunk_whole_box(&context->layout->tiling, stored->number, move->chunk, &move->whole);
    move->elements = (unsigned char *)(uintptr_t)decoded.data;
    return PARAPET_OK;
}

static parapet_status deliver_chunk(const read_task *task, int64_t index, bool *is_whole, int64_t *copied)
{
    pp_read_item *item = task->item;
    pp_chunk_move move = {
        .item = &item->head, .worker = task->worker, .index = (int)index, .chunk = item->wanted[index]};
    parapet_status status = find_elements(task, &move);
    if (status != PARAPET_OK)
        return status;
    *is_whole = pp_chunk_move_pieces(task->transfer, &move);
    task->transfer->done_bytes += move.moved_bytes;
    *copied += move.direct_bytes;
    return PARAPET_OK;
}

/* Pieces that were collected to be copied row by row are copied at the end. false: the run must be moved once more,
 * because the system refuses to copy to a rank that it copied to before. */
static bool finish_run(const read_task *task, bool is_whole)
{
    pp_sieve *sieve = task->transfer->sieves != NULL ? &task->transfer->sieves[task->worker] : NULL;
    if (sieve == NULL || (is_whole && pp_sieve_flush(sieve)))
        return true;
    pp_sieve_forget(sieve);
    refuse_direct(task->transfer, task->item->head.shard);
    return false;
}

static parapet_status deliver_run(const read_task *task)
{
    pp_read_item *item = task->item;
    parapet_status status;
    bool is_whole;
    int64_t i, copied;
    do {
        copied = 0;
        if ((status = find_deliveries(task->transfer, &item->head)) != PARAPET_OK)
            return status;
        is_whole = true;
        for (i = 0; i < item->wanted_count && is_whole; i++)
            if ((status = deliver_chunk(task, i, &is_whole, &copied)) != PARAPET_OK)
                return status;
    } while (!finish_run(task, is_whole));
    pp_context_of(task->transfer, item->head.shard)->counters->direct_bytes += copied;
    return PARAPET_OK;
}

/* What was not staged before; everything else has been delivered. A rank that was copied to directly, and has refused
 * since, gets the same again by messages. */
static parapet_status deliver_rest(const read_task *task)
{
    pp_transfer_item *head = &task->item->head;
    pp_delivery_case of = pp_transfer_delivery_case(task->transfer, head);
    parapet_status status = pp_deliveries_build_next(&head->deliveries, &of);
    int i;
    for (i = 0; i < (int)task->item->wanted_count && status == PARAPET_OK; i++) {
        pp_chunk_move move = {.chunk = task->item->wanted[i]};
        if (!pp_deliveries_want(&head->deliveries, &of, i))
            continue;
        if ((status = find_elements(task, &move)) == PARAPET_OK)
            pp_deliveries_move(&head->deliveries, &of, i, &move.whole, move.elements);
    }
    return status;
}

static parapet_status deliver_data(const read_task *task)
{
    return task->item->head.deliveries.has_more ? deliver_rest(task) : deliver_run(task);
}

static parapet_status deliver(pp_transfer *transfer, int worker, pp_transfer_item *item)
{
    const pp_transfer_context *context = pp_context_of(transfer, item->shard);
    pp_chain_scratch **scratch = &((read_transfer *)transfer)->scratches[worker];
    parapet_status status = (pp_chain_begins_plain(context->layout->chain)
                                 ? pp_chain_decoder_ensure
                                 : pp_chain_scratch_ensure)(scratch, context->layout->chain, context->budget);
    if (status != PARAPET_OK)
        return status;
    if (item->news == PP_WINDOW_DATA)
        return deliver_data(
            &(read_task){.transfer = transfer, .item = (pp_read_item *)item, .worker = worker, .scratch = *scratch});
    fill_absent(transfer, item);
    return find_deliveries(transfer, item);
}

/* ---- The whole ---- */

static parapet_status prepare(pp_transfer *transfer)
{
    read_transfer *self = (read_transfer *)transfer;
    size_t threads = (size_t)pp_session_context(transfer->session, 0)->threads;
    return pp_allocate_array(&self->scratches, threads, sizeof self->scratches[0]);
}

static parapet_status plan_memory(const pp_transfer *transfer, const pp_layout *const *layouts,
                                  const pp_memory_case *memory, pp_memory_plan *plan)
{
    return pp_memory_plan_read(layouts, transfer->session->array_count, memory, plan);
}

static void clear_item(pp_transfer_item *item)
{
    pp_buffer_free(&((pp_read_item *)item)->buffer);
}

static void clear(pp_transfer *transfer)
{
    read_transfer *self = (read_transfer *)transfer;
    int i;
    for (i = 0; self->scratches != NULL && i < pp_session_context(transfer->session, 0)->threads; i++)
        pp_chain_scratch_free(self->scratches[i]);
    pp_free(self->scratches);
}

static const pp_transfer_operations reading = {
    .direction = PP_READING,
    .shard_bytes = sizeof(pp_read_shard),
    .item_bytes = sizeof(pp_read_item),
    .prepare = prepare,
    .plan_memory = plan_memory,
    .is_storage_only = pp_read_part_is_sparse,
    .open_shard = pp_read_shard_open,
    .close_shard = pp_read_shard_close,
    .take = pp_read_shard_take,
    .produce = fetch,
    .consume = deliver,
    .clear_item = clear_item,
    .clear = clear,
};

parapet_status pp_transfer_read(const pp_team *team, const pp_transfer_array *arrays, int array_count)
{
    pp_session session;
    read_transfer self = {.head = {.operations = &reading, .session = &session, .reported_bytes = -1}};
    return pp_transfer_run(&self.head, pp_session_build(&session, PP_READING, team, arrays, array_count));
}

parapet_status pp_transfer_read_planned(const pp_transfer_array *array, const pp_memory_plan *plan)
{
    pp_session session;
    read_transfer self = {
        .head = {
            .operations = &reading, .session = &session, .memory = *plan, .is_planned = true, .reported_bytes = -1}};
    return pp_transfer_run(&self.head, pp_session_build_alone(&session, array));
}

parapet_status pp_transfer_read_points(const pp_transfer_array *array, const pp_point_claims *picked,
                                       const pp_memory_plan *plan)
{
    pp_session session;
    read_transfer self = {.head = {.operations = &reading, .session = &session, .reported_bytes = -1}};
    if (plan != NULL) {
        self.head.memory = *plan;
        self.head.is_planned = true;
    }
    return pp_transfer_run(&self.head, pp_session_build_points(&session, array, picked));
}
