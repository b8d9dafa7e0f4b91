/* packing.h - what stored numbers stand for, as CF and xarray have it: each is scaled, then moved. */
#ifndef PARAPET_TOOL_PACKING_H
#define PARAPET_TOOL_PACKING_H

#include "node.h"

typedef struct tool_packing {
    bool is_packed; /* by its attributes scale_factor and add_offset */
    double scale, offset;
} tool_packing;

tool_packing packing_of(tool_node *node);
double packing_undo(const tool_packing *packing, double stored);

#endif
