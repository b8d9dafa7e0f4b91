/* What the ranks of the noncontiguous benchmark hold of an array of doubles, after the paper that describes ROMIO:
 * boxes that are runs with holes between them in a file in C order.
 *
 *   mpiexec -n RANKS PROGRAM METHOD DIRECTORY PATTERN N [name=value ...]
 *
 *   dist3d    N^3, (BLOCK,BLOCK,BLOCK) on a mesh that divides the last dimension most: one box a rank
 *   btio      N^3 cells of 5 doubles, diagonal multipartitioning: on q^2 ranks q boxes each, one in every slab of N/q
 *   unstruc   N points of 8 doubles, a power of two, that a random map deals out to the ranks
 *
 * With few=COUNT, level 0 reads only so many points of all ranks together. Programs bring methods as those of case.h
 * do, and what is printed is the same. In memory a rank has its boxes one behind the other, each in C order, or its
 * points in the order of their numbers, as a view of MPI-IO wants them. */
#ifndef BENCH_PATTERN_H
#define BENCH_PATTERN_H

#include "case.h"

#define BENCH_MOST_NDIM 4
#define BENCH_POINT_DOUBLES 8

typedef struct bench_box {
    int64_t start[BENCH_MOST_NDIM], count[BENCH_MOST_NDIM];
    double *data;
} bench_box;

/* Begins with the case, so that methods, which get the case, find the pattern. */
typedef struct bench_pattern {
    bench_case head; /* without a block: start and count are not set */
    int ndim;
    int64_t shape[BENCH_MOST_NDIM];
    int box_count;
    bench_box *boxes; /* in the order of their offsets in a file */
    int64_t point_count;
    int64_t step;    /* level 0 reads every step-th point */
    int64_t *points; /* unstruc: which points this rank has, ascending; NULL: it has boxes */
} bench_pattern;

static inline const bench_pattern *bench_pattern_of(const bench_case *c)
{
    return (const bench_pattern *)c;
}

int bench_pattern_main(int argc, char **argv, const bench_method *methods);

/* [all ranks] Every method starts the clock when everything is open, and stops it when data is durable or read:
 * programs open once and access often. What is printed is from the first rank's start to the last one's stop. */
void bench_clock_start(void);
void bench_clock_stop(void);

/* Every contiguous run: a point, or the elements of a box with the same first two indices, since no pattern has whole
 * rows. Calls visit with a box of one run, data pointing to its place. */
typedef void (*bench_visit)(const bench_pattern *pattern, const bench_box *run, void *context);
void bench_pattern_runs(const bench_pattern *pattern, bench_visit visit, void *context);
/* The same of those that level 0 reads. */
void bench_pattern_few_runs(const bench_pattern *pattern, bench_visit visit, void *context);

/* How many doubles a box has, and where its first one is in a file in C order. */
int64_t bench_box_elements(const bench_pattern *pattern, const bench_box *box);
int64_t bench_box_offset(const bench_pattern *pattern, const bench_box *box);

#endif
