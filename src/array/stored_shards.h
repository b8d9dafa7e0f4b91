/* stored_shards.h - which shards of an array are stored, found by listing them, because an array may have room for
 * far more shards than could be probed one by one. */
#ifndef PARAPET_ARRAY_STORED_SHARDS_H
#define PARAPET_ARRAY_STORED_SHARDS_H

#include <parapet_types.h>

#include "base/ranges.h"

/* If there are more possible shards than this and few of them are stored, they are not probed one by one. */
#define PP_SHARDS_WALKED_MOST (INT64_C(1) << 20)

/* [local] Adds their numbers, and sorts. */
parapet_status pp_array_stored_shards(const parapet_array *array, pp_ranges *shards);

/* [local] Who visits only these must not take a shard that was lost for one that was never written:
 * PARAPET_ERR_MISSING if the array was sealed with one that is not among them. */
parapet_status pp_array_check_stored_shards(parapet_array *array, const pp_ranges *shards);

/* Whether so few of the possible shards are stored that only those should be visited. */
bool pp_is_sparse(int64_t possible_count, int64_t stored_count);

#endif
