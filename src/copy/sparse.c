#include "copy/sparse.h"

#include "base/checked.h"

/* A grid of cells over the target. */
typedef struct cell_grid {
    int ndim;
    const int64_t *shape; /* of the target */
    const int64_t *cell;  /* elements of one */
} cell_grid;

static void cells_of_box(const cell_grid *grid, const pp_box *box, pp_box *cells)
{
    int d;
    cells->ndim = grid->ndim;
    for (d = 0; d < grid->ndim; d++) {
        cells->start[d] = box->start[d] / grid->cell[d];
        cells->count[d] = (box->start[d] + box->count[d] - 1) / grid->cell[d] - cells->start[d] + 1;
    }
}

static int64_t number_of(const cell_grid *grid, const int64_t *position)
{
    int64_t number = 0;
    int d;
    for (d = 0; d < grid->ndim; d++)
        number = number * pp_divide_up(grid->shape[d], grid->cell[d]) + position[d];
    return number;
}

/* The cells along the fastest dimension have consecutive numbers; returns how many there are, and leaves one in
 * `rows`. What is sparse has at least one dimension. */
static int64_t take_rows(pp_box *rows)
{
    int64_t length = rows->count[rows->ndim - 1];
    rows->count[rows->ndim - 1] = 1;
    return length;
}

static parapet_status add_cells(pp_ranges *ranges, const cell_grid *grid, const pp_box *box)
{
    int64_t position[PARAPET_MAX_NDIM], length;
    parapet_status status = PARAPET_OK;
    pp_box rows;
    bool more;
    cells_of_box(grid, box, &rows);
    length = take_rows(&rows);
    for (more = pp_box_first(&rows, position); more && status == PARAPET_OK; more = pp_box_next(&rows, position)) {
        int64_t first = number_of(grid, position);
        status = pp_ranges_add(ranges, first, first + length - 1);
    }
    return status;
}

/* A box of the source in the target; false: nothing of it is copied. */
static bool box_in_target(const pp_copy_view *view, const pp_box *source, pp_box *target)
{
    int d;
    target->ndim = view->ndim;
    for (d = 0; d < view->ndim; d++) {
        int64_t first = source->start[view->axis[d]] - view->start[d];
        int64_t end = pp_min_i64(first + source->count[view->axis[d]], view->shape[d]);
        first = pp_max_i64(first, 0);
        if (first >= end)
            return false;
        target->start[d] = view->is_reversed[d] ? view->shape[d] - end : first;
        target->count[d] = end - first;
    }
    return true;
}

static cell_grid block_grid(const pp_copy_sparse *sparse, const pp_copy_job *job)
{
    return (cell_grid){job->view->ndim, job->view->shape, sparse->block_shape};
}

static void set_block_shape(pp_copy_sparse *sparse, const pp_copy_job *job)
{
    const pp_rechunk_pass *pass = job->pass;
    int d;
    for (d = 0; d < job->view->ndim; d++) {
        int64_t shard = pp_min_i64(pass->source.shard[d], pp_max_i64(job->view->shape[d], 1));
        sparse->block_shape[d] = pp_divide_up(shard, pass->target.chunk[d]) * pass->target.chunk[d];
    }
}

static parapet_status add_shard(pp_copy_sparse *sparse, const pp_copy_job *job, int64_t number)
{
    const cell_grid work_units = {job->view->ndim, job->view->shape, job->pass->work_unit_shape};
    const cell_grid blocks = block_grid(sparse, job);
    parapet_status status;
    pp_box whole, box;
    pp_tiling_shard_box(&job->source->layout->tiling, number, &whole);
    if (!box_in_target(job->view, &whole, &box))
        return PARAPET_OK;
    if ((status = add_cells(&sparse->work_units, &work_units, &box)) != PARAPET_OK)
        return status;
    return add_cells(&sparse->blocks, &blocks, &box);
}

parapet_status pp_copy_sparse_init(pp_copy_sparse *sparse, const pp_copy_job *job)
{
    parapet_status status = PARAPET_OK;
    pp_range run;
    *sparse = (pp_copy_sparse){.work_units.budget = job->target->budget, .blocks.budget = job->target->budget};
    set_block_shape(sparse, job);
    for (run.last = -1; status == PARAPET_OK && pp_ranges_next(job->stored, run.last + 1, &run);)
        for (; run.first <= run.last && status == PARAPET_OK; run.first++)
            status = add_shard(sparse, job, run.first);
    pp_ranges_sort(&sparse->work_units);
    pp_ranges_sort(&sparse->blocks);
    return status;
}

void pp_copy_sparse_clear(pp_copy_sparse *sparse)
{
    pp_ranges_clear(&sparse->work_units);
    pp_ranges_clear(&sparse->blocks);
}

/* The elements of some blocks of a row, from its `skip`-th on. */
static void blocks_of_row(const cell_grid *grid, const int64_t *position, const pp_range *run, int64_t skip,
                          pp_box *blocks)
{
    int d, last = grid->ndim - 1;
    blocks->ndim = grid->ndim;
    for (d = 0; d < grid->ndim; d++) {
        int64_t cells = d == last ? run->last - run->first + 1 : 1;
        blocks->start[d] = (position[d] + (d == last ? skip : 0)) * grid->cell[d];
        blocks->count[d] = pp_min_i64(cells * grid->cell[d], grid->shape[d] - blocks->start[d]);
    }
}

parapet_status pp_copy_sparse_each(const pp_copy_sparse *sparse, const pp_copy_job *job, const pp_box *template_box,
                                   pp_copy_block_visitor visit, void *context)
{
    const cell_grid grid = block_grid(sparse, job);
    int64_t position[PARAPET_MAX_NDIM], length;
    parapet_status status = PARAPET_OK;
    pp_box rows, blocks;
    bool more;
    cells_of_box(&grid, template_box, &rows);
    length = take_rows(&rows);
    for (more = pp_box_first(&rows, position); more && status == PARAPET_OK; more = pp_box_next(&rows, position)) {
        int64_t first = number_of(&grid, position);
        pp_range run = {first, first - 1};
        while (status == PARAPET_OK && pp_ranges_next(&sparse->blocks, run.last + 1, &run) &&
               run.first < first + length) {
            run.last = pp_min_i64(run.last, first + length - 1);
            blocks_of_row(&grid, position, &run, run.first - first, &blocks);
            if (pp_box_intersect(&blocks, template_box, &blocks))
                status = visit(context, &blocks);
        }
    }
    return status;
}
