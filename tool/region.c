#include "tool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The dimension of that name, or of that number; -1: there is none. */
static int find_dimension(const parapet_array_info *info, const char *name, size_t length)
{
    const char *end;
    int64_t number;
    for (int d = 0; d < info->ndim && info->dimension_names != NULL; d++) {
        const char *own = info->dimension_names[d];
        if (own != NULL && strlen(own) == length && strncmp(own, name, length) == 0)
            return d;
    }
    return number_parse(name, &end, &number) && end == name + length && number < info->ndim ? (int)number : -1;
}

static bool refuse(const parapet_array_info *info, const char *word)
{
    char *shape = text_of_shape(info->shape, info->ndim), *names = text_of_names(info);
    report_error("--region", "\"%.*s\" is not accepted: give 5, 0:10, 5:, :10 or :, inside %s (%s)",
                 (int)strcspn(word, ","), word, shape, names);
    free(shape);
    free(names);
    return false;
}

/* "5", "0:10", "5:", ":10" or ":", which ends with a comma or the text. */
static bool parse_range(const parapet_array_info *info, tool_region *region, int d, const char *text)
{
    int64_t first = 0, last = info->shape[d];
    const char *end = text;
    bool is_one = false;
    if (*text != ':' && !number_parse(text, &end, &first))
        return false;
    if (*end == ':' && end[1] != '\0' && end[1] != ',') {
        if (!number_parse(end + 1, &end, &last))
            return false;
    } else if (*end == ':') {
        end++;
    } else {
        is_one = true;
        last = first + 1;
    }
    region->start[d] = first;
    region->count[d] = last - first;
    region->is_index[d] = is_one;
    return (*end == '\0' || *end == ',') && first < last && last <= info->shape[d];
}

bool region_parse(const tool_request *request, const parapet_array_info *info, tool_region *region)
{
    const char *text = request_value(request, "region");
    int position = 0;
    *region = (tool_region){.ndim = info->ndim};
    for (int d = 0; d < info->ndim; d++)
        region->count[d] = info->shape[d];
    while (text != NULL && *text != '\0') {
        size_t length = strcspn(text, ",");
        const char *equals = memchr(text, '=', length);
        int d = equals != NULL ? find_dimension(info, text, (size_t)(equals - text)) : position++;
        if (d < 0 || d >= info->ndim || !parse_range(info, region, d, equals != NULL ? equals + 1 : text))
            return refuse(info, text);
        text += length + (text[length] == ',');
    }
    return true;
}

int64_t region_elements(const tool_region *region)
{
    int64_t elements = 1;
    for (int d = 0; d < region->ndim; d++)
        if (__builtin_mul_overflow(elements, region->count[d], &elements))
            return INT64_MAX;
    return elements;
}

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

bool region_halve(const tool_region *region, tool_region *first, tool_region *second)
{
    int d = 0;
    while (d < region->ndim && region->count[d] <= 1)
        d++;
    if (d == region->ndim)
        return false;
    *first = *second = *region;
    first->count[d] = region->count[d] / 2;
    second->start[d] += first->count[d];
    second->count[d] -= first->count[d];
    return true;
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
