#include "transfer/read_shard.h"

#include <stdlib.h>

#include "base/checked.h"
#include "transfer/open_shards.h"
#include "transfer/read_part.h"
#include "transfer/requests.h"

/* A request smaller than this is not ended early. */
#define ROW_LEAST_BYTES (1u << 20)

static int compare_offsets(const void *left, const void *right, void *entries)
{
    const pp_chunk_entry *table = entries;
    uint64_t a = table[*(const int64_t *)left].offset, b = table[*(const int64_t *)right].offset;
    return (a > b) - (a < b);
}

/* Chunk positions of the shard that a claim touches. */
static void chunks_of_claim(const pp_transfer *transfer, const pp_transfer_shard *shard, size_t work, pp_box *chunks)
{
    const pp_tiling *tiling = &pp_context_of(transfer, shard)->layout->tiling;
    const pp_view *view = transfer->view;
    pp_box claimed;
    pp_claim_box(pp_view_claim(view, work), view->claims.ndim_most, tiling->shards.ndim, &claimed);
    (void)pp_tiling_chunks_touched(tiling, shard->number, &claimed, chunks);
}

static void mark_chunks(const pp_transfer *transfer, pp_read_shard *shard)
{
    const pp_grid *grid = &pp_context_of(transfer, &shard->head)->layout->tiling.chunks;
    int64_t cell[PARAPET_MAX_NDIM];
    pp_box chunks;
    bool more;
    size_t i;
    if (transfer->view->picked != NULL) {
        (void)pp_point_claims_mark_chunks(transfer->view->picked, shard->head.number, shard->is_touched);
        return;
    }
    for (i = shard->head.first; i < shard->head.end; i++) {
        chunks_of_claim(transfer, &shard->head, i, &chunks);
        for (more = pp_box_first(&chunks, cell); more; more = pp_box_next(&chunks, cell))
            shard->is_touched[pp_grid_cell_number(grid, cell)] = 1;
    }
}

int64_t pp_read_shard_count_touched(const pp_transfer *transfer, const pp_transfer_shard *shard)
{
    const pp_tiling *tiling = &pp_context_of(transfer, shard)->layout->tiling;
    int64_t cell[PARAPET_MAX_NDIM], count = 0;
    pp_box chunks, box, common;
    size_t i;
    bool more;
    if (transfer->view->picked != NULL)
        return pp_point_claims_mark_chunks(transfer->view->picked, shard->number, NULL);
    if (shard->end - shard->first == 1) {
        chunks_of_claim(transfer, shard, shard->first, &chunks);
        return pp_box_element_count(&chunks);
    }
    pp_tiling_chunks_inside(tiling, shard->number, &chunks);
    for (more = pp_box_first(&chunks, cell); more; more = pp_box_next(&chunks, cell)) {
        pp_tiling_chunk_box(tiling, shard->number, pp_grid_cell_number(&tiling->chunks, cell), &box);
        for (i = shard->first; i < shard->end && !pp_view_intersect(transfer->view, i, &box, &common); i++)
            continue;
        count += i < shard->end;
    }
    return count;
}

/* ---- Opening ---- */

/* The wanted chunks, in the order of their offsets, must lie one behind the other. */
static parapet_status check_apart(const pp_read_shard *shard)
{
    const pp_chunk_entry *entries = shard->stored.entries;
    int64_t i;
    for (i = 1; i < shard->wanted_count; i++) {
        const pp_chunk_entry *before = &entries[shard->wanted[i - 1]];
        if (before->offset + before->bytes > entries[shard->wanted[i]].offset)
            return pp_fail(PARAPET_ERR_CORRUPT, "%s: chunks %lld and %lld overlap", shard->stored.key,
                           (long long)shard->wanted[i - 1], (long long)shard->wanted[i]);
    }
    return PARAPET_OK;
}

static parapet_status reserve_lists(pp_read_shard *shard, pp_budget *budget, size_t count)
{
    size_t bytes = count * (sizeof shard->wanted[0] + 1);
    parapet_status status = pp_budget_reserve(budget, bytes, "lists of chunks");
    if (status != PARAPET_OK)
        return status;
    shard->budget = budget;
    shard->reserved_bytes = bytes;
    if ((status = pp_allocate_array(&shard->wanted, count, sizeof shard->wanted[0])) != PARAPET_OK)
        return status;
    return pp_allocate(&shard->is_touched, count);
}

/* Whether half of the chunks that are read, or more, is not wanted. */
static bool is_half_unwanted(const pp_transfer *transfer, const pp_read_shard *shard)
{
    const pp_transfer_shard *head = &shard->head;
    double wanted = (double)pp_open_shards_claimed_bytes(transfer, head->first, head->end);
    double chunk = (double)pp_chain_decoded_bytes(pp_context_of(transfer, head)->layout->chain);
    return 2 * wanted <= (double)shard->wanted_count * chunk;
}

static parapet_status list_wanted(const pp_transfer *transfer, pp_read_shard *shard)
{
    const pp_transfer_context *context = pp_context_of(transfer, &shard->head);
    int64_t chunk, count = context->layout->tiling.chunks.cell_count;
    parapet_status status = reserve_lists(shard, context->budget, (size_t)count);
    if (status != PARAPET_OK)
        return status;
    mark_chunks(transfer, shard);
    for (chunk = 0; chunk < count && status == PARAPET_OK; chunk++) {
        if (!shard->is_touched[chunk] || !pp_shard_has_chunk(&shard->stored, chunk))
            continue;
        status = pp_shard_check_chunk_bytes(context, &shard->stored, chunk);
        shard->wanted[shard->wanted_count++] = chunk;
    }
    qsort_r(shard->wanted, (size_t)shard->wanted_count, sizeof shard->wanted[0], compare_offsets,
            shard->stored.entries);
    shard->stored.is_shared = context->has_neighbours && is_half_unwanted(transfer, shard);
    return status == PARAPET_OK ? check_apart(shard) : status;
}

/* Whether what is stored is more than the elements as they are in memory: to decode or verify it again takes time. */
static bool is_decoded(const pp_transfer_context *context)
{
    const pp_chain *chain = context->layout->chain;
    return !pp_chain_begins_plain(chain) || pp_chain_verifies_crc32c(chain) || context->seal != NULL;
}

/* Whether the next chunks lie together in so many bytes that they are read round the page cache. */
static bool is_long_run(const pp_transfer *transfer, const pp_read_shard *shard)
{
    size_t gap = pp_request_cost_gap(pp_context_of(transfer, &shard->head)->cost);
    const pp_chunk_entry *entry = &shard->stored.entries[shard->wanted[shard->next_wanted]];
    uint64_t first = entry->offset, end = first + entry->bytes;
    int64_t i;
    for (i = shard->next_wanted + 1; i < shard->wanted_count && end - first < PP_DIRECT_READ_BYTES; i++) {
        entry = &shard->stored.entries[shard->wanted[i]];
        if (entry->offset - end > gap)
            break;
        end = entry->offset + entry->bytes;
    }
    return end - first >= PP_DIRECT_READ_BYTES;
}

/* A rank alone has no thread that reads while it decodes: storage is told of the next chunks, as far as they are read
 * whole, and fetches them meanwhile. */
static void tell_ahead(const pp_transfer *transfer, pp_read_shard *shard)
{
    const pp_transfer_context *context = pp_context_of(transfer, &shard->head);
    size_t bytes = 0;
    int64_t next = shard->next_wanted;
    if (!transfer->session->is_alone || next == shard->wanted_count || !is_decoded(context) ||
        is_long_run(transfer, shard))
        return;
    for (; next < shard->wanted_count && bytes < PP_BYTES_AHEAD; next++) {
        const pp_chunk_entry *entry = &shard->stored.entries[shard->wanted[next]];
        bytes += (size_t)entry->bytes;
        if (next < shard->next_told || pp_shard_find(context, &shard->stored, shard->wanted[next]) == PP_WAITING)
            continue;
        pp_reader_expect(shard->stored.reader, entry->offset, (size_t)entry->bytes);
        shard->next_told = next + 1;
    }
}

parapet_status pp_read_shard_open(pp_transfer *transfer, pp_transfer_shard *head)
{
    pp_read_shard *shard = (pp_read_shard *)head;
    parapet_status status = pp_shard_open(pp_context_of(transfer, head), head->number, &shard->stored);
    shard->is_staged_once = !transfer->session->serves_own && is_decoded(pp_context_of(transfer, head)) &&
                            pp_session_sends_several(transfer->session, head->first, head->end);
    if (status != PARAPET_OK || shard->stored.entries == NULL ||
        (status = list_wanted(transfer, shard)) != PARAPET_OK)
        return status;
    tell_ahead(transfer, shard);
    return PARAPET_OK;
}

void pp_read_shard_close(pp_transfer *transfer, pp_transfer_shard *head)
{
    pp_read_shard *shard = (pp_read_shard *)head;
    (void)transfer;
    pp_shard_close(&shard->stored);
    pp_free(shard->wanted);
    pp_free(shard->is_touched);
    if (shard->budget != NULL)
        pp_budget_release(shard->budget, shard->reserved_bytes);
}

/* ---- Taking items ---- */

/* A run that other ranks are told of has as many chunks as fit a window and its staging buffer. */
static int64_t most_chunks(const pp_transfer *transfer, const pp_read_shard *shard)
{
    size_t chunk_bytes = pp_chain_decoded_bytes(pp_context_of(transfer, &shard->head)->layout->chain);
    if (transfer->session->serves_own)
        return INT64_MAX;
    return pp_max_i64(1, pp_min_i64(PP_WINDOW_CHUNKS, (int64_t)(transfer->memory.batch_bytes / chunk_bytes)));
}

/* Takes from the room what other ranks are sent of a chunk; false: there is not enough, and a run ends before it. */
static bool take_room(const pp_transfer *transfer, const pp_read_shard *shard, int64_t chunk, size_t *room)
{
    const pp_tiling *tiling = &pp_context_of(transfer, &shard->head)->layout->tiling;
    size_t bytes, before = *room;
    pp_box box;
    if (!shard->is_staged_once)
        return true;
    pp_tiling_chunk_box(tiling, shard->head.number, chunk, &box);
    bytes = (size_t)pp_session_sent_elements(transfer->session, shard->head.first, shard->head.end, chunk, &box) *
            tiling->element_bytes;
    *room -= pp_min_size(bytes, before);
    return bytes <= before;
}

/* Whether the next chunk begins another row of chunks: what ends here can be written to other ranks row by row. */
static bool is_row_complete(const pp_transfer *transfer, const pp_read_shard *shard, uint64_t taken_bytes)
{
    const pp_grid *chunks = &pp_context_of(transfer, &shard->head)->layout->tiling.chunks;
    int64_t row = chunks->ndim > 0 ? chunks->cells[chunks->ndim - 1] : 1;
    if (transfer->memory.sieve_bytes == 0 || taken_bytes < ROW_LEAST_BYTES)
        return false;
    return shard->wanted[shard->next_wanted] / row != shard->wanted[shard->next_wanted - 1] / row;
}

static pp_chunk_place find(const pp_transfer *transfer, const pp_read_shard *shard, int64_t chunk)
{
    return pp_shard_find(pp_context_of(transfer, &shard->head), &shard->stored, chunk);
}

/* As many of the wanted chunks as lie together in one kind of place and fit one request; and no more than can be
 * staged at a time, so that each is decoded once. */
static void take_run(const pp_transfer *transfer, pp_read_shard *shard, pp_read_item *item)
{
    const pp_chunk_entry *entries = shard->stored.entries;
    const pp_chunk_entry *entry = &entries[shard->wanted[shard->next_wanted]];
    uint64_t end = entry->offset + entry->bytes;
    int64_t first = shard->next_wanted++, most = most_chunks(transfer, shard);
    size_t gap = pp_request_cost_gap(pp_context_of(transfer, &shard->head)->cost);
    size_t room = transfer->memory.staged_bytes;
    pp_chunk_place place = find(transfer, shard, shard->wanted[first]);
    (void)take_room(transfer, shard, shard->wanted[first], &room);
    item->offset = entry->offset;
    while (shard->next_wanted < shard->wanted_count && shard->next_wanted - first < most &&
           !is_row_complete(transfer, shard, end - item->offset)) {
        entry = &entries[shard->wanted[shard->next_wanted]];
        uint64_t next_end = entry->offset + entry->bytes > end ? entry->offset + entry->bytes : end;
        if (entry->offset - pp_min_u64(entry->offset, end) > gap ||
            next_end - item->offset > transfer->memory.batch_bytes - (size_t)2 * PP_PAGE_BYTES ||
            find(transfer, shard, shard->wanted[shard->next_wanted]) != place ||
            !take_room(transfer, shard, shard->wanted[shard->next_wanted], &room))
            break;
        end = next_end;
        shard->next_wanted++;
    }
    item->wanted = shard->wanted + first;
    item->wanted_count = shard->next_wanted - first;
    pp_read_part_round(shard, item, end);
}

/* For other ranks, which are told of the chunks. Without, there may be more of them than a window holds. */
static void fill_window(const pp_transfer *transfer, pp_read_item *item)
{
    pp_window *window = &item->head.window;
    if (transfer->session->serves_own)
        return;
    for (; window->chunk_count < item->wanted_count; window->chunk_count++)
        window->chunks[window->chunk_count] = item->wanted[window->chunk_count];
}

/* The next chunks that are touched and not stored; false: none left. */
static bool take_absent(const pp_transfer *transfer, pp_read_shard *shard, pp_transfer_item *item)
{
    int64_t count = pp_context_of(transfer, &shard->head)->layout->tiling.chunks.cell_count;
    if (shard->stored.entries == NULL) {
        bool is_new = !shard->is_told_absent;
        shard->is_told_absent = true;
        item->news = PP_WINDOW_FILL_SHARD;
        return is_new;
    }
    item->news = PP_WINDOW_FILL;
    for (; shard->next_absent < count && item->window.chunk_count < PP_WINDOW_CHUNKS; shard->next_absent++)
        if (shard->is_touched[shard->next_absent] && !pp_shard_has_chunk(&shard->stored, shard->next_absent))
            item->window.chunks[item->window.chunk_count++] = shard->next_absent;
    return item->window.chunk_count > 0;
}

parapet_status pp_read_shard_take(pp_transfer *transfer, pp_transfer_shard *head, pp_transfer_item *item_head,
                                  bool *is_taken)
{
    pp_read_shard *shard = (pp_read_shard *)head;
    pp_read_item *item = (pp_read_item *)item_head;
    parapet_status status;
    item->wanted_count = 0;
    *is_taken = true;
    if (take_absent(transfer, shard, item_head))
        return PARAPET_OK;
    item_head->news = PP_WINDOW_DATA;
    item->is_band = false;
    if ((status = pp_read_part_take(transfer, shard, item)) != PARAPET_OK)
        return status;
    *is_taken = item->is_band || shard->next_wanted < shard->wanted_count;
    if (!item->is_band && *is_taken) {
        take_run(transfer, shard, item);
        tell_ahead(transfer, shard);
        head->is_spent = shard->next_wanted == shard->wanted_count;
    }
    if (*is_taken)
        fill_window(transfer, item);
    return PARAPET_OK;
}
