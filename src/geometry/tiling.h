/* tiling.h - an array as it is stored: divided into shards, and every shard into chunks.
 *
 * Pure arithmetic. Depends on base. Shards are numbered in C order over the array, chunks in C order over their
 * shard. Shards at the far edge reach beyond the array, and so do chunks; a box is clipped to the array unless it is
 * called whole. A chunk has two names: its number in its shard, and its position in the grid of all chunks of the
 * array, for which chunks must divide the shard. */
#ifndef PARAPET_GEOMETRY_TILING_H
#define PARAPET_GEOMETRY_TILING_H

#include "geometry/grid.h"

typedef struct pp_tiling {
    pp_grid shards; /* over the array */
    pp_grid chunks; /* over one shard */
    size_t element_bytes;
} pp_tiling;

/* Divides the shards, which may already be those of the tiling, into chunks; refuses what pp_grid_init refuses. */
parapet_status pp_tiling_init(pp_tiling *tiling, const pp_grid *shards, const int64_t *chunk_shape,
                              size_t element_bytes);

/* The elements of a shard. */
void pp_tiling_shard_box(const pp_tiling *tiling, int64_t shard, pp_box *box);

/* The elements of a chunk of a shard, in the index space of the array; empty if it is beyond the array. */
void pp_tiling_chunk_box(const pp_tiling *tiling, int64_t shard, int64_t chunk, pp_box *box);
void pp_tiling_chunk_whole_box(const pp_tiling *tiling, int64_t shard, int64_t chunk, pp_box *box);

/* Chunks of a shard that hold at least one element of the array, as a box of positions in the shard. */
void pp_tiling_chunks_inside(const pp_tiling *tiling, int64_t shard, pp_box *chunks);

/* Chunks of a shard that hold at least one element of the array and of a box, as positions in the shard; returns
 * whether there are any. The second takes the position of the shard instead of its number. chunks may be box. */
bool pp_tiling_chunks_touched(const pp_tiling *tiling, int64_t shard, const pp_box *box, pp_box *chunks);
bool pp_tiling_chunks_touched_at(const pp_tiling *tiling, const int64_t *shard_cell, const pp_box *box,
                                 pp_box *chunks);

/* The chunks that a box of elements touches, as positions in the grid of all chunks. The box is inside the array and
 * not empty. chunks may be box. */
void pp_tiling_chunks_of_box(const pp_tiling *tiling, const pp_box *box, pp_box *chunks);

/* The chunk at a position in the grid of all chunks: its numbers, and its elements. */
void pp_tiling_find_chunk(const pp_tiling *tiling, const int64_t *cell, int64_t *shard, int64_t *chunk);
void pp_tiling_whole_box_at(const pp_tiling *tiling, const int64_t *cell, pp_box *box);

#endif
