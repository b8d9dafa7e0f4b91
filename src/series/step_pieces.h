/* step_pieces.h - the pieces of the open row, as rows of words. */
#ifndef PARAPET_SERIES_STEP_PIECES_H
#define PARAPET_SERIES_STEP_PIECES_H

#include <parapet_arrays.h>

#include "base/list.h"
#include "geometry/box.h"

/* The same box of one shard in one or more consecutive steps. */
typedef struct pp_series_piece {
    int array;
    uint64_t shard;        /* numbered over the shards of one row of all arrays */
    pp_box box;            /* in the array; dimension 0 is that of the steps */
    size_t bytes;          /* of one step */
    uint64_t offset;       /* of its first step in the arena, */
    uint64_t stride_bytes; /* and from there to the next */
} pp_series_piece;

/* Pieces as rows of 64-bit words, all of one length, taken from the budget. */
typedef struct pp_series_pieces {
    pp_list list;
    int ndim_most;
    size_t last; /* pieces from here on belong to the step that was appended last */
} pp_series_pieces;

void pp_series_pieces_init(pp_series_pieces *pieces, int ndim_most, pp_budget *budget);
void pp_series_pieces_clear(pp_series_pieces *pieces);

void pp_series_pieces_at(const pp_series_pieces *pieces, size_t index, pp_series_piece *piece);
void pp_series_pieces_put(pp_series_pieces *pieces, size_t index, const pp_series_piece *piece);
parapet_status pp_series_pieces_add(pp_series_pieces *pieces, const pp_series_piece *piece);

/* The start and count of a piece, ndim numbers each. */
const int64_t *pp_series_pieces_start(const pp_series_pieces *pieces, size_t index);
const int64_t *pp_series_pieces_count(const pp_series_pieces *pieces, size_t index);

/* The shards of a row, of all arrays. */
uint64_t pp_series_count_shards(const parapet_series *series);

/* What writing this many pieces takes, with the strides of each; and with all lists of the row. */
size_t pp_series_write_bytes(const parapet_series *series, size_t count);
size_t pp_series_row_list_bytes(const parapet_series *series, size_t count);

#endif
