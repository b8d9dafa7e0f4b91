/* box.h - rectangles of an index space: where they meet, and walking through their cells.
 *
 * Pure arithmetic: knows nothing of memory, storage or MPI. Depends on base. All counts are >= 0, and a start plus
 * its count never overflows; boxes that come from outside are checked by pp_box_init. */
#ifndef PARAPET_GEOMETRY_BOX_H
#define PARAPET_GEOMETRY_BOX_H

#include <parapet_types.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

typedef struct pp_box {
    int ndim;
    int64_t start[PARAPET_MAX_NDIM];
    int64_t count[PARAPET_MAX_NDIM];
} pp_box;

/* Fills box from arrays of ndim numbers; refuses negative counts and ends beyond 64 bits. start NULL is 0. */
parapet_status pp_box_init(pp_box *box, int ndim, const int64_t *start, const int64_t *count);

bool pp_box_is_empty(const pp_box *box);

/* Elements in the box. Boxes inside an array that could be opened never overflow (grid.h checks the array). */
int64_t pp_box_element_count(const pp_box *box);

/* Stores the common part of a and b, possibly empty; returns whether it is not empty. common may be a or b. */
bool pp_box_intersect(const pp_box *a, const pp_box *b, pp_box *common);

/* Whether every element of inner is in outer; an empty box is inside every box. */
bool pp_box_contains(const pp_box *outer, const pp_box *inner);
bool pp_box_equals(const pp_box *a, const pp_box *b);

/* "[0:10, 5:20]": start and end per dimension. */
void pp_box_print(const pp_box *box, pp_text *text);

/* Walks the cells of a box in C order (last dimension fastest):
 *     for (more = pp_box_first(&box, cell); more; more = pp_box_next(&box, cell)) */
bool pp_box_first(const pp_box *box, int64_t *cell);
bool pp_box_next(const pp_box *box, int64_t *cell);

#endif
