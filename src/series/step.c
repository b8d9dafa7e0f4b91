/* step.c - the parts of one step: checked, given their first dimension, and cut at the bounds of shards. */
#include <string.h>

#include "array/array.h"
#include "base/checked.h"
#include "base/reserved.h"
#include "series/series.h"

static parapet_status check_step(const parapet_step *step)
{
    parapet_status status = PP_RESERVED_CHECK(parapet_step, step);
    if (status != PARAPET_OK)
        return status;
    if (step->part_count < 0 || (step->part_count > 0 && step->parts == NULL))
        return pp_fail(PARAPET_ERR_ARGUMENT, "part_count is %d, but there are no parts", step->part_count);
    return PARAPET_OK;
}

/* A part with the dimension of the steps is refused, also that of a caller who leaves ndim at 0. */
static parapet_status check_part(int index, const parapet_part *given, int ndim)
{
    if (given->ndim != ndim - 1)
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "part %d has %d dimensions (ndim), but a step of this array has %d: that of the steps is left "
                       "out",
                       index, given->ndim, ndim - 1);
    if (ndim == 1 && (given->start != NULL || given->count != NULL))
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "part %d has a start or a count, but a step of this array is one element: leave both NULL",
                       index);
    if (ndim > 1 && (given->start == NULL || given->count == NULL))
        return pp_fail(PARAPET_ERR_ARGUMENT, "part %d has no start or no count", index);
    return PARAPET_OK;
}

/* numbers has room for three times ndim. */
static void extend_part(const parapet_part *given, int64_t step, int64_t *numbers, parapet_part *part)
{
    int ndim = given->ndim + 1;
    int64_t *start = numbers, *count = numbers + ndim, *strides = numbers + 2 * ndim;
    size_t bytes = (size_t)given->ndim * sizeof numbers[0];
    *part = *given;
    part->ndim = ndim;
    start[0] = step;
    count[0] = 1;
    strides[0] = 0;
    if (bytes > 0) {
        memcpy(start + 1, given->start, bytes);
        memcpy(count + 1, given->count, bytes);
    }
    if (given->strides_bytes != NULL && bytes > 0)
        memcpy(strides + 1, given->strides_bytes, bytes);
    part->start = start;
    part->count = count;
    part->strides_bytes = given->strides_bytes != NULL ? strides : NULL;
}

/* The array as it will be with this step. */
static parapet_status take_parts(pp_series_step *step, int index, const parapet_array *array, int64_t number)
{
    const pp_array_document *document = pp_array_document_of(array);
    pp_layout layout = *pp_array_layout(array);
    int64_t shape[PARAPET_MAX_NDIM];
    parapet_status status;
    int count = step->parts[index].count;
    memcpy(shape, document->shape, sizeof shape);
    if (!pp_add_fits(number, 1, &shape[0]))
        return pp_fail(PARAPET_ERR_ARGUMENT, "there are too many steps");
    if ((status = pp_grid_init(&layout.tiling.shards, document->ndim, shape, document->grid_shape)) != PARAPET_OK)
        return status;
    return pp_parts_init(&step->parts[index], step->given[index], count, &layout, document->type.id);
}

static parapet_status take_array(pp_series_step *step, int index, const parapet_series *series,
                                 const parapet_step *given)
{
    const parapet_array *array = series->arrays[index];
    size_t ndim = (size_t)pp_array_document_of(array)->ndim, count;
    parapet_status status = check_step(given);
    int i;
    if (status != PARAPET_OK)
        return status;
    count = (size_t)given->part_count;
    if ((status = pp_allocate_array(&step->given[index], count, sizeof step->given[index][0])) != PARAPET_OK ||
        (status = pp_allocate_array(&step->numbers[index], count, 3 * ndim * sizeof(int64_t))) != PARAPET_OK)
        return status;
    for (i = 0; i < given->part_count; i++) {
        if ((status = check_part(i, &given->parts[i], pp_array_document_of(array)->ndim)) != PARAPET_OK)
            return status;
        extend_part(&given->parts[i], series->steps, step->numbers[index] + 3 * ndim * (size_t)i,
                    &step->given[index][i]);
    }
    step->parts[index].count = given->part_count;
    return take_parts(step, index, array, series->steps);
}

parapet_status pp_series_step_init(pp_series_step *step, const parapet_series *series, const parapet_step *steps)
{
    size_t count = (size_t)series->count;
    parapet_status status;
    int i;
    *step = (pp_series_step){.count = series->count};
    if (steps == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_series_append needs a step of each array");
    if ((status = pp_allocate_array(&step->given, count, sizeof step->given[0])) != PARAPET_OK ||
        (status = pp_allocate_array(&step->numbers, count, sizeof step->numbers[0])) != PARAPET_OK ||
        (status = pp_allocate_array(&step->parts, count, sizeof step->parts[0])) != PARAPET_OK)
        return status;
    for (i = 0; i < series->count; i++)
        if ((status = take_array(step, i, series, &steps[i])) != PARAPET_OK)
            return pp_fail_within(status, "array \"%s\"", pp_array_path(series->arrays[i]));
    return PARAPET_OK;
}

void pp_series_step_clear(pp_series_step *step)
{
    int i;
    for (i = 0; i < step->count; i++) {
        if (step->given != NULL)
            pp_free(step->given[i]);
        if (step->numbers != NULL)
            pp_free(step->numbers[i]);
        if (step->parts != NULL)
            pp_parts_clear(&step->parts[i]);
    }
    pp_free(step->given);
    pp_free(step->numbers);
    pp_free(step->parts);
    *step = (pp_series_step){0};
}

static parapet_status make_room(pp_series_cuts *cuts)
{
    size_t capacity = cuts->capacity > 0 ? 2 * cuts->capacity : 16;
    parapet_status status;
    if (cuts->count < cuts->capacity)
        return PARAPET_OK;
    if ((status = pp_reallocate(&cuts->list, capacity * sizeof cuts->list[0])) == PARAPET_OK)
        cuts->capacity = capacity;
    return status;
}

/* Which of the shards of a row a cell is. */
static uint64_t number_in_row(const pp_grid *shards, const int64_t *cell)
{
    uint64_t number = 0;
    int d;
    for (d = 1; d < shards->ndim; d++)
        number = number * (uint64_t)shards->cells[d] + (uint64_t)cell[d];
    return number;
}

static uint64_t shards_of_row(const pp_grid *shards)
{
    uint64_t count = 1;
    int d;
    for (d = 1; d < shards->ndim; d++)
        count *= (uint64_t)shards->cells[d];
    return count;
}

/* The shards of one array, with a row for the step. */
typedef struct row_grid {
    int array;
    uint64_t first_shard;
    pp_grid shards;
    size_t element_bytes;
} row_grid;

static parapet_status cut_part(pp_series_cuts *cuts, const row_grid *row, const pp_parts *parts, int index)
{
    const pp_box *box = &parts->boxes[index];
    pp_box cells, shard;
    int64_t cell[PARAPET_MAX_NDIM];
    parapet_status status;
    bool more;
    pp_grid_cells_of_box(&row->shards, box, &cells);
    for (more = pp_box_first(&cells, cell); more; more = pp_box_next(&cells, cell)) {
        pp_series_cut *cut;
        if ((status = make_room(cuts)) != PARAPET_OK)
            return status;
        cut = &cuts->list[cuts->count++];
        *cut = (pp_series_cut){.box = box, .memory = &parts->memory[index]};
        pp_grid_cell_whole_box(&row->shards, cell, &shard);
        (void)pp_box_intersect(box, &shard, &cut->piece.box);
        cut->piece.array = row->array;
        cut->piece.shard = row->first_shard + number_in_row(&row->shards, cell);
        cut->piece.bytes = (size_t)pp_box_element_count(&cut->piece.box) * row->element_bytes;
        cut->piece.offset = cuts->bytes;
        cuts->bytes += cut->piece.bytes + PP_SERIES_SUM_BYTES;
    }
    return PARAPET_OK;
}

parapet_status pp_series_cuts_init(pp_series_cuts *cuts, const parapet_series *series, const pp_series_step *step)
{
    row_grid row = {0};
    parapet_status status = PARAPET_OK;
    int i;
    *cuts = (pp_series_cuts){0};
    for (row.array = 0; row.array < series->count && status == PARAPET_OK; row.array++) {
        const pp_array_document *document = pp_array_document_of(series->arrays[row.array]);
        int64_t shape[PARAPET_MAX_NDIM];
        memcpy(shape, document->shape, sizeof shape);
        shape[0] = series->steps + 1;
        row.element_bytes = pp_array_layout(series->arrays[row.array])->tiling.element_bytes;
        status = pp_grid_init(&row.shards, document->ndim, shape, document->grid_shape);
        for (i = 0; i < step->parts[row.array].count && status == PARAPET_OK; i++)
            status = cut_part(cuts, &row, &step->parts[row.array], i);
        row.first_shard += shards_of_row(&row.shards);
    }
    return status;
}

void pp_series_cuts_clear(pp_series_cuts *cuts)
{
    pp_free(cuts->list);
    *cuts = (pp_series_cuts){0};
}

void pp_series_cut_copy(const pp_series_cut *cut, size_t element_bytes, unsigned char *target)
{
    const pp_box *box = &cut->piece.box;
    int64_t strides[PARAPET_MAX_NDIM];
    pp_strides_c_order(box->ndim, box->count, element_bytes, strides);
    pp_strided_copy(
        &(pp_strided){.ndim = box->ndim,
                      .element_bytes = element_bytes,
                      .count = box->count,
                      .target = target,
                      .target_strides = strides,
                      .source = cut->memory->data + pp_strides_offset(cut->box, cut->memory->strides, box->start),
                      .source_strides = cut->memory->strides});
}
