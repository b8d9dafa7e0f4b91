/* fuzz_manifest.c - heads and pages of manifests from untrusted sources. With the first byte 's' what follows gets
 * the right checksum. Reading must neither crash nor leak, and what is accepted is written as it came. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "codec/crc32c.h"
#include "zarr/manifest.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);

static void require(bool is_true)
{
    if (!is_true)
        abort();
}

static void try_head(const unsigned char *data, size_t bytes)
{
    pp_manifest_head head = {0};
    unsigned char *again = NULL;
    if (pp_manifest_head_decode(&head, data, bytes) == PARAPET_OK) {
        require(pp_manifest_head_bytes(&head) == bytes && pp_allocate(&again, bytes) == PARAPET_OK);
        pp_manifest_head_encode(&head, again);
        require(memcmp(again, data, bytes) == 0);
    }
    pp_free(again);
    pp_manifest_head_clear(&head);
}

static void try_page(const unsigned char *data, size_t bytes, pp_page_place place)
{
    pp_manifest_page page = {0};
    unsigned char *again = NULL;
    size_t again_bytes;
    if (pp_manifest_page_decode(&page, &place, data, bytes) == PARAPET_OK) {
        require(pp_manifest_page_encode(page.records, page.record_count, page.first_shard, &again, &again_bytes) ==
                PARAPET_OK);
        require(again_bytes == bytes && memcmp(again, data, bytes) == 0);
    }
    pp_free(again);
    pp_manifest_page_clear(&page);
}

static void try_pages(const unsigned char *data, size_t bytes)
{
    try_page(data, bytes, (pp_page_place){.record_count = 1, .chunk_count = 2});
    try_page(data, bytes, (pp_page_place){.record_count = 3, .chunk_count = UINT32_MAX});
    try_page(data, bytes,
             (pp_page_place){.first_shard = PP_MANIFEST_PAGE_RECORDS,
                             .record_count = PP_MANIFEST_PAGE_RECORDS,
                             .chunk_count = 1});
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes)
{
    long live = pp_memory_live_count();
    unsigned char *copy = NULL;
    bool is_mended = bytes > 5 && data[0] == 's';
    if (is_mended) {
        require(pp_bytes_duplicate(&copy, data + 1, bytes - 1) == PARAPET_OK);
        pp_store_u32le(copy + bytes - 5, pp_crc32c(0, copy, bytes - 5));
    }
    try_head(is_mended ? copy : data, is_mended ? bytes - 1 : bytes);
    try_pages(is_mended ? copy : data, is_mended ? bytes - 1 : bytes);
    pp_free(copy);
    require(pp_memory_live_count() == live);
    return 0;
}
