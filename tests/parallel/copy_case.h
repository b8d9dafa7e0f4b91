/* copy_case.h - one random copy: a source array, what of it is stored, the changes that are asked for, and, worked
 * out element by element, what the target has to hold then. Every rank draws the same case from the same seed. Knows
 * nothing of how copies are made. */
#ifndef PARAPET_TESTS_COPY_CASE_H
#define PARAPET_TESTS_COPY_CASE_H

#include <parapet_arrays.h>
#include <stddef.h>

#include "draw.h"

#define COPY_NDIM_MOST 6
#define COPY_BOXES_MOST 4
#define COPY_ELEMENT_BYTES_MOST 16

typedef struct copy_box {
    int64_t start[COPY_NDIM_MOST], count[COPY_NDIM_MOST];
} copy_box;

typedef struct copy_layout {
    int64_t shape[COPY_NDIM_MOST], chunks[COPY_NDIM_MOST];
    int64_t shards[COPY_NDIM_MOST]; /* equal to chunks when there are none */
    bool is_sharded;
} copy_layout;

/* How large cases may be, and what of the source is stored. */
typedef struct copy_limits {
    int64_t elements, chunks, objects; /* of the source, and of the target */
    int ndim_least;
    bool is_whole; /* all of the source is written */
} copy_limits;

typedef struct copy_case {
    uint64_t seed;
    int ndim;
    size_t element_bytes;
    int64_t element_count; /* of the source */
    copy_layout source, target;
    parapet_array_spec spec; /* of the source; points into this struct: do not copy it */
    unsigned char fill[COPY_ELEMENT_BYTES_MOST];
    const char *names[COPY_NDIM_MOST];
    uint64_t value_mask; /* few bits compress well, many do not */
    bool is_whole;
    int box_count; /* what is written, one after the other */
    copy_box boxes[COPY_BOXES_MOST];
    parapet_copy_changes changes;     /* points into this struct */
    bool chooses_cut;                 /* chunks or shards of the target are chosen by the library */
    int axis[COPY_NDIM_MOST];         /* target dimension d is dimension axis[d] of the source, */
    int64_t start[COPY_NDIM_MOST];    /* from there on, */
    bool is_reversed[COPY_NDIM_MOST]; /* perhaps backwards */
    char chunks_text[256], shards_text[256], order_text[256], region_text[256];
} copy_case;

void copy_case_build(copy_case *made, uint64_t seed, const copy_limits *limits);

/* One line. */
void copy_case_print(const copy_case *of, char *text, size_t bytes);

int64_t copy_element_count(int ndim, const int64_t *shape);

/* Moves to the next position of a shape in C order; false behind the last. */
bool copy_step(int ndim, const int64_t *shape, int64_t *position);

/* All elements of the source in C order; free it. */
unsigned char *copy_case_contents(const copy_case *of);

/* [local] Writes the source as array "source" of a store, by this process alone; false: said on stderr. */
bool copy_case_write(const copy_case *of, const char *store_path);

/* All elements of the target in C order, out of those of the source; free it. */
unsigned char *copy_case_expected(const copy_case *of, const unsigned char *contents);

/* Which chunks of the target have to be stored, in C order over the whole array: those that have an element of a
 * chunk that the source stores. Free it. The target's layout must be known. */
bool *copy_case_stored(const copy_case *of);

#endif
