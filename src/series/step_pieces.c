/* step_pieces.c - the pieces of the open row, as rows of words: a struct with a whole box would take ten times as
 * much. */
#include "series/step_pieces.h"

#include <string.h>

#include "array/array.h"
#include "array/part_calls.h"
#include "base/checked.h"
#include "series/series_handle.h"

enum { WORD_ARRAY, WORD_NDIM, WORD_SHARD, WORD_BYTES, WORD_OFFSET, WORD_STRIDE, WORD_BOX };

#define WORDS_MOST (WORD_BOX + 2 * PARAPET_MAX_NDIM)

static size_t row_bytes(int ndim_most)
{
    return (WORD_BOX + 2 * (size_t)ndim_most) * sizeof(int64_t);
}

void pp_series_pieces_init(pp_series_pieces *pieces, int ndim_most, pp_budget *budget)
{
    pieces->ndim_most = ndim_most;
    pieces->last = 0;
    pp_list_init(&pieces->list, row_bytes(ndim_most), budget, "the list of what open steps consist of");
}

void pp_series_pieces_clear(pp_series_pieces *pieces)
{
    pp_list_clear(&pieces->list);
    pieces->last = 0;
}

const int64_t *pp_series_pieces_start(const pp_series_pieces *pieces, size_t index)
{
    return (const int64_t *)pp_list_at(&pieces->list, index) + WORD_BOX;
}

const int64_t *pp_series_pieces_count(const pp_series_pieces *pieces, size_t index)
{
    return pp_series_pieces_start(pieces, index) + pieces->ndim_most;
}

void pp_series_pieces_at(const pp_series_pieces *pieces, size_t index, pp_series_piece *piece)
{
    const int64_t *words = pp_list_at(&pieces->list, index);
    size_t bytes = (size_t)words[WORD_NDIM] * sizeof words[0];
    piece->array = (int)words[WORD_ARRAY];
    piece->shard = (uint64_t)words[WORD_SHARD];
    piece->bytes = (size_t)words[WORD_BYTES];
    piece->offset = (uint64_t)words[WORD_OFFSET];
    piece->stride_bytes = (uint64_t)words[WORD_STRIDE];
    piece->box.ndim = (int)words[WORD_NDIM];
    memcpy(piece->box.start, words + WORD_BOX, bytes);
    memcpy(piece->box.count, words + WORD_BOX + pieces->ndim_most, bytes);
}

static void write_words(const pp_series_piece *piece, int ndim_most, int64_t *words)
{
    size_t bytes = (size_t)piece->box.ndim * sizeof words[0];
    memset(words, 0, row_bytes(ndim_most));
    words[WORD_ARRAY] = piece->array;
    words[WORD_NDIM] = piece->box.ndim;
    words[WORD_SHARD] = (int64_t)piece->shard;
    words[WORD_BYTES] = (int64_t)piece->bytes;
    words[WORD_OFFSET] = (int64_t)piece->offset;
    words[WORD_STRIDE] = (int64_t)piece->stride_bytes;
    memcpy(words + WORD_BOX, piece->box.start, bytes);
    memcpy(words + WORD_BOX + ndim_most, piece->box.count, bytes);
}

void pp_series_pieces_put(pp_series_pieces *pieces, size_t index, const pp_series_piece *piece)
{
    write_words(piece, pieces->ndim_most, pp_list_at(&pieces->list, index));
}

parapet_status pp_series_pieces_add(pp_series_pieces *pieces, const pp_series_piece *piece)
{
    int64_t words[WORDS_MOST];
    write_words(piece, pieces->ndim_most, words);
    return pp_list_add(&pieces->list, words);
}

uint64_t pp_series_count_shards(const parapet_series *series)
{
    uint64_t total = 0;
    int i, d;
    for (i = 0; i < series->count; i++) {
        const pp_grid *shards = &pp_array_layout(series->arrays[i])->tiling.shards;
        uint64_t count = 1;
        for (d = 1; d < shards->ndim; d++)
            count *= (uint64_t)shards->cells[d];
        total += count;
    }
    return total > 0 ? total : 1;
}

size_t pp_series_write_bytes(const parapet_series *series, size_t count)
{
    size_t most = 0;
    int i;
    for (i = 0; i < series->count; i++)
        most = pp_max_size(most,
                           pp_array_write_bytes(series->arrays[i], count, (int64_t)pp_series_count_shards(series)));
    return most + count * (size_t)series->arena.pieces.ndim_most * sizeof(int64_t);
}

size_t pp_series_row_list_bytes(const parapet_series *series, size_t count)
{
    return pp_series_write_bytes(series, count) +
           count * (sizeof(parapet_part) + series->arena.pieces.list.row_bytes);
}
