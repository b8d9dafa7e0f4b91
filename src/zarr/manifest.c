#include "zarr/manifest.h"

#include <string.h>

#include "base/bytes.h"
#include "codec/crc32c.h"

static const unsigned char head_magic[8] = {'P', 'A', 'R', 'A', 'P', 'E', 'T', 'H'};
static const unsigned char page_magic[8] = {'P', 'A', 'R', 'A', 'P', 'E', 'T', 'M'};

enum { MANIFEST_VERSION = 1, PREFIX_BYTES = 24 };

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

static parapet_status check_bytes(const unsigned char *bytes, size_t byte_count, size_t expected_bytes,
                                  const unsigned char magic[8])
{
    if (byte_count != expected_bytes)
        return pp_fail(PARAPET_ERR_CORRUPT, "has %zu bytes instead of %zu", byte_count, expected_bytes);
    if (memcmp(bytes, magic, 8) != 0)
        return pp_fail(PARAPET_ERR_CORRUPT, "does not start with \"%.8s\"", (const char *)magic);
    if (pp_load_u32le(bytes + byte_count - 4) != pp_crc32c(0, bytes, byte_count - 4))
        return pp_fail(PARAPET_ERR_CORRUPT, "does not match its CRC-32C");
    if (pp_load_u32le(bytes + 8) != MANIFEST_VERSION)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "has version %u, but only 1 is known", pp_load_u32le(bytes + 8));
    return PARAPET_OK;
}

static uint64_t pages_of(uint64_t shard_count)
{
    return shard_count / PP_MANIFEST_PAGE_RECORDS + (shard_count % PP_MANIFEST_PAGE_RECORDS != 0);
}

parapet_status pp_manifest_head_init(pp_manifest_head *head, uint64_t shard_count)
{
    uint64_t pages = pages_of(shard_count);
    *head = (pp_manifest_head){.shard_count = shard_count, .page_count = (uint32_t)pages};
    if (pages > PP_MANIFEST_MAX_PAGES)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "%llu shards are too many for a seal",
                       (unsigned long long)shard_count);
    return pp_allocate_array(&head->page_digests, (size_t)pages, PP_SHA256_BYTES);
}

void pp_manifest_head_clear(pp_manifest_head *head)
{
    pp_free(head->page_digests);
    *head = (pp_manifest_head){0};
}

void pp_manifest_head_encode(const pp_manifest_head *head, unsigned char *bytes)
{
    unsigned char *digests = bytes + PREFIX_BYTES;
    encode_prefix(bytes, head_magic, head->page_count, head->shard_count);
    memcpy(digests, head->document, sizeof head->document);
    memcpy(digests + sizeof head->document, head->page_digests, (size_t)head->page_count * PP_SHA256_BYTES);
    seal_bytes(bytes, PP_MANIFEST_HEAD_BYTES(head->page_count));
}

parapet_status pp_manifest_head_decode(pp_manifest_head *head, const void *bytes, size_t byte_count)
{
    const unsigned char *data = bytes, *digests = data + PREFIX_BYTES;
    uint64_t pages =
        byte_count < PP_MANIFEST_HEAD_BYTES(0) ? 0 : (byte_count - PP_MANIFEST_HEAD_BYTES(0)) / PP_SHA256_BYTES;
    parapet_status status = check_bytes(data, byte_count, PP_MANIFEST_HEAD_BYTES(pages), head_magic);
    uint64_t shards;
    *head = (pp_manifest_head){0};
    if (status != PARAPET_OK)
        return status;
    shards = pp_load_u64le(data + 16); /* checked before memory is taken for that many */
    if (pages_of(shards) != pages || pp_load_u32le(data + 12) != pages)
        return pp_fail(PARAPET_ERR_CORRUPT, "lists %llu pages, which is not what its shards need",
                       (unsigned long long)pages);
    if ((status = pp_manifest_head_init(head, shards)) != PARAPET_OK)
        return status;
    memcpy(head->document, digests, sizeof head->document);
    memcpy(head->page_digests, digests + sizeof head->document, (size_t)pages * PP_SHA256_BYTES);
    return PARAPET_OK;
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

void pp_manifest_page_encode(const pp_shard_record *records, uint32_t record_count, uint64_t first_shard,
                             unsigned char *bytes)
{
    uint32_t i;
    encode_prefix(bytes, page_magic, record_count, first_shard);
    for (i = 0; i < record_count; i++) {
        unsigned char *record = bytes + PREFIX_BYTES + (size_t)i * PP_MANIFEST_RECORD_BYTES;
        pp_store_u64le(record, records[i].bytes);
        pp_store_u32le(record + 8, records[i].index_crc32c);
        pp_store_u32le(record + 12, records[i].chunk_count);
        memcpy(record + 16, records[i].digest, PP_SHA256_BYTES);
    }
    seal_bytes(bytes, PP_MANIFEST_PAGE_BYTES(record_count));
}

parapet_status pp_manifest_page_decode(pp_shard_record *records, uint32_t record_count, uint64_t first_shard,
                                       const void *bytes, size_t byte_count)
{
    const unsigned char *data = bytes;
    parapet_status status = check_bytes(data, byte_count, PP_MANIFEST_PAGE_BYTES(record_count), page_magic);
    uint32_t i;
    if (status != PARAPET_OK)
        return status;
    if (pp_load_u32le(data + 12) != record_count || pp_load_u64le(data + 16) != first_shard)
        return pp_fail(PARAPET_ERR_CORRUPT, "holds other shards than %llu to %llu", (unsigned long long)first_shard,
                       (unsigned long long)(first_shard + record_count - 1));
    for (i = 0; i < record_count; i++) {
        const unsigned char *record = data + PREFIX_BYTES + (size_t)i * PP_MANIFEST_RECORD_BYTES;
        records[i].bytes = pp_load_u64le(record);
        records[i].index_crc32c = pp_load_u32le(record + 8);
        records[i].chunk_count = pp_load_u32le(record + 12);
        memcpy(records[i].digest, record + 16, PP_SHA256_BYTES);
    }
    return PARAPET_OK;
}

bool pp_shard_record_equals(const pp_shard_record *a, const pp_shard_record *b)
{
    return a->bytes == b->bytes && a->index_crc32c == b->index_crc32c && a->chunk_count == b->chunk_count &&
           memcmp(a->digest, b->digest, PP_SHA256_BYTES) == 0;
}
