/* The state that the checkpoint benchmark saves: the block of a rank, cut along its first dimension into the blocks
 * of four arrays. The memory of the case is that of all of them, one after the other. */
#ifndef BENCH_STATE_H
#define BENCH_STATE_H

#include "case.h"

#define BENCH_ARRAY_COUNT 4

typedef struct bench_array {
    const char *name;
    int64_t shape[3], start[3], count[3]; /* the array, and the block of this rank */
    double *data;
} bench_array;

void bench_state_arrays(const bench_case *c, bench_array arrays[BENCH_ARRAY_COUNT]);

#endif
