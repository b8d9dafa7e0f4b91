/* chunks.c - the table of the chunks of a foreign array: how it is checked, and how chunks are decoded that
 * readers of Zarr could not decode.
 *
 * Readers of Zarr expect all chunks to have the same codecs, and to hold all that they show. HDF5 lets a chunk
 * be stored without some of its filters, and netCDF-4 shows fill values where a chunk may hold others. If any
 * chunk is of that kind, chunks of the whole array are decoded here, and its document says `bytes` alone
 * (take_filters). All others are read where they lie.
 *
 * Invariants:
 *
 *  1. The list ascends by index (pp_foreign_chunks_add), so it is searched by halving, and no chunk is in it
 *     twice.
 *  2. The table comes from another program, and is not trusted: every index is inside the grid, every place
 *     inside the file, and every filter that a chunk lacks is one of the array, before the first chunk is read
 *     (pp_foreign_chunks_finish).
 *  3. Decoding takes memory that no budget counts, so chunks that need it are at most MOST_DECODED_BYTES.
 *
 * HDF5 and netCDF-4: docs/guide/files.md; the option no_helper refuses them. docs/design/foreign.md, "Tables as
 * text" and "HDF5", says why a program of its own makes the table. */
#include "foreign/chunks.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/status.h"
#include "codec/traits.h"
#include "zarr/texts.h"

/* Of a chunk that is decoded here, whose memory no budget counts. */
#define MOST_DECODED_BYTES ((size_t)256 << 20)

void pp_foreign_chunks_clear(pp_foreign_chunks *chunks)
{
    pp_free(chunks->list);
    pp_free(chunks->data);
    pp_chain_spec_clear(&chunks->filters);
    pp_foreign_beyond_clear(&chunks->beyond);
    *chunks = (pp_foreign_chunks){0};
}

parapet_status pp_foreign_chunks_add(pp_foreign_chunks *chunks, const pp_chunk_place *place)
{
    size_t capacity = chunks->capacity > 0 ? 2 * chunks->capacity : 1;
    parapet_status status;
    if (chunks->count > 0 && place->index <= chunks->list[chunks->count - 1].index)
        return pp_fail(PARAPET_ERR_FORMAT, "chunk %" PRIu64 " is listed after chunk %" PRIu64, place->index,
                       chunks->list[chunks->count - 1].index);
    if (chunks->count == chunks->capacity) {
        if ((status = pp_reallocate(&chunks->list, capacity * sizeof chunks->list[0])) != PARAPET_OK)
            return status;
        chunks->capacity = capacity;
    }
    chunks->list[chunks->count++] = *place;
    return PARAPET_OK;
}

/* ---- Checks ---- */

static parapet_status check_index(const pp_foreign_chunks *chunks, const pp_array_document *document)
{
    int64_t cells = 1;
    int d;
    for (d = 0; d < document->ndim; d++)
        if (!pp_multiply_fits(cells, pp_divide_up(document->shape[d], document->grid_shape[d]), &cells))
            return pp_fail(PARAPET_ERR_UNSUPPORTED, "it would have more than 2^63 chunks");
    if (chunks->count > 0 && chunks->list[chunks->count - 1].index >= (uint64_t)cells)
        return pp_fail(PARAPET_ERR_FORMAT, "it has chunk %" PRIu64 ", but a grid of %" PRId64,
                       chunks->list[chunks->count - 1].index, cells);
    return PARAPET_OK;
}

static parapet_status check_place(const pp_foreign_chunks *chunks, const pp_chunk_place *place, uint64_t file_bytes)
{
    if (chunks->data == NULL && (place->start > file_bytes || place->bytes > file_bytes - place->start))
        return pp_fail(PARAPET_ERR_CORRUPT,
                       "the file has %" PRIu64 " bytes, but chunk %" PRIu64 " is at byte %" PRIu64
                       ": it was cut off, or is still being written",
                       file_bytes, place->index, place->start);
    return PARAPET_OK;
}

static parapet_status count_chunk_bytes(pp_foreign_chunks *chunks, const pp_array_document *document)
{
    size_t bytes = document->type.element_bytes;
    int d;
    for (d = 0; d < document->ndim; d++)
        if ((uint64_t)document->grid_shape[d] > SIZE_MAX ||
            !pp_multiply_size_fits(bytes, (size_t)document->grid_shape[d], &bytes))
            return pp_fail(PARAPET_ERR_UNSUPPORTED, "its chunks have more bytes than any memory");
    chunks->chunk_bytes = bytes;
    return PARAPET_OK;
}

/* Plain bytes first, then filters. */
static bool has_only_filters(const pp_chain_spec *codecs)
{
    return codecs->count > 0 && codecs->codecs[0].sharding == NULL &&
           pp_codec_traits_of(codecs->codecs[0].id)->kind == PP_ARRAY_TO_BYTES;
}

/* Readers see plain elements; the filters are ours. */
static parapet_status take_filters(pp_foreign_chunks *chunks, pp_array_document *document)
{
    pp_chain_spec *codecs = &document->codecs;
    if (chunks->chunk_bytes > MOST_DECODED_BYTES)
        return pp_fail(PARAPET_ERR_UNSUPPORTED,
                       "its chunks do not have all filters, or less in them than they show, and they have %zu bytes, "
                       "more than %zu",
                       chunks->chunk_bytes, MOST_DECODED_BYTES);
    chunks->is_decoded = true;
    chunks->filters = *codecs;
    chunks->filters.codecs[0] = (pp_codec_spec){.id = PP_CODEC_BYTES};
    codecs->count = 1;
    return PARAPET_OK;
}

parapet_status pp_foreign_chunks_finish(pp_foreign_chunks *chunks, pp_array_document *document, uint64_t file_bytes)
{
    uint32_t left_out = 0;
    parapet_status status;
    size_t i;
    if (!has_only_filters(&document->codecs))
        return pp_fail(PARAPET_ERR_FORMAT, "its chunks may not be transposed or sharded");
    if ((status = check_index(chunks, document)) != PARAPET_OK ||
        (status = count_chunk_bytes(chunks, document)) != PARAPET_OK)
        return status;
    for (i = 0; i < chunks->count; i++) {
        if ((status = check_place(chunks, &chunks->list[i], file_bytes)) != PARAPET_OK)
            return status;
        chunks->stored_bytes += chunks->data == NULL ? chunks->list[i].bytes : 0; /* 2^32 chunks of 2^32 fit */
        left_out |= chunks->list[i].left_out;
    }
    if (left_out >> (document->codecs.count - 1) != 0)
        return pp_fail(PARAPET_ERR_FORMAT, "a chunk lacks a filter that the array does not have");
    if (chunks->beyond.within != NULL && (status = pp_foreign_beyond_finish(&chunks->beyond, document)) != PARAPET_OK)
        return status;
    return left_out != 0 || chunks->beyond.within != NULL ? take_filters(chunks, document) : PARAPET_OK;
}

parapet_status pp_foreign_chunks_finish_texts(const pp_foreign_chunks *chunks, const pp_array_document *document)
{
    int64_t count = 1;
    parapet_status status;
    int d;
    if (!document->has_texts || document->codecs.count != 1)
        return pp_fail(PARAPET_ERR_FORMAT,
                       "its elements have no fixed length, and are no texts that vlen-utf8 stores");
    for (d = 0; d < document->ndim; d++)
        if (document->grid_shape[d] != pp_max_i64(document->shape[d], 1) ||
            !pp_multiply_fits(count, document->shape[d], &count))
            return pp_fail(PARAPET_ERR_FORMAT, "its texts are not one chunk");
    if (chunks->count == 0)
        return PARAPET_OK;
    if ((status = check_index(chunks, document)) != PARAPET_OK)
        return status;
    return pp_texts_check((pp_bytes){chunks->data, chunks->list[0].bytes}, (uint64_t)count);
}

size_t pp_foreign_chunks_search(const pp_foreign_chunks *chunks, uint64_t index)
{
    size_t low = 0, high = chunks->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (chunks->list[middle].index < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- Decoding ---- */

static void choose_filters(const pp_foreign_chunks *chunks, uint32_t left_out, pp_chain_spec *chosen)
{
    int i;
    *chosen = (pp_chain_spec){.count = 1, .codecs = {chunks->filters.codecs[0]}};
    for (i = 1; i < chunks->filters.count; i++)
        if ((left_out >> (i - 1) & 1) == 0)
            chosen->codecs[chosen->count++] = chunks->filters.codecs[i];
}

static parapet_status decode_within(const pp_chain *chain, pp_budget *budget, pp_bytes stored,
                                    unsigned char **decoded)
{
    pp_chain_scratch *scratch = NULL;
    pp_bytes bytes = {0};
    parapet_status status = pp_chain_decoder_build(&scratch, chain, budget);
    if (status == PARAPET_OK && (status = pp_chain_decode(chain, scratch, stored, &bytes)) == PARAPET_OK)
        status = pp_bytes_duplicate(decoded, bytes.data, bytes.bytes);
    pp_chain_scratch_free(scratch);
    return status;
}

parapet_status pp_foreign_chunks_decode(const pp_foreign_chunks *chunks, const pp_chunk_place *place, pp_bytes stored,
                                        unsigned char **decoded)
{
    static const unsigned char zero;
    const pp_chunk_format format = {
        .ndim = 1, .shape = {(int64_t)chunks->chunk_bytes}, .element_bytes = 1, .swap_bytes = 1, .fill_value = &zero};
    pp_chain_spec spec;
    pp_chain *chain = NULL;
    pp_budget budget;
    parapet_status status;
    *decoded = NULL;
    choose_filters(chunks, place->left_out, &spec);
    if ((status = pp_chain_build(&chain, &spec, &format)) != PARAPET_OK)
        return status;
    pp_budget_init(&budget, SIZE_MAX / 2);
    status = decode_within(chain, &budget, stored, decoded);
    if (status == PARAPET_OK && chunks->beyond.within != NULL)
        pp_foreign_beyond_fill(&chunks->beyond, place->index, *decoded);
    pp_budget_clear(&budget);
    pp_chain_free(chain);
    return status;
}
