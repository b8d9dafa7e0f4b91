/* write_shard.h - one new shard that is being written: what happens to each of its chunks, window by window. */
#ifndef PARAPET_TRANSFER_WRITE_SHARD_H
#define PARAPET_TRANSFER_WRITE_SHARD_H

#include "transfer/run.h"
#include "transfer/shard_build.h"

struct pp_write_shard {
    pp_transfer_shard head;
    pp_shard_build *build;
    bool is_claimed; /* else it is only rewritten: to drop what is outside the array, or with what is delayed of it */
    bool is_partial; /* it is written in several transfers */
    bool is_taken;   /* all its windows are taken */
    bool is_ending;  /* with the last of these; otherwise a later transfer goes on with it */
    pp_box inside;   /* positions of chunks that hold elements */
    int64_t chunk_end; /* windows end before this one */
    int64_t next_cell[PARAPET_MAX_NDIM];
    bool has_next_cell;
};

/* What happens to a chunk of a new shard. */
typedef enum pp_chunk_fate {
    PP_CHUNK_NEW,   /* all of it is claimed, or there was nothing before */
    PP_CHUNK_MERGE, /* the old elements, overwritten by those of the claims */
    PP_CHUNK_COPY   /* the old bytes as they are */
} pp_chunk_fate;

typedef struct pp_write_chunk {
    pp_chunk_fate fate;
    bool is_covered; /* every element inside the array is claimed */
    bool is_elided;
    pp_bytes encoded;
} pp_write_chunk;

/* Whether records first to end leave something of the old shard. */
bool pp_write_shard_keeps_old(const pp_transfer *transfer, size_t first, size_t end);

/* How many of its chunks are claimed, in part or in full. */
int64_t pp_write_shard_count_claimed(const pp_transfer *transfer, const pp_write_shard *shard);

/* Operations of a transfer that writes. */
parapet_status pp_write_shard_open(pp_transfer *transfer, pp_transfer_shard *shard);
void pp_write_shard_close(pp_transfer *transfer, pp_transfer_shard *shard);

/* The same for one that writes parts of shards: begins one of which not all chunks come in this transfer, or goes on
 * with it. */
parapet_status pp_write_shard_open_partial(pp_transfer *transfer, pp_transfer_shard *shard);
void pp_write_shard_leave_partial(pp_transfer *transfer, pp_transfer_shard *shard);

/* Fills the window with the next chunks to be stored, and says what happens to them. */
void pp_write_shard_take(const pp_transfer *transfer, pp_write_shard *shard, pp_window *window,
                         pp_write_chunk *chunks);

#endif
