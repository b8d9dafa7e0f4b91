/* distribution.h - a regular distribution of an array over a mesh of ranks, as arithmetic: nothing is stored per
 * rank.
 *
 * Pure. Depends on base. Every dimension is divided into blocks of equal size, which are dealt out in turn to the
 * ranks along it: BLOCK has at most as many blocks as ranks, CYCLIC(k) has blocks of k elements, WHOLE has one block.
 * Ranks are numbered over the mesh, boxes of a rank over its blocks, both in C order. */
#ifndef PARAPET_GEOMETRY_DISTRIBUTION_H
#define PARAPET_GEOMETRY_DISTRIBUTION_H

#include <parapet_arrays.h>

#include "geometry/box.h"

typedef struct pp_distribution {
    int ndim;
    int64_t shape[PARAPET_MAX_NDIM];
    int64_t mesh[PARAPET_MAX_NDIM];   /* ranks along each dimension, at least 1 */
    int64_t block[PARAPET_MAX_NDIM];  /* elements of a block, at least 1 */
    int64_t blocks[PARAPET_MAX_NDIM]; /* how many of them: shape / block, rounded up */
    int64_t rank_count;
} pp_distribution;

/* Checks everything that came from outside. If the given shape is NULL, shape is used instead, which may also be
 * NULL. */
parapet_status pp_distribution_init(pp_distribution *distribution, const parapet_distribution *given,
                                    const int64_t *shape);

void pp_distribution_position(const pp_distribution *distribution, int64_t rank, int64_t *position);
int64_t pp_distribution_rank(const pp_distribution *distribution, const int64_t *position);

int64_t pp_distribution_box_count(const pp_distribution *distribution, int64_t rank);

/* Box number index, below the count. */
void pp_distribution_box(const pp_distribution *distribution, int64_t rank, int64_t index, pp_box *box);

/* Walks the ranks that have an element of a box inside the array, in ascending order, without looking at the others:
 *     pp_meeting_init(&meeting, distribution, &box);
 *     while (pp_meeting_next(&meeting, &rank)) */
typedef struct pp_meeting {
    const pp_distribution *distribution;
    pp_box turns; /* along each dimension, which of the positions that meet the box */
    int64_t turn[PARAPET_MAX_NDIM];
    int64_t first[PARAPET_MAX_NDIM];   /* position of the first block that meets the box */
    int64_t wrapped[PARAPET_MAX_NDIM]; /* how many positions that meet it come before that one */
    bool is_pending;
} pp_meeting;

void pp_meeting_init(pp_meeting *meeting, const pp_distribution *distribution, const pp_box *box);
bool pp_meeting_next(pp_meeting *meeting, int64_t *rank);

/* Along one dimension: how many positions of the mesh have elements of start .. start + count - 1, count > 0, and
 * which is number turn of them in ascending order. */
int64_t pp_distribution_positions_meeting(const pp_distribution *distribution, int d, int64_t start, int64_t count);
int64_t pp_distribution_position_meeting(const pp_distribution *distribution, int d, int64_t start, int64_t count,
                                         int64_t turn);

/* Along one dimension: where the first block of a position that reaches beyond start begins, which may be outside the
 * array. The next one of that position is block * mesh further. */
int64_t pp_distribution_block_from(const pp_distribution *distribution, int d, int64_t position, int64_t start);

#endif
