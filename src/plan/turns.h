/* turns.h - in which order servers of different weights take turns, so that each gets its share as evenly as whole
 * turns allow.
 *
 * Pure. Depends on base. */
#ifndef PARAPET_PLAN_TURNS_H
#define PARAPET_PLAN_TURNS_H

#include "base/memory.h"

/* The servers that take the turns, in order; then it begins again. */
typedef struct pp_turns {
    int *servers;
    int count;     /* the sum of the weights, divided by what all of them have in common */
    int *turns_of; /* how many of them each server has */
    int server_count;
} pp_turns;

/* Every turn goes to the server that would have the fewest for its weight with it; of several, to the lowest. Weights
 * are at least 1. Clear it even after a failure. */
parapet_status pp_turns_init(pp_turns *turns, const int *weights, int server_count);
void pp_turns_clear(pp_turns *turns);

#endif
