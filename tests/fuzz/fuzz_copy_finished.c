/* fuzz_copy_finished.c - the log of the arrays of a hierarchy that are copied, from anyone. With the first byte 'h'
 * the rest follows the right first line; else it is the log. Reading must neither crash nor leak; an array counts as
 * copied only if a line says so, and one that is copied is not replaced. */
#include <string.h>

#include "bed.h"
#include "copy/tree_log.h"

#define PATH "g/a"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);

static const char head[] =
    "chunks: as the source; shards: as the source; order: as the source; region: as the source; "
    "codec: as the source; no_checksum: 0; unit_bytes: 0; intermediate store: the target's\n";

/* Looked for here once more, and in another way. */
static bool has_line(const char *lines, const char *line)
{
    const char *found = strchr(lines, '\n');
    return found != NULL && strstr(found, line) != NULL;
}

static void check_lines(const pp_copy_tree_log *log, size_t bytes)
{
    static const unsigned char document[PP_SHA256_BYTES];
    parapet_status status = pp_copy_tree_log_check(log, PATH, 0x1234);
    require(bytes == 0 || strncmp(log->lines, head, sizeof head - 1) == 0);
    require(strlen(log->lines) <= bytes);
    if (status == PARAPET_OK)
        require(has_line(log->lines, "\n0000000000001234 " PATH "\n"));
    require(status == PARAPET_OK || status == PARAPET_ERR_ARGUMENT || status == PARAPET_ERR_EXISTS);
    if (pp_copy_tree_log_is_old(log, PATH, document, false))
        require(status == PARAPET_ERR_EXISTS && has_line(log->lines, " " PATH "\n"));
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes)
{
    bool is_headed = bytes > 0 && data[0] == 'h';
    parapet_copy_request request = {.resume = 1};
    long live = pp_memory_live_count();
    pp_copy_tree_log log = {0};
    pp_text text = {0};
    char *lines = NULL;
    size_t whole;
    pp_text_add(&text, "%s", is_headed ? head : "");
    pp_text_add_bytes(&text, data + is_headed, bytes - is_headed);
    require(text.status == PARAPET_OK);
    whole = text.bytes;
    require(pp_text_finish(&text, &lines) == PARAPET_OK);
    if (pp_copy_tree_log_take(&log, &request, lines, &whole) == PARAPET_OK)
        check_lines(&log, whole);
    pp_copy_tree_log_clear(&log);
    require(pp_memory_live_count() == live);
    return 0;
}
