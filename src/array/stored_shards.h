/* stored_shards.h - which shards of an array are stored, found by listing them: an array may have room for far more
 * than anybody could ask for one by one. */
#ifndef PARAPET_ARRAY_STORED_SHARDS_H
#define PARAPET_ARRAY_STORED_SHARDS_H

#include "base/ranges.h"

/* More possible shards than this are not asked for one by one if few of them are stored. */
#define PP_SHARDS_WALKED_MOST (INT64_C(1) << 20)

/* [local] Adds their numbers, and sorts. */
parapet_status pp_array_stored_shards(const parapet_array *array, pp_ranges *shards);

/* Whether so few of so many possible shards are stored that only those are to be looked at. */
bool pp_is_sparse(int64_t possible_count, int64_t stored_count);

#endif
