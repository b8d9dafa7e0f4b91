#include "transfer/write_shard.h"

#include "base/checked.h"
#include "transfer/partial_shards.h"

bool pp_write_shard_keeps_old(const pp_transfer *transfer, size_t first, size_t end)
{
    const pp_view *view = transfer->view;
    const pp_work *work = &view->list.work[first];
    const pp_transfer_context *context = pp_session_context(transfer->session, work->target);
    pp_box box;
    pp_tiling_shard_box(&context->layout->tiling, work->shard, &box);
    return pp_view_covered_shard(view, first, end) < pp_box_element_count(&box);
}

int64_t pp_write_shard_count_claimed(const pp_transfer *transfer, const pp_write_shard *shard)
{
    const pp_grid *chunks = &pp_context_of(transfer, &shard->head)->layout->tiling.chunks;
    int64_t cell[PARAPET_MAX_NDIM], count = 0;
    bool more;
    for (more = pp_box_first(&shard->inside, cell); more; more = pp_box_next(&shard->inside, cell))
        count += pp_view_covered_chunk(transfer->view, shard->head.first, shard->head.end,
                                       pp_grid_cell_number(chunks, cell)) > 0;
    return count;
}

static parapet_status create_build(const pp_transfer *transfer, const pp_write_shard *shard, bool keeps_old,
                                   pp_shard_build **build)
{
    parapet_status status =
        pp_shard_build_create(build, pp_context_of(transfer, &shard->head), shard->head.number, keeps_old);
    if (status != PARAPET_OK)
        return status;
    (*build)->target = shard->head.target;
    if (transfer->session->arrays[shard->head.target].notes != NULL)
        pp_shard_build_describe(*build);
    return PARAPET_OK;
}

static int64_t next_number(const pp_transfer *transfer, const pp_write_shard *shard)
{
    return pp_grid_cell_number(&pp_context_of(transfer, &shard->head)->layout->tiling.chunks, shard->next_cell);
}

static void begin_windows(const pp_transfer *transfer, pp_write_shard *shard, int64_t first_chunk)
{
    pp_tiling_chunks_inside(&pp_context_of(transfer, &shard->head)->layout->tiling, shard->head.number,
                            &shard->inside);
    shard->has_next_cell = pp_box_first(&shard->inside, shard->next_cell);
    while (shard->has_next_cell && next_number(transfer, shard) < first_chunk)
        shard->has_next_cell = pp_box_next(&shard->inside, shard->next_cell);
}

parapet_status pp_write_shard_open_partial(pp_transfer *transfer, pp_transfer_shard *head)
{
    pp_write_shard *shard = (pp_write_shard *)head;
    const pp_transfer_context *context = pp_context_of(transfer, &shard->head);
    pp_partial_shards *divided = context->divided;
    pp_partial_shard *part;
    parapet_status status;
    shard->is_partial = true;
    status = pp_partial_shards_get(divided, shard->head.number, &part);
    if (status != PARAPET_OK)
        return status;
    if (part->build == NULL) {
        if ((status = create_build(transfer, shard, divided->keeps_old, &part->build)) != PARAPET_OK)
            return status;
        part->build->buffer_bytes = PP_LEAST_WRITE_BUFFER_BYTES;
        shard->build = part->build;
        if ((status = context->layer->begin(transfer, shard)) != PARAPET_OK)
            return status;
    }
    shard->build = part->build;
    shard->is_claimed = true;
    shard->is_ending = divided->chunk_end == divided->chunk_count;
    shard->chunk_end = divided->chunk_end;
    begin_windows(transfer, shard, part->next_chunk);
    part->next_chunk = divided->chunk_end;
    return PARAPET_OK;
}

parapet_status pp_write_shard_open(pp_transfer *transfer, pp_transfer_shard *head)
{
    pp_write_shard *shard = (pp_write_shard *)head;
    const pp_transfer_context *context = pp_context_of(transfer, &shard->head);
    parapet_status status;
    shard->is_ending = true;
    shard->chunk_end = context->layout->tiling.chunks.cell_count;
    if ((status = create_build(transfer, shard, pp_write_shard_keeps_old(transfer, head->first, head->end),
                               &shard->build)) != PARAPET_OK)
        return status;
    shard->build->buffer_bytes = transfer->memory.writer_bytes;
    begin_windows(transfer, shard, 0);
    shard->is_claimed = transfer->view->list.work[head->first].claim != PP_NO_CLAIM;
    shard->is_taken = !shard->is_claimed && shard->build->old.entries == NULL;
    return shard->is_claimed ? context->layer->begin(transfer, shard) : PARAPET_OK;
}

void pp_write_shard_close(pp_transfer *transfer, pp_transfer_shard *head)
{
    pp_write_shard *shard = (pp_write_shard *)head;
    pp_shard_build_free(shard->build, pp_context_of(transfer, &shard->head));
}

void pp_write_shard_leave_partial(pp_transfer *transfer, pp_transfer_shard *head)
{
    (void)transfer;
    (void)head;
}

static bool reaches_outside(const pp_layout *layout, int64_t shard, int64_t chunk)
{
    pp_box whole, inside;
    pp_tiling_chunk_whole_box(&layout->tiling, shard, chunk, &whole);
    pp_tiling_chunk_box(&layout->tiling, shard, chunk, &inside);
    return !pp_box_equals(&whole, &inside);
}

/* Decides what becomes of a chunk; false when it stays as it is, or absent. */
static bool decide_fate(const pp_transfer *transfer, const pp_write_shard *shard, int64_t number,
                        pp_write_chunk *chunk)
{
    const pp_view *view = transfer->view;
    const pp_layout *layout = pp_context_of(transfer, &shard->head)->layout;
    bool has_old = shard->build->is_old_open && pp_shard_has_chunk(&shard->build->old, number);
    pp_box inside;
    int64_t covered;
    pp_tiling_chunk_box(&layout->tiling, shard->head.number, number, &inside);
    covered = pp_view_covered_chunk(view, shard->head.first, shard->head.end, number);
    chunk->is_covered = covered == pp_box_element_count(&inside);
    if (covered == 0 && !has_old)
        return false;
    if (chunk->is_covered || !has_old)
        chunk->fate = PP_CHUNK_NEW;
    else if (covered > 0 || (transfer->session->trims && reaches_outside(layout, shard->head.number, number)))
        chunk->fate = PP_CHUNK_MERGE;
    else
        chunk->fate = PP_CHUNK_COPY;
    return chunk->fate != PP_CHUNK_COPY || !shard->build->sink.is_overlay;
}

static bool has_next(const pp_transfer *transfer, const pp_write_shard *shard)
{
    return shard->has_next_cell && next_number(transfer, shard) < shard->chunk_end;
}

void pp_write_shard_take(const pp_transfer *transfer, pp_write_shard *shard, pp_window *window,
                         pp_write_chunk *chunks)
{
    const pp_layout *layout = pp_context_of(transfer, &shard->head)->layout;
    int most = pp_window_chunk_count(pp_chain_decoded_bytes(layout->chain));
    if (most > transfer->memory.window_chunks)
        most = transfer->memory.window_chunks;
    while (has_next(transfer, shard) && window->chunk_count < most) {
        int64_t number = next_number(transfer, shard);
        shard->has_next_cell = pp_box_next(&shard->inside, shard->next_cell);
        if (decide_fate(transfer, shard, number, &chunks[window->chunk_count]))
            window->chunks[window->chunk_count++] = number;
    }
    shard->is_taken = !has_next(transfer, shard);
}
