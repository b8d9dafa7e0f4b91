/* step.c - the parts of one step, checked. */
#include "series/step.h"

#include <string.h>

#include "array/array.h"
#include "base/checked.h"
#include "base/reserved.h"
#include "base/status.h"
#include "series/series_handle.h"

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
        return pp_fail(
            PARAPET_ERR_ARGUMENT,
            "part %d has %d dimensions (ndim), but a step of this array has %d: leave out the first dimension", index,
            given->ndim, ndim - 1);
    if (ndim == 1 && (given->start != NULL || given->count != NULL))
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "part %d has a start or a count, but a step of this array is one element: leave both NULL",
                       index);
    if (ndim > 1 && (given->start == NULL || given->count == NULL))
        return pp_fail(PARAPET_ERR_ARGUMENT, "part %d has no start or no count", index);
    return PARAPET_OK;
}

/* Checked against the array as it will be with this step. */
static parapet_status take_parts(pp_parts *parts, const parapet_step *given, const parapet_array *array,
                                 int64_t number)
{
    const pp_array_document *document = pp_array_document_of(array);
    pp_layout layout = *pp_array_layout(array);
    int64_t shape[PARAPET_MAX_NDIM];
    parapet_status status;
    memcpy(shape, document->shape, sizeof shape);
    if (!pp_add_fits(number, 1, &shape[0]))
        return pp_fail(PARAPET_ERR_ARGUMENT, "there are too many steps");
    if ((status = pp_grid_init(&layout.tiling.shards, document->ndim, shape, document->grid_shape,
                               document->type.element_bytes)) != PARAPET_OK)
        return status;
    return pp_parts_init_step(parts, given->parts, given->part_count, &layout, document->type.id, number);
}

static parapet_status take_array(pp_series_step *step, int index, const parapet_series *series,
                                 const parapet_step *given)
{
    const parapet_array *array = series->arrays[index];
    parapet_status status = check_step(given);
    int i;
    for (i = 0; status == PARAPET_OK && i < given->part_count; i++)
        status = check_part(i, &given->parts[i], pp_array_document_of(array)->ndim);
    return status == PARAPET_OK ? take_parts(&step->parts[index], given, array, series->steps) : status;
}

parapet_status pp_series_step_init(pp_series_step *step, const parapet_series *series, const parapet_step *steps)
{
    parapet_status status;
    int i;
    *step = (pp_series_step){.count = series->count};
    if (steps == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_series_append needs a step for each array");
    status = pp_allocate_array(&step->parts, (size_t)series->count, sizeof step->parts[0]);
    for (i = 0; i < series->count && status == PARAPET_OK; i++)
        if ((status = take_array(step, i, series, &steps[i])) != PARAPET_OK)
            return pp_fail_within(status, "array \"%s\"", pp_array_path(series->arrays[i]));
    return status;
}

void pp_series_step_clear(pp_series_step *step)
{
    pp_free(step->parts);
    *step = (pp_series_step){0};
}
