#include "transfer/write_item.h"

#include <string.h>

static pp_shard *old_shard(const pp_write_item *item)
{
    return &((pp_write_shard *)item->head.shard)->build->old;
}

/* ---- Taking a window ---- */

static parapet_status find_deliveries(const pp_transfer *transfer, pp_write_item *item)
{
    pp_delivery_case of = pp_transfer_delivery_case(transfer, &item->head);
    pp_box whole;
    if (item->head.window.chunk_count == 1 && item->chunks[0].fate == PP_CHUNK_NEW && item->chunks[0].is_covered) {
        pp_tiling_chunk_whole_box(&pp_context_of(transfer, item->head.shard)->layout->tiling,
                                  item->head.shard->number, item->head.window.chunks[0], &whole);
        of.chunk = pp_chain_scratch_chunk(item->scratch);
        of.chunk_box = &whole;
    }
    return pp_deliveries_build(&item->head.deliveries, &of);
}

parapet_status pp_write_item_take(pp_transfer *transfer, pp_transfer_shard *shard_head, pp_transfer_item *head,
                                  bool *is_taken)
{
    pp_write_shard *shard = (pp_write_shard *)shard_head;
    pp_write_item *item = (pp_write_item *)head;
    const pp_transfer_context *context = pp_context_of(transfer, item->head.shard);
    parapet_status status;
    *is_taken = !shard->is_taken;
    if (shard->is_taken)
        return PARAPET_OK;
    pp_write_shard_take(transfer, shard, &head->window, item->chunks);
    item->is_last = shard->is_taken;
    if (head->window.chunk_count == 0)
        return PARAPET_OK;
    if ((status = pp_chain_scratch_ensure(&item->scratch, context->layout->chain, context->budget)) != PARAPET_OK)
        return status;
    return find_deliveries(transfer, item);
}

/* ---- Assembling a chunk ---- */

static parapet_status read_old(const pp_transfer *transfer, pp_write_item *item, int64_t chunk, pp_bytes *encoded)
{
    const pp_transfer_context *context = pp_context_of(transfer, item->head.shard);
    pp_shard *old = old_shard(item);
    const pp_chunk_entry *entry = &old->entries[chunk];
    parapet_status status = pp_shard_check_chunk_bytes(context, old, chunk);
    if (status != PARAPET_OK)
        return status;
    item->input.budget = context->budget;
    if ((status = pp_buffer_ensure(&item->input, (size_t)entry->bytes, "buffers for old chunks")) != PARAPET_OK)
        return status;
    if ((status = old->layer->fetch(context, old,
                                    &(pp_chunk_run){.chunks = &chunk,
                                                    .count = 1,
                                                    .offset = entry->offset,
                                                    .bytes = (size_t)entry->bytes,
                                                    .target = item->input.data,
                                                    .is_last_use = true})) != PARAPET_OK)
        return status;
    *encoded = (pp_bytes){item->input.data, (size_t)entry->bytes};
    return pp_shard_verify_chunk(context, old, chunk, *encoded);
}

static parapet_status decode_old(const pp_transfer *transfer, pp_write_item *item, int64_t chunk)
{
    const pp_transfer_context *context = pp_context_of(transfer, item->head.shard);
    pp_bytes encoded, decoded;
    parapet_status status = read_old(transfer, item, chunk, &encoded);
    if (status != PARAPET_OK)
        return status;
    if ((status = pp_chain_decode(context->layout->chain, item->scratch, encoded, &decoded)) != PARAPET_OK)
        return pp_fail_within(status, "%s: chunk %lld", old_shard(item)->key, (long long)chunk);
    context->counters->chunks_decoded += 1;
    memmove(pp_chain_scratch_chunk(item->scratch), decoded.data, decoded.bytes);
    return PARAPET_OK;
}

/* Sets what lies outside the array to the fill value: for each dimension the slab beyond the inside, over the
 * inside of the dimensions before it, so that no element is set twice. */
static void fill_outside(const pp_layout *layout, const pp_box *whole, const pp_box *inside, unsigned char *chunk)
{
    int64_t strides[PARAPET_MAX_NDIM];
    pp_box outside = *whole;
    int d;
    pp_strides_c_order(whole->ndim, whole->count, layout->tiling.element_bytes, strides);
    for (d = 0; d < whole->ndim; d++) {
        int64_t kept = inside->count[d];
        outside.start[d] = whole->start[d] + kept;
        outside.count[d] = whole->count[d] - kept;
        pp_strided_fill(&(pp_strided){
            .ndim = whole->ndim,
            .element_bytes = layout->tiling.element_bytes,
            .count = outside.count,
            .target = chunk + pp_strides_offset(whole, strides, outside.start),
            .target_strides = strides,
            .source = layout->fill_value,
        });
        outside.start[d] = whole->start[d];
        outside.count[d] = kept;
    }
}

/* *is_whole false: a piece has to come as a message first. */
static parapet_status assemble(pp_transfer *transfer, pp_write_item *item, pp_chunk_move *move, bool *is_whole)
{
    const pp_layout *layout = pp_context_of(transfer, item->head.shard)->layout;
    const pp_write_chunk *chunk = &item->chunks[move->index];
    parapet_status status = PARAPET_OK;
    move->chunk = item->head.window.chunks[move->index];
    move->elements = pp_chain_scratch_chunk(item->scratch);
    pp_tiling_chunk_whole_box(&layout->tiling, item->head.shard->number, move->chunk, &move->whole);
    pp_tiling_chunk_box(&layout->tiling, item->head.shard->number, move->chunk, &move->inside);
    if (chunk->fate == PP_CHUNK_MERGE)
        status = decode_old(transfer, item, move->chunk);
    else if (!chunk->is_covered)
        pp_fill_elements(move->elements, pp_box_element_count(&move->whole), layout->tiling.element_bytes,
                         layout->fill_value);
    if (status != PARAPET_OK)
        return status;
    if (!pp_box_equals(&move->whole, &move->inside))
        fill_outside(layout, &move->whole, &move->inside, move->elements);
    *is_whole = pp_chunk_move_pieces(transfer, move);
    transfer->done_bytes += pp_box_element_count(&move->inside) * (int64_t)layout->tiling.element_bytes;
    return PARAPET_OK;
}

/* ---- Encoding ---- */

/* Old chunks of other writers may take more than ours would. */
static parapet_status grow_output(pp_write_item *item, int index, size_t used, size_t bytes)
{
    pp_buffer larger = {0};
    parapet_status status = pp_buffer_init(&larger, item->output.budget, bytes, "buffers for encoded chunks");
    int i;
    if (status != PARAPET_OK)
        return status;
    larger.budget = item->output.budget;
    memcpy(larger.data, item->output.data, used);
    for (i = 0; i < index; i++)
        if (!item->chunks[i].is_elided)
            item->chunks[i].encoded.data = larger.data + (item->chunks[i].encoded.data - item->output.data);
    pp_buffer_free(&item->output);
    item->output = larger;
    return PARAPET_OK;
}

/* Encoded chunks of a window of several wait in the item's own buffer; the scratch is needed for the next. */
static parapet_status keep_encoded(const pp_transfer *transfer, pp_write_item *item, int index, size_t *used)
{
    const pp_transfer_context *context = pp_context_of(transfer, item->head.shard);
    size_t bound = pp_chain_encoded_bound(context->layout->chain), count = (size_t)item->head.window.chunk_count;
    pp_bytes *encoded = &item->chunks[index].encoded;
    parapet_status status;
    if (count == 1)
        return PARAPET_OK;
    item->output.budget = context->budget;
    if (*used == 0 &&
        (status = pp_buffer_ensure(&item->output, count * bound, "buffers for encoded chunks")) != PARAPET_OK)
        return status;
    if (encoded->bytes > item->output.capacity - *used &&
        (status = grow_output(item, index, *used, *used + encoded->bytes + (count - (size_t)index) * bound)) !=
            PARAPET_OK)
        return status;
    memcpy(item->output.data + *used, encoded->data, encoded->bytes);
    encoded->data = item->output.data + *used;
    *used += encoded->bytes;
    return PARAPET_OK;
}

static parapet_status encode_chunk(pp_transfer *transfer, pp_write_item *item, pp_chunk_move *move, bool *is_whole)
{
    const pp_transfer_context *context = pp_context_of(transfer, item->head.shard);
    pp_write_chunk *chunk = &item->chunks[move->index];
    parapet_status status;
    chunk->is_elided = false;
    *is_whole = true;
    if (chunk->fate == PP_CHUNK_COPY) {
        context->counters->chunks_copied += 1;
        return read_old(transfer, item, item->head.window.chunks[move->index], &chunk->encoded);
    }
    if ((status = assemble(transfer, item, move, is_whole)) != PARAPET_OK || !*is_whole)
        return status;
    if (context->elides_fill && context->layout->is_sharded &&
        pp_layout_is_all_fill(context->layout, pp_chain_scratch_chunk(item->scratch))) {
        chunk->is_elided = true;
        return PARAPET_OK;
    }
    context->counters->chunks_encoded += 1;
    return pp_chain_encode(context->layout->chain, item->scratch, &chunk->encoded);
}

parapet_status pp_write_item_encode(pp_transfer *transfer, int worker, pp_transfer_item *head)
{
    pp_write_item *item = (pp_write_item *)head;
    pp_chunk_move move = {.item = head, .worker = worker};
    parapet_status status = PARAPET_OK;
    size_t used = 0;
    for (; move.index < head->window.chunk_count && status == PARAPET_OK; move.index++) {
        bool is_whole;
        if ((status = encode_chunk(transfer, item, &move, &is_whole)) != PARAPET_OK)
            return status;
        if (!is_whole)
            return find_deliveries(transfer, item); /* and once more from the start, when they have come */
        if (!item->chunks[move.index].is_elided)
            status = keep_encoded(transfer, item, move.index, &used);
    }
    pp_context_of(transfer, item->head.shard)->counters->direct_bytes += move.direct_bytes;
    return status;
}

void pp_write_item_clear(pp_transfer_item *head)
{
    pp_write_item *item = (pp_write_item *)head;
    pp_chain_scratch_free(item->scratch);
    pp_buffer_free(&item->input);
    pp_buffer_free(&item->output);
}
