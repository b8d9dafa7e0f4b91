/* change_record.c - the text of a record, and back: see change_record.h. */
#include "change/change_record.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "codec/crc32c.h"
#include "zarr/document.h"

#define ID "id: "
#define SUM "crc32c: "
#define HEX "0123456789abcdef"

static void free_texts(char **texts, int count)
{
    int i;
    for (i = 0; i < count; i++)
        pp_free(texts[i]);
    pp_free(texts);
}

static parapet_status add_text(char ***texts, int *count, const char *text)
{
    parapet_status status = pp_reallocate(texts, ((size_t)*count + 1) * sizeof(*texts)[0]);
    if (status == PARAPET_OK && (status = pp_text_duplicate(&(*texts)[*count], text)) == PARAPET_OK)
        *count += 1;
    return status;
}

void pp_change_clear(pp_change *change)
{
    free_texts(change->arrays, change->count);
    free_texts(change->documents, change->count);
    free_texts(change->groups, change->group_count);
    pp_free(change->dimension);
    *change = (pp_change){0};
}

parapet_status pp_change_begin(pp_change *change, const char *dimension, int64_t before, int64_t after)
{
    parapet_status status = pp_random_id(change->id);
    change->before = before;
    change->after = after;
    return status == PARAPET_OK ? pp_text_duplicate(&change->dimension, dimension) : status;
}

/* A path and, for a moment of parsing, no document yet. */
static parapet_status add_path(pp_change *change, const char *path)
{
    int count = change->count;
    parapet_status status = pp_reallocate(&change->documents, ((size_t)count + 1) * sizeof change->documents[0]);
    if (status == PARAPET_OK) {
        change->documents[count] = NULL;
        status = add_text(&change->arrays, &change->count, path);
    }
    return status;
}

parapet_status pp_change_add_array(pp_change *change, const char *path, const unsigned char document[PP_SHA256_BYTES])
{
    char digest[PP_SHA256_HEX_BYTES];
    parapet_status status = add_path(change, path);
    pp_sha256_print(document, digest);
    return status == PARAPET_OK ? pp_text_duplicate(&change->documents[change->count - 1], digest) : status;
}

parapet_status pp_change_add_group(pp_change *change, const char *path)
{
    return add_text(&change->groups, &change->group_count, path);
}

/* ---- Printing ---- */

parapet_status pp_change_print(const pp_change *change, pp_text *text)
{
    int i;
    pp_text_add(text, "extend: %s\nbefore: %lld\nafter: %lld\n" ID "%s\n", change->dimension,
                (long long)change->before, (long long)change->after, change->id);
    for (i = 0; i < change->count; i++)
        pp_text_add(text, "array: %s\ndocument: %s\n", change->arrays[i], change->documents[i]);
    for (i = 0; i < change->group_count; i++)
        pp_text_add(text, "group: %s\n", change->groups[i][0] != '\0' ? change->groups[i] : "/");
    if (text->status == PARAPET_OK)
        pp_text_add(text, SUM "%08x\n", (unsigned)pp_crc32c(0, text->data, text->bytes));
    return text->status;
}

/* ---- Parsing ---- */

static parapet_status refuse(void)
{
    return pp_fail(PARAPET_ERR_FORMAT, "this is not the record of a change");
}

/* The value of a line, if it is about that; else NULL. */
static const char *about(const char *line, const char *word)
{
    size_t bytes = strlen(word);
    return strncmp(line, word, bytes) == 0 ? line + bytes : NULL;
}

static parapet_status take_number(const char *text, int64_t *number)
{
    char *end;
    *number = strtoll(text, &end, 10);
    return end != text && *end == '\0' && *number >= 0 ? PARAPET_OK : refuse();
}

static bool is_hex(const char *text, size_t bytes)
{
    return strlen(text) == bytes - 1 && strspn(text, HEX) == bytes - 1;
}

static parapet_status take_id(pp_change *change, const char *value)
{
    if (!is_hex(value, sizeof change->id))
        return refuse();
    memcpy(change->id, value, sizeof change->id);
    return PARAPET_OK;
}

static parapet_status take_document(pp_change *change, const char *value)
{
    if (change->count == 0 || change->documents[change->count - 1] != NULL || !is_hex(value, PP_SHA256_HEX_BYTES))
        return refuse();
    return pp_text_duplicate(&change->documents[change->count - 1], value);
}

/* What is not in order, or there twice, is not printed again as it was. */
static parapet_status take_line(pp_change *change, const char *line)
{
    const char *value;
    if ((value = about(line, "array: ")) != NULL && pp_path_check(value) == PARAPET_OK)
        return add_path(change, value);
    if ((value = about(line, "document: ")) != NULL)
        return take_document(change, value);
    if ((value = about(line, "group: ")) != NULL && (strcmp(value, "/") == 0 || pp_path_check(value) == PARAPET_OK))
        return pp_change_add_group(change, strcmp(value, "/") == 0 ? "" : value);
    if ((value = about(line, "extend: ")) != NULL && change->dimension == NULL)
        return pp_text_duplicate(&change->dimension, value);
    if ((value = about(line, ID)) != NULL)
        return take_id(change, value);
    if ((value = about(line, "before: ")) != NULL)
        return take_number(value, &change->before);
    if ((value = about(line, "after: ")) != NULL)
        return take_number(value, &change->after);
    return about(line, SUM) != NULL ? PARAPET_OK : refuse(); /* of which the whole is judged */
}

static parapet_status take_lines(pp_change *change, char *text)
{
    parapet_status status = PARAPET_OK;
    while (*text != '\0' && status == PARAPET_OK) {
        size_t bytes = strcspn(text, "\n");
        bool is_whole = text[bytes] == '\n';
        text[bytes] = '\0';
        status = is_whole ? take_line(change, text) : refuse();
        if (is_whole)
            text[bytes++] = '\n';
        text += bytes;
    }
    return status;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* No array twice, which would be locked twice. */
static parapet_status check_distinct(const pp_change *change)
{
    char **sorted = NULL;
    parapet_status status = pp_allocate_array(&sorted, (size_t)change->count, sizeof sorted[0]);
    int i;
    if (status != PARAPET_OK)
        return status;
    memcpy(sorted, change->arrays, (size_t)change->count * sizeof sorted[0]);
    qsort(sorted, (size_t)change->count, sizeof sorted[0], compare_texts);
    for (i = 1; i < change->count && status == PARAPET_OK; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            status = refuse();
    pp_free(sorted);
    return status;
}

static parapet_status check_members(const pp_change *change)
{
    int i;
    if (change->dimension == NULL || change->count == 0 || change->after <= change->before ||
        strcmp(change->arrays[change->count - 1], change->dimension) != 0)
        return refuse();
    for (i = 0; i < change->count; i++)
        if (change->documents[i] == NULL)
            return refuse();
    return check_distinct(change);
}

/* So all lines are there, in order and once, and each number has one form (invariant 11 of docs/design/change.md). */
static parapet_status check_text(const pp_change *change, const char *text)
{
    pp_text again = {0};
    parapet_status status = pp_change_print(change, &again);
    if (status == PARAPET_OK && strcmp(text, again.data) != 0)
        status = refuse();
    pp_text_free(&again);
    return status;
}

parapet_status pp_change_parse(pp_change *change, char *text, size_t bytes)
{
    parapet_status status = strlen(text) == bytes ? take_lines(change, text) : refuse();
    if (status == PARAPET_OK && (status = check_members(change)) == PARAPET_OK)
        status = check_text(change, text);
    return status;
}

/* ---- What it says ---- */

bool pp_change_is(const pp_change *change, const char *text)
{
    const char *found = strstr(text, "\n" ID);
    return found != NULL && about(found + sizeof "\n" ID - 1, change->id) != NULL;
}

bool pp_change_explains(const pp_change *change, int array, int64_t committed, int64_t length,
                        const unsigned char document[PP_SHA256_BYTES])
{
    char digest[PP_SHA256_HEX_BYTES];
    pp_sha256_print(document, digest);
    return array < change->count && change->before == committed && change->after == length &&
           strcmp(change->documents[array], digest) == 0;
}

/* ---- Logs ---- */

/* The end of the record at text, or of what is left of one: behind the next sum; NULL: there is none. */
static char *end_of_record(char *text)
{
    char *sum = about(text, SUM) != NULL ? text : strstr(text, "\n" SUM);
    char *end = sum != NULL ? strchr(sum + 1, '\n') : NULL;
    return end != NULL ? end + 1 : NULL;
}

static parapet_status take_record(pp_change_log *log, char *text, size_t bytes)
{
    pp_change change = {0};
    parapet_status status = pp_change_parse(&change, text, bytes);
    if (status == PARAPET_OK &&
        (status = pp_reallocate(&log->records, (log->count + 1) * sizeof log->records[0])) == PARAPET_OK) {
        log->records[log->count++] = change;
        return PARAPET_OK;
    }
    pp_change_clear(&change);
    return status == PARAPET_ERR_FORMAT ? PARAPET_OK : status;
}

parapet_status pp_change_log_parse(pp_change_log *log, char *text)
{
    parapet_status status = PARAPET_OK;
    char *end;
    while (status == PARAPET_OK && (end = end_of_record(text)) != NULL) {
        char next = *end;
        *end = '\0';
        status = take_record(log, text, (size_t)(end - text));
        *end = next;
        text = end;
    }
    return status;
}

void pp_change_log_clear(pp_change_log *log)
{
    size_t i;
    for (i = 0; i < log->count; i++)
        pp_change_clear(&log->records[i]);
    pp_free(log->records);
    *log = (pp_change_log){0};
}
