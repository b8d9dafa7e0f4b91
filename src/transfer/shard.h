/* shard.h - one stored shard, open for reading: where its chunks are, and whether it is the one that was sealed. */
#ifndef PARAPET_TRANSFER_SHARD_H
#define PARAPET_TRANSFER_SHARD_H

#include "transfer/context.h"

struct pp_shard {
    int64_t number;
    char *key;
    pp_reader *reader; /* NULL: it is not stored, or nothing of that counts */
    void (*close_object)(pp_reader *reader);
    bool is_shared;          /* neighbours probably want the rest of what is read, and find it in the page cache */
    const pp_layer *layer;   /* the topmost that has something of it */
    pp_dirty_shard *dirty;   /* for the layer: chunks in there count instead of those that are stored */
    bool replaces_object;    /* nothing of what is stored counts */
    pp_chunk_entry *entries; /* one per chunk; NULL: it has none */
    uint32_t *checksums;     /* of a sealed array: what the seal says of every chunk that is stored; else NULL */
    uint32_t index_crc32c;
    pp_budget *budget; /* paid for entries and checksums */
    size_t reserved_bytes;
};

/* Opens a shard and checks its index; on a sealed array also that its length and index are those of the shard that
 * was sealed: what is in a chunk is compared by who reads it. A shard that was never written opens as absent. Close
 * it even after a failure. */
parapet_status pp_shard_open(const pp_transfer_context *context, int64_t number, pp_shard *shard);
void pp_shard_close(pp_shard *shard);

/* The key and the version of what is stored now. Free the key even after a failure. */
parapet_status pp_shard_read_version(const pp_transfer_context *context, int64_t number, char **key,
                                     uint64_t *version);

/* For layers: opens what is stored, in two steps or in one; or lists all chunks as absent. */
parapet_status pp_shard_open_reader(const pp_transfer_context *context, const pp_shard *shard, pp_reader **reader);
parapet_status pp_shard_open_object(const pp_transfer_context *context, pp_shard *shard);
parapet_status pp_shard_list_stored(const pp_transfer_context *context, pp_shard *shard);
parapet_status pp_shard_open_stored(const pp_transfer_context *context, pp_shard *shard);
parapet_status pp_shard_list_none(const pp_transfer_context *context, pp_shard *shard);

/* Whether a chunk is stored, or will be. */
bool pp_shard_has_chunk(const pp_shard *shard, int64_t chunk);

/* The part of a record that describes chunks, which are added one after the other in ascending order. {0} has none.
 */
typedef struct pp_shard_tally {
    uint32_t *checksums;
    uint32_t chunk_count, capacity;
    bool is_incomplete; /* a chunk was too short for the checksum that its codecs end in: the shard has no record */
} pp_shard_tally;

parapet_status pp_shard_tally_add(pp_shard_tally *tally, const pp_chain *chain, pp_bytes encoded);

/* Hands the checksums over to the record, which is then freed with pp_shard_record_clear. */
void pp_shard_tally_finish(pp_shard_tally *tally, pp_shard_record *record);
void pp_shard_tally_clear(pp_shard_tally *tally);

/* Compares existence, length and index with what was sealed; reads nothing. It cannot distinguish two shards whose
 * chunks differ in neither number nor length: those are compared when they are read. */
parapet_status pp_shard_compare(const pp_shard *shard, const pp_shard_record *sealed);

/* What a seal records about the shard; an absent one has bytes PP_SHARD_ABSENT. Free it with pp_shard_record_clear.
 */
parapet_status pp_shard_describe(const pp_transfer_context *context, const pp_shard *shard, pp_shard_record *record);
void pp_shard_record_clear(pp_shard_record *record);

/* Whether an encoded chunk, as it was read, is the one that was sealed. With a checksum at its end only that is
 * compared: decoding compares it with the rest. */
parapet_status pp_shard_verify_chunk(const pp_transfer_context *context, const pp_shard *shard, int64_t chunk,
                                     pp_bytes encoded);

/* The same for whoever has the CRC-32C already: of the chunk without its own checksum, if its codecs end in one. */
parapet_status pp_shard_verify_crc32c(const pp_transfer_context *context, const pp_shard *shard, int64_t chunk,
                                      uint32_t crc32c);

/* Reads all of a shard and compares it with the seal, for a caller that will read no whole chunks. */
parapet_status pp_shard_verify_all(const pp_transfer_context *context, const pp_shard *shard);

/* Where the encoded bytes of a chunk are. */
pp_chunk_place pp_shard_find(const pp_transfer_context *context, const pp_shard *shard, int64_t chunk);

/* Reads bytes of the stored shard and counts them. */
parapet_status pp_shard_read(const pp_transfer_context *context, const pp_shard *shard, uint64_t offset, size_t bytes,
                             void *target);

/* Refuses a chunk that takes more bytes than any encoding of its elements could. */
parapet_status pp_shard_check_chunk_bytes(const pp_transfer_context *context, const pp_shard *shard, int64_t chunk);

#endif
