#include "request/part_copies.h"

#include <string.h>

#include "base/checked.h"
#include "base/status.h"
#include "geometry/strided.h"

#define ALIGNMENT ((size_t)64) /* of the elements of a part: enough for every type */

static const char purpose[] = "the parts that a request is given";

parapet_status pp_buffering_check(parapet_buffering buffering)
{
    if (buffering == PARAPET_BUFFERING_COPY || buffering == PARAPET_BUFFERING_BORROW)
        return PARAPET_OK;
    return pp_fail(PARAPET_ERR_ARGUMENT,
                   "buffering is %d, but must be PARAPET_BUFFERING_COPY or PARAPET_BUFFERING_BORROW", (int)buffering);
}

/* ---- One part ---- */

/* It has been checked: it is in the array. */
static size_t element_bytes_of(const parapet_part *part, size_t element_bytes)
{
    size_t bytes = element_bytes;
    int d;
    for (d = 0; d < part->ndim; d++)
        bytes *= (size_t)part->count[d];
    return bytes;
}

/* The elements go behind those that are copied already, densely packed. */
static void copy_elements(pp_part_copies *copies, const parapet_part *given, size_t element_bytes, parapet_part *made,
                          int64_t *strides)
{
    int64_t source_strides[PARAPET_MAX_NDIM];
    size_t bytes = element_bytes_of(given, element_bytes);
    memcpy(source_strides, strides, (size_t)given->ndim * sizeof strides[0]);
    made->data = copies->elements.data + copies->filled;
    copies->filled += pp_align_up(bytes, ALIGNMENT);
    pp_strides_c_order(given->ndim, given->count, element_bytes, strides);
    if (bytes > 0)
        pp_strided_copy(&(pp_strided){.ndim = given->ndim,
                                      .element_bytes = element_bytes,
                                      .count = given->count,
                                      .target = made->data,
                                      .target_strides = strides,
                                      .source = given->data,
                                      .source_strides = source_strides});
}

/* There is room. */
static void copy_part(pp_part_copies *copies, const parapet_part *given, size_t element_bytes)
{
    int64_t numbers[3 * PARAPET_MAX_NDIM];
    int d, ndim = given->ndim;
    int64_t *strides = numbers + ndim + ndim, *stays = pp_list_at(&copies->numbers, copies->numbers.count);
    parapet_part made = *given;
    for (d = 0; d < ndim; d++) {
        numbers[d] = given->start[d];
        numbers[ndim + d] = given->count[d];
    }
    pp_strides_c_order(ndim, given->count, element_bytes, strides);
    if (given->strides_bytes != NULL && ndim > 0)
        memcpy(strides, given->strides_bytes, (size_t)ndim * sizeof strides[0]);
    if (copies->elements.data != NULL)
        copy_elements(copies, given, element_bytes, &made, strides);
    for (d = 0; d < 3 * ndim; d++)
        (void)pp_list_add(&copies->numbers, &numbers[d]);
    made.start = stays;
    made.count = stays + ndim;
    made.strides_bytes = stays + ndim + ndim;
    (void)pp_list_add(&copies->parts, &made);
}

/* ---- Memory ---- */

typedef struct size_sums {
    size_t parts, numbers, bytes; /* of the lists, and of the elements */
} size_sums;

static parapet_status refuse_size(void)
{
    return pp_fail(PARAPET_ERR_MEMORY, "the parts that are given need more memory than any machine has");
}

static parapet_status add_sizes(size_sums *sums, const pp_parts *parts, bool has_elements)
{
    int k;
    sums->parts += (size_t)parts->count;
    for (k = 0; k < parts->count; k++) {
        size_t bytes = has_elements ? element_bytes_of(&parts->given[k], parts->element_bytes) : 0;
        sums->numbers += 3 * (size_t)parts->given[k].ndim;
        if (bytes > SIZE_MAX / 2 || !pp_add_size_fits(sums->bytes, pp_align_up(bytes, ALIGNMENT), &sums->bytes))
            return refuse_size();
    }
    return PARAPET_OK;
}

static parapet_status add_all_sizes(size_sums *sums, const pp_part_copying *copying)
{
    bool has_elements = copying->buffering == PARAPET_BUFFERING_COPY;
    parapet_status status = PARAPET_OK;
    int64_t bytes;
    int i;
    for (i = 0; i < copying->count && status == PARAPET_OK; i++) {
        const pp_parts *parts = &copying->parts[i];
        status =
            !has_elements || pp_multiply_fits(pp_parts_element_count(parts), (int64_t)parts->element_bytes, &bytes)
                ? add_sizes(sums, parts, has_elements)
                : refuse_size();
    }
    return status;
}

static parapet_status reserve(pp_part_copies *copies, const pp_part_copying *copying, const size_sums *sums)
{
    size_t lists = sums->parts * sizeof(parapet_part) + (sums->numbers + 1) * sizeof(int64_t), bytes;
    parapet_status status;
    if (!pp_add_size_fits(lists, pp_align_up(sums->bytes, PP_PAGE_BYTES), &bytes))
        return refuse_size();
    pp_budget_expect(copying->budget, copying->transfer_bytes);
    status = pp_budget_check(copying->budget, bytes, purpose);
    pp_budget_expect(copying->budget, 0);
    if (status != PARAPET_OK || (status = pp_list_reserve(&copies->parts, sums->parts)) != PARAPET_OK ||
        (status = pp_list_reserve(&copies->numbers, sums->numbers + 1)) != PARAPET_OK || sums->bytes == 0)
        return status;
    return pp_buffer_init(&copies->elements, copying->budget, sums->bytes, purpose);
}

parapet_status pp_part_copies_init(pp_part_copies *copies, const pp_part_copying *copying)
{
    size_sums sums = {0};
    parapet_status status;
    int i, k;
    pp_list_init(&copies->parts, sizeof(parapet_part), copying->budget, purpose);
    pp_list_init(&copies->numbers, sizeof(int64_t), copying->budget, purpose);
    if ((status = add_all_sizes(&sums, copying)) == PARAPET_OK)
        status = reserve(copies, copying, &sums);
    for (i = 0; i < copying->count && status == PARAPET_OK; i++)
        for (k = 0; k < copying->parts[i].count; k++)
            copy_part(copies, &copying->parts[i].given[k], copying->parts[i].element_bytes);
    return status;
}

void pp_part_copies_clear(pp_part_copies *copies)
{
    pp_list_clear(&copies->parts);
    pp_list_clear(&copies->numbers);
    pp_buffer_free(&copies->elements);
}

const parapet_part *pp_part_copies_at(const pp_part_copies *copies, size_t before)
{
    return pp_list_at(&copies->parts, before);
}

void pp_part_copies_list(const pp_part_copies *copies, parapet_array_parts *list, int count)
{
    size_t before = 0;
    int i;
    for (i = 0; i < count; i++) {
        list[i].parts = pp_part_copies_at(copies, before);
        before += (size_t)list[i].part_count;
    }
}
