#include "geometry/grid.h"

#include <inttypes.h>

#include "base/checked.h"

/* An array with a dimension of 0 has no elements, however large the others are. */
static bool has_zero(int ndim, const int64_t *factors)
{
    int d;
    for (d = 0; d < ndim; d++)
        if (factors[d] == 0)
            return true;
    return false;
}

static parapet_status multiply(int ndim, const int64_t *factors, const char *what, int64_t *product)
{
    int d;
    *product = has_zero(ndim, factors) ? 0 : 1;
    for (d = 0; d < ndim; d++)
        if (!pp_multiply_fits(*product, factors[d], product))
            return pp_fail(PARAPET_ERR_ARGUMENT,
                           "%s than 63 bits can count, from dimension %d with its %" PRId64 " on", what, d,
                           factors[d]);
    return PARAPET_OK;
}

static parapet_status init_dimension(pp_grid *grid, int d, int64_t shape, int64_t cell_shape)
{
    int64_t end;
    if (shape < 0)
        return pp_fail(PARAPET_ERR_ARGUMENT, "the shape is %" PRId64 " in dimension %d, but must be 0 or more", shape,
                       d);
    if (cell_shape < 1)
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "the chunk or shard shape is %" PRId64 " in dimension %d, but must be 1 or more", cell_shape,
                       d);
    grid->shape[d] = shape;
    grid->cell_shape[d] = cell_shape;
    grid->cells[d] = pp_divide_up(shape, cell_shape);
    if (!pp_multiply_fits(grid->cells[d], cell_shape, &end))
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "dimension %d of shape %" PRId64 " in chunks or shards of %" PRId64 " reaches beyond 63 bits",
                       d, shape, cell_shape);
    return PARAPET_OK;
}

static parapet_status multiply_dimensions(pp_grid *grid)
{
    int64_t elements;
    parapet_status status;
    if ((status = multiply(grid->ndim, grid->shape, "the shape has more elements", &elements)) != PARAPET_OK)
        return status;
    status = multiply(grid->ndim, grid->cell_shape, "the chunk or shard shape has more elements", &elements);
    if (status != PARAPET_OK)
        return status;
    return multiply(grid->ndim, grid->cells, "the array has more chunks or shards", &grid->cell_count);
}

parapet_status pp_grid_init(pp_grid *grid, int ndim, const int64_t *shape, const int64_t *cell_shape)
{
    parapet_status status;
    int d;
    if (ndim < 0 || ndim > PARAPET_MAX_NDIM)
        return pp_fail(PARAPET_ERR_ARGUMENT, "an array has %d dimensions, but must have 0 to %d", ndim,
                       PARAPET_MAX_NDIM);
    grid->ndim = ndim;
    for (d = 0; d < ndim; d++)
        if ((status = init_dimension(grid, d, shape[d], cell_shape[d])) != PARAPET_OK)
            return status;
    return multiply_dimensions(grid);
}

int64_t pp_grid_cell_number(const pp_grid *grid, const int64_t *cell)
{
    int64_t number = 0;
    int d;
    for (d = 0; d < grid->ndim; d++)
        number = number * grid->cells[d] + cell[d];
    return number;
}

void pp_grid_cell_position(const pp_grid *grid, int64_t number, int64_t *cell)
{
    int d;
    for (d = grid->ndim - 1; d >= 0; d--) {
        cell[d] = number % grid->cells[d];
        number /= grid->cells[d];
    }
}

void pp_grid_cell_box(const pp_grid *grid, const int64_t *cell, pp_box *box)
{
    int d;
    pp_grid_cell_whole_box(grid, cell, box);
    for (d = 0; d < grid->ndim; d++)
        box->count[d] = pp_min_i64(box->count[d], grid->shape[d] - box->start[d]);
}

void pp_grid_cell_whole_box(const pp_grid *grid, const int64_t *cell, pp_box *box)
{
    int d;
    box->ndim = grid->ndim;
    for (d = 0; d < grid->ndim; d++) {
        box->start[d] = cell[d] * grid->cell_shape[d];
        box->count[d] = grid->cell_shape[d];
    }
}

void pp_grid_cells_of_box(const pp_grid *grid, const pp_box *elements, pp_box *cells)
{
    pp_box inside;
    bool touches;
    int d;
    inside.ndim = grid->ndim;
    for (d = 0; d < grid->ndim; d++) {
        inside.start[d] = 0;
        inside.count[d] = grid->shape[d];
    }
    touches = pp_box_intersect(&inside, elements, &inside);
    cells->ndim = grid->ndim;
    for (d = 0; d < grid->ndim; d++) {
        int64_t last = inside.start[d] + inside.count[d] - 1;
        cells->start[d] = touches ? inside.start[d] / grid->cell_shape[d] : 0;
        cells->count[d] = touches ? last / grid->cell_shape[d] - cells->start[d] + 1 : 0;
    }
}

int64_t pp_grid_cell_elements(const pp_grid *grid)
{
    int64_t elements = 1;
    int d;
    for (d = 0; d < grid->ndim; d++)
        elements *= grid->cell_shape[d];
    return elements;
}
