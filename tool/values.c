#include "tool.h"

#include <stdlib.h>
#include <string.h>

/* Two arrays and the box that is being compared. */
typedef struct tool_comparison {
    tool_values_difference *difference;
    tool_node *a;
    tool_node *b;
    int ndim;
    size_t element_bytes;
    const int64_t *shape;
    int64_t block[PARAPET_MAX_NDIM];
    int64_t start[PARAPET_MAX_NDIM];
    int64_t count[PARAPET_MAX_NDIM];
    unsigned char *data_a;
    unsigned char *data_b;
} tool_comparison;

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Halves the block from the slowest dimension on until it has at most that many elements. Returns how many. */
static int64_t shrink_block(tool_comparison *comparison, int64_t limit)
{
    int64_t elements = 1;
    for (int d = comparison->ndim - 1; d >= 0; d--) {
        comparison->block[d] = smaller(comparison->block[d], limit / elements);
        elements *= comparison->block[d];
    }
    return elements;
}

/* Makes the block whole multiples longer while there is room, the fastest dimension first: fewer, longer reads. */
static void grow_block(tool_comparison *comparison, int64_t elements, int64_t limit)
{
    for (int d = comparison->ndim - 1; d >= 0; d--) {
        int64_t factor = limit / elements;
        int64_t blocks = (comparison->shape[d] - 1) / comparison->block[d] + 1;
        factor = smaller(factor, blocks);
        elements /= comparison->block[d];
        comparison->block[d] = smaller(comparison->block[d] * factor, comparison->shape[d]);
        elements *= comparison->block[d];
    }
}

/* The larger of the two chunk shapes, fitted to the buffers. No dimension may be empty. */
static void choose_block(tool_comparison *comparison, size_t buffer_bytes)
{
    size_t fitting = buffer_bytes / comparison->element_bytes;
    int64_t limit = fitting < 1 ? 1 : (int64_t)fitting;
    for (int d = 0; d < comparison->ndim; d++) {
        int64_t a = comparison->a->info.chunks[d];
        int64_t b = comparison->b->info.chunks[d];
        comparison->block[d] = smaller(a > b ? a : b, comparison->shape[d]);
    }
    grow_block(comparison, shrink_block(comparison, limit), limit);
}

static int64_t box_elements(const tool_comparison *comparison)
{
    int64_t elements = 1;
    for (int d = 0; d < comparison->ndim; d++)
        elements *= comparison->count[d];
    return elements;
}

static parapet_status read_box(const tool_comparison *comparison, parapet_array *array, void *data)
{
    parapet_part part = {
        .ndim = comparison->ndim, .start = comparison->start, .count = comparison->count, .data = data};
    return parapet_array_read(array, &part, 1);
}

static void index_of(const tool_comparison *comparison, int64_t offset, int64_t *index)
{
    for (int d = comparison->ndim - 1; d >= 0; d--) {
        index[d] = comparison->start[d] + offset % comparison->count[d];
        offset /= comparison->count[d];
    }
}

static bool is_before(const int64_t *a, const int64_t *b, int ndim)
{
    for (int d = 0; d < ndim; d++)
        if (a[d] != b[d])
            return a[d] < b[d];
    return false;
}

/* Boxes do not come in the order of the elements: a later one may hold an earlier difference. */
static void keep_first(tool_comparison *comparison, int64_t offset)
{
    tool_values_difference *difference = comparison->difference;
    size_t bytes = comparison->element_bytes;
    int64_t index[PARAPET_MAX_NDIM] = {0};
    index_of(comparison, offset, index);
    if (difference->first_a != NULL && !is_before(index, difference->first, comparison->ndim))
        return;
    if (difference->first_a == NULL) {
        difference->first_a = memory_get(bytes);
        difference->first_b = memory_get(bytes);
    }
    memcpy(difference->first, index, sizeof index);
    memcpy(difference->first_a, comparison->data_a + (size_t)offset * bytes, bytes);
    memcpy(difference->first_b, comparison->data_b + (size_t)offset * bytes, bytes);
}

static void compare_elements(tool_comparison *comparison, int64_t elements)
{
    size_t bytes = comparison->element_bytes;
    bool has_differed = false;
    for (int64_t offset = 0; offset < elements; offset++) {
        size_t at = (size_t)offset * bytes;
        if (memcmp(comparison->data_a + at, comparison->data_b + at, bytes) == 0)
            continue;
        comparison->difference->differing++;
        if (!has_differed)
            keep_first(comparison, offset);
        has_differed = true;
    }
}

static parapet_status compare_box(tool_comparison *comparison)
{
    int64_t elements;
    parapet_status status;
    for (int d = 0; d < comparison->ndim; d++)
        comparison->count[d] = smaller(comparison->block[d], comparison->shape[d] - comparison->start[d]);
    elements = box_elements(comparison);
    if ((status = read_box(comparison, comparison->a->array, comparison->data_a)) != PARAPET_OK ||
        (status = read_box(comparison, comparison->b->array, comparison->data_b)) != PARAPET_OK)
        return status;
    comparison->difference->compared += elements;
    if (memcmp(comparison->data_a, comparison->data_b, (size_t)elements * comparison->element_bytes) != 0)
        compare_elements(comparison, elements);
    return PARAPET_OK;
}

/* Moves to the next box; false: that was the last. */
static bool advance(tool_comparison *comparison)
{
    for (int d = comparison->ndim - 1; d >= 0; d--) {
        comparison->start[d] += comparison->block[d];
        if (comparison->start[d] < comparison->shape[d])
            return true;
        comparison->start[d] = 0;
    }
    return false;
}

static size_t block_bytes(const tool_comparison *comparison)
{
    size_t bytes = comparison->element_bytes;
    for (int d = 0; d < comparison->ndim; d++)
        bytes *= (size_t)comparison->block[d];
    return bytes;
}

parapet_status values_compare(tool_values_difference *difference, tool_node *a, tool_node *b, size_t buffer_bytes)
{
    tool_comparison comparison = {.difference = difference,
                                  .a = a,
                                  .b = b,
                                  .ndim = a->info.ndim,
                                  .element_bytes = a->info.element_bytes,
                                  .shape = a->info.shape};
    parapet_status status = PARAPET_OK;
    *difference = (tool_values_difference){0};
    if (element_count(&a->info) == 0)
        return PARAPET_OK;
    choose_block(&comparison, buffer_bytes);
    comparison.data_a = memory_get(block_bytes(&comparison));
    comparison.data_b = memory_get(block_bytes(&comparison));
    do {
        status = compare_box(&comparison);
    } while (status == PARAPET_OK && advance(&comparison));
    free(comparison.data_a);
    free(comparison.data_b);
    return status;
}

void values_difference_free(tool_values_difference *difference)
{
    free(difference->first_a);
    free(difference->first_b);
    *difference = (tool_values_difference){0};
}
