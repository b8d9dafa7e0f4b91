/* point_passes.h - moves listed elements between the memory of all ranks and the shards of an array.
 *
 * The home of a shard is its owner. It gets the picks of all ranks on its shards, reads or stages these shards as a
 * rank that works alone does, and has taken or gives back the elements. Whatever does not fit the memory at once is
 * worked off in passes: in each of them all ranks deal with the same shards, or, where a shard of each server is too
 * much, with the same chunks of these shards (partial_shards.h). */
#ifndef PARAPET_TRANSFER_POINT_PASSES_H
#define PARAPET_TRANSFER_POINT_PASSES_H

#include "plan/indices.h"
#include "transfer/transfer.h"

/* [collective] Fills the memory of the list. Same status on every rank. */
parapet_status pp_transfer_read_indices(const pp_team *team, const pp_transfer_array *array,
                                        const pp_indices *indices);

/* [collective] Writes the elements, which must not be listed twice, into new shards. Same status on every rank. */
parapet_status pp_transfer_stage_indices(const pp_team *team, const pp_transfer_array *array,
                                         const pp_indices *indices, pp_staged *staged);

#endif
