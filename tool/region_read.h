/* region_read.h - the values of a region, all at once or piece by piece. */
#ifndef PARAPET_TOOL_REGION_READ_H
#define PARAPET_TOOL_REGION_READ_H

#include "node.h"
#include "region.h"

/* Takes the values of a piece of a region. */
typedef void (*tool_region_visitor)(void *context, const tool_region *piece, const void *data);

/* Reads a region. visit: piece by piece, in the order of the elements, with one buffer of about that size. */
parapet_status region_read(tool_node *node, const tool_region *region, void *data);
parapet_status region_visit(tool_node *node, const tool_region *region, size_t buffer_bytes,
                            tool_region_visitor visit, void *context);

#endif
