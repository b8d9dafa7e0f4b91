/* region.h - a part of an array. */
#ifndef PARAPET_TOOL_REGION_H
#define PARAPET_TOOL_REGION_H

#include <parapet_arrays.h>

#include "tool.h"

typedef struct tool_region {
    int ndim;
    int64_t start[PARAPET_MAX_NDIM], count[PARAPET_MAX_NDIM];
    bool is_index[PARAPET_MAX_NDIM]; /* given as one index, not as a range */
} tool_region;

/* --region, or all of the array. False: a usage error, already reported. */
bool region_parse(const tool_request *request, const parapet_array_info *info, tool_region *region);
int64_t region_elements(const tool_region *region);

/* The halves follow each other in the order of the elements; false: it has but one. */
bool region_halve(const tool_region *region, tool_region *first, tool_region *second);

#endif
