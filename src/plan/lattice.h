/* lattice.h - which server is the home of a shard: one formula that spreads an array, and whatever part of it a call
 * moves, evenly over the servers.
 *
 *     turn = (phase + sum over d of multipliers[d] * cell[d]) modulo turns
 *
 * Pure. Depends on base and geometry. No shard is listed: the multipliers are chosen by what lattice_load.h counts.
 */
#ifndef PARAPET_PLAN_LATTICE_H
#define PARAPET_PLAN_LATTICE_H

#include "geometry/grid.h"
#include "plan/turns.h"

typedef struct pp_lattice {
    int64_t multipliers[PARAPET_MAX_NDIM]; /* each below the number of turns it was chosen for */
    int64_t phase;                         /* the turn of the first shard, at least 0; may be beyond all turns */
    int64_t visited;                       /* turns, to choose it: how much work that was */
} pp_lattice;

/* The turn of a shard, by its position among the shards. */
int pp_lattice_turn(const pp_lattice *lattice, int ndim, const int64_t *cell, int turn_count);

/* Chooses multipliers for this many shards per dimension: of a fixed sequence of pseudo-random candidates the one
 * that spreads the whole array best among those that spread its planes, slabs, lines and pencils well. The result
 * depends on the arguments only. phase becomes 0. */
parapet_status pp_lattice_choose(pp_lattice *lattice, int ndim, const int64_t *cells, int turn_count);

/* The same for servers of different weights: of those whose turns are spread well, the one that gives the servers
 * most exactly what they are to have of the whole array, wherever its first shard is. */
parapet_status pp_lattice_choose_weighted(pp_lattice *lattice, int ndim, const int64_t *cells, const pp_turns *turns);

/* How many of `count` shards a turn should get at most: 1.20 of the mean if there are 16 or more for each, else twice
 * as many as cannot be avoided. A spread within it is a good one. */
double pp_lattice_limit(int64_t count, int turn_count);

/* The shapes by which candidates are judged, as extents, numbered from 0; false: there is no shape of this number.
 * The first is the whole array, the second all of it but the shards at its far edge, which may be small. */
bool pp_lattice_shape(int number, int ndim, const int64_t *cells, int64_t *extents);

#endif
