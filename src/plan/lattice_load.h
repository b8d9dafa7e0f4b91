/* lattice_load.h - how many cells of a box the most loaded turn of a lattice gets, counted without visiting cells.
 *
 * Pure. Depends on base. The counts of a box are those of its first cell, spread along one dimension
 * after the other; they depend on the extents of the box and not on where it is. */
#ifndef PARAPET_PLAN_LATTICE_LOAD_H
#define PARAPET_PLAN_LATTICE_LOAD_H

#include <stdbool.h>

#include "base/memory.h"
#include "plan/turns.h"

/* Room to count in; for many boxes and multipliers, one after the other. */
typedef struct pp_lattice_load {
    int64_t *counts, *spread; /* of every turn: so far, and along one more dimension */
    int turn_count;
} pp_lattice_load;

/* Clear it even after a failure. */
parapet_status pp_lattice_load_init(pp_lattice_load *load, int turn_count);
void pp_lattice_load_clear(pp_lattice_load *load);

/* Counts the cells of a box with these extents, whose cell c goes to the turn that is the sum of c[d] *
 * multipliers[d], modulo turns. Leaves them in load->counts and returns the largest. */
int64_t pp_lattice_load_count(pp_lattice_load *load, int ndim, const int64_t *extents, const int64_t *multipliers);

/* What servers have of a box. */
typedef struct pp_server_load {
    double worst;  /* the load of the server that has most for its number of turns, divided by that number */
    bool is_least; /* no server has more than its share, rounded up: no other spread is better */
} pp_server_load;

/* Of what was counted last, if these servers take the turns and the first cell has the turn `phase`. Leaves what each
 * server has in load->spread. */
pp_server_load pp_lattice_load_of_servers(pp_lattice_load *load, const pp_turns *turns, int phase);

#endif
