#include "packing.h"

#include <math.h>
#include <stdlib.h>

/* What is not one finite number is as if it were not there. */
static double number_of(tool_node *node, const char *name, double otherwise)
{
    char *json = NULL, *end = NULL;
    double number = otherwise;
    if (parapet_array_attribute_get(node->array, name, &json) == PARAPET_OK) {
        number = strtod(json, &end);
        if (end == json || *end != '\0' || !isfinite(number))
            number = otherwise;
    }
    parapet_free(json);
    return number;
}

tool_packing packing_of(tool_node *node)
{
    tool_packing packing = {.scale = number_of(node, "scale_factor", 1), .offset = number_of(node, "add_offset", 0)};
    packing.is_packed = packing.scale != 1 || packing.offset != 0;
    return packing;
}

double packing_undo(const tool_packing *packing, double stored)
{
    return packing->is_packed ? stored * packing->scale + packing->offset : stored;
}
