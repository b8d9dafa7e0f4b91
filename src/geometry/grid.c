#include "geometry/grid.h"

#include <inttypes.h>

#include "base/checked.h"
#include "base/status.h"

/* A dimension of 0 counts as 1: the others still make the steps between elements. */
static parapet_status multiply(int ndim, const int64_t *factors, int64_t first, const char *what)
{
    int64_t product = first;
    int d;
    for (d = 0; d < ndim; d++)
        if (!pp_multiply_fits(product, pp_max_i64(factors[d], 1), &product))
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

static parapet_status check_products(const pp_grid *grid, size_t element_bytes)
{
    int64_t bytes;
    parapet_status status;
    if (element_bytes > INT64_MAX)
        return pp_fail(PARAPET_ERR_ARGUMENT, "an element has %zu bytes", element_bytes);
    bytes = pp_max_i64((int64_t)element_bytes, 1);
    if ((status = multiply(grid->ndim, grid->shape, bytes, "the shape has more bytes")) != PARAPET_OK ||
        (status = multiply(grid->ndim, grid->cell_shape, bytes, "the chunk or shard shape has more bytes")) !=
            PARAPET_OK)
        return status;
    return multiply(grid->ndim, grid->cells, 1, "the array has more chunks or shards");
}

parapet_status pp_grid_init(pp_grid *grid, int ndim, const int64_t *shape, const int64_t *cell_shape,
                            size_t element_bytes)
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
    grid->cell_count = 0;
    if ((status = check_products(grid, element_bytes)) == PARAPET_OK)
        grid->cell_count = pp_product(ndim, grid->cells);
    return status;
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
    return pp_product(grid->ndim, grid->cell_shape);
}
