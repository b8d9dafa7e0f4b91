/* read_shard.h - one shard that is read for the claims on it: which of its chunks are wanted, where they are, and
 * what is read by one request. */
#ifndef PARAPET_TRANSFER_READ_SHARD_H
#define PARAPET_TRANSFER_READ_SHARD_H

#include "transfer/run.h"

typedef struct pp_read_shard {
    pp_transfer_shard head;
    pp_shard stored;
    unsigned char *is_touched; /* one per chunk: some claim wants it */
    int64_t *wanted;           /* stored chunks that a claim touches, in the order of their offsets */
    int64_t wanted_count, next_wanted;
    int64_t next_absent; /* chunks from this one on may be touched and not stored */
    bool is_told_absent; /* of a shard that is not stored: already reported */
    pp_budget *budget;
    size_t reserved_bytes;
} pp_read_shard;

/* Some chunks of one shard: read by one request, or not stored. */
typedef struct pp_read_item {
    pp_transfer_item head;
    const int64_t *wanted; /* PP_WINDOW_DATA: the chunks */
    int64_t wanted_count;
    uint64_t offset;
    size_t bytes;
    pp_buffer buffer;
} pp_read_item;

/* Operations of a transfer that reads. */
parapet_status pp_read_shard_open(pp_transfer *transfer, pp_transfer_shard *shard);
void pp_read_shard_close(pp_transfer *transfer, pp_transfer_shard *shard);
parapet_status pp_read_shard_take(pp_transfer *transfer, pp_transfer_shard *shard, pp_transfer_item *item,
                                  bool *is_taken);

/* Chunks that some claim touches, each counted once. */
int64_t pp_read_shard_count_touched(const pp_transfer *transfer, const pp_transfer_shard *shard);

#endif
