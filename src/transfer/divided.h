/* divided.h - new shards that a transfer of listed elements writes in several passes, some of their chunks at a time.
 *
 * Each is one new shard in the making (shard_build.h), which stays open from the first pass that has elements of it
 * to the last one. All servers may divide a shard at once, each one of its own. */
#ifndef PARAPET_TRANSFER_DIVIDED_H
#define PARAPET_TRANSFER_DIVIDED_H

#include "transfer/shard_build.h"

typedef struct pp_divided_shard {
    int64_t number;
    pp_shard_build *build;
    int64_t next_chunk; /* those before it are appended */
    struct pp_divided_shard *next;
} pp_divided_shard;

struct pp_divided {
    int64_t chunk_count; /* of a shard */
    int64_t chunk_end;   /* this pass works off the chunks before it that earlier ones have left */
    bool keeps_old;      /* not all elements of the shards are listed */
    int64_t most;        /* shards that may be open on this rank at once */
    size_t build_bytes;  /* of the budget, that one takes until it is finished */
    pp_divided_shard *shards;
    int64_t count;
};

/* What the build of one shard takes at most, if it gets the smallest buffer. */
size_t pp_divided_build_bytes(const pp_transfer_context *context);

/* What builds that do not exist yet may take. */
size_t pp_divided_bytes_to_come(const pp_divided *divided);

/* The shard of this number, which is added if it is not there. */
parapet_status pp_divided_get(pp_divided *divided, int64_t number, pp_divided_shard **shard);

/* Shards that were not finished never existed. */
void pp_divided_clear(pp_divided *divided, const pp_transfer_context *context);

#endif
