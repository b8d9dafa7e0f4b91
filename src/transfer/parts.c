#include "transfer/parts.h"

#include <string.h>

#include "base/checked.h"
#include "base/reserved.h"
#include "base/status.h"

static parapet_status refuse_bounds(int index, int dimension, const pp_box *box, const pp_grid *array)
{
    return pp_fail(PARAPET_ERR_ARGUMENT,
                   "part %d reaches from %lld to %lld in dimension %d, but the array only from 0 to %lld", index,
                   (long long)box->start[dimension], (long long)(box->start[dimension] + box->count[dimension]),
                   dimension, (long long)array->shape[dimension]);
}

static parapet_status check_bounds(int index, const pp_box *box, const pp_grid *array)
{
    int d;
    for (d = 0; d < box->ndim; d++)
        if (box->start[d] < 0 || box->start[d] + box->count[d] > array->shape[d])
            return refuse_bounds(index, d, box, array);
    return PARAPET_OK;
}

static parapet_status check_reserved(int index, const parapet_part *given)
{
    parapet_status status = PP_RESERVED_CHECK(parapet_part, given);
    return status == PARAPET_OK ? status : pp_fail_within(status, "part %d", index);
}

static parapet_status check_ndim(int index, const parapet_part *given, int ndim)
{
    if (given->ndim != ndim)
        return pp_fail(PARAPET_ERR_ARGUMENT, "part %d has %d dimensions (ndim), but the array has %d", index,
                       given->ndim, ndim);
    if (ndim > 0 && (given->start == NULL || given->count == NULL))
        return pp_fail(PARAPET_ERR_ARGUMENT, "part %d has no start or no count", index);
    return PARAPET_OK;
}

/* Types without a fixed name are shown by their number. */
static parapet_status check_type(int index, const parapet_part *given, parapet_type type)
{
    const char *given_name = parapet_type_name(given->type), *name = parapet_type_name(type);
    if (given->type == PARAPET_TYPE_OF_ARRAY || given->type == type)
        return PARAPET_OK;
    return pp_fail(PARAPET_ERR_ARGUMENT, "part %d has type %s (%d), but the array has %s (%d); nothing is converted",
                   index, given_name != NULL ? given_name : "without a name", (int)given->type,
                   name != NULL ? name : "one without a name", (int)type);
}

/* The box of a part with the first dimension before its own where that was left out. */
static void place_box(const pp_parts *parts, const parapet_part *given, pp_box *box)
{
    int first = parts->is_step ? 1 : 0;
    size_t bytes = (size_t)given->ndim * sizeof box->start[0];
    box->ndim = given->ndim + first;
    box->start[0] = parts->step;
    box->count[0] = 1;
    if (bytes > 0) {
        memcpy(box->start + first, given->start, bytes);
        memcpy(box->count + first, given->count, bytes);
    }
}

static parapet_status check_box(int index, const pp_box *box, const pp_grid *array)
{
    pp_box checked;
    parapet_status status = pp_box_init(&checked, box->ndim, box->start, box->count);
    return status == PARAPET_OK ? check_bounds(index, box, array) : pp_fail_within(status, "part %d", index);
}

static parapet_status check_part(const pp_parts *parts, int index, const pp_grid *array, parapet_type type)
{
    const parapet_part *given = &parts->given[index];
    pp_box box;
    parapet_status status;
    if ((status = check_reserved(index, given)) != PARAPET_OK ||
        (status = check_ndim(index, given, array->ndim - (parts->is_step ? 1 : 0))) != PARAPET_OK ||
        (status = check_type(index, given, type)) != PARAPET_OK)
        return status;
    place_box(parts, given, &box);
    if ((status = check_box(index, &box, array)) != PARAPET_OK)
        return status;
    if (given->data == NULL && !pp_box_is_empty(&box))
        return pp_fail(PARAPET_ERR_ARGUMENT, "part %d has no data", index);
    return PARAPET_OK;
}

static parapet_status check_parts(const pp_parts *parts, const pp_grid *array, parapet_type type)
{
    parapet_status status = PARAPET_OK;
    int i;
    if (parts->count < 0 || (parts->count > 0 && parts->given == NULL))
        return pp_fail(PARAPET_ERR_ARGUMENT, "part_count is %d, but there are no parts", parts->count);
    for (i = 0; i < parts->count && status == PARAPET_OK; i++)
        status = check_part(parts, i, array, type);
    return status;
}

parapet_status pp_parts_init(pp_parts *parts, const parapet_part *given, int count, const pp_layout *layout,
                             parapet_type type)
{
    *parts = (pp_parts){.given = given, .count = count, .element_bytes = layout->tiling.element_bytes};
    return check_parts(parts, &layout->tiling.shards, type);
}

parapet_status pp_parts_init_step(pp_parts *parts, const parapet_part *given, int count, const pp_layout *layout,
                                  parapet_type type, int64_t step)
{
    *parts = (pp_parts){
        .given = given, .count = count, .element_bytes = layout->tiling.element_bytes, .is_step = true, .step = step};
    return check_parts(parts, &layout->tiling.shards, type);
}

void pp_parts_at(const pp_parts *parts, int index, pp_part *part)
{
    const parapet_part *given = &parts->given[index];
    int first = parts->is_step ? 1 : 0;
    place_box(parts, given, &part->box);
    part->data = given->data;
    part->strides[0] = 0;
    if (given->strides_bytes == NULL)
        pp_strides_c_order(part->box.ndim, part->box.count, parts->element_bytes, part->strides);
    else if (given->ndim > 0)
        memcpy(part->strides + first, given->strides_bytes, (size_t)given->ndim * sizeof part->strides[0]);
}

int64_t pp_parts_element_count(const pp_parts *parts)
{
    int64_t total = 0;
    pp_part part;
    int i;
    for (i = 0; i < parts->count; i++) {
        pp_parts_at(parts, i, &part);
        if (!pp_add_fits(total, pp_box_element_count(&part.box), &total))
            return INT64_MAX;
    }
    return total;
}
