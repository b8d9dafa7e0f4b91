/* flat.h - the flat index of an array, in which its elements are numbered in C order, and boxes in place of ranges of
 * it.
 *
 * Pure. Depends on base. A file of MPI-IO is such a sequence of elements; here it has boxes. */
#ifndef PARAPET_GEOMETRY_FLAT_H
#define PARAPET_GEOMETRY_FLAT_H

#include "base/loops.h"
#include "geometry/box.h"

typedef struct pp_flat {
    int ndim;
    int64_t element_bytes;
    int64_t shape[PARAPET_MAX_NDIM];
    int64_t step[PARAPET_MAX_NDIM]; /* from an element to its neighbour in each dimension */
    int64_t bytes;                  /* of all elements */
} pp_flat;

/* The shape is that of an array, whose elements have a number of 64 bits; refuses arrays whose bytes do not. */
parapet_status pp_flat_init(pp_flat *flat, int ndim, const int64_t *shape, size_t element_bytes);

/* A box, and where its elements are in memory. */
typedef struct pp_flat_box {
    pp_box box;
    int64_t offset_bytes; /* of its first element */
    int64_t strides_bytes[PARAPET_MAX_NDIM];
} pp_flat_box;

typedef parapet_status (*pp_flat_box_visitor)(void *context, const pp_flat_box *box);

/* Visits boxes that have the elements of loops: `to` counts the bytes of the array in C order, `from` those of
 * memory. The loops ascend and stay within the array (pattern.h). Bytes that are not whole elements are refused. */
parapet_status pp_flat_visit_boxes(const pp_flat *flat, const pp_loops *loops, pp_flat_box_visitor visitor,
                                   void *context);

#endif
