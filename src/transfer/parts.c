#include "transfer/parts.h"

#include <string.h>

#include "base/checked.h"
#include "base/reserved.h"

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

static parapet_status check_ndim(int index, const parapet_part *given, const pp_grid *array)
{
    if (given->ndim != array->ndim)
        return pp_fail(PARAPET_ERR_ARGUMENT, "part %d has %d dimensions (ndim), but the array has %d", index,
                       given->ndim, array->ndim);
    if (array->ndim > 0 && (given->start == NULL || given->count == NULL))
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

static parapet_status init_part(pp_parts *parts, int index, const parapet_part *given, const pp_layout *layout,
                                parapet_type type)
{
    const pp_grid *array = &layout->tiling.shards;
    pp_box *box = &parts->boxes[index];
    pp_part_memory *memory = &parts->memory[index];
    parapet_status status;
    if ((status = check_reserved(index, given)) != PARAPET_OK ||
        (status = check_ndim(index, given, array)) != PARAPET_OK ||
        (status = check_type(index, given, type)) != PARAPET_OK)
        return status;
    if ((status = pp_box_init(box, array->ndim, given->start, given->count)) != PARAPET_OK)
        return pp_fail_within(status, "part %d", index);
    if ((status = check_bounds(index, box, array)) != PARAPET_OK)
        return status;
    if (given->data == NULL && !pp_box_is_empty(box))
        return pp_fail(PARAPET_ERR_ARGUMENT, "part %d has no data", index);
    memory->data = given->data;
    if (given->strides_bytes != NULL)
        memcpy(memory->strides, given->strides_bytes, (size_t)array->ndim * sizeof memory->strides[0]);
    else
        pp_strides_c_order(array->ndim, box->count, layout->tiling.element_bytes, memory->strides);
    return PARAPET_OK;
}

parapet_status pp_parts_init(pp_parts *parts, const parapet_part *given, int count, const pp_layout *layout,
                             parapet_type type)
{
    parapet_status status;
    int i;
    *parts = (pp_parts){0};
    if (count < 0 || (count > 0 && given == NULL))
        return pp_fail(PARAPET_ERR_ARGUMENT, "part_count is %d, but there are no parts", count);
    if ((status = pp_allocate_array(&parts->boxes, (size_t)count, sizeof parts->boxes[0])) != PARAPET_OK ||
        (status = pp_allocate_array(&parts->memory, (size_t)count, sizeof parts->memory[0])) != PARAPET_OK)
        goto done;
    parts->count = count;
    for (i = 0; i < count && status == PARAPET_OK; i++)
        status = init_part(parts, i, &given[i], layout, type);
done:
    if (status != PARAPET_OK)
        pp_parts_clear(parts);
    return status;
}

void pp_parts_clear(pp_parts *parts)
{
    pp_free(parts->boxes);
    pp_free(parts->memory);
    *parts = (pp_parts){0};
}

int64_t pp_parts_element_count(const pp_parts *parts)
{
    int64_t total = 0;
    int i;
    for (i = 0; i < parts->count; i++)
        if (!pp_add_fits(total, pp_box_element_count(&parts->boxes[i]), &total))
            return INT64_MAX;
    return total;
}
