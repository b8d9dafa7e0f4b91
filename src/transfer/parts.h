/* parts.h - the caller's memory in a transfer: boxes of the array and where their elements are. */
#ifndef PARAPET_TRANSFER_PARTS_H
#define PARAPET_TRANSFER_PARTS_H

#include <parapet_arrays.h>

#include "geometry/strided.h"
#include "transfer/layout.h"

typedef struct pp_part {
    pp_box box;
    unsigned char *data; /* of the first element of the box */
    int64_t strides[PARAPET_MAX_NDIM];
} pp_part;

/* The caller's list, which must stay where it is as long as this is used: parts are not copied. */
typedef struct pp_parts {
    const parapet_part *given;
    int count;
    size_t element_bytes;
    bool is_step; /* the parts leave out the first dimension, in which all of them are at index `step` */
    int64_t step;
} pp_parts;

/* Checks the parts against the array: ndim, type, bounds, data. */
parapet_status pp_parts_init(pp_parts *parts, const parapet_part *given, int count, const pp_layout *layout,
                             parapet_type type);
parapet_status pp_parts_init_step(pp_parts *parts, const parapet_part *given, int count, const pp_layout *layout,
                                  parapet_type type, int64_t step);

/* One of them. */
void pp_parts_at(const pp_parts *parts, int index, pp_part *part);

/* Elements of all boxes together; saturates. */
int64_t pp_parts_element_count(const pp_parts *parts);

#endif
