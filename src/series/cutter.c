/* cutter.c - a step is cut at the bounds of shards, one piece after the other. */
#include "series/cutter.h"

#include <string.h>

#include "array/array.h"
#include "series/series_handle.h"
#include "series/step.h"
#include "series/step_pieces.h"
#include "series/sums.h"

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

/* The shards of the array, as they will be: the step was checked against them. */
static void begin_array(pp_series_cutter *cutter)
{
    const pp_array_document *document = pp_array_document_of(cutter->series->arrays[cutter->array]);
    int64_t shape[PARAPET_MAX_NDIM];
    memcpy(shape, document->shape, sizeof shape);
    shape[0] = cutter->series->steps + 1;
    (void)pp_grid_init(&cutter->shards, document->ndim, shape, document->grid_shape, document->type.element_bytes);
    cutter->part = 0;
}

void pp_series_cutter_init(pp_series_cutter *cutter, const parapet_series *series, const pp_series_step *step,
                           uint64_t offset)
{
    memset(cutter, 0, sizeof *cutter);
    cutter->series = series;
    cutter->step = step;
    cutter->offset = offset;
    begin_array(cutter);
}

/* Goes to the next part that is not empty. */
static bool begin_part(pp_series_cutter *cutter)
{
    while (cutter->array < cutter->step->count) {
        const pp_parts *parts = &cutter->step->parts[cutter->array];
        while (cutter->part < parts->count) {
            pp_parts_at(parts, cutter->part++, &cutter->whole);
            pp_grid_cells_of_box(&cutter->shards, &cutter->whole.box, &cutter->cells);
            if (pp_box_first(&cutter->cells, cutter->cell))
                return true;
        }
        cutter->first_shard += shards_of_row(&cutter->shards);
        if (++cutter->array < cutter->step->count)
            begin_array(cutter);
    }
    return false;
}

static void cut(pp_series_cutter *cutter)
{
    pp_series_piece *piece = &cutter->piece;
    pp_box shard;
    pp_grid_cell_whole_box(&cutter->shards, cutter->cell, &shard);
    (void)pp_box_intersect(&cutter->whole.box, &shard, &piece->box);
    piece->array = cutter->array;
    piece->shard = cutter->first_shard + number_in_row(&cutter->shards, cutter->cell);
    piece->bytes = (size_t)pp_box_element_count(&piece->box) * cutter->step->parts[cutter->array].element_bytes;
    piece->offset = cutter->offset;
    cutter->offset += piece->bytes + PP_SERIES_SUM_BYTES;
}

bool pp_series_cutter_next(pp_series_cutter *cutter)
{
    cutter->is_cutting = (cutter->is_cutting && pp_box_next(&cutter->cells, cutter->cell)) || begin_part(cutter);
    if (cutter->is_cutting)
        cut(cutter);
    return cutter->is_cutting;
}

void pp_series_cutter_copy(const pp_series_cutter *cutter, unsigned char *target)
{
    const pp_box *box = &cutter->piece.box;
    const pp_part *whole = &cutter->whole;
    size_t element_bytes = cutter->step->parts[cutter->array].element_bytes;
    int64_t strides[PARAPET_MAX_NDIM];
    pp_strides_c_order(box->ndim, box->count, element_bytes, strides);
    pp_strided_copy(&(pp_strided){.ndim = box->ndim,
                                  .element_bytes = element_bytes,
                                  .count = box->count,
                                  .target = target,
                                  .target_strides = strides,
                                  .source = whole->data + pp_strides_offset(&whole->box, whole->strides, box->start),
                                  .source_strides = whole->strides});
}
