/* point_transfer.h - transfers of picks by one rank, for itself or as the home of their shards.
 *
 * The engine is that of a rank that has only its own claims; what it claims of each shard is picks instead of boxes.
 */
#ifndef PARAPET_TRANSFER_POINT_TRANSFER_H
#define PARAPET_TRANSFER_POINT_TRANSFER_H

#include "plan/point_claims.h"
#include "transfer/memory_plan.h"
#include "transfer/transfer.h"

/* What a transfer needs beside the picks themselves, for a list of the shards that they touch: at most this many. */
size_t pp_point_claims_list_bytes(int64_t shards);

/* [local] Fills the memory of the picks. plan: memory that the caller has planned; NULL: the budget of the array, as
 * in a transfer that is counted. */
parapet_status pp_transfer_read_points(const pp_transfer_array *array, const pp_point_claims *picked,
                                       const pp_memory_plan *plan);

/* [local] Stages new shards with the picks, which share no element, in them. */
parapet_status pp_transfer_stage_points(const pp_transfer_array *array, const pp_point_claims *picked,
                                        pp_staged *staged);

/* [local] The same for the shards that the context divides, and only those chunks that the pass has; then those of
 * them that were begun and of which the last pass had no pick. */
parapet_status pp_transfer_stage_partial(const pp_transfer_array *array, const pp_point_claims *picked,
                                         pp_staged *staged);
parapet_status pp_transfer_stage_rest(const pp_transfer_array *array, pp_staged *staged);

#endif
