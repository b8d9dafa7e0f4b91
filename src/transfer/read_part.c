#include "transfer/read_part.h"

#include "base/bytes.h"
#include "base/checked.h"
#include "codec/crc32c.h"
#include "plan/stretch.h"
#include "transfer/requests.h"

#define CRC_BYTES 4
/* A chunk of which fewer rows are wanted is read in bands if it is at least this long: a small buffer is enough. */
#define LEAST_CHUNK_BYTES ((size_t)256 << 10)
/* Of chunks of so many times the bytes that are wanted, handing these out is nothing beside the requests for them. */
#define SPARSE_TIMES 16
/* Requests of this length and more are for whole pages. */
#define PAGES_BYTES ((size_t)64 << 10)

/* Whether any part of a chunk can be read alone: nothing has to be compared that only the whole tells. */
static bool allows_parts(const pp_transfer_context *context)
{
    const pp_chain *chain = context->layout->chain;
    return pp_chain_begins_plain(chain) && !pp_chain_verifies_crc32c(chain) && context->seal == NULL;
}

/* ---- How much is wanted ---- */

static int64_t count_chunks(const pp_transfer *transfer, const pp_tiling *tiling, size_t work)
{
    const pp_view *view = transfer->view;
    pp_box claimed, chunks;
    pp_claim_box(pp_view_claim(view, work), view->claims.ndim_most, tiling->shards.ndim, &claimed);
    (void)pp_tiling_chunks_touched(tiling, view->list.work[work].shard, &claimed, &chunks);
    return pp_box_element_count(&chunks);
}

/* Bytes of the chunks of a shard that its claims touch, at most. */
static double spanned_bytes(const pp_transfer *transfer, const pp_layout *layout, size_t first, size_t end)
{
    int64_t count = 0;
    for (; first < end && count < layout->tiling.chunks.cell_count; first++)
        count += count_chunks(transfer, &layout->tiling, first);
    return (double)pp_min_i64(count, layout->tiling.chunks.cell_count) *
           (double)pp_chain_decoded_bytes(layout->chain);
}

bool pp_read_part_is_sparse(const pp_transfer *transfer)
{
    const pp_worklist *list = &transfer->view->list;
    double spanned = 0;
    size_t first, end;
    if (transfer->view->picked != NULL)
        return false; /* it has no claims to count chunks of */
    for (first = 0; first < list->count; first = end) {
        const pp_transfer_context *context = pp_session_context(transfer->session, list->work[first].target);
        end = pp_worklist_group_end(list, first);
        if (!allows_parts(context))
            return false;
        spanned += spanned_bytes(transfer, context->layout, first, end);
    }
    return spanned >= (double)SPARSE_TIMES * (double)transfer->total_bytes;
}

/* The smallest box that holds all claimed elements of a chunk; ndim stays as it is. */
static void bound_claims(const pp_transfer *transfer, const pp_read_shard *shard, int64_t chunk, pp_box *bounds)
{
    const pp_layout *layout = pp_context_of(transfer, &shard->head)->layout;
    pp_box inside, common;
    size_t i;
    int d;
    if (transfer->view->picked != NULL) {
        pp_point_claims_bound(transfer->view->picked, shard->head.number, chunk, bounds);
        return;
    }
    pp_tiling_chunk_box(&layout->tiling, shard->head.number, chunk, &inside);
    *bounds = (pp_box){.ndim = inside.ndim};
    for (i = shard->head.first; i < shard->head.end; i++) {
        bool is_new = pp_box_is_empty(bounds);
        if (!pp_view_intersect(transfer->view, i, &inside, &common))
            continue;
        for (d = 0; d < common.ndim; d++) {
            int64_t start = is_new ? common.start[d] : pp_min_i64(bounds->start[d], common.start[d]);
            int64_t end = pp_max_i64(common.start[d] + common.count[d], bounds->start[d] + bounds->count[d]);
            bounds->start[d] = start;
            bounds->count[d] = end - start;
        }
    }
}

/* ---- Bands ---- */

/* The longest band that fits a request with its checksum, on whole pages. */
static size_t band_room(const pp_transfer *transfer)
{
    return transfer->memory.batch_bytes - (size_t)2 * PP_PAGE_BYTES - CRC_BYTES;
}

static parapet_status check_length(const pp_layout *layout, const pp_read_shard *shard, int64_t chunk)
{
    uint64_t bytes = shard->stored.entries[chunk].bytes;
    if (bytes == pp_chain_encoded_bound(layout->chain))
        return PARAPET_OK;
    return pp_fail(PARAPET_ERR_CORRUPT, "%s: chunk %lld has %llu bytes instead of %zu", shard->stored.key,
                   (long long)chunk, (unsigned long long)bytes, pp_chain_encoded_bound(layout->chain));
}

/* Whether few rows of a chunk are wanted. */
static bool is_sparse(const pp_layout *layout, const pp_box *whole, const pp_box *bounds)
{
    return whole->ndim > 0 && pp_chain_decoded_bytes(layout->chain) >= LEAST_CHUNK_BYTES &&
           2 * bounds->count[0] <= whole->count[0];
}

/* Decides whether the next wanted chunk is taken in bands, and begins to. One that is too large for a request, by
 * what is stored or by what should be, has its length checked: everything else is planned for whole chunks. */
static parapet_status begin_chunk(const pp_transfer *transfer, pp_read_shard *shard)
{
    const pp_transfer_context *context = pp_context_of(transfer, &shard->head);
    const pp_layout *layout = context->layout;
    int64_t chunk = shard->wanted[shard->next_wanted];
    size_t room = transfer->memory.batch_bytes - (size_t)2 * PP_PAGE_BYTES;
    bool exceeds = pp_max_u64(shard->stored.entries[chunk].bytes, pp_chain_encoded_bound(layout->chain)) > room;
    pp_box whole, bounds;
    if (!pp_chain_begins_plain(layout->chain) || (!exceeds && !allows_parts(context)))
        return PARAPET_OK;
    if (!exceeds &&
        shard->stored.layer->wants_whole(context, &shard->stored, chunk, (size_t)shard->stored.entries[chunk].bytes))
        return PARAPET_OK;
    pp_tiling_chunk_whole_box(&layout->tiling, shard->head.number, chunk, &whole);
    bounds = whole;
    if (allows_parts(context))
        bound_claims(transfer, shard, chunk, &bounds);
    if (!exceeds && !is_sparse(layout, &whole, &bounds))
        return PARAPET_OK;
    pp_bands_init(&shard->bands, &whole, &bounds, layout->tiling.element_bytes, band_room(transfer));
    shard->has_bands = true;
    context->counters->chunks_decoded += 1;
    return check_length(layout, shard, chunk);
}

/* What picks have to do with a band of the shard, or with a chunk in full. */
static pp_point_range point_range(const pp_transfer *transfer, const pp_transfer_shard *shard, int64_t chunk,
                                  const pp_box *band)
{
    return pp_point_claims_band(transfer->view->picked, shard->number, chunk, band);
}

static bool is_claimed(const pp_transfer *transfer, const pp_read_shard *shard, const pp_box *band)
{
    pp_point_range range;
    pp_box common;
    size_t i;
    if (transfer->view->picked != NULL) {
        range = point_range(transfer, &shard->head, shard->wanted[shard->next_wanted], band);
        return pp_point_claims_has_any(transfer->view->picked, &range);
    }
    for (i = shard->head.first; i < shard->head.end; i++)
        if (pp_view_intersect(transfer->view, i, band, &common))
            return true;
    return false;
}

static void place_band(const pp_transfer_context *context, pp_read_shard *shard, pp_read_item *item)
{
    const pp_layout *layout = context->layout;
    const pp_chunk_entry *entry = &shard->stored.entries[item->wanted[0]];
    uint64_t end;
    int64_t first, count;
    pp_band_to_run(&shard->bands.whole, &item->band, &first, &count);
    item->head.window.band_first = first;
    item->head.window.band_count = count;
    item->offset = entry->offset + (uint64_t)first * layout->tiling.element_bytes;
    end = item->offset + (uint64_t)count * layout->tiling.element_bytes;
    if (item->is_last && pp_chain_ends_in_crc32c(layout->chain) && !allows_parts(context))
        end += CRC_BYTES;
    item->band_skip = (size_t)(item->offset % PP_PAGE_BYTES);
    pp_read_part_round(shard, item, end);
}

/* The next band that is wanted or has to be verified; false: the chunk is done. */
static bool take_band(const pp_transfer *transfer, pp_read_shard *shard, pp_read_item *item)
{
    const pp_transfer_context *context = pp_context_of(transfer, &shard->head);
    while (pp_bands_next(&shard->bands, &item->band)) {
        if (allows_parts(context) && !is_claimed(transfer, shard, &item->band))
            continue;
        item->is_band = true;
        item->wanted = &shard->wanted[shard->next_wanted];
        item->wanted_count = 1;
        item->is_last = !shard->bands.more;
        place_band(context, shard, item);
        item->is_first = item->head.window.band_first == 0;
        return true;
    }
    return false;
}

parapet_status pp_read_part_take(const pp_transfer *transfer, pp_read_shard *shard, pp_read_item *item)
{
    parapet_status status;
    while (shard->next_wanted < shard->wanted_count) {
        if (!shard->has_bands && ((status = begin_chunk(transfer, shard)) != PARAPET_OK || !shard->has_bands))
            return status;
        if (take_band(transfer, shard, item))
            return PARAPET_OK;
        shard->has_bands = false;
        shard->next_wanted++;
    }
    return PARAPET_OK;
}

void pp_read_part_round(const pp_read_shard *shard, pp_read_item *item, uint64_t end)
{
    const pp_reader *reader = shard->stored.reader;
    uint64_t object_end = reader != NULL ? pp_max_u64(end, reader->bytes) : end;
    item->offset -= item->offset % PP_PAGE_BYTES;
    end += (PP_PAGE_BYTES - end % PP_PAGE_BYTES) % PP_PAGE_BYTES;
    item->bytes = (size_t)(pp_min_u64(end, object_end) - item->offset);
}

/* ---- What is wanted ---- */

/* What the claims want of a box that lies at the place. */
static void want_claims(const pp_transfer *transfer, const pp_transfer_shard *shard, const pp_stretch_place *place,
                        const pp_box *inside, pp_stretch *stretch)
{
    pp_box common;
    size_t i;
    for (i = shard->first; i < shard->end; i++)
        if (pp_view_intersect(transfer->view, i, inside, &common))
            pp_stretch_want_box(stretch, place, &common);
}

/* The same for picks; the place has a chunk, or a band of it. */
static void want_picks(const pp_transfer *transfer, const pp_transfer_shard *shard, const pp_stretch_place *place,
                       int64_t chunk, pp_stretch *stretch)
{
    pp_point_range range = point_range(transfer, shard, chunk, place->box);
    pp_point_claims_want(transfer->view->picked, &range, place->offset, stretch);
}

static void want_chunk(const pp_transfer *transfer, const pp_read_item *item, int64_t chunk, pp_stretch *stretch)
{
    const pp_read_shard *shard = (const pp_read_shard *)item->head.shard;
    const pp_layout *layout = pp_context_of(transfer, &shard->head)->layout;
    const pp_chunk_entry *entry = &shard->stored.entries[chunk];
    size_t offset = (size_t)(entry->offset - item->offset);
    pp_stretch_place place = {.element_bytes = layout->tiling.element_bytes, .offset = offset};
    pp_box whole, inside;
    if (entry->bytes != pp_chain_encoded_bound(layout->chain)) { /* decoding says what is wrong with it */
        pp_stretch_want(stretch, offset, offset + (size_t)entry->bytes);
        return;
    }
    pp_tiling_chunk_whole_box(&layout->tiling, shard->head.number, chunk, &whole);
    pp_tiling_chunk_box(&layout->tiling, shard->head.number, chunk, &inside);
    place.box = &whole;
    if (transfer->view->picked != NULL)
        want_picks(transfer, &shard->head, &place, chunk, stretch);
    else
        want_claims(transfer, &shard->head, &place, &inside, stretch);
}

static void want_item(const pp_transfer *transfer, const pp_read_item *item, pp_stretch *stretch)
{
    pp_stretch_place place = {.box = &item->band, .offset = item->band_skip};
    int64_t i;
    pp_stretch_init(stretch, item->bytes);
    if (item->is_band) {
        place.element_bytes = pp_context_of(transfer, item->head.shard)->layout->tiling.element_bytes;
        if (transfer->view->picked != NULL)
            want_picks(transfer, item->head.shard, &place, item->wanted[0], stretch);
        else
            want_claims(transfer, item->head.shard, &place, &item->band, stretch);
        return;
    }
    for (i = 0; i < item->wanted_count; i++)
        want_chunk(transfer, item, item->wanted[i], stretch);
}

/* ---- Reading ---- */

typedef struct stretch_walk {
    const pp_shard *shard;
    const pp_stretch *stretch;
    size_t gap_bytes;
    uint64_t offset;
    pp_stretch_request last;
} stretch_walk;

static bool next_request(void *context, pp_request *request)
{
    stretch_walk *walk = context;
    size_t from, end;
    if (!pp_stretch_next(walk->stretch, walk->gap_bytes, &walk->last))
        return false;
    from = walk->last.from;
    end = walk->last.end;
    if (end - from >= PAGES_BYTES) {
        from -= from % PP_PAGE_BYTES;
        end = pp_min_size(pp_align_up(end, PP_PAGE_BYTES), walk->stretch->bytes);
    }
    *request = (pp_request){.shard = walk->shard, .offset = walk->offset + from, .bytes = end - from, .place = from};
    return true;
}

static void measure_requests(const pp_transfer_context *context, const pp_read_item *item, pp_reader *reader)
{
    const pp_cost_stretch stretch = {
        .reader = reader, .offset = item->offset, .bytes = item->bytes, .buffer = item->buffer.data};
    pp_cost_spent spent;
    if (context->cost == NULL)
        return;
    spent = pp_request_cost_measure(context->cost, &stretch);
    context->counters->read_requests += spent.requests;
    context->counters->read_bytes += spent.bytes;
}

static parapet_status fetch_wanted(const pp_transfer *transfer, pp_read_item *item)
{
    const pp_shard *stored = &((const pp_read_shard *)item->head.shard)->stored;
    const pp_transfer_context *context = pp_context_of(transfer, item->head.shard);
    pp_stretch stretch;
    stretch_walk walk = {.shard = stored, .stretch = &stretch, .offset = item->offset}, ahead;
    int64_t count;
    measure_requests(context, item, stored->reader);
    want_item(transfer, item, &stretch);
    walk.gap_bytes = pp_request_cost_gap(context->cost);
    ahead = walk;
    return pp_requests_read(context,
                            &(pp_request_walk){.next = next_request,
                                               .walk = &walk,
                                               .ahead = pp_request_cost_pays_ahead(context->cost) ? &ahead : NULL},
                            item->buffer.data, &count);
}

/* Before its elements go anywhere, as far as one band tells: the last one decides for all of them. */
static parapet_status verify_band(const pp_transfer *transfer, pp_read_item *item)
{
    pp_read_shard *shard = (pp_read_shard *)item->head.shard;
    const pp_layout *layout = pp_context_of(transfer, &shard->head)->layout;
    const unsigned char *data = item->buffer.data + item->band_skip;
    size_t bytes = (size_t)pp_box_element_count(&item->band) * layout->tiling.element_bytes;
    uint32_t stored;
    shard->crc32c = pp_crc32c(item->is_first ? 0 : shard->crc32c, data, bytes);
    if (!item->is_last)
        return PARAPET_OK;
    stored = pp_chain_ends_in_crc32c(layout->chain) ? pp_load_u32le(data + bytes) : shard->crc32c;
    if (pp_chain_verifies_crc32c(layout->chain) && shard->crc32c != stored)
        return pp_fail(PARAPET_ERR_CORRUPT,
                       "%s: chunk %lld: crc32c: checksum of %zu bytes is %08x, but %08x is stored", shard->stored.key,
                       (long long)item->wanted[0], pp_chain_decoded_bytes(layout->chain), shard->crc32c, stored);
    return pp_shard_verify_crc32c(pp_context_of(transfer, &shard->head), &shard->stored, item->wanted[0], stored);
}

/* Where parts of chunks can be read, whole ones are only if they are in memory, or stay there. */
static bool is_fetched_in_parts(const pp_transfer_context *context, const pp_shard *stored, const pp_read_item *item)
{
    if (!allows_parts(context))
        return false;
    return item->is_band ? pp_shard_find(context, stored, item->wanted[0]) != PP_WAITING
                         : !stored->layer->wants_whole(context, stored, item->wanted[0], item->bytes);
}

parapet_status pp_read_part_fetch(const pp_transfer *transfer, pp_read_item *item)
{
    const pp_read_shard *shard = (const pp_read_shard *)item->head.shard;
    const pp_transfer_context *context = pp_context_of(transfer, &shard->head);
    parapet_status status;
    if (is_fetched_in_parts(context, &shard->stored, item))
        return fetch_wanted(transfer, item);
    status = shard->stored.layer->fetch(context, &shard->stored,
                                        &(pp_chunk_run){.chunks = item->wanted,
                                                        .count = item->wanted_count,
                                                        .offset = item->offset,
                                                        .bytes = item->bytes,
                                                        .target = item->buffer.data,
                                                        .is_part = item->is_band});
    return status == PARAPET_OK && item->is_band ? verify_band(transfer, item) : status;
}
