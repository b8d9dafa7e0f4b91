/* view.h - where the elements of the target of a copy come from: another order, a region, reversed dimensions. */
#ifndef PARAPET_COPY_VIEW_H
#define PARAPET_COPY_VIEW_H

#include "rechunk/rechunk.h"
#include "transfer/layout.h"

/* Where an element of the target comes from: target dimension d is dimension axis[d] of the source, from start[d] on,
 * or, reversed, element i is start[d] + shape[d] - 1 - i of the source. */
typedef struct pp_copy_view {
    int ndim;
    int64_t shape[PARAPET_MAX_NDIM]; /* of the target */
    int axis[PARAPET_MAX_NDIM];
    int64_t start[PARAPET_MAX_NDIM]; /* in the source, by target dimension */
    bool is_reversed[PARAPET_MAX_NDIM];
} pp_copy_view;

/* The view in which nothing is changed. */
void pp_copy_view_init(pp_copy_view *view, int ndim, const int64_t *shape);

/* A box of the target as the box of the source that holds the same elements. */
void pp_copy_view_box(const pp_copy_view *view, const pp_box *target, pp_box *source);

/* The grid of a layout of the source, seen through the view: chunk, shard, origin and stored_order of side. */
void pp_copy_view_side(const pp_copy_view *view, const pp_layout *layout, pp_rechunk_side *side);

#endif
