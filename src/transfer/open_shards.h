/* open_shards.h - the shards that a transfer has open on this rank, from the oldest to the current one. */
#ifndef PARAPET_TRANSFER_OPEN_SHARDS_H
#define PARAPET_TRANSFER_OPEN_SHARDS_H

#include "transfer/run.h"

/* Opens the shard of these records; it is the current one even after a failure. */
parapet_status pp_open_shards_add(pp_transfer *transfer, size_t first, size_t end);

/* Closes those of which everything is consumed, except the current one. */
void pp_open_shards_tidy(pp_transfer *transfer);

/* Closes all. */
void pp_open_shards_clear(pp_transfer *transfer);

/* What is claimed of shards that this rank serves, from one record to another; also what progress is measured by. */
int64_t pp_open_shards_claimed_bytes(const pp_transfer *transfer, size_t first, size_t end);

#endif
