/* shard.h - one stored shard, open for reading: where its chunks are, and whether it is the one that was sealed. */
#ifndef PARAPET_TRANSFER_SHARD_H
#define PARAPET_TRANSFER_SHARD_H

#include "transfer/context.h"

typedef struct pp_shard {
    int64_t number;
    char *key;
    pp_reader *reader;       /* NULL: never written */
    pp_chunk_entry *entries; /* one per chunk */
    uint32_t index_crc32c;
    pp_budget *budget; /* paid for entries */
    size_t reserved_bytes;
} pp_shard;

/* Opens a shard and checks its index; on a sealed array also that it is the shard that was sealed. A shard that was
 * never written opens as absent. Close it even after a failure. */
parapet_status pp_shard_open(const pp_transfer_context *context, int64_t number, pp_shard *shard);
void pp_shard_close(pp_shard *shard);

/* Whether a chunk is stored. */
bool pp_shard_has_chunk(const pp_shard *shard, int64_t chunk);

/* The part of a record that describes chunks, computed from one after the other in ascending order. */
typedef struct pp_shard_tally {
    pp_sha256 hash;
    uint32_t chunk_count;
} pp_shard_tally;

void pp_shard_tally_init(pp_shard_tally *tally);

/* false: the chunk is too short for the checksum that its codecs end in, and the shard has no record. */
bool pp_shard_tally_add(pp_shard_tally *tally, const pp_chain *chain, int64_t chunk, pp_bytes encoded);
void pp_shard_tally_finish(pp_shard_tally *tally, pp_shard_record *record);

/* Compares existence, length and index with what was sealed; reads nothing. It cannot distinguish two shards whose
 * chunks differ in neither number nor length: their contents are compared when a shard is opened for reading. */
parapet_status pp_shard_compare(const pp_shard *shard, const pp_shard_record *sealed);

/* What a seal records about the shard; an absent one has bytes PP_SHARD_ABSENT. */
parapet_status pp_shard_describe(const pp_transfer_context *context, const pp_shard *shard, pp_shard_record *record);

/* Reads bytes of a shard and counts them. */
parapet_status pp_shard_read(const pp_transfer_context *context, const pp_shard *shard, uint64_t offset, size_t bytes,
                             void *target);

/* Refuses a chunk that takes more bytes than any encoding of its elements could. */
parapet_status pp_shard_check_chunk_bytes(const pp_transfer_context *context, const pp_shard *shard, int64_t chunk);

#endif
