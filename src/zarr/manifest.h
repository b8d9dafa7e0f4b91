/* manifest.h - what a seal records, as bytes: the head, and pages of one record per shard.
 *
 * Pure: bytes in, structs out. Depends on base and codec (CRC-32C). Everything is little-endian; head and pages end
 * in the CRC-32C of all bytes before it. They contain nothing random and no time, so equal arrays have equal seals.
 *
 *     head:  "PARAPETH" u32 version=1 u32 page_count u64 shard_count
 *            document digest x 2, digest of every page, crc32c
 *     page:  "PARAPETM" u32 version=1 u32 record_count u64 first_shard
 *            records of 48 bytes: u64 length, u32 index crc32c, u32 chunks, 32 bytes digest
 *            crc32c
 *
 * The head names two digests (SHA-256) of zarr.json that go with it: the one before and the one after the step that
 * wrote the head. So a crash between writing the head and writing zarr.json leaves a pair that agrees. Once zarr.json
 * is stored, the head is written again with its digest in both places. */
#ifndef PARAPET_ZARR_MANIFEST_H
#define PARAPET_ZARR_MANIFEST_H

#include <stdbool.h>

#include "base/memory.h"
#include "base/sha256.h"

#define PP_MANIFEST_PAGE_RECORDS 4096
#define PP_MANIFEST_RECORD_BYTES 48
#define PP_MANIFEST_PAGE_BYTES(records) (24 + PP_MANIFEST_RECORD_BYTES * (size_t)(records) + 4)
#define PP_MANIFEST_HEAD_BYTES(pages) (24 + PP_SHA256_BYTES * (2 + (size_t)(pages)) + 4)

/* A head with more pages is refused, because it is kept in memory. This is enough for 2^31 shards. */
#define PP_MANIFEST_MAX_PAGES (1u << 19)

/* Length of a shard that was never written. */
#define PP_SHARD_ABSENT UINT64_MAX

typedef struct pp_shard_record {
    uint64_t bytes;
    uint32_t index_crc32c;                 /* of the index without its checksum; 0: not sharded */
    uint32_t chunk_count;                  /* chunks present */
    unsigned char digest[PP_SHA256_BYTES]; /* over (chunk, bytes, crc32c) of every chunk present, in order */
} pp_shard_record;

typedef struct pp_manifest_head {
    uint32_t page_count;
    uint64_t shard_count;
    unsigned char document[2][PP_SHA256_BYTES]; /* of zarr.json: before and after */
    unsigned char *page_digests;                /* PP_SHA256_BYTES each; owned */
} pp_manifest_head;

/* Room for the digests of all pages of an array of shard_count shards. */
parapet_status pp_manifest_head_init(pp_manifest_head *head, uint64_t shard_count);
void pp_manifest_head_clear(pp_manifest_head *head);

/* bytes is PP_MANIFEST_HEAD_BYTES(page_count) long. */
void pp_manifest_head_encode(const pp_manifest_head *head, unsigned char *bytes);
parapet_status pp_manifest_head_decode(pp_manifest_head *head, const void *bytes, size_t byte_count);

/* One digest for the whole manifest: over those of its pages. */
void pp_manifest_head_digest(const pp_manifest_head *head, unsigned char digest[PP_SHA256_BYTES]);

/* Whether a zarr.json with this digest belongs to the head. */
bool pp_manifest_head_accepts(const pp_manifest_head *head, const unsigned char document[PP_SHA256_BYTES]);

/* records has record_count entries, the first of them of shard first_shard. */
void pp_manifest_page_encode(const pp_shard_record *records, uint32_t record_count, uint64_t first_shard,
                             unsigned char *bytes);

/* Refuses a page that is damaged or belongs to other shards. */
parapet_status pp_manifest_page_decode(pp_shard_record *records, uint32_t record_count, uint64_t first_shard,
                                       const void *bytes, size_t byte_count);

bool pp_shard_record_equals(const pp_shard_record *a, const pp_shard_record *b);

#endif
