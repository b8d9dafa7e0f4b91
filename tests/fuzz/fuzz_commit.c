/* fuzz_commit.c - commit records from untrusted sources. With the first byte 's' the rest is lines that get the right
 * checksum, so that what is behind it is reached; else it is the record. Reading must neither crash nor leak, and
 * what is accepted prints as it came. */
#include <stdlib.h>
#include <string.h>

#include "codec/crc32c.h"
#include "zarr/commit_record.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);

static void require(bool is_true)
{
    if (!is_true)
        abort();
}

static void try_record(const char *record, size_t bytes)
{
    pp_commit commit;
    pp_text again = {0};
    size_t i;
    if (pp_commit_parse(&commit, record, bytes) == PARAPET_OK) {
        require(commit.generation > 0 && commit.generation <= PP_COMMIT_LAST_GENERATION);
        require(strchr(commit.group, '/') == NULL);
        for (i = 0; i < commit.array_count; i++)
            require(commit.arrays[i].name[0] != '\0' && strchr(commit.arrays[i].name, '/') == NULL);
        pp_commit_print(&commit, &again);
        require(again.status == PARAPET_OK && again.bytes == bytes && memcmp(again.data, record, bytes) == 0);
    }
    pp_text_free(&again);
    pp_commit_clear(&commit);
}

static void try_signed(const char *lines, size_t bytes)
{
    pp_text record = {0};
    pp_text_add_bytes(&record, lines, bytes);
    pp_text_add(&record, "crc32c %08x\n", (unsigned)pp_crc32c(0, lines, bytes));
    require(record.status == PARAPET_OK);
    try_record(record.data, record.bytes);
    pp_text_free(&record);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes)
{
    long live = pp_memory_live_count();
    if (bytes > 0 && data[0] == 's')
        try_signed((const char *)data + 1, bytes - 1);
    else
        try_record((const char *)data, bytes);
    require(pp_memory_live_count() == live);
    return 0;
}
