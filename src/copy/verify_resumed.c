/* verify_resumed.c - whether what an earlier run wrote of a shard is still what its journal tells of. */
#include "copy/verify_resumed.h"

#include "array/node_path.h"
#include "base/checked.h"
#include "base/status.h"
#include "codec/crc32c.h"

#define WINDOW_BYTES ((size_t)16 << 10)

static parapet_status sum_chunk(pp_reader *reader, const pp_chunk_entry *entry, uint32_t *crc32c)
{
    unsigned char window[WINDOW_BYTES];
    uint64_t done;
    parapet_status status;
    *crc32c = 0;
    for (done = 0; done < entry->bytes; done += WINDOW_BYTES) {
        size_t bytes = (size_t)pp_min_u64(entry->bytes - done, WINDOW_BYTES);
        if ((status = pp_reader_read(reader, entry->offset + done, bytes, window)) != PARAPET_OK)
            return status;
        *crc32c = pp_crc32c(*crc32c, window, bytes);
    }
    return PARAPET_OK;
}

static parapet_status check_chunks(pp_reader *reader, const char *key, const pp_copy_shard *shard, int64_t count)
{
    parapet_status status = PARAPET_OK;
    uint32_t crc32c;
    int64_t i;
    for (i = 0; i < count && status == PARAPET_OK; i++) {
        const pp_chunk_entry *entry = &shard->build->entries[i];
        if (pp_chunk_is_absent(entry))
            continue;
        if ((status = sum_chunk(reader, entry, &crc32c)) == PARAPET_OK && crc32c != shard->checksums[i])
            status = pp_fail(PARAPET_ERR_CORRUPT,
                             "%s is not as an earlier run of the copy wrote it: chunk %lld does not match its "
                             "checksum; start again with overwrite instead of resume",
                             key, (long long)i);
    }
    return status;
}

parapet_status pp_copy_shard_verify_resumed(const pp_copy_target *target, const pp_copy_shard *shard)
{
    pp_reader *reader = NULL;
    char *name = NULL, *key = NULL;
    parapet_status status = pp_shard_build_name(shard->build, &name);
    if (status == PARAPET_OK && (status = pp_path_join(target->job->state, name, &key)) == PARAPET_OK &&
        (status = pp_store_open_object(target->job->target->store, key, &reader)) == PARAPET_OK)
        status = check_chunks(reader, key, shard, target->job->target->layout->tiling.chunks.cell_count);
    pp_reader_free(reader);
    pp_free(name);
    pp_free(key);
    return status;
}
