#include "zarr/manifest.h"

#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/status.h"
#include "codec/crc32c.h"

static const unsigned char head_magic[8] = {'P', 'A', 'R', 'A', 'P', 'E', 'T', 'H'};
static const unsigned char page_magic[8] = {'P', 'A', 'R', 'A', 'P', 'E', 'T', 'M'};

enum { MANIFEST_VERSION = 2, PREFIX_BYTES = 24, HEAD_PREFIX_BYTES = 32, RECORD_BYTES = 16, CRC_BYTES = 4 };

static void encode_prefix(unsigned char *bytes, const unsigned char magic[8], uint32_t small, uint64_t large)
{
    memcpy(bytes, magic, 8);
    pp_store_u32le(bytes + 8, MANIFEST_VERSION);
    pp_store_u32le(bytes + 12, small);
    pp_store_u64le(bytes + 16, large);
}

static void seal_bytes(unsigned char *bytes, size_t byte_count)
{
    pp_store_u32le(bytes + byte_count - 4, pp_crc32c(0, bytes, byte_count - 4));
}

/* An older version has another length, so that its version is looked at first. */
static parapet_status check_version(const unsigned char *bytes, size_t byte_count, const unsigned char magic[8])
{
    uint32_t version;
    if (byte_count < PREFIX_BYTES + CRC_BYTES)
        return pp_fail(PARAPET_ERR_CORRUPT, "has %zu bytes, which is too few", byte_count);
    if (memcmp(bytes, magic, 8) != 0)
        return pp_fail(PARAPET_ERR_CORRUPT, "does not start with \"%.8s\"", (const char *)magic);
    if (pp_load_u32le(bytes + byte_count - CRC_BYTES) != pp_crc32c(0, bytes, byte_count - CRC_BYTES))
        return pp_fail(PARAPET_ERR_CORRUPT, "does not match its CRC-32C");
    if ((version = pp_load_u32le(bytes + 8)) != MANIFEST_VERSION)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "has version %u, but only %d is known", version, MANIFEST_VERSION);
    return PARAPET_OK;
}

static parapet_status check_length(size_t byte_count, uint64_t expected_bytes)
{
    return byte_count == expected_bytes ? PARAPET_OK
                                        : pp_fail(PARAPET_ERR_CORRUPT, "has %zu bytes instead of %llu", byte_count,
                                                  (unsigned long long)expected_bytes);
}

uint32_t pp_manifest_page_records(uint64_t chunk_count)
{
    uint64_t fitting =
        chunk_count < PP_MANIFEST_PAGE_BYTES ? PP_MANIFEST_PAGE_BYTES / (RECORD_BYTES + CRC_BYTES * chunk_count) : 1;
    return (uint32_t)pp_max_u64(1, pp_min_u64(fitting, PP_MANIFEST_PAGE_RECORDS));
}

static uint64_t pages_of(uint64_t shard_count, uint64_t chunk_count)
{
    uint64_t records = pp_manifest_page_records(chunk_count);
    return shard_count / records + (shard_count % records != 0);
}

parapet_status pp_manifest_head_init(pp_manifest_head *head, uint64_t shard_count, uint64_t chunk_count)
{
    uint64_t pages = pages_of(shard_count, chunk_count);
    *head = (pp_manifest_head){.shard_count = shard_count, .chunk_count = chunk_count, .page_count = (uint32_t)pages};
    if (pages > PP_MANIFEST_MAX_PAGES || chunk_count >= PP_MANIFEST_MAX_CHUNKS)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "%llu shards of %llu chunks are too many for a seal",
                       (unsigned long long)shard_count, (unsigned long long)chunk_count);
    return pp_allocate_array(&head->page_digests, (size_t)pages, PP_SHA256_BYTES);
}

void pp_manifest_head_clear(pp_manifest_head *head)
{
    pp_free(head->page_digests);
    pp_free(head->page);
    *head = (pp_manifest_head){0};
}

bool pp_manifest_head_take_page(pp_manifest_head *head, unsigned char *bytes, size_t byte_count)
{
    if (head->page_count != 1 || byte_count > PP_MANIFEST_INLINE_BYTES)
        return false;
    pp_free(head->page);
    head->page = bytes;
    head->page_bytes = byte_count;
    return true;
}

static uint64_t head_bytes(uint64_t page_count)
{
    return HEAD_PREFIX_BYTES + PP_SHA256_BYTES * (2 + page_count) + CRC_BYTES;
}

size_t pp_manifest_head_bytes(const pp_manifest_head *head)
{
    return (size_t)head_bytes(head->page_count) + head->page_bytes;
}

void pp_manifest_head_encode(const pp_manifest_head *head, unsigned char *bytes)
{
    unsigned char *digests = bytes + HEAD_PREFIX_BYTES;
    encode_prefix(bytes, head_magic, head->page_count, head->shard_count);
    pp_store_u64le(bytes + PREFIX_BYTES, head->chunk_count);
    memcpy(digests, head->document, sizeof head->document);
    memcpy(digests + sizeof head->document, head->page_digests, (size_t)head->page_count * PP_SHA256_BYTES);
    if (head->page_bytes > 0)
        memcpy(bytes + head_bytes(1) - CRC_BYTES, head->page, head->page_bytes);
    seal_bytes(bytes, pp_manifest_head_bytes(head));
}

/* Counts and lengths are checked before memory is taken for that many. */
static parapet_status check_head(const unsigned char *data, size_t byte_count)
{
    uint64_t pages, more;
    parapet_status status = check_version(data, byte_count, head_magic);
    if (status != PARAPET_OK)
        return status;
    if (byte_count < head_bytes(0))
        return check_length(byte_count, head_bytes(0));
    pages = pages_of(pp_load_u64le(data + 16), pp_load_u64le(data + PREFIX_BYTES));
    if (pp_load_u32le(data + 12) != pages)
        return pp_fail(PARAPET_ERR_CORRUPT, "lists %u pages, which is not what its shards need",
                       pp_load_u32le(data + 12));
    more = byte_count < head_bytes(pages) ? UINT64_MAX : byte_count - head_bytes(pages);
    return more <= (pages == 1 ? PP_MANIFEST_INLINE_BYTES : 0) ? PARAPET_OK
                                                               : check_length(byte_count, head_bytes(pages));
}

static parapet_status decode_digests(pp_manifest_head *head, const unsigned char *data, size_t byte_count)
{
    const unsigned char *digests = data + HEAD_PREFIX_BYTES;
    size_t bytes = (size_t)head->page_count * PP_SHA256_BYTES,
           more = byte_count - (size_t)head_bytes(head->page_count);
    memcpy(head->document, digests, sizeof head->document);
    memcpy(head->page_digests, digests + sizeof head->document, bytes);
    if (more == 0)
        return PARAPET_OK;
    head->page_bytes = more;
    return pp_bytes_duplicate(&head->page, digests + sizeof head->document + bytes, more);
}

parapet_status pp_manifest_head_decode(pp_manifest_head *head, const void *bytes, size_t byte_count)
{
    const unsigned char *data = bytes;
    parapet_status status = check_head(data, byte_count);
    *head = (pp_manifest_head){0};
    if (status != PARAPET_OK)
        return status;
    status = pp_manifest_head_init(head, pp_load_u64le(data + 16), pp_load_u64le(data + PREFIX_BYTES));
    if (status == PARAPET_OK)
        status = decode_digests(head, data, byte_count);
    if (status != PARAPET_OK)
        pp_manifest_head_clear(head);
    return status;
}

void pp_manifest_head_digest(const pp_manifest_head *head, unsigned char digest[PP_SHA256_BYTES])
{
    pp_sha256_of(head->page_digests, (size_t)head->page_count * PP_SHA256_BYTES, digest);
}

bool pp_manifest_head_accepts(const pp_manifest_head *head, const unsigned char document[PP_SHA256_BYTES])
{
    return memcmp(head->document[0], document, PP_SHA256_BYTES) == 0 ||
           memcmp(head->document[1], document, PP_SHA256_BYTES) == 0;
}

static uint64_t page_bytes(uint32_t record_count, uint64_t checksum_count)
{
    return PREFIX_BYTES + (uint64_t)record_count * RECORD_BYTES + checksum_count * CRC_BYTES + CRC_BYTES;
}

uint64_t pp_manifest_page_most_bytes(uint32_t record_count, uint64_t chunk_count)
{
    return page_bytes(record_count, record_count * chunk_count);
}

/* Writes the records and, behind them, their checksums. */
static void encode_records(const pp_shard_record *records, uint32_t record_count, unsigned char *bytes)
{
    unsigned char *checksum = bytes + (size_t)record_count * RECORD_BYTES;
    uint32_t i, k;
    for (i = 0; i < record_count; i++, bytes += RECORD_BYTES) {
        pp_store_u64le(bytes, records[i].bytes);
        pp_store_u32le(bytes + 8, records[i].index_crc32c);
        pp_store_u32le(bytes + 12, records[i].chunk_count);
        for (k = 0; k < records[i].chunk_count; k++, checksum += CRC_BYTES)
            pp_store_u32le(checksum, records[i].checksums[k]);
    }
}

parapet_status pp_manifest_page_encode(const pp_shard_record *records, uint32_t record_count, uint64_t first_shard,
                                       unsigned char **bytes, size_t *byte_count)
{
    uint64_t checksum_count = 0;
    parapet_status status;
    uint32_t i;
    for (i = 0; i < record_count; i++)
        checksum_count += records[i].chunk_count;
    *byte_count = (size_t)page_bytes(record_count, checksum_count);
    if ((status = pp_allocate(bytes, *byte_count)) != PARAPET_OK)
        return status;
    encode_prefix(*bytes, page_magic, record_count, first_shard);
    encode_records(records, record_count, *bytes + PREFIX_BYTES);
    seal_bytes(*bytes, *byte_count);
    return PARAPET_OK;
}

static pp_shard_record decode_record(const unsigned char *bytes)
{
    return (pp_shard_record){.bytes = pp_load_u64le(bytes),
                             .index_crc32c = pp_load_u32le(bytes + 8),
                             .chunk_count = pp_load_u32le(bytes + 12)};
}

/* Before memory is taken for what the page says that it has. */
static parapet_status check_page(const pp_page_place *place, const unsigned char *data, size_t byte_count,
                                 uint64_t *checksum_count)
{
    parapet_status status = check_version(data, byte_count, page_magic);
    uint32_t i;
    *checksum_count = 0;
    if (status != PARAPET_OK)
        return status;
    if (pp_load_u32le(data + 12) != place->record_count || pp_load_u64le(data + 16) != place->first_shard)
        return pp_fail(PARAPET_ERR_CORRUPT, "holds other shards than %llu to %llu",
                       (unsigned long long)place->first_shard,
                       (unsigned long long)(place->first_shard + place->record_count - 1));
    if (byte_count < page_bytes(place->record_count, 0))
        return check_length(byte_count, page_bytes(place->record_count, 0));
    for (i = 0; i < place->record_count; i++) {
        pp_shard_record record = decode_record(data + PREFIX_BYTES + (size_t)i * RECORD_BYTES);
        if (record.chunk_count > (record.bytes == PP_SHARD_ABSENT ? 0 : place->chunk_count))
            return pp_fail(PARAPET_ERR_CORRUPT, "says that shard %llu has %u chunks",
                           (unsigned long long)(place->first_shard + i), record.chunk_count);
        *checksum_count += record.chunk_count;
    }
    return check_length(byte_count, page_bytes(place->record_count, *checksum_count));
}

static void decode_records(pp_manifest_page *page, const unsigned char *bytes, uint64_t checksum_count)
{
    const unsigned char *checksums = bytes + (size_t)page->record_count * RECORD_BYTES;
    uint32_t *next = page->checksums;
    uint64_t i;
    for (i = 0; i < checksum_count; i++)
        page->checksums[i] = pp_load_u32le(checksums + i * CRC_BYTES);
    for (i = 0; i < page->record_count; i++) {
        page->records[i] = decode_record(bytes + i * RECORD_BYTES);
        page->records[i].checksums = next;
        next += page->records[i].chunk_count;
    }
}

parapet_status pp_manifest_page_decode(pp_manifest_page *page, const pp_page_place *place, const void *bytes,
                                       size_t byte_count)
{
    uint64_t checksum_count;
    parapet_status status;
    *page = (pp_manifest_page){.first_shard = place->first_shard, .record_count = place->record_count};
    if ((status = check_page(place, bytes, byte_count, &checksum_count)) != PARAPET_OK)
        return status;
    if ((status = pp_allocate_array(&page->records, place->record_count, sizeof page->records[0])) != PARAPET_OK ||
        (status = pp_allocate_array(&page->checksums, (size_t)checksum_count, sizeof page->checksums[0])) !=
            PARAPET_OK) {
        pp_manifest_page_clear(page);
        return status;
    }
    decode_records(page, (const unsigned char *)bytes + PREFIX_BYTES, checksum_count);
    return PARAPET_OK;
}

void pp_manifest_page_clear(pp_manifest_page *page)
{
    pp_free(page->records);
    pp_free(page->checksums);
    *page = (pp_manifest_page){0};
}

bool pp_shard_record_equals(const pp_shard_record *a, const pp_shard_record *b)
{
    return a->bytes == b->bytes && a->index_crc32c == b->index_crc32c && a->chunk_count == b->chunk_count &&
           (a->chunk_count == 0 || memcmp(a->checksums, b->checksums, a->chunk_count * sizeof a->checksums[0]) == 0);
}
