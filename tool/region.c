#include "region.h"
#include "arguments.h"
#include "display.h"
#include "quantity.h"
#include "report.h"

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
