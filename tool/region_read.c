#include "region_read.h"
#include "memory.h"
#include "texts.h"

#include <stdlib.h>

/* The box of pieces, each of whole rows of the dimensions behind the first that is cut. */
static void choose_piece(const tool_region *region, int64_t elements_most, tool_region *piece)
{
    int64_t elements = 1;
    *piece = *region;
    for (int d = region->ndim - 1; d >= 0; d--) {
        int64_t fitting = elements_most / elements;
        piece->count[d] = region->count[d] < fitting ? region->count[d] : fitting > 1 ? fitting : 1;
        elements *= piece->count[d];
        if (piece->count[d] < region->count[d])
            elements = elements_most;
    }
}

/* Moves to the next piece, in the order of the elements; false: that was the last. */
static bool advance(const tool_region *region, const tool_region *whole, tool_region *piece)
{
    for (int d = region->ndim - 1; d >= 0; d--) {
        int64_t end = region->start[d] + region->count[d];
        piece->start[d] += whole->count[d];
        if (piece->start[d] < end) {
            piece->count[d] = whole->count[d] < end - piece->start[d] ? whole->count[d] : end - piece->start[d];
            return true;
        }
        piece->start[d] = region->start[d];
        piece->count[d] = whole->count[d];
    }
    return false;
}

parapet_status region_read(tool_node *node, const tool_region *region, void *data)
{
    parapet_part part = {.ndim = region->ndim, .start = region->start, .count = region->count, .data = data};
    if (texts_are_in(node))
        return texts_read(node, region, data);
    return parapet_array_read(node->array, &part, 1);
}

/* Nobody knows what texts take before they are read: where they are too many, they come in halves. */
static parapet_status visit_piece(tool_node *node, const tool_region *piece, void *data, tool_region_visitor visit,
                                  void *context)
{
    tool_region first, second;
    parapet_status status = region_read(node, piece, data);
    if (status == PARAPET_OK)
        visit(context, piece, data);
    if (status != PARAPET_ERR_MEMORY || !texts_are_in(node) || !region_halve(piece, &first, &second))
        return status;
    status = visit_piece(node, &first, data, visit, context);
    return status == PARAPET_OK ? visit_piece(node, &second, data, visit, context) : status;
}

parapet_status region_visit(tool_node *node, const tool_region *region, size_t buffer_bytes,
                            tool_region_visitor visit, void *context)
{
    int64_t fitting = (int64_t)(buffer_bytes / node->info.element_bytes);
    tool_region whole, piece;
    parapet_status status;
    void *data;
    if (region_elements(region) == 0)
        return PARAPET_OK;
    choose_piece(region, fitting > 1 ? fitting : 1, &whole);
    piece = whole;
    data = memory_get((size_t)region_elements(&whole) * node->info.element_bytes);
    do {
        status = visit_piece(node, &piece, data, visit, context);
    } while (status == PARAPET_OK && advance(region, &whole, &piece));
    free(data);
    return status;
}
