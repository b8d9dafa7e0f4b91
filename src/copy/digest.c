#include "copy/digest.h"

#include <string.h>

#include "base/checked.h"
#include "base/status.h"
#include "geometry/strided.h"
#include "transfer/shard.h"

/* What is read at a time of chunks that are stored as they are: they may be larger than memory. */
#define PIECE_BYTES ((int64_t)256 << 10)

static uint64_t mix(uint64_t value)
{
    value = (value ^ value >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return value ^ value >> 32;
}

/* Any element as a number; long ones are folded. */
static uint64_t fold(const unsigned char *element, size_t bytes)
{
    uint64_t value = 0, piece;
    while (bytes > 8) {
        memcpy(&piece, element, 8);
        value = mix(value ^ piece) + 1;
        element += 8;
        bytes -= 8;
    }
    piece = 0;
    memcpy(&piece, element, bytes);
    return value ^ piece;
}

typedef struct digest_row {
    const unsigned char *element, *fill;
    int64_t stride, count;
    int64_t position, step; /* in C order of the target */
} digest_row;

static void add_row(pp_copy_digest *digest, const digest_row *row, size_t element_bytes)
{
    const unsigned char *element = row->element;
    uint64_t position = (uint64_t)row->position, first = 0, second = 0;
    int64_t i;
    for (i = 0; i < row->count; i++) {
        if (memcmp(element, row->fill, element_bytes) != 0) {
            uint64_t hash = mix(fold(element, element_bytes) + mix(position * UINT64_C(0x9e3779b97f4a7c15) + 1));
            first += hash;
            second += mix(hash ^ UINT64_C(0xa0761d6478bd642f));
        }
        element += row->stride;
        position += (uint64_t)row->step;
    }
    digest->sums[0] += first;
    digest->sums[1] += second;
}

typedef struct digest_job {
    pp_copy_digest *digest;
    const pp_transfer_context *context;
    const pp_copy_view *view;
    pp_box wanted; /* the view, in the index space of this array */
    pp_chain_scratch *decoder;
    pp_buffer buffer;
} digest_job;

/* Where element `at` of this array is in the target, in C order. */
static int64_t position_of(const digest_job *job, const int64_t *at)
{
    const pp_copy_view *view = job->view;
    int64_t position = 0;
    int d;
    for (d = 0; d < view->ndim; d++) {
        int64_t inside = at[view->axis[d]] - view->start[d];
        position = position * view->shape[d] + (view->is_reversed[d] ? view->shape[d] - 1 - inside : inside);
    }
    return position;
}

static int64_t step_along(const digest_job *job, int axis)
{
    int64_t step = 1;
    int d;
    for (d = job->view->ndim - 1; job->view->axis[d] != axis; d--)
        step *= job->view->shape[d];
    return job->view->is_reversed[d] ? -step : step;
}

static void add_box(const digest_job *job, const pp_box *whole, const pp_box *box, const unsigned char *elements)
{
    size_t element_bytes = job->context->layout->tiling.element_bytes;
    int64_t strides[PARAPET_MAX_NDIM], at[PARAPET_MAX_NDIM];
    pp_box rows = *box;
    digest_row row = {.count = 1, .fill = job->context->layout->fill_value};
    int last = box->ndim - 1;
    bool more;
    pp_strides_c_order(box->ndim, whole->count, element_bytes, strides);
    if (last >= 0) {
        row.count = box->count[last];
        row.stride = strides[last];
        row.step = step_along(job, last);
        rows.count[last] = 1;
    }
    for (more = pp_box_first(&rows, at); more; more = pp_box_next(&rows, at)) {
        row.element = elements + pp_strides_offset(whole, strides, at);
        row.position = position_of(job, at);
        add_row(job->digest, &row, element_bytes);
    }
}

static parapet_status read_chunk(digest_job *job, const pp_shard *shard, int64_t chunk,
                                 const unsigned char **elements)
{
    const pp_chunk_entry *entry = &shard->entries[chunk];
    pp_bytes decoded;
    parapet_status status;
    if ((status = pp_shard_check_chunk_bytes(job->context, shard, chunk)) != PARAPET_OK ||
        (status = pp_buffer_ensure(&job->buffer, (size_t)entry->bytes, "chunks to verify")) != PARAPET_OK ||
        (status = pp_shard_read(job->context, shard, entry->offset, (size_t)entry->bytes, job->buffer.data)) !=
            PARAPET_OK ||
        (status = pp_shard_verify_chunk(job->context, shard, chunk,
                                        (pp_bytes){job->buffer.data, (size_t)entry->bytes})) != PARAPET_OK)
        return status;
    status = pp_chain_decode(job->context->layout->chain, job->decoder,
                             (pp_bytes){job->buffer.data, (size_t)entry->bytes}, &decoded);
    if (status != PARAPET_OK)
        return pp_fail_within(status, "%s: chunk %lld", shard->key, (long long)chunk);
    *elements = decoded.data;
    return PARAPET_OK;
}

/* The first dimension of which several elements, each with all that is behind it, are one piece. */
static int split_of(const pp_box *whole, const int64_t *strides)
{
    int d = 0;
    while (d + 1 < whole->ndim && strides[d] > PIECE_BYTES)
        d++;
    return d;
}

/* A chunk that is stored as it is, piece by piece. */
static parapet_status add_plain(digest_job *job, const pp_shard *shard, const pp_chunk_entry *entry,
                                const pp_box *whole, const pp_box *box)
{
    int64_t strides[PARAPET_MAX_NDIM], at[PARAPET_MAX_NDIM], step;
    pp_box piece = *whole, starts = *box, inside;
    parapet_status status;
    bool more;
    int d, split;
    pp_strides_c_order(whole->ndim, whole->count, job->context->layout->tiling.element_bytes, strides);
    split = split_of(whole, strides);
    step = pp_max_i64(1, PIECE_BYTES / strides[split]);
    for (d = split; d < whole->ndim; d++)
        starts.count[d] = d == split ? pp_divide_up(box->count[d], step) : 1;
    for (more = pp_box_first(&starts, at); more; more = pp_box_next(&starts, at)) {
        int64_t offset, bytes;
        for (d = 0; d < split; d++) {
            piece.start[d] = at[d];
            piece.count[d] = 1;
        }
        piece.start[split] = box->start[split] + (at[split] - box->start[split]) * step;
        piece.count[split] = pp_min_i64(step, box->start[split] + box->count[split] - piece.start[split]);
        offset = pp_strides_offset(whole, strides, piece.start);
        bytes = piece.count[split] * strides[split];
        if ((status = pp_buffer_ensure(&job->buffer, (size_t)bytes, "chunks to verify")) != PARAPET_OK ||
            (status = pp_shard_read(job->context, shard, entry->offset + (uint64_t)offset, (size_t)bytes,
                                    job->buffer.data)) != PARAPET_OK)
            return status;
        (void)pp_box_intersect(&piece, box, &inside);
        add_box(job, &piece, &inside, job->buffer.data);
    }
    return PARAPET_OK;
}

/* Whether a chunk, which is stored, needs no more memory than a piece of it. */
static bool goes_by_pieces(const digest_job *job, const pp_shard *shard, int64_t chunk)
{
    const pp_chain *chain = job->context->layout->chain;
    return job->context->layout->tiling.shards.ndim > 0 && shard->checksums == NULL && pp_chain_is_plain(chain) &&
           shard->entries[chunk].bytes == pp_chain_decoded_bytes(chain);
}

static parapet_status add_shard(digest_job *job, const pp_shard *shard)
{
    const pp_layout *layout = job->context->layout;
    int64_t cell[PARAPET_MAX_NDIM];
    parapet_status status = PARAPET_OK;
    pp_box chunks, whole, box;
    bool more;
    pp_tiling_chunks_inside(&layout->tiling, shard->number, &chunks);
    for (more = pp_box_first(&chunks, cell); more && status == PARAPET_OK; more = pp_box_next(&chunks, cell)) {
        int64_t chunk = pp_grid_cell_number(&layout->tiling.chunks, cell);
        const unsigned char *elements = NULL;
        pp_tiling_chunk_whole_box(&layout->tiling, shard->number, chunk, &whole);
        if (!pp_shard_has_chunk(shard, chunk) || !pp_box_intersect(&whole, &job->wanted, &box))
            continue;
        if (goes_by_pieces(job, shard, chunk))
            status = add_plain(job, shard, &shard->entries[chunk], &whole, &box);
        else if ((status = read_chunk(job, shard, chunk, &elements)) == PARAPET_OK)
            add_box(job, &whole, &box, elements);
    }
    return status;
}

static parapet_status add_shard_of_number(digest_job *job, int64_t number)
{
    pp_shard shard = {0};
    parapet_status status;
    pp_box box;
    pp_tiling_shard_box(&job->context->layout->tiling, number, &box);
    if (!pp_box_intersect(&box, &job->wanted, &box))
        return PARAPET_OK;
    if ((status = pp_shard_open(job->context, number, &shard)) == PARAPET_OK)
        status = add_shard(job, &shard);
    pp_shard_close(&shard);
    return status;
}

static parapet_status add_shards(digest_job *job, const pp_copy_share *share, const pp_copy_watch *watch)
{
    int64_t number = share->rank;
    parapet_status status = PARAPET_OK;
    while (pp_copy_share_next(share, job->context->layout->tiling.shards.cell_count, &number) &&
           status == PARAPET_OK) {
        status = add_shard_of_number(job, number);
        number += share->rank_count;
        if (status == PARAPET_OK)
            status = watch->tick(watch->context);
    }
    return status;
}

/* All elements, whether stored or not. */
static int64_t count_bytes(const pp_box *box, size_t element_bytes)
{
    int64_t bytes = (int64_t)element_bytes;
    int d;
    for (d = 0; d < box->ndim; d++)
        if (!pp_multiply_fits(bytes, box->count[d], &bytes))
            return INT64_MAX;
    return bytes;
}

parapet_status pp_copy_digest_add(pp_copy_digest *digest, const pp_transfer_context *context,
                                  const pp_copy_view *view, const pp_copy_share *share, const pp_copy_watch *watch)
{
    digest_job job = {.digest = digest, .context = context, .view = view, .buffer = {.budget = context->budget}};
    pp_box target = {.ndim = view->ndim};
    parapet_status status;
    memcpy(target.count, view->shape, sizeof target.count);
    pp_copy_view_box(view, &target, &job.wanted);
    if (pp_box_is_empty(&target))
        return PARAPET_OK;
    if ((status = pp_chain_decoder_build(&job.decoder, context->layout->chain, context->budget)) == PARAPET_OK)
        status = add_shards(&job, share, watch);
    if (share->rank == 0)
        digest->bytes = count_bytes(&target, context->layout->tiling.element_bytes);
    pp_chain_scratch_free(job.decoder);
    pp_buffer_free(&job.buffer);
    return status;
}
