/* partial_shards.h - new shards that a transfer of listed elements writes in several passes, some of their chunks at
 * a time.
 *
 * Each is one new shard in the making (shard_build.h), which stays open from the first pass that has elements of it
 * to the last one. All servers may divide a shard at once, each one of its own. */
#ifndef PARAPET_TRANSFER_PARTIAL_SHARDS_H
#define PARAPET_TRANSFER_PARTIAL_SHARDS_H

#include "transfer/shard_build.h"

typedef struct pp_partial_shard {
    int64_t number;
    pp_shard_build *build;
    int64_t next_chunk; /* those before it are appended */
    struct pp_partial_shard *next;
} pp_partial_shard;

struct pp_partial_shards {
    int64_t chunk_count; /* of a shard */
    int64_t chunk_end;   /* this pass works off the chunks before it that earlier ones have left */
    bool keeps_old;      /* not all elements of the shards are listed */
    int64_t most;        /* shards that may be open on this rank at once */
    size_t build_bytes;  /* of the budget, that one takes until it is finished */
    pp_partial_shard *shards;
    int64_t count;
};

/* What the build of one shard takes at most, if it gets the smallest buffer. */
size_t pp_partial_shards_build_bytes(const pp_transfer_context *context);

/* What builds that do not exist yet may take. */
size_t pp_partial_shards_bytes_to_come(const pp_partial_shards *divided);

/* The shard of this number, which is added if it is not there. */
parapet_status pp_partial_shards_get(pp_partial_shards *divided, int64_t number, pp_partial_shard **shard);

/* Shards that were not finished never existed. */
void pp_partial_shards_clear(pp_partial_shards *divided, const pp_transfer_context *context);

#endif
