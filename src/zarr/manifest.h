/* manifest.h - what a seal records, as bytes: the head, and pages of one record per shard.
 *
 * Pure: bytes in, structs out. Depends on base and codec (CRC-32C). Everything is little-endian; head and pages end
 * in the CRC-32C of all bytes before it. They contain nothing random and no time, so equal arrays have equal seals.
 *
 *     head:  "PARAPETH" u32 version=2 u32 page_count u64 shard_count u64 chunks of a shard
 *            document digest x 2, digest of every page, the page itself if it is the only one and small, crc32c
 *     page:  "PARAPETM" u32 version=2 u32 record_count u64 first_shard
 *            records of 16 bytes: u64 length, u32 index crc32c, u32 chunks
 *            the crc32c of every chunk present, shard after shard
 *            crc32c
 *
 * So who reads some chunks of a shard can compare them with the seal, and needs no other one for it. How many records
 * a page has depends on how many chunks a shard has: a page is read as a whole. A small page comes with the head,
 * which is read when the array is opened, and is no object of its own.
 *
 * The head names two digests (SHA-256) of zarr.json that go with it: the one before and the one after the step that
 * wrote the head. So a crash between writing the head and writing zarr.json leaves a pair that agrees. Once zarr.json
 * is stored, the head is written again with its digest in both places. */
#ifndef PARAPET_ZARR_MANIFEST_H
#define PARAPET_ZARR_MANIFEST_H

#include <stdbool.h>

#include "base/memory.h"
#include "base/sha256.h"

/* Of a page: at most so many records, and about so many bytes, unless one shard alone has more. */
#define PP_MANIFEST_PAGE_RECORDS 4096
#define PP_MANIFEST_PAGE_BYTES ((uint64_t)256 << 10)

/* The longest page that comes with the head. */
#define PP_MANIFEST_INLINE_BYTES 4096

/* A head with more pages is refused, because it is kept in memory. This is enough for 2^31 shards of few chunks. */
#define PP_MANIFEST_MAX_PAGES (1u << 19)
#define PP_MANIFEST_HEAD_MOST_BYTES                                                                                  \
    (36 + PP_SHA256_BYTES * (2 + (size_t)PP_MANIFEST_MAX_PAGES) + PP_MANIFEST_INLINE_BYTES)

/* More chunks in a shard are refused: their checksums are kept in memory. */
#define PP_MANIFEST_MAX_CHUNKS (UINT64_C(1) << 32)

/* Length of a shard that was never written. */
#define PP_SHARD_ABSENT UINT64_MAX

typedef struct pp_shard_record {
    uint64_t bytes;
    uint32_t index_crc32c; /* of the index without its checksum; 0: not sharded */
    uint32_t chunk_count;  /* chunks present */
    uint32_t *checksums;   /* CRC-32C of every chunk present, in order; whose they are depends on where this is */
} pp_shard_record;

typedef struct pp_manifest_head {
    uint32_t page_count;
    uint64_t shard_count, chunk_count;          /* chunks of a shard */
    unsigned char document[2][PP_SHA256_BYTES]; /* of zarr.json: before and after */
    unsigned char *page_digests;                /* PP_SHA256_BYTES each; owned */
    unsigned char *page;                        /* the bytes of the only page; owned. NULL: pages are objects */
    size_t page_bytes;
} pp_manifest_head;

/* How many shards of so many chunks a page has. */
uint32_t pp_manifest_page_records(uint64_t chunk_count);

/* Room for the digests of all pages of an array of shard_count shards of chunk_count chunks. */
parapet_status pp_manifest_head_init(pp_manifest_head *head, uint64_t shard_count, uint64_t chunk_count);
void pp_manifest_head_clear(pp_manifest_head *head);

/* Gives the head its only page, if it has one and that is short enough; false: the page becomes an object. The bytes
 * are then the head's. */
bool pp_manifest_head_take_page(pp_manifest_head *head, unsigned char *bytes, size_t byte_count);

/* bytes is pp_manifest_head_bytes long. */
size_t pp_manifest_head_bytes(const pp_manifest_head *head);
void pp_manifest_head_encode(const pp_manifest_head *head, unsigned char *bytes);
parapet_status pp_manifest_head_decode(pp_manifest_head *head, const void *bytes, size_t byte_count);

/* One digest for the whole manifest: over those of its pages. */
void pp_manifest_head_digest(const pp_manifest_head *head, unsigned char digest[PP_SHA256_BYTES]);

/* Whether a zarr.json with this digest belongs to the head. */
bool pp_manifest_head_accepts(const pp_manifest_head *head, const unsigned char document[PP_SHA256_BYTES]);

/* One page: records and their checksums, which are the page's. {0} has none. */
typedef struct pp_manifest_page {
    uint64_t first_shard;
    uint32_t record_count;
    pp_shard_record *records;
    uint32_t *checksums;
} pp_manifest_page;

/* The bytes of a page with these records, the first of them of shard first_shard; free with pp_free. */
parapet_status pp_manifest_page_encode(const pp_shard_record *records, uint32_t record_count, uint64_t first_shard,
                                       unsigned char **bytes, size_t *byte_count);

/* The longest page of so many shards of so many chunks. */
uint64_t pp_manifest_page_most_bytes(uint32_t record_count, uint64_t chunk_count);

/* Which page of an array this is. */
typedef struct pp_page_place {
    uint64_t first_shard;
    uint32_t record_count;
    uint64_t chunk_count; /* chunks of a shard */
} pp_page_place;

/* Refuses a page that is damaged or belongs to other shards. */
parapet_status pp_manifest_page_decode(pp_manifest_page *page, const pp_page_place *place, const void *bytes,
                                       size_t byte_count);
void pp_manifest_page_clear(pp_manifest_page *page);

bool pp_shard_record_equals(const pp_shard_record *a, const pp_shard_record *b);

#endif
