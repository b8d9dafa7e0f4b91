/* decomposition.h - which rank holds which boxes of an array, at random. Knows nothing of the library. */
#ifndef PARAPET_TESTS_DECOMPOSITION_H
#define PARAPET_TESTS_DECOMPOSITION_H

#include <stddef.h>

#include "draw.h"

#define MOST_NDIM 5
#define MOST_HOLDINGS 1200

typedef struct box {
    int64_t start[MOST_NDIM], count[MOST_NDIM];
} box;

int64_t box_element_count(const box *of, int ndim);
/* Moves to the next position inside a box in C order, starting at its start; false behind the last. */
bool box_step(const box *of, int ndim, int64_t *position);
/* False when they have nothing in common. */
bool box_intersect(const box *left, const box *right, int ndim, box *common);

/* A box that a rank holds. */
typedef struct holding {
    int rank;
    box box;
} holding;

typedef struct decomposition {
    const char *kind;
    int ndim, ranks;
    const int64_t *shape; /* not owned */
    int count, capacity;
    holding *holdings;
} decomposition;

/* Cuts an array into boxes that cover it once, and deals them out: BLOCK, CYCLIC(k) and whole dimensions over a mesh,
 * recursive bisection, one-cell slabs, or all on one rank. Ranks may come out empty. */
void decomposition_cut(decomposition *made, draw *from, int ndim, const int64_t *shape, int ranks);

/* Any boxes on any ranks: they may overlap, and need not cover the array. */
void decomposition_scatter(decomposition *made, draw *from, int ndim, const int64_t *shape, int ranks);

/* Takes boxes away at random, so that some of the array is held by nobody. */
void decomposition_thin(decomposition *made, draw *from);

/* Whether the boxes hold as many elements as the array; of a cut, whether they cover it. */
bool decomposition_is_whole(const decomposition *of);

void decomposition_add(decomposition *made, int rank, const box *held);
void decomposition_clear(decomposition *made);

#endif
