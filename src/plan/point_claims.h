/* point_claims.h - a transfer of picks: what a shard, a chunk or a part of one has to do with them.
 *
 * Pure. Depends on base and geometry. Picks are sorted by stored index, and none is in two chunks; those of a
 * transfer that reads may share elements. */
#ifndef PARAPET_PLAN_POINT_CLAIMS_H
#define PARAPET_PLAN_POINT_CLAIMS_H

#include "base/checked.h"
#include "plan/picks.h"
#include "plan/stretch.h"

typedef struct pp_point_claims {
    const pp_tiling *tiling;
    const pp_pick *picks;
    size_t count;
    unsigned char *data;
} pp_point_claims;

/* Stored indices from one to before another, in one shard. */
typedef struct pp_point_range {
    int64_t from, end;
    int64_t begin; /* no pick with an element of the range begins before it */
} pp_point_range;

pp_point_range pp_point_claims_shard(const pp_point_claims *picked, int64_t shard);
pp_point_range pp_point_claims_chunk(const pp_point_claims *picked, int64_t shard, int64_t chunk);

/* Of the part of a chunk that is one run of its elements; band may be the whole chunk. */
pp_point_range pp_point_claims_band(const pp_point_claims *picked, int64_t shard, int64_t chunk, const pp_box *band);

/* Walks through what picks have of a range; {.range = ..., .picked = ...} at first. */
typedef struct pp_point_walk {
    const pp_point_claims *picked;
    pp_point_range range;
    size_t next;
    bool has_begun;
} pp_point_walk;

static inline bool pp_point_claims_next(pp_point_walk *walk, pp_pick *common)
{
    const pp_point_claims *picked = walk->picked;
    if (!walk->has_begun)
        walk->next = pp_picks_find(picked->picks, picked->count, walk->range.begin);
    walk->has_begun = true;
    while (walk->next < picked->count && picked->picks[walk->next].index < walk->range.end) {
        const pp_pick *pick = &picked->picks[walk->next++];
        int64_t from = pp_max_i64(pick->index, walk->range.from);
        int64_t end = pp_min_i64(pp_pick_end(pick), walk->range.end);
        if (from >= end)
            continue;
        *common = pp_pick_of(from, pp_pick_place(pick) + from - pick->index, end - from);
        return true;
    }
    return false;
}

/* How many elements picks have of a range, each counted for each pick. */
int64_t pp_point_claims_count(const pp_point_claims *picked, const pp_point_range *range);
bool pp_point_claims_has_any(const pp_point_claims *picked, const pp_point_range *range);

/* Marks the chunks of a shard that picks touch; is_touched, if not NULL, has one byte for each. Returns how many. */
int64_t pp_point_claims_mark_chunks(const pp_point_claims *picked, int64_t shard, unsigned char *is_touched);

/* The rows of a chunk, along its first dimension, from the first to the last that a pick touches; empty: none. */
void pp_point_claims_bound(const pp_point_claims *picked, int64_t shard, int64_t chunk, pp_box *bounds);

/* Wants what picks have of a range, which lies in the stretch from an offset on. */
void pp_point_claims_want(const pp_point_claims *picked, const pp_point_range *range, size_t offset,
                          pp_stretch *stretch);

/* Copies what picks have of a range between their memory and elements, which holds the range, in C order; or sets
 * their memory to one value. Each returns the bytes that it moved. */
int64_t pp_point_claims_gather(const pp_point_claims *picked, const pp_point_range *range, unsigned char *elements);
int64_t pp_point_claims_scatter(const pp_point_claims *picked, const pp_point_range *range,
                                const unsigned char *elements);
int64_t pp_point_claims_fill(const pp_point_claims *picked, const pp_point_range *range, const void *value);

#endif
