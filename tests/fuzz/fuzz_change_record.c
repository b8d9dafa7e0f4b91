/* fuzz_change_record.c - records of changes from untrusted sources. With the first byte 's' the rest is lines that
 * get the right checksum; with 'l' it is a log; else it is a record. Reading must neither crash nor leak, and what is
 * accepted names paths that can be, each once, and prints as it came. */
#include <string.h>

#include "bed.h"
#include "change/change_record.h"
#include "codec/crc32c.h"
#include "zarr/document.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);

static void check_names(const pp_change *change)
{
    int i, j;
    require(change->count >= 1 && strcmp(change->arrays[change->count - 1], change->dimension) == 0);
    for (i = 0; i < change->count; i++) {
        require(pp_path_check(change->arrays[i]) == PARAPET_OK);
        require(strlen(change->documents[i]) == PP_SHA256_HEX_BYTES - 1);
        for (j = 0; j < i; j++)
            require(strcmp(change->arrays[i], change->arrays[j]) != 0);
    }
    for (i = 0; i < change->group_count; i++)
        require(change->groups[i][0] == '\0' || pp_path_check(change->groups[i]) == PARAPET_OK);
}

static void check_change(const pp_change *change, const char *text, size_t bytes)
{
    static const unsigned char digest[PP_SHA256_BYTES] = {0};
    pp_text again = {0};
    require(change->before >= 0 && change->after > change->before);
    check_names(change);
    (void)pp_change_explains(change, change->count, change->before, change->after, digest);
    require(pp_change_is(change, text));
    require(pp_change_print(change, &again) == PARAPET_OK);
    require(again.bytes == bytes && memcmp(again.data, text, bytes) == 0);
    pp_text_free(&again);
}

static void try_record(char *text, size_t bytes, const char *given)
{
    pp_change change = {0};
    if (pp_change_parse(&change, text, bytes) == PARAPET_OK) {
        require(memcmp(text, given, bytes) == 0);
        check_change(&change, text, bytes);
    }
    pp_change_clear(&change);
}

static void try_log(char *text, size_t bytes, const char *given)
{
    pp_change_log log = {0};
    size_t i;
    require(pp_change_log_parse(&log, text) == PARAPET_OK);
    require(memcmp(text, given, bytes) == 0);
    for (i = 0; i < log.count; i++)
        check_names(&log.records[i]);
    pp_change_log_clear(&log);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes)
{
    char kind = bytes > 0 ? (char)data[0] : '\0';
    bool is_kind = kind == 's' || kind == 'l';
    long live = pp_memory_live_count();
    pp_text text = {0};
    char *copy = NULL;
    pp_text_add_bytes(&text, data + is_kind, bytes - is_kind);
    require(text.status == PARAPET_OK);
    if (kind == 's')
        pp_text_add(&text, "crc32c: %08x\n", (unsigned)pp_crc32c(0, text.data, text.bytes));
    require(text.status == PARAPET_OK && pp_bytes_duplicate(&copy, text.data, text.bytes + 1) == PARAPET_OK);
    (kind == 'l' ? try_log : try_record)(copy, text.bytes, text.data);
    pp_free(copy);
    pp_text_free(&text);
    require(pp_memory_live_count() == live);
    return 0;
}
