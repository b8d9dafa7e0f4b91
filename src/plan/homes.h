/* homes.h - gives the arrays of a store their lattices, one after the other.
 *
 * Pure. Depends on base and geometry. A checkpoint may have a thousand arrays of a few shapes: what was chosen for a
 * shape is remembered. Arrays begin where the ones before have ended, so that many small ones are spread too. */
#ifndef PARAPET_PLAN_HOMES_H
#define PARAPET_PLAN_HOMES_H

#include "plan/lattice.h"

#define PP_HOMES_REMEMBERED 8

typedef struct pp_homes_choice {
    int ndim; /* of 0: there is none */
    int turn_count;
    int64_t cells[PARAPET_MAX_NDIM];
    pp_lattice lattice;
} pp_homes_choice;

/* All zero at first. */
typedef struct pp_homes {
    pp_homes_choice choices[PP_HOMES_REMEMBERED];
    int next;      /* the choice that is forgotten next */
    int64_t phase; /* shards of all arrays so far; starts again when it does not fit */
} pp_homes;

/* The lattice of the next array, which has these shards. */
parapet_status pp_homes_choose(pp_homes *homes, const pp_grid *shards, int turn_count, pp_lattice *lattice);

/* This many shards of the arrays so far do not count any more: the next arrays begin where they would have begun
 * without them. */
void pp_homes_forget(pp_homes *homes, int64_t shard_count);

/* The lattice of an array with this many shards per dimension, for servers that take these turns; homes must have
 * seen no other turns. The phase stays as it is. */
parapet_status pp_homes_choose_weighted(pp_homes *homes, int ndim, const int64_t *cells, const pp_turns *turns,
                                        pp_lattice *lattice);

#endif
