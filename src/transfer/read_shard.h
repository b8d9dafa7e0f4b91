/* read_shard.h - one shard that is read for the claims on it: which of its chunks are wanted, where they are, and
 * what is read by one request. */
#ifndef PARAPET_TRANSFER_READ_SHARD_H
#define PARAPET_TRANSFER_READ_SHARD_H

#include "transfer/read_item.h"

/* Operations of a transfer that reads. */
parapet_status pp_read_shard_open(pp_transfer *transfer, pp_transfer_shard *shard);
void pp_read_shard_close(pp_transfer *transfer, pp_transfer_shard *shard);
parapet_status pp_read_shard_take(pp_transfer *transfer, pp_transfer_shard *shard, pp_transfer_item *item,
                                  bool *is_taken);

/* Chunks that some claim touches, each counted once. */
int64_t pp_read_shard_count_touched(const pp_transfer *transfer, const pp_transfer_shard *shard);

#endif
