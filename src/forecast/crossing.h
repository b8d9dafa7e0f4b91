/* crossing.h - how the blocks of a distribution and the shards of an array cross along one dimension.
 *
 * Pure. Depends on base and geometry. What a rank and a shard have in common is a product over dimensions, and along
 * one dimension there are few different ways in which they meet, called encounters. A row is what a slab of shards
 * meets, a column what a slab of ranks meets; equal rows, and equal columns, form a kind. So sums over all shards and
 * ranks become sums over kinds. */
#ifndef PARAPET_FORECAST_CROSSING_H
#define PARAPET_FORECAST_CROSSING_H

#include "geometry/distribution.h"
#include "geometry/tiling.h"

/* Intervals of a position of the mesh within a shard, relative to its start: low to high, then one of block elements
 * at next and every stride on, as far as extent. */
typedef struct pp_encounter {
    int64_t chunks; /* of the shard that hold elements */
    int64_t extent; /* of the shard, clipped to the array */
    int64_t low, high;
    int64_t next; /* -1: there is no second interval */
    int64_t intervals;
    int64_t elements;       /* in all intervals */
    int64_t touched_chunks; /* that have an element of an interval */
} pp_encounter;

typedef struct pp_crossing_entry {
    int32_t position; /* along the mesh */
    int32_t encounter;
} pp_crossing_entry;

/* An encounter, and how often it happens. */
typedef struct pp_tally {
    int64_t count;
    int32_t encounter;
} pp_tally;

typedef struct pp_crossing_row {
    size_t first, count; /* entries, by ascending position */
    int64_t shards;      /* how many along this dimension have this row */
    int32_t kind;
} pp_crossing_row;

typedef struct pp_kind {
    size_t first, count; /* tallies, by ascending encounter */
} pp_kind;

/* Lists that grow by doubling. */
typedef struct pp_kinds {
    pp_kind *kinds;
    size_t count, capacity;
    pp_tally *tallies;
    size_t tally_count, tally_capacity;
} pp_kinds;

typedef struct pp_crossing {
    int64_t cells, cell_shape, chunk_shape; /* of the shards along this dimension */
    int64_t block, stride;                  /* of the distribution */
    int64_t period;                         /* rows repeat after this many shards, except for the last shard */
    pp_encounter *encounters;
    size_t encounter_count, encounter_capacity;
    pp_crossing_entry *entries;
    size_t entry_count, entry_capacity;
    pp_crossing_row *rows; /* period of them, then that of the last shard */
    size_t row_count;
    pp_kinds row_kinds;
    pp_kinds column_kinds;
    int32_t *column_kind; /* of every position of the mesh; NULL until pp_crossing_build_columns */
} pp_crossing;

/* Clear it also after a failure. */
parapet_status pp_crossing_init(pp_crossing *crossing, const pp_distribution *distribution, const pp_tiling *tiling,
                                int d);
parapet_status pp_crossing_build_columns(pp_crossing *crossing, int64_t mesh);
void pp_crossing_clear(pp_crossing *crossing);

/* The row of a shard coordinate. */
const pp_crossing_row *pp_crossing_row_of(const pp_crossing *crossing, int64_t cell);

/* The encounter of a shard coordinate with a position of the mesh; -1: they do not meet. */
int32_t pp_crossing_find(const pp_crossing *crossing, const pp_crossing_row *row, int64_t position);

/* Interval number index of an encounter; false: there is none. */
bool pp_encounter_interval(const pp_crossing *crossing, const pp_encounter *encounter, int64_t index, int64_t *start,
                           int64_t *count);

/* The chunks that an encounter touches, as runs without gaps: {0} starts the walk. */
typedef struct pp_run {
    int64_t first, count;
    int64_t interval; /* the first that is not in it */
} pp_run;
bool pp_encounter_next_run(const pp_crossing *crossing, const pp_encounter *encounter, pp_run *run);

#endif
