/* fuzz_manifest.c - heads and pages of manifests from untrusted sources. With the first byte 's' what follows gets
 * the right checksum. Reading must neither crash nor leak, and a head that is accepted is written as it came. */
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
        require(PP_MANIFEST_HEAD_BYTES(head.page_count) == bytes && pp_allocate(&again, bytes) == PARAPET_OK);
        pp_manifest_head_encode(&head, again);
        require(memcmp(again, data, bytes) == 0);
    }
    pp_free(again);
    pp_manifest_head_clear(&head);
}

static void try_page(const unsigned char *data, size_t bytes)
{
    static pp_shard_record records[PP_MANIFEST_PAGE_RECORDS];
    (void)pp_manifest_page_decode(records, 1, 0, data, bytes);
    (void)pp_manifest_page_decode(records, PP_MANIFEST_PAGE_RECORDS, PP_MANIFEST_PAGE_RECORDS, data, bytes);
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
    try_page(is_mended ? copy : data, is_mended ? bytes - 1 : bytes);
    pp_free(copy);
    require(pp_memory_live_count() == live);
    return 0;
}
