/* subject.h - one random array: what it is, what is written to it in which decompositions, and what it then holds.
 * Every rank draws the same subject from the same seed, so that nothing about it has to be sent. */
#ifndef PARAPET_TESTS_SUBJECT_H
#define PARAPET_TESTS_SUBJECT_H

#include <parapet_arrays.h>

#include "decomposition.h"

#define MOST_WRITES 3
#define MOST_ELEMENT_BYTES 256

typedef struct subject {
    uint64_t seed;
    int ranks;
    parapet_array_spec spec; /* points into this struct: do not copy it */
    int64_t shape[MOST_NDIM], chunks[MOST_NDIM], shards[MOST_NDIM];
    unsigned char fill[MOST_ELEMENT_BYTES];
    size_t element_bytes;
    int64_t element_count;
    uint64_t value_mask; /* few bits compress well, many do not */
    int write_count;
    decomposition writes[MOST_WRITES];
    decomposition read;
} subject;

/* How large and how many-parted subjects may be. */
typedef struct subject_limits {
    int64_t elements;
    int64_t objects; /* shards, or chunks without shards */
    int writes;
} subject_limits;

void subject_build(subject *made, uint64_t seed, int ranks, const subject_limits *limits);
void subject_clear(subject *made);

/* One line: shape, type, chunks, codec, decompositions. */
void subject_print(const subject *of, char *text, size_t bytes);

/* Whether zarr-python knows the type without further packages. */
bool subject_is_common(const subject *of);

/* The element that write number `write` gives a position. */
void subject_value(const subject *of, int write, const int64_t *position, unsigned char *element);

/* All elements in C order after the first write_count writes; free it. */
unsigned char *subject_contents(const subject *of, int write_count);

/* Where an element lies in C order. */
int64_t subject_index(const subject *of, const int64_t *position);

#endif
