/* grid.h - an array divided into equal cells, as arithmetic: nothing is stored per cell.
 *
 * The same thing serves shards over an array and chunks over a shard. Cells are numbered in C order. Cells at the far
 * edge reach beyond the array; pp_grid_cell_box clips them, pp_grid_cell_whole_box does not. */
#ifndef PARAPET_GEOMETRY_GRID_H
#define PARAPET_GEOMETRY_GRID_H

#include "geometry/box.h"

typedef struct pp_grid {
    int ndim;
    int64_t shape[PARAPET_MAX_NDIM];      /* of the array, may be 0 */
    int64_t cell_shape[PARAPET_MAX_NDIM]; /* at least 1 each */
    int64_t cells[PARAPET_MAX_NDIM];      /* how many per dimension: shape / cell_shape, rounded up */
    int64_t cell_count;                   /* their product */
} pp_grid;

/* The door for shapes, most of which are numbers of documents, that is of anybody. Refuses shapes below 0, cells
 * below 1, and arrays of which the bytes, the cells, or a dimension with its overhang cannot be counted in 63 bits; a
 * dimension of 0 counts as 1. So no product of extents, of bytes, or of both wraps for a box inside the array. */
parapet_status pp_grid_init(pp_grid *grid, int ndim, const int64_t *shape, const int64_t *cell_shape,
                            size_t element_bytes);

int64_t pp_grid_cell_number(const pp_grid *grid, const int64_t *cell);
void pp_grid_cell_position(const pp_grid *grid, int64_t number, int64_t *cell);

/* The elements of a cell: clipped to the array, or in full. */
void pp_grid_cell_box(const pp_grid *grid, const int64_t *cell, pp_box *box);
void pp_grid_cell_whole_box(const pp_grid *grid, const int64_t *cell, pp_box *box);

/* The cells that a box of elements touches, as a box of cell positions. Elements outside the array touch none;
 * empty for an empty box. cells may be elements. */
void pp_grid_cells_of_box(const pp_grid *grid, const pp_box *elements, pp_box *cells);

/* The elements of one whole cell. */
int64_t pp_grid_cell_elements(const pp_grid *grid);

#endif
