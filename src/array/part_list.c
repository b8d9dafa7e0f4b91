#include "array/part_list.h"

#include <limits.h>
#include <string.h>

#include "array/array_handle.h"
#include "base/checked.h"
#include "geometry/flat.h"

/* A list in the making: parts, and behind them start, count and strides of each. */
typedef struct making {
    pp_flat flat;
    unsigned char *data;
    int64_t count, limit;
    parapet_part *parts;
    int64_t *numbers;
} making;

static size_t row_bytes(const making *all)
{
    return sizeof(parapet_part) + 3 * (size_t)all->flat.ndim * sizeof(int64_t);
}

static parapet_status count_box(void *context, const pp_flat_box *box)
{
    making *all = context;
    (void)box;
    if (all->count++ < all->limit)
        return PARAPET_OK;
    return pp_fail(
        PARAPET_ERR_MEMORY,
        "it selects more than %lld boxes, whose list would take more than the %lld bytes that memory_bytes "
        "leaves; raise memory_bytes, or select less at a time",
        (long long)all->limit, (long long)all->limit * (long long)row_bytes(all));
}

static parapet_status add_part(void *context, const pp_flat_box *box)
{
    making *all = context;
    size_t ndim = (size_t)all->flat.ndim;
    int64_t *start = all->numbers + 3 * ndim * (size_t)all->count, *count = start + ndim, *strides = count + ndim;
    memcpy(start, box->box.start, ndim * sizeof *start);
    memcpy(count, box->box.count, ndim * sizeof *count);
    memcpy(strides, box->strides_bytes, ndim * sizeof *strides);
    all->parts[all->count++] = (parapet_part){.ndim = all->flat.ndim,
                                              .start = start,
                                              .count = count,
                                              .data = all->data + box->offset_bytes,
                                              .strides_bytes = strides};
    return PARAPET_OK;
}

/* One walk over the pattern, and what becomes of its boxes. */
typedef struct walk {
    making *all;
    pp_flat_box_visitor visitor;
} walk;

static parapet_status visit_loops(void *context, const pp_loops *loops)
{
    const walk *self = context;
    return pp_flat_visit_boxes(&self->all->flat, loops, self->visitor, self->all);
}

static parapet_status visit_boxes(making *all, const pp_pattern *pattern, int64_t displacement,
                                  pp_flat_box_visitor visitor)
{
    walk self = {all, visitor};
    all->count = 0;
    return pp_pattern_walk(pattern, (pp_place){(uint64_t)displacement, 0}, visit_loops, &self);
}

static parapet_status check_bounds(const pp_flat *flat, const pp_pattern *pattern, int64_t displacement)
{
    int64_t first, end;
    if (displacement < 0)
        return pp_fail(PARAPET_ERR_ARGUMENT, "the displacement of %lld bytes is negative", (long long)displacement);
    if (!pp_add_fits(displacement, pattern->first, &first) || !pp_add_fits(displacement, pattern->end, &end) ||
        first < 0 || (pattern->bytes > 0 && end > flat->bytes))
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "it leaves the array, which has %lld bytes: it selects bytes %lld to %lld behind the "
                       "displacement of %lld bytes",
                       (long long)flat->bytes, (long long)pattern->first, (long long)pattern->end,
                       (long long)displacement);
    return PARAPET_OK;
}

static parapet_status make_list(making *all, const pp_pattern *pattern, int64_t displacement)
{
    parapet_status status = visit_boxes(all, pattern, displacement, count_box);
    if (status != PARAPET_OK || all->count == 0)
        return status;
    if ((status = pp_allocate_array(&all->parts, (size_t)all->count, row_bytes(all))) != PARAPET_OK)
        return status;
    all->numbers = (int64_t *)(void *)(all->parts + all->count);
    return visit_boxes(all, pattern, displacement, add_part);
}

parapet_status pp_part_list_build(parapet_array_parts *list, parapet_array *array, const pp_pattern *pattern,
                                  int64_t displacement, void *data)
{
    making all = {.data = data};
    parapet_status status;
    if ((status = pp_flat_init(&all.flat, array->document.ndim, array->document.shape,
                               array->document.type.element_bytes)) != PARAPET_OK ||
        (status = check_bounds(&all.flat, pattern, displacement)) != PARAPET_OK)
        return status;
    if (data == NULL && pattern->bytes > 0)
        return pp_fail(PARAPET_ERR_ARGUMENT, "the data is NULL, but %lld bytes are selected",
                       (long long)pattern->bytes);
    all.limit = (int64_t)pp_min_size(pp_budget_available(&array->store->budget) / row_bytes(&all), INT_MAX);
    if ((status = make_list(&all, pattern, displacement)) != PARAPET_OK)
        return status;
    list->array = array;
    list->parts = all.parts;
    list->part_count = (int)all.count;
    return PARAPET_OK;
}

void parapet_array_parts_free(parapet_array_parts *list)
{
    if (list == NULL)
        return;
    pp_free((void *)(uintptr_t)list->parts);
    *list = (parapet_array_parts){0};
}
