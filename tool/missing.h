/* missing.h - values that stand for none, as CF and xarray have it: those that the attributes _FillValue and
 * missing_value declare, and the fill value of a Zarr v2 array with names of dimensions, where xarray keeps
 * _FillValue. */
#ifndef PARAPET_TOOL_MISSING_H
#define PARAPET_TOOL_MISSING_H

#include "node.h"

typedef struct tool_missing_value {
    double number;
    uint64_t integer; /* of an array of integers */
} tool_missing_value;

typedef struct tool_missing {
    const parapet_array_info *info;
    tool_missing_value *values;
    size_t count;
} tool_missing;

/* What the node, an array that stays open meanwhile, declares to be missing. */
void missing_init(tool_missing *missing, tool_node *node);
void missing_free(tool_missing *missing);

/* Whether an element, and the number that it is, is missing: NaN always is. */
bool missing_is(const tool_missing *missing, const void *element, double number);

#endif
