/* loops.h - a box of elements in two memories as nested loops around runs of bytes, with as few loops as possible.
 *
 * Strides are in bytes and may be negative. Addresses are numbers: they may belong to another process, and may step
 * outside an object between two runs. A copy may run in any order, so loops run forwards on the side called `to`,
 * with the largest steps outermost. */
#ifndef PARAPET_BASE_LOOPS_H
#define PARAPET_BASE_LOOPS_H

#include <parapet_types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pp_place {
    uint64_t to, from;
} pp_place;

/* How often the loop runs, and how many bytes each side advances each time. */
typedef struct pp_loop {
    int64_t count;
    int64_t to, from;
} pp_loop;

/* Outermost first. Every count is at least 2, as made; steps of `to` are not negative, and fall from loop to loop. */
typedef struct pp_loops {
    int ndim;
    pp_loop axes[PARAPET_MAX_NDIM];
    size_t run_bytes;
    pp_place origin;
} pp_loops;

/* What the loops walk over. */
typedef struct pp_loop_box {
    int ndim;
    size_t element_bytes;
    const int64_t *count;
    pp_place origin;
    const int64_t *to_strides;
    const int64_t *from_strides; /* NULL: that side stays where it is */
} pp_loop_box;

/* Makes loops over the box; merges two loops if, on both sides, a step of the outer one continues where the inner one
 * ends. A run is one element. Returns false if the box has no elements. */
bool pp_loops_init(pp_loops *loops, const pp_loop_box *box);

/* If the innermost loop steps over neighbours on both sides, makes it part of the run. */
void pp_loops_lengthen_run(pp_loops *loops);

/* The place after a number of steps in one loop. */
pp_place pp_loop_step(pp_place at, pp_loop loop, int64_t steps);

/* Steps through the outermost `outer` loops, from position {0}; false after the last. */
bool pp_loops_next(const pp_loops *loops, int outer, int64_t *position, pp_place *at);

#endif
