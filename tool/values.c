#include "values.h"
#include "memory.h"
#include "region.h"
#include "region_read.h"
#include "texts.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCKS_MOST = 1 << 20 };

/* Two arrays and the box that is being compared. */
typedef struct tool_comparison {
    tool_values_difference *difference;
    tool_node *a;
    tool_node *b;
    int ndim;
    size_t element_bytes;
    const int64_t *shape;
    int64_t block[PARAPET_MAX_NDIM];
    int64_t start[PARAPET_MAX_NDIM]; /* of the block */
    tool_region box;                 /* of which the elements are read */
    unsigned char *data_a;
    unsigned char *data_b;
    int64_t *boxes; /* the numbers of those to be compared, where not all are */
    size_t box_count;
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

static int64_t box_elements_of(const int64_t *count, int ndim)
{
    int64_t elements = 1;
    for (int d = 0; d < ndim; d++)
        elements *= count[d];
    return elements;
}

static int64_t blocks_along(const tool_comparison *comparison, int d)
{
    return (comparison->shape[d] - 1) / comparison->block[d] + 1;
}

/* Whether there are more blocks than anybody waits for: then only those with something stored are compared. */
static bool is_vast(const tool_comparison *comparison)
{
    double blocks = 1;
    for (int d = 0; d < comparison->ndim; d++)
        blocks *= (double)blocks_along(comparison, d);
    return blocks > BLOCKS_MOST;
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
    limit = shrink_block(comparison, limit) < limit && !is_vast(comparison) ? limit : 0;
    if (limit > 0)
        grow_block(comparison, box_elements_of(comparison->block, comparison->ndim), limit);
}

static void index_of(const tool_comparison *comparison, int64_t offset, int64_t *index)
{
    for (int d = comparison->ndim - 1; d >= 0; d--) {
        index[d] = comparison->box.start[d] + offset % comparison->box.count[d];
        offset /= comparison->box.count[d];
    }
}

static bool is_before(const int64_t *a, const int64_t *b, int ndim)
{
    for (int d = 0; d < ndim; d++)
        if (a[d] != b[d])
            return a[d] < b[d];
    return false;
}

static unsigned char *copy_element(const tool_comparison *comparison, const void *element)
{
    if (texts_are_in(comparison->a))
        return (unsigned char *)text_element_copy(element);
    return memcpy(memory_get(comparison->element_bytes), element, comparison->element_bytes);
}

static bool are_same(const tool_comparison *comparison, const void *a, const void *b)
{
    return texts_are_in(comparison->a) ? texts_are_same(a, b) : memcmp(a, b, comparison->element_bytes) == 0;
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
    free(difference->first_a);
    free(difference->first_b);
    memcpy(difference->first, index, sizeof index);
    difference->first_a = copy_element(comparison, comparison->data_a + (size_t)offset * bytes);
    difference->first_b = copy_element(comparison, comparison->data_b + (size_t)offset * bytes);
}

static void compare_elements(tool_comparison *comparison, int64_t elements)
{
    size_t bytes = comparison->element_bytes;
    bool has_differed = false;
    for (int64_t offset = 0; offset < elements; offset++) {
        size_t at = (size_t)offset * bytes;
        if (are_same(comparison, comparison->data_a + at, comparison->data_b + at))
            continue;
        comparison->difference->differing++;
        if (!has_differed)
            keep_first(comparison, offset);
        has_differed = true;
    }
}

static parapet_status read_box(tool_comparison *comparison)
{
    parapet_status status = region_read(comparison->a, &comparison->box, comparison->data_a);
    return status == PARAPET_OK ? region_read(comparison->b, &comparison->box, comparison->data_b) : status;
}

/* Texts that take more memory than there is are compared in halves. */
static parapet_status compare_region(tool_comparison *comparison, const tool_region *region)
{
    int64_t elements = region_elements(region);
    tool_region first, second;
    parapet_status status;
    comparison->box = *region;
    status = read_box(comparison);
    if (status == PARAPET_ERR_MEMORY && texts_are_in(comparison->a) && region_halve(region, &first, &second)) {
        status = compare_region(comparison, &first);
        return status == PARAPET_OK ? compare_region(comparison, &second) : status;
    }
    if (status != PARAPET_OK)
        return status;
    comparison->difference->compared += elements;
    if (texts_are_in(comparison->a) ||
        memcmp(comparison->data_a, comparison->data_b, (size_t)elements * comparison->element_bytes) != 0)
        compare_elements(comparison, elements);
    return PARAPET_OK;
}

static tool_region region_of_block(const tool_comparison *comparison)
{
    tool_region region = {.ndim = comparison->ndim};
    for (int d = 0; d < comparison->ndim; d++) {
        region.start[d] = comparison->start[d];
        region.count[d] = smaller(comparison->block[d], comparison->shape[d] - comparison->start[d]);
    }
    return region;
}

static parapet_status compare_block(tool_comparison *comparison)
{
    tool_region region = region_of_block(comparison);
    return compare_region(comparison, &region);
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

static void add_box(tool_comparison *comparison, const int64_t *position)
{
    int64_t number = 0;
    for (int d = 0; d < comparison->ndim; d++)
        number = number * blocks_along(comparison, d) + position[d];
    comparison->boxes = memory_grow(comparison->boxes, comparison->box_count, sizeof *comparison->boxes);
    comparison->boxes[comparison->box_count++] = number;
}

/* Adds all blocks that a stored box touches. */
static int add_stored(void *context, const int64_t *start, const int64_t *count)
{
    tool_comparison *comparison = context;
    int64_t position[PARAPET_MAX_NDIM], last[PARAPET_MAX_NDIM];
    int d;
    for (d = 0; d < comparison->ndim; d++) {
        position[d] = start[d] / comparison->block[d];
        last[d] = (start[d] + count[d] - 1) / comparison->block[d];
    }
    do {
        add_box(comparison, position);
        for (d = comparison->ndim - 1; d >= 0 && ++position[d] > last[d]; d--)
            position[d] = start[d] / comparison->block[d];
    } while (d >= 0);
    return 0;
}

static int compare_numbers(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static void go_to_box(tool_comparison *comparison, int64_t number)
{
    for (int d = comparison->ndim - 1; d >= 0; d--) {
        comparison->start[d] = number % blocks_along(comparison, d) * comparison->block[d];
        number /= blocks_along(comparison, d);
    }
}

static parapet_status compare_listed(tool_comparison *comparison)
{
    parapet_status status = PARAPET_OK;
    size_t used = 0;
    if (comparison->box_count > 0)
        qsort(comparison->boxes, comparison->box_count, sizeof *comparison->boxes, compare_numbers);
    for (size_t i = 0; i < comparison->box_count && status == PARAPET_OK; i++) {
        if (used > 0 && comparison->boxes[i] == comparison->boxes[used - 1])
            continue;
        comparison->boxes[used++] = comparison->boxes[i];
        go_to_box(comparison, comparison->boxes[i]);
        status = compare_block(comparison);
    }
    comparison->box_count = used;
    return status;
}

/* What is stored in neither is fill value in both. */
static void compare_fill(tool_comparison *comparison)
{
    tool_values_difference *difference = comparison->difference;
    const void *a = comparison->a->info.fill_value, *b = comparison->b->info.fill_value;
    int64_t unlisted = 0, total = element_count(&comparison->a->info);
    if (memcmp(a, b, comparison->element_bytes) != 0 && difference->compared < total) {
        while ((size_t)unlisted < comparison->box_count && comparison->boxes[unlisted] == unlisted)
            unlisted++;
        go_to_box(comparison, unlisted);
        comparison->box = region_of_block(comparison);
        memcpy(comparison->data_a, a, comparison->element_bytes);
        memcpy(comparison->data_b, b, comparison->element_bytes);
        keep_first(comparison, 0);
        difference->differing += total - difference->compared;
    }
    difference->compared = total;
}

/* Only what is stored in one of them is read. */
static parapet_status compare_stored(tool_comparison *comparison)
{
    parapet_status status = parapet_array_list(comparison->a->array, add_stored, comparison);
    if (status == PARAPET_OK)
        status = parapet_array_list(comparison->b->array, add_stored, comparison);
    if (status == PARAPET_OK)
        status = compare_listed(comparison);
    if (status == PARAPET_OK)
        compare_fill(comparison);
    free(comparison->boxes);
    return status;
}

static parapet_status compare_all(tool_comparison *comparison)
{
    parapet_status status;
    do {
        status = compare_block(comparison);
    } while (status == PARAPET_OK && advance(comparison));
    return status;
}

static size_t block_bytes(const tool_comparison *comparison)
{
    return (size_t)box_elements_of(comparison->block, comparison->ndim) * comparison->element_bytes;
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
    if (texts_are_in(a) && is_vast(&comparison)) {
        difference->refusal =
            "it has texts in more than a million chunks, or pieces of memory, which diff does not compare";
        return PARAPET_ERR_UNSUPPORTED;
    }
    comparison.data_a = memory_get(block_bytes(&comparison));
    comparison.data_b = memory_get(block_bytes(&comparison));
    status = is_vast(&comparison) ? compare_stored(&comparison) : compare_all(&comparison);
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
