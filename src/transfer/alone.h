/* alone.h - reads parts of an array on this rank alone, from any thread, beside whatever else the store does.
 *
 * The read path is that of an owner who has only its own claims: no message is sent, no thread is started and MPI is
 * not called. Its memory is apart from that of transfers, whose plans can therefore not fail because of it. Reads on
 * several threads divide it: each takes a portion, smaller than it wants if others have theirs, and waits if what is
 * left is too little for a chunk. */
#ifndef PARAPET_TRANSFER_ALONE_H
#define PARAPET_TRANSFER_ALONE_H

#include "base/portions.h"
#include "plan/indices.h"
#include "transfer/transfer.h"

/* The memory of all who read alone. */
typedef struct pp_alone {
    pp_budget budget;
    pp_portions portions;
} pp_alone;

void pp_alone_init(pp_alone *alone, size_t bytes);
void pp_alone_clear(pp_alone *alone);

/* [local] Fills the parts, as pp_transfer_read does. The context has the budget of alone. Several threads may do this
 * at once. */
parapet_status pp_transfer_read_alone(pp_alone *alone, const pp_transfer_array *array);

/* [local] Fills the memory of listed elements in the same way. If the list would take more than a quarter of the
 * memory, it is worked off in passes: of shards, or of chunks of one shard. */
parapet_status pp_transfer_read_indices_alone(pp_alone *alone, const pp_transfer_array *array,
                                              const pp_indices *indices);

#endif
