/* pattern.h - which bytes a datatype selects, in ascending order: patterns of patterns, down to runs of bytes.
 *
 * Knows nothing of MPI or arrays. A pattern is a list of blocks. A block is `count` times another pattern, each one
 * extent behind the one before, and all of this `repeats` times, each one stride behind the one before: what
 * vectors, subarrays and lists of blocks have in common. The bytes in the order of the blocks are the packed bytes.
 * They must ascend, as MPI demands of the type of a file view; so no byte is selected twice. */
#ifndef PARAPET_BASE_PATTERN_H
#define PARAPET_BASE_PATTERN_H

#include "base/list.h"
#include "base/loops.h"

typedef struct pp_pattern pp_pattern;

typedef struct pp_pattern_block {
    int64_t displacement; /* of its first pattern, in bytes */
    int64_t count;
    int64_t repeats, stride;
    const pp_pattern *pattern;
} pp_pattern_block;

struct pp_pattern {
    int64_t bytes;      /* selected */
    int64_t first, end; /* place of the first of them, and after the last; both 0 if there is none */
    int64_t extent;
    bool is_run; /* the bytes begin at 0 and have no holes; then there are no blocks */
    int64_t added;
    pp_list blocks;
    struct pp_pattern *before; /* in the set */
};

enum { PP_PATTERN_SHORT_BYTES = 33 }; /* a run of less is made once per set */

/* Owns patterns that refer to each other. Their memory comes from the budget. */
typedef struct pp_patterns {
    pp_budget *budget;
    pp_pattern *last;
    pp_pattern *runs[PP_PATTERN_SHORT_BYTES];
} pp_patterns;

void pp_patterns_init(pp_patterns *set, pp_budget *budget);
void pp_patterns_clear(pp_patterns *set);

/* A run of bytes, perhaps of none. */
parapet_status pp_pattern_run(pp_patterns *set, int64_t bytes, const pp_pattern **run);

/* A pattern that selects nothing yet. Add blocks, then finish it; only then may others refer to it. */
parapet_status pp_pattern_build(pp_patterns *set, pp_pattern **pattern);

/* Adds a block. Joins it to the last one if it continues that one, or repeats it at the same distance. A block that
 * begins before the last one ends, or whose own patterns do, is PARAPET_ERR_ARGUMENT. */
parapet_status pp_pattern_add(pp_patterns *set, pp_pattern *pattern, const pp_pattern_block *block);
void pp_pattern_finish(pp_pattern *pattern, int64_t extent);

/* Called with loops around runs, in the order of the packed bytes: `to` is where bytes are selected, `from` where
 * they are when they are packed. */
typedef parapet_status (*pp_loops_visitor)(void *context, const pp_loops *loops);

/* origin: the places of byte 0 of the pattern and of the first packed byte. */
parapet_status pp_pattern_walk(const pp_pattern *pattern, pp_place origin, pp_loops_visitor visitor, void *context);

#endif
