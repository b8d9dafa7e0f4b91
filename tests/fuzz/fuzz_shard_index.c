/* fuzz_shard_index.c - an index that is accepted names only bytes of the shard, and encodes back to what it was.
 *
 *     | flags | chunks | object bytes: 8 | stored index ... |
 *     | flags with 128 | ndim | shard and chunk shape: 2 bytes a dimension each ... | */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "codec/shard_index.h"

#define HEADER_BYTES 10
#define MAX_CHUNKS 64

#define FLAG_BIG_ENDIAN 1
#define FLAG_CRC32C 2
#define FLAG_AT_START 4
#define FLAG_IGNORE_CHECKSUMS 8
#define FLAG_SHAPES 128

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void check_entry(const pp_chunk_entry *entry, const pp_index_format *format, uint64_t object_bytes)
{
    uint64_t index_bytes = pp_index_stored_bytes(format);
    uint64_t start = format->is_at_start ? index_bytes : 0;
    uint64_t end = format->is_at_start ? object_bytes : object_bytes - index_bytes;
    if (pp_chunk_is_absent(entry))
        return;
    require(entry->bytes > 0 && entry->offset >= start && entry->offset < end);
    require(entry->bytes <= end - entry->offset);
}

static void try_index(const uint8_t *data, size_t bytes)
{
    pp_index_format format = {
        .chunk_count = data[1] % MAX_CHUNKS + 1,
        .is_big_endian = (data[0] & FLAG_BIG_ENDIAN) != 0,
        .has_crc32c = (data[0] & FLAG_CRC32C) != 0,
        .is_at_start = (data[0] & FLAG_AT_START) != 0,
        .ignore_checksums = (data[0] & FLAG_IGNORE_CHECKSUMS) != 0,
    };
    uint64_t object_bytes = pp_load_u64le(data + 2);
    unsigned char again[16 * MAX_CHUNKS + 4];
    pp_chunk_entry entries[MAX_CHUNKS];
    size_t index_bytes = pp_index_stored_bytes(&format);
    int64_t i;
    if (bytes - HEADER_BYTES != index_bytes)
        return;
    if (pp_index_decode(&format, data + HEADER_BYTES, object_bytes, entries) != PARAPET_OK)
        return;
    for (i = 0; i < format.chunk_count; i++)
        check_entry(&entries[i], &format, object_bytes);
    pp_index_encode(&format, entries, again);
    require(memcmp(again, data + HEADER_BYTES, 16 * (size_t)format.chunk_count) == 0);
    require(format.ignore_checksums || memcmp(again, data + HEADER_BYTES, index_bytes) == 0);
}

static int64_t load_length(const uint8_t *data)
{
    return (int16_t)(data[0] | data[1] << 8);
}

static void try_shapes(const uint8_t *data, size_t bytes)
{
    pp_sharding_spec sharding = {.ndim = data[1] % (PARAPET_MAX_NDIM + 1)};
    int64_t shard_shape[PARAPET_MAX_NDIM], count = 1;
    pp_index_format format;
    int i;
    if (bytes < 2 + 4 * (size_t)sharding.ndim)
        return;
    for (i = 0; i < sharding.ndim; i++) {
        shard_shape[i] = load_length(data + 2 + 4 * i);
        sharding.chunk_shape[i] = load_length(data + 4 + 4 * i);
    }
    sharding.index_codecs.count = data[0] & FLAG_CRC32C ? 2 : 1;
    sharding.index_codecs.codecs[1].id = PP_CODEC_CRC32C;
    if (pp_index_format_init(&format, &sharding, shard_shape) != PARAPET_OK)
        return;
    for (i = 0; i < sharding.ndim; i++)
        count *= shard_shape[i] / sharding.chunk_shape[i];
    require(count == format.chunk_count && count >= 1 && count <= INT64_C(1) << 30);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (bytes >= 2 && data[0] & FLAG_SHAPES)
        try_shapes(data, bytes);
    else if (bytes >= HEADER_BYTES)
        try_index(data, bytes);
    return 0;
}
