/* fuzz_append_mark.c - the mark of an append from untrusted sources. With the first byte 's' the rest is lines that
 * get the right checksum; else it is the mark. Reading must neither crash nor leak, and what is accepted names paths
 * that can be, each once, and prints as it came. */
#include <string.h>

#include "bed.h"
#include "codec/crc32c.h"
#include "copy/append_mark.h"
#include "copy/append_task.h"
#include "zarr/document.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);

static void check_names(const pp_append_mark *mark)
{
    int i, j;
    require(mark->count >= 1 && strcmp(mark->names[mark->count - 1], mark->dimension) == 0);
    for (i = 0; i < mark->count; i++) {
        require(pp_path_check(mark->names[i]) == PARAPET_OK);
        for (j = 0; j < i; j++)
            require(strcmp(mark->names[i], mark->names[j]) != 0);
    }
    for (i = 0; i < mark->group_count; i++)
        require(mark->groups[i][0] == '\0' || pp_path_check(mark->groups[i]) == PARAPET_OK);
}

static void check_mark(const pp_append_mark *mark, const pp_text *text, const char *parsed)
{
    pp_text again = {0};
    require(mark->before >= 0 && mark->after > mark->before);
    require(mark->document_count == (mark->is_stored ? mark->count : 0));
    check_names(mark);
    require(pp_append_mark_print(mark, &again) == PARAPET_OK);
    require(again.bytes == text->bytes && memcmp(again.data, text->data, text->bytes) == 0);
    require(memcmp(parsed, text->data, text->bytes) == 0);
    pp_text_free(&again);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes)
{
    bool is_signed = bytes > 0 && data[0] == 's';
    long live = pp_memory_live_count();
    pp_append_mark mark = {0};
    pp_text text = {0};
    char *copy = NULL;
    pp_text_add_bytes(&text, data + is_signed, bytes - is_signed);
    require(text.status == PARAPET_OK);
    if (is_signed)
        pp_text_add(&text, "crc32c: %08x\n", (unsigned)pp_crc32c(0, text.data, text.bytes));
    require(text.status == PARAPET_OK && pp_bytes_duplicate(&copy, text.data, text.bytes + 1) == PARAPET_OK);
    if (pp_append_mark_parse(&mark, copy, text.bytes) == PARAPET_OK)
        check_mark(&mark, &text, copy);
    pp_append_mark_clear(&mark);
    pp_free(copy);
    pp_text_free(&text);
    require(pp_memory_live_count() == live);
    return 0;
}
