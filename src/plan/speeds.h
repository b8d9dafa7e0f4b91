/* speeds.h - how fast the servers of a store are in one direction, and the epoch that follows from it.
 *
 * Pure. Depends on base. Within an epoch the home of a shard depends on nothing but the array, the shard, the servers
 * and their weights. Each rank measures itself. When the speed of one of them has left what its weight stands for,
 * all tell each other their speeds, and if that gives other weights, a new epoch begins. */
#ifndef PARAPET_PLAN_SPEEDS_H
#define PARAPET_PLAN_SPEEDS_H

#include "plan/turns.h"
#include "plan/weights.h"

/* What all ranks know alike. */
typedef struct pp_weighting {
    int *weights; /* 1 to 8, of every server */
    int server_count;
    int64_t fastest; /* the speed that 8 stands for, in bytes per second; 0: nothing was measured */
    pp_turns turns;
} pp_weighting;

/* Of this rank: what is measured, and not judged yet. */
typedef struct pp_speeds {
    pp_weighting now;
    int64_t epoch; /* number of this one; in each, something else than in those before is in force */
    int64_t bytes;
    double seconds;
    int64_t own; /* speed of this rank when it was measured last; 0: never */
} pp_speeds;

/* All servers have weight 8. Clear it even after a failure. */
parapet_status pp_speeds_init(pp_speeds *speeds, int server_count);
void pp_speeds_clear(pp_speeds *speeds);

/* This rank's storage took that long for so many bytes. What is too little to tell a speed is kept for later. */
void pp_speeds_note(pp_speeds *speeds, int64_t bytes, double seconds);

/* Whether this rank, with that index among the servers, has left what its weight stands for. */
bool pp_speeds_has_left(const pp_speeds *speeds, int server);

/* What follows from the speeds of all servers. Clear it even after a failure. */
parapet_status pp_weighting_renew(const pp_weighting *now, const int64_t *all, pp_weighting *next);
void pp_weighting_clear(pp_weighting *weighting);

/* Whether every server has the same weight: then they take turns in their order. */
bool pp_weighting_is_even(const pp_weighting *weighting);

/* It is in force from now on; it becomes empty. If the turns are others, this is a new epoch. */
void pp_speeds_adopt(pp_speeds *speeds, pp_weighting *next);

#endif
