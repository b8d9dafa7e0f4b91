/* loops.h - a box of elements in two memories as nested loops around runs of bytes, as few loops as do.
 *
 * Strides are in bytes and may be negative. Addresses are numbers: they may be of another process, and may step
 * outside an object between two runs. Order is free in a copy, so loops run forwards on the side called `to`, and the
 * largest steps are outermost there. */
#ifndef PARAPET_BASE_LOOPS_H
#define PARAPET_BASE_LOOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct pp_place {
    uint64_t to, from;
} pp_place;

/* How often, and how many bytes further both sides are each time. */
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

/* What the loops are to walk over. */
typedef struct pp_loop_box {
    int ndim;
    size_t element_bytes;
    const int64_t *count;
    pp_place origin;
    const int64_t *to_strides;
    const int64_t *from_strides; /* NULL: that side stays where it is */
} pp_loop_box;

/* Makes loops over the box, and one of two where a step of the outer continues where the inner ends, on both sides; a
 * run is one element. Returns false when there is none. */
bool pp_loops_init(pp_loops *loops, const pp_loop_box *box);

/* Makes an innermost loop over neighbours on both sides part of the run. */
void pp_loops_lengthen_run(pp_loops *loops);

/* A number of steps further in one loop. */
pp_place pp_loop_step(pp_place at, pp_loop loop, int64_t steps);

/* Steps through the outermost `outer` loops, from position {0}; false after the last. */
bool pp_loops_next(const pp_loops *loops, int outer, int64_t *position, pp_place *at);

#endif
