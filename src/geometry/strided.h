/* strided.h - moves N-dimensional boxes of elements between memories of any strides.
 *
 * Knows element sizes, not types; any alignment. Strides are in bytes and may be negative. Dimensions that are
 * contiguous in both memories are merged, so that a copy of whole rows is a few large memcpy; a copy that
 * transposes goes through small square blocks, so that both memories stay in cache. */
#ifndef PARAPET_GEOMETRY_STRIDED_H
#define PARAPET_GEOMETRY_STRIDED_H

#include <stdbool.h>
#include <stddef.h>

#include "geometry/box.h"

typedef struct pp_strided {
    int ndim;
    size_t element_bytes;
    const int64_t *count;
    void *target;
    const int64_t *target_strides;
    const void *source;
    const int64_t *source_strides;
    bool is_nontemporal; /* the target is not read again soon: nontemporal.h */
} pp_strided;

/* Target and source must not overlap. */
void pp_strided_copy(const pp_strided *copy);

/* Sets every element of target to the one at source; source_strides is not used. */
void pp_strided_fill(const pp_strided *fill);

/* Sets count densely packed elements to the one at value. */
void pp_fill_elements(void *target, int64_t count, size_t element_bytes, const void *value);

/* Byte strides of a densely packed array in C order. */
void pp_strides_c_order(int ndim, const int64_t *shape, size_t element_bytes, int64_t *strides);

/* The offset of element `position` (absolute) of `box` in memory that holds the box with these strides. */
int64_t pp_strides_offset(const pp_box *box, const int64_t *strides, const int64_t *position);

#endif
