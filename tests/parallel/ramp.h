/* ramp.h - an array of any size out of little memory: its elements are those of a short table, seen through strides
 * that overlap. The value at [i, j, k] is number 7 i + 1031 j + k of the table, in whatever box a rank holds it.
 *
 * Written through the view of the table, a part of gigabytes takes a few megabytes. Read back through the same view
 * into an empty table, every place of it is hit many times, with equal values if all is right; what was read into a
 * dense buffer is compared element by element. */
#ifndef PARAPET_TESTS_RAMP_H
#define PARAPET_TESTS_RAMP_H

#include <parapet_arrays.h>
#include <stdbool.h>
#include <stddef.h>

enum { RAMP_NDIM = 3 };

typedef struct ramp {
    int64_t shape[RAMP_NDIM]; /* of the array */
    size_t count;             /* of the table */
    double *table;
} ramp;

typedef struct ramp_box {
    int64_t start[RAMP_NDIM], count[RAMP_NDIM];
} ramp_box;

void ramp_build(ramp *made, const int64_t *shape);
void ramp_clear(ramp *made);

/* Number n of the table: takes about a third of its bytes with a codec that knows how. */
double ramp_value(int64_t number);

/* The part of a box in the table; box and ramp must outlive it. */
parapet_part ramp_part(const ramp *of, const ramp_box *box);

/* Every place of the table becomes a value that no table has, or what it has to be again. */
void ramp_spoil(ramp *of);
void ramp_fill(ramp *of);

/* Whether every place of the table that the box sees is what it has to be; says on stderr where not. */
bool ramp_is_right(const ramp *of, const ramp_box *box);

/* Fills a dense buffer, or tells whether it is filled so; says on stderr where not. */
void ramp_put(const ramp *of, const ramp_box *box, double *buffer);
bool ramp_holds(const ramp *of, const ramp_box *box, const double *buffer);

size_t ramp_box_bytes(const ramp_box *box);

#endif
