#include "codec/shard_index.h"

#include "base/bytes.h"
#include "base/checked.h"
#include "base/status.h"
#include "codec/crc32c.h"
#include "codec/internal.h"

#define ENTRY_BYTES 16
#define CRC32C_BYTES 4

/* More chunks than this in a shard are refused, as TensorStore does. */
#define MAX_CHUNK_COUNT ((int64_t)1 << 30)

static bool is_for_index(pp_codec_id id, pp_codec_kind kind)
{
    const pp_codec_traits *traits = pp_codec_traits_of(id);
    return traits->is_for_index && traits->kind == kind;
}

static parapet_status read_codecs(pp_index_format *format, const pp_chain_spec *codecs)
{
    if (codecs->count < 1 || !is_for_index(codecs->codecs[0].id, PP_ARRAY_TO_BYTES))
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "index_codecs: the first codec is %s instead of bytes",
                       codecs->count < 1 ? "missing" : pp_codec_traits_of(codecs->codecs[0].id)->name);
    if (codecs->count > 1 && !is_for_index(codecs->codecs[1].id, PP_BYTES_TO_BYTES))
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "index_codecs: %s cannot encode an index; only bytes and crc32c can",
                       pp_codec_traits_of(codecs->codecs[1].id)->name);
    if (codecs->count > 2)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "index_codecs: %d codecs, but only bytes and crc32c are understood",
                       codecs->count);
    format->is_big_endian = codecs->codecs[0].is_big_endian;
    format->has_crc32c = codecs->count == 2;
    return PARAPET_OK;
}

static parapet_status count_chunks(pp_index_format *format, const pp_sharding_spec *sharding,
                                   const int64_t *shard_shape)
{
    int64_t count = 1;
    int i;
    for (i = 0; i < sharding->ndim; i++) {
        int64_t chunk = sharding->chunk_shape[i], shard = shard_shape[i];
        if (chunk < 1 || shard < 1 || shard % chunk != 0)
            return pp_fail(PARAPET_ERR_FORMAT,
                           "sharding_indexed: chunk_shape %lld does not divide the shard's %lld in dimension %d",
                           (long long)chunk, (long long)shard, i);
        if (!pp_multiply_fits(count, shard / chunk, &count) || count > MAX_CHUNK_COUNT)
            return pp_fail(PARAPET_ERR_UNSUPPORTED, "sharding_indexed: more than %lld chunks in a shard",
                           (long long)MAX_CHUNK_COUNT);
    }
    format->chunk_count = count;
    return PARAPET_OK;
}

parapet_status pp_index_format_init(pp_index_format *format, const pp_sharding_spec *sharding,
                                    const int64_t *shard_shape)
{
    parapet_status status;
    *format = (pp_index_format){.is_at_start = sharding->is_index_at_start};
    if ((status = read_codecs(format, &sharding->index_codecs)) != PARAPET_OK)
        return status;
    return count_chunks(format, sharding, shard_shape);
}

static size_t entries_bytes(const pp_index_format *format)
{
    return (size_t)format->chunk_count * ENTRY_BYTES;
}

size_t pp_index_stored_bytes(const pp_index_format *format)
{
    return entries_bytes(format) + (format->has_crc32c ? CRC32C_BYTES : 0);
}

static parapet_status check_crc32c(const pp_index_format *format, const unsigned char *stored)
{
    uint32_t kept, actual;
    if (!format->has_crc32c || format->ignore_checksums)
        return PARAPET_OK;
    kept = pp_load_u32le(stored + entries_bytes(format));
    actual = pp_crc32c(0, stored, entries_bytes(format));
    if (kept != actual)
        return pp_fail(PARAPET_ERR_CORRUPT, "shard index: checksum is %08x, but %08x is stored", actual, kept);
    return PARAPET_OK;
}

/* The bytes of the object in which chunks may lie. */
typedef struct data_region {
    uint64_t start;
    uint64_t end;
} data_region;

static parapet_status check_entry(const pp_chunk_entry *entry, int64_t number, data_region region)
{
    uint64_t end;
    if (pp_chunk_is_absent(entry))
        return PARAPET_OK;
    if (entry->offset == PP_CHUNK_ABSENT || entry->bytes == PP_CHUNK_ABSENT)
        return pp_fail(PARAPET_ERR_CORRUPT, "shard index: chunk %lld has an offset or a length, but not both",
                       (long long)number);
    if (entry->bytes == 0)
        return pp_fail(PARAPET_ERR_CORRUPT, "shard index: chunk %lld has no bytes", (long long)number);
    if (!pp_add_u64_fits(entry->offset, entry->bytes, &end) || entry->offset < region.start || end > region.end)
        return pp_fail(PARAPET_ERR_CORRUPT,
                       "shard index: chunk %lld, %llu bytes at %llu, is not within bytes %llu to %llu of the shard",
                       (long long)number, (unsigned long long)entry->bytes, (unsigned long long)entry->offset,
                       (unsigned long long)region.start, (unsigned long long)region.end);
    return PARAPET_OK;
}

/* Chunks that share bytes let a small shard stand for any amount of work. */
static parapet_status check_sum(uint64_t sum, data_region region)
{
    if (sum > region.end - region.start)
        return pp_fail(
            PARAPET_ERR_CORRUPT,
            "shard index: chunks overlap: together they have %llu bytes, but the shard has only %llu for them",
            (unsigned long long)sum, (unsigned long long)(region.end - region.start));
    return PARAPET_OK;
}

static pp_chunk_entry load_entry(const unsigned char *stored, bool is_big_endian)
{
    if (is_big_endian)
        return (pp_chunk_entry){pp_load_u64be(stored), pp_load_u64be(stored + 8)};
    return (pp_chunk_entry){pp_load_u64le(stored), pp_load_u64le(stored + 8)};
}

parapet_status pp_index_decode(const pp_index_format *format, const unsigned char *stored, uint64_t object_bytes,
                               pp_chunk_entry *entries)
{
    uint64_t stored_bytes = pp_index_stored_bytes(format), sum = 0;
    data_region region;
    int64_t i;
    parapet_status status;
    if (object_bytes < stored_bytes)
        return pp_fail(PARAPET_ERR_CORRUPT, "shard index: needs %llu bytes, but the shard has %llu",
                       (unsigned long long)stored_bytes, (unsigned long long)object_bytes);
    if ((status = check_crc32c(format, stored)) != PARAPET_OK)
        return status;
    region.start = format->is_at_start ? stored_bytes : 0;
    region.end = format->is_at_start ? object_bytes : object_bytes - stored_bytes;
    for (i = 0; i < format->chunk_count; i++) {
        entries[i] = load_entry(stored + i * ENTRY_BYTES, format->is_big_endian);
        if ((status = check_entry(&entries[i], i, region)) != PARAPET_OK)
            return status;
        if (!pp_chunk_is_absent(&entries[i]) && !pp_add_u64_fits(sum, entries[i].bytes, &sum))
            sum = UINT64_MAX;
    }
    return check_sum(sum, region);
}

void pp_index_encode(const pp_index_format *format, const pp_chunk_entry *entries, unsigned char *stored)
{
    int64_t i;
    for (i = 0; i < format->chunk_count; i++) {
        unsigned char *place = stored + i * ENTRY_BYTES;
        if (format->is_big_endian) {
            pp_store_u64be(place, entries[i].offset);
            pp_store_u64be(place + 8, entries[i].bytes);
        } else {
            pp_store_u64le(place, entries[i].offset);
            pp_store_u64le(place + 8, entries[i].bytes);
        }
    }
    if (format->has_crc32c)
        pp_store_u32le(stored + entries_bytes(format), pp_crc32c(0, stored, entries_bytes(format)));
}
