/* parts.h - the caller's memory in a transfer: boxes of the array and where their elements lie. */
#ifndef PARAPET_TRANSFER_PARTS_H
#define PARAPET_TRANSFER_PARTS_H

#include "geometry/strided.h"
#include "transfer/layout.h"

typedef struct pp_part_memory {
    unsigned char *data; /* of the first element of the box */
    int64_t strides[PARAPET_MAX_NDIM];
} pp_part_memory;

typedef struct pp_parts {
    int count;
    pp_box *boxes;
    pp_part_memory *memory;
} pp_parts;

/* Checks the parts against the array: ndim, type, bounds, data. The memory itself stays the caller's. */
parapet_status pp_parts_init(pp_parts *parts, const parapet_part *given, int count, const pp_layout *layout,
                             parapet_type type);
void pp_parts_clear(pp_parts *parts);

/* Elements of all boxes together; saturates. */
int64_t pp_parts_element_count(const pp_parts *parts);

#endif
