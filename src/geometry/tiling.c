#include "geometry/tiling.h"

parapet_status pp_tiling_init(pp_tiling *tiling, const pp_grid *shards, const int64_t *chunk_shape,
                              size_t element_bytes)
{
    tiling->shards = *shards;
    tiling->element_bytes = element_bytes;
    return pp_grid_init(&tiling->chunks, shards->ndim, shards->cell_shape, chunk_shape, element_bytes);
}

void pp_tiling_shard_box(const pp_tiling *tiling, int64_t shard, pp_box *box)
{
    int64_t cell[PARAPET_MAX_NDIM];
    pp_grid_cell_position(&tiling->shards, shard, cell);
    pp_grid_cell_box(&tiling->shards, cell, box);
}

static void whole_box_of(const pp_tiling *tiling, const int64_t *shard_cell, int64_t chunk, pp_box *box)
{
    int64_t chunk_cell[PARAPET_MAX_NDIM];
    int d;
    pp_grid_cell_position(&tiling->chunks, chunk, chunk_cell);
    pp_grid_cell_whole_box(&tiling->chunks, chunk_cell, box);
    for (d = 0; d < box->ndim; d++)
        box->start[d] += shard_cell[d] * tiling->shards.cell_shape[d];
}

void pp_tiling_chunk_whole_box(const pp_tiling *tiling, int64_t shard, int64_t chunk, pp_box *box)
{
    int64_t cell[PARAPET_MAX_NDIM];
    pp_grid_cell_position(&tiling->shards, shard, cell);
    whole_box_of(tiling, cell, chunk, box);
}

void pp_tiling_chunk_box(const pp_tiling *tiling, int64_t shard, int64_t chunk, pp_box *box)
{
    int64_t cell[PARAPET_MAX_NDIM];
    pp_box shard_box;
    pp_grid_cell_position(&tiling->shards, shard, cell);
    pp_grid_cell_box(&tiling->shards, cell, &shard_box);
    whole_box_of(tiling, cell, chunk, box);
    (void)pp_box_intersect(box, &shard_box, box);
}

/* The chunks that a part of a shard touches: the same box, counted from the shard's first element. */
static void chunks_of_part(const pp_tiling *tiling, const int64_t *shard_cell, pp_box *part, pp_box *chunks)
{
    int d;
    for (d = 0; d < part->ndim; d++)
        part->start[d] -= shard_cell[d] * tiling->shards.cell_shape[d];
    pp_grid_cells_of_box(&tiling->chunks, part, chunks);
}

void pp_tiling_chunks_inside(const pp_tiling *tiling, int64_t shard, pp_box *chunks)
{
    int64_t cell[PARAPET_MAX_NDIM];
    pp_box part;
    pp_grid_cell_position(&tiling->shards, shard, cell);
    pp_grid_cell_box(&tiling->shards, cell, &part);
    chunks_of_part(tiling, cell, &part, chunks);
}

bool pp_tiling_chunks_touched_at(const pp_tiling *tiling, const int64_t *shard_cell, const pp_box *box,
                                 pp_box *chunks)
{
    pp_box part;
    bool touches;
    pp_grid_cell_box(&tiling->shards, shard_cell, &part);
    touches = pp_box_intersect(&part, box, &part);
    chunks_of_part(tiling, shard_cell, &part, chunks);
    return touches;
}

bool pp_tiling_chunks_touched(const pp_tiling *tiling, int64_t shard, const pp_box *box, pp_box *chunks)
{
    int64_t cell[PARAPET_MAX_NDIM];
    pp_grid_cell_position(&tiling->shards, shard, cell);
    return pp_tiling_chunks_touched_at(tiling, cell, box, chunks);
}

void pp_tiling_chunks_of_box(const pp_tiling *tiling, const pp_box *box, pp_box *chunks)
{
    const int64_t *shape = tiling->chunks.cell_shape;
    int d;
    chunks->ndim = box->ndim;
    for (d = 0; d < box->ndim; d++) {
        int64_t last = (box->start[d] + box->count[d] - 1) / shape[d];
        chunks->start[d] = box->start[d] / shape[d];
        chunks->count[d] = last + 1 - chunks->start[d];
    }
}

void pp_tiling_find_chunk(const pp_tiling *tiling, const int64_t *cell, int64_t *shard, int64_t *chunk)
{
    int64_t shard_cell[PARAPET_MAX_NDIM], chunk_cell[PARAPET_MAX_NDIM];
    int d;
    for (d = 0; d < tiling->chunks.ndim; d++) {
        shard_cell[d] = cell[d] / tiling->chunks.cells[d];
        chunk_cell[d] = cell[d] % tiling->chunks.cells[d];
    }
    *shard = pp_grid_cell_number(&tiling->shards, shard_cell);
    *chunk = pp_grid_cell_number(&tiling->chunks, chunk_cell);
}

void pp_tiling_whole_box_at(const pp_tiling *tiling, const int64_t *cell, pp_box *box)
{
    int d;
    box->ndim = tiling->chunks.ndim;
    for (d = 0; d < box->ndim; d++) {
        box->start[d] = cell[d] * tiling->chunks.cell_shape[d];
        box->count[d] = tiling->chunks.cell_shape[d];
    }
}
