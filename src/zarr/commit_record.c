#include "zarr/commit_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "codec/crc32c.h"
#include "zarr/document.h"

#define FIRST_LINE "parapet commit 1"

void pp_commit_clear(pp_commit *commit)
{
    size_t i;
    for (i = 0; i < commit->array_count; i++)
        pp_free(commit->arrays[i].name);
    pp_free(commit->arrays);
    pp_free(commit->group);
    *commit = (pp_commit){0};
}

parapet_status pp_commit_add(pp_commit *commit, const char *name, const unsigned char document[PP_SHA256_BYTES])
{
    pp_commit_array *added;
    parapet_status status;
    if ((commit->array_count & (commit->array_count - 1)) == 0) { /* full: a power of two, or none yet */
        size_t capacity = commit->array_count > 0 ? 2 * commit->array_count : 1;
        if ((status = pp_reallocate(&commit->arrays, capacity * sizeof commit->arrays[0])) != PARAPET_OK)
            return status;
    }
    added = &commit->arrays[commit->array_count];
    if ((status = pp_text_duplicate(&added->name, name)) != PARAPET_OK)
        return status;
    memcpy(added->document, document, PP_SHA256_BYTES);
    commit->array_count++;
    return PARAPET_OK;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const pp_commit_array *)a)->name, ((const pp_commit_array *)b)->name);
}

void pp_commit_sort(pp_commit *commit)
{
    if (commit->array_count > 0)
        qsort(commit->arrays, commit->array_count, sizeof commit->arrays[0], compare_names);
}

static int compare_with_name(const void *name, const void *array)
{
    return strcmp(name, ((const pp_commit_array *)array)->name);
}

const pp_commit_array *pp_commit_find(const pp_commit *commit, const char *name)
{
    return commit->array_count == 0
               ? NULL
               : bsearch(name, commit->arrays, commit->array_count, sizeof commit->arrays[0], compare_with_name);
}

void pp_commit_print(pp_commit *commit, pp_text *text)
{
    char digest[PP_SHA256_HEX_BYTES];
    size_t i;
    pp_commit_sort(commit);
    pp_sha256_print(commit->document, digest);
    pp_text_add(text, FIRST_LINE "\ngeneration %lld\ngroup %s\ndurable %s\ndocument %s\n",
                (long long)commit->generation, commit->group, commit->is_durable ? "yes" : "no", digest);
    for (i = 0; i < commit->array_count; i++) {
        pp_sha256_print(commit->arrays[i].document, digest);
        pp_text_add(text, "array %s %s\n", digest, commit->arrays[i].name);
    }
    if (text->status == PARAPET_OK)
        pp_text_add(text, "crc32c %08x\n", (unsigned)pp_crc32c(0, text->data, text->bytes));
}

/* ---- Parsing: what is not exactly as it was printed is damaged ---- */

typedef struct lines {
    const char *next, *end;
} lines;

static parapet_status fail_line(const char *expected)
{
    return pp_fail(PARAPET_ERR_CORRUPT, "the commit record is damaged: there is no line \"%s\"", expected);
}

/* The rest of the next line behind "word ", or NULL if it begins otherwise. */
static const char *take_line(lines *rest, const char *word, size_t *bytes)
{
    size_t left = (size_t)(rest->end - rest->next), word_bytes = strlen(word);
    const char *newline = left > 0 ? memchr(rest->next, '\n', left) : NULL, *value;
    if (newline == NULL || (size_t)(newline - rest->next) <= word_bytes ||
        memcmp(rest->next, word, word_bytes) != 0 || rest->next[word_bytes] != ' ')
        return NULL;
    value = rest->next + word_bytes + 1;
    *bytes = (size_t)(newline - value);
    rest->next = newline + 1;
    return value;
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool parse_digest(const char *text, size_t bytes, unsigned char digest[PP_SHA256_BYTES])
{
    size_t i;
    if (bytes != PP_SHA256_HEX_BYTES - 1)
        return false;
    for (i = 0; i < PP_SHA256_BYTES; i++) {
        int high = digit_of(text[2 * i]), low = digit_of(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        digest[i] = (unsigned char)(high * 16 + low);
    }
    return true;
}

static bool parse_generation(const char *text, size_t bytes, int64_t *generation)
{
    size_t i;
    *generation = 0;
    if (bytes == 0 || bytes > 18 || text[0] == '0')
        return false;
    for (i = 0; i < bytes; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        *generation = *generation * 10 + (text[i] - '0');
    }
    return true;
}

/* A name becomes part of paths: it is checked like any. */
static parapet_status take_name(const char *text, size_t bytes, char **name)
{
    parapet_status status;
    if (bytes == 0 || bytes > 255 || memchr(text, '/', bytes) != NULL || memchr(text, '\0', bytes) != NULL)
        return pp_fail(PARAPET_ERR_CORRUPT, "the commit record is damaged: it has an invalid name");
    if ((status = pp_allocate(name, bytes + 1)) != PARAPET_OK)
        return status;
    memcpy(*name, text, bytes);
    return pp_path_check(*name) == PARAPET_OK
               ? PARAPET_OK
               : pp_fail(PARAPET_ERR_CORRUPT, "the commit record is damaged: it has an invalid name");
}

static bool parse_durable(const char *text, size_t bytes, bool *is_durable)
{
    *is_durable = bytes == 3 && memcmp(text, "yes", 3) == 0;
    return *is_durable || (bytes == 2 && memcmp(text, "no", 2) == 0);
}

static parapet_status parse_head(pp_commit *commit, lines *rest)
{
    const char *value;
    size_t bytes;
    parapet_status status;
    if ((value = take_line(rest, "generation", &bytes)) == NULL ||
        !parse_generation(value, bytes, &commit->generation))
        return fail_line("generation");
    if ((value = take_line(rest, "group", &bytes)) == NULL)
        return fail_line("group");
    if ((status = take_name(value, bytes, &commit->group)) != PARAPET_OK)
        return status;
    if ((value = take_line(rest, "durable", &bytes)) == NULL || !parse_durable(value, bytes, &commit->is_durable))
        return fail_line("durable");
    if ((value = take_line(rest, "document", &bytes)) == NULL || !parse_digest(value, bytes, commit->document))
        return fail_line("document");
    return PARAPET_OK;
}

static bool is_behind_the_last(const pp_commit *commit, const char *name)
{
    return commit->array_count == 0 || strcmp(commit->arrays[commit->array_count - 1].name, name) < 0;
}

static parapet_status parse_array(pp_commit *commit, const char *value, size_t bytes)
{
    const size_t digits = PP_SHA256_HEX_BYTES - 1;
    unsigned char digest[PP_SHA256_BYTES];
    char *name = NULL;
    parapet_status status;
    if (bytes <= digits + 1 || value[digits] != ' ' || !parse_digest(value, digits, digest))
        return fail_line("array");
    status = take_name(value + digits + 1, bytes - digits - 1, &name);
    if (status == PARAPET_OK && !is_behind_the_last(commit, name))
        status = pp_fail(PARAPET_ERR_CORRUPT, "the commit record is damaged: its arrays are not in order");
    if (status == PARAPET_OK)
        status = pp_commit_add(commit, name, digest);
    pp_free(name);
    return status;
}

/* Compares the checksum in the last line and takes the line off. */
static parapet_status check_sum(lines *rest)
{
    static const char word[] = "crc32c ";
    const size_t line_bytes = sizeof word - 1 + 8 + 1;
    size_t bytes = (size_t)(rest->end - rest->next);
    char expected[32];
    if (bytes < line_bytes)
        return fail_line("crc32c");
    rest->end -= line_bytes;
    (void)snprintf(expected, sizeof expected, "%s%08x\n", word,
                   (unsigned)pp_crc32c(0, rest->next, bytes - line_bytes));
    if (memcmp(rest->end, expected, line_bytes) != 0)
        return pp_fail(PARAPET_ERR_CORRUPT, "the commit record is damaged: its checksum is wrong");
    return PARAPET_OK;
}

parapet_status pp_commit_parse(pp_commit *commit, const char *text, size_t bytes)
{
    static const char first[] = FIRST_LINE "\n";
    lines rest = {.next = text, .end = text + bytes};
    const char *value;
    size_t value_bytes;
    parapet_status status;
    *commit = (pp_commit){0};
    if ((status = check_sum(&rest)) != PARAPET_OK)
        return status;
    if ((size_t)(rest.end - rest.next) < sizeof first - 1 || memcmp(rest.next, first, sizeof first - 1) != 0)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "the commit record has another version than \"%s\"", FIRST_LINE);
    rest.next += sizeof first - 1;
    if ((status = parse_head(commit, &rest)) != PARAPET_OK)
        return status;
    while (status == PARAPET_OK && rest.next < rest.end) {
        if ((value = take_line(&rest, "array", &value_bytes)) == NULL)
            return fail_line("array");
        status = parse_array(commit, value, value_bytes);
    }
    return status;
}
