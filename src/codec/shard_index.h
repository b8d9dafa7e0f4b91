/* shard_index.h - the table inside a shard that says where each chunk is: (offset, bytes) pairs of u64, usually
 * followed by a CRC-32C. Offsets count from the first byte of the shard.
 *
 *     | chunk | chunk | ... | (offset, bytes) x chunks | crc32c |      index at the end, as we write it */
#ifndef PARAPET_CODEC_SHARD_INDEX_H
#define PARAPET_CODEC_SHARD_INDEX_H

#include "codec/codec.h"

/* Both fields of a chunk that is not stored. */
#define PP_CHUNK_ABSENT UINT64_MAX

typedef struct pp_chunk_entry {
    uint64_t offset;
    uint64_t bytes;
} pp_chunk_entry;

/* How an index is stored. */
typedef struct pp_index_format {
    int64_t chunk_count;
    bool is_big_endian;
    bool has_crc32c;
    bool is_at_start;
    bool ignore_checksums;
} pp_index_format;

/* Derives the format from a sharding codec over a shard of this shape; refuses index codecs of variable size. */
parapet_status pp_index_format_init(pp_index_format *format, const pp_sharding_spec *sharding,
                                    const int64_t *shard_shape);

/* 16 bytes per chunk, and 4 for the checksum. */
size_t pp_index_stored_bytes(const pp_index_format *format);

/* Decodes stored (pp_index_stored_bytes long) into entries. Refuses a wrong checksum, chunks that reach outside an
 * object of object_bytes or into the index, and entries with only an offset or only a length. */
parapet_status pp_index_decode(const pp_index_format *format, const unsigned char *stored, uint64_t object_bytes,
                               pp_chunk_entry *entries);

/* Encodes entries into stored, pp_index_stored_bytes long. */
void pp_index_encode(const pp_index_format *format, const pp_chunk_entry *entries, unsigned char *stored);

static inline bool pp_chunk_is_absent(const pp_chunk_entry *entry)
{
    return entry->offset == PP_CHUNK_ABSENT && entry->bytes == PP_CHUNK_ABSENT;
}

#endif
