/* append_mark.c - what an append notes, durably, before it changes anything:
 *
 *     along: time
 *     before: 744
 *     after: 1416
 *     word: 0123456789abcdef   of this append, and of no other
 *     elements: stored         only when all are durable, before the first document tells of them
 *     array: t2m               a path below the target, for each; the coordinate's is the last
 *     document: 0123...        with stored elements, below each array: SHA-256 of its document that tells of them
 *     group: /                 one with consolidated metadata, for each
 *     crc32c: 01234567         of all before it */
#include "copy/append_mark.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "array/mark.h"
#include "array/node_path.h"
#include "array/store_queries.h"
#include "base/sha256.h"
#include "codec/crc32c.h"
#include "copy/append_ranks.h"
#include "copy/append_task.h"

#define WORD "word: "
#define DOCUMENT "document: "
#define SUM "crc32c: "
#define MARK_BYTES_MOST ((size_t)1 << 20)

/* ---- Its text ---- */

parapet_status pp_append_add_text(char ***texts, int *count, const char *text)
{
    parapet_status status = pp_reallocate(texts, ((size_t)*count + 1) * sizeof(*texts)[0]);
    if (status == PARAPET_OK && (status = pp_text_duplicate(&(*texts)[*count], text)) == PARAPET_OK)
        *count += 1;
    return status;
}

void pp_append_mark_clear(pp_append_mark *mark)
{
    pp_paths_free(mark->names, (size_t)mark->count);
    pp_paths_free(mark->documents, (size_t)mark->document_count);
    pp_paths_free(mark->groups, (size_t)mark->group_count);
    pp_free(mark->dimension);
    *mark = (pp_append_mark){0};
}

parapet_status pp_append_mark_print(const pp_append_mark *mark, pp_text *text)
{
    int i;
    pp_text_add(text, "along: %s\nbefore: %lld\nafter: %lld\n" WORD "%s\n", mark->dimension, (long long)mark->before,
                (long long)mark->after, mark->word);
    if (mark->is_stored)
        pp_text_add(text, "elements: stored\n");
    for (i = 0; i < mark->count; i++) {
        pp_text_add(text, "array: %s\n", mark->names[i]);
        if (i < mark->document_count)
            pp_text_add(text, DOCUMENT "%s\n", mark->documents[i]);
    }
    for (i = 0; i < mark->group_count; i++)
        pp_text_add(text, "group: %s\n", pp_path_shown(mark->groups[i]));
    if (text->status == PARAPET_OK)
        pp_text_add(text, SUM "%08x\n", (unsigned)pp_crc32c(0, text->data, text->bytes));
    return text->status;
}

static bool take_number(const char *text, int64_t *number)
{
    char *end;
    *number = strtoll(text, &end, 10);
    return end != text && *end == '\0' && *number >= 0;
}

static bool take_word(const char *text, char word[PP_APPEND_WORD_BYTES])
{
    bool fits = strlen(text) == PP_APPEND_WORD_BYTES - 1;
    (void)snprintf(word, PP_APPEND_WORD_BYTES, "%s", fits ? text : "");
    return fits;
}

static bool is_digest(const char *text)
{
    return strlen(text) == PP_SHA256_HEX_BYTES - 1 && strspn(text, "0123456789abcdef") == PP_SHA256_HEX_BYTES - 1;
}

/* The value of a line, if it is about that; else NULL. */
static const char *about(const char *line, const char *word)
{
    size_t bytes = strlen(word);
    return strncmp(line, word, bytes) == 0 ? line + bytes : NULL;
}

static parapet_status refuse_text(void)
{
    return pp_fail(PARAPET_ERR_FORMAT, "this is not the mark of an append");
}

static parapet_status take_line(pp_append_mark *mark, const char *line)
{
    const char *value;
    bool is_known = true;
    if ((value = about(line, "array: ")) != NULL && pp_path_check(value) == PARAPET_OK)
        return pp_append_add_text(&mark->names, &mark->count, value);
    if ((value = about(line, DOCUMENT)) != NULL && is_digest(value))
        return pp_append_add_text(&mark->documents, &mark->document_count, value);
    if ((value = about(line, "group: ")) != NULL && (strcmp(value, "/") == 0 || pp_path_check(value) == PARAPET_OK))
        return pp_append_add_text(&mark->groups, &mark->group_count, strcmp(value, "/") == 0 ? "" : value);
    if ((value = about(line, "along: ")) != NULL && mark->dimension == NULL)
        return pp_text_duplicate(&mark->dimension, value);
    if ((value = about(line, "elements: stored")) != NULL)
        mark->is_stored = is_known = value[0] == '\0';
    else if ((value = about(line, WORD)) != NULL)
        is_known = take_word(value, mark->word);
    else if ((value = about(line, "before: ")) != NULL)
        is_known = take_number(value, &mark->before);
    else if ((value = about(line, "after: ")) != NULL)
        is_known = take_number(value, &mark->after);
    else
        value = about(line, SUM); /* of which the whole is judged */
    return value != NULL && is_known ? PARAPET_OK : refuse_text();
}

static parapet_status take_lines(pp_append_mark *mark, char *text)
{
    parapet_status status = PARAPET_OK;
    while (*text != '\0' && status == PARAPET_OK) {
        size_t bytes = strcspn(text, "\n");
        bool is_whole = text[bytes] == '\n';
        text[bytes] = '\0';
        status = is_whole ? take_line(mark, text) : refuse_text();
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

/* No array twice, which would be held twice. */
static parapet_status check_distinct(const pp_append_mark *mark)
{
    char **sorted = NULL;
    parapet_status status = pp_allocate_array(&sorted, (size_t)mark->count, sizeof sorted[0]);
    int i;
    if (status != PARAPET_OK)
        return status;
    memcpy(sorted, mark->names, (size_t)mark->count * sizeof sorted[0]);
    qsort(sorted, (size_t)mark->count, sizeof sorted[0], compare_texts);
    for (i = 1; i < mark->count && status == PARAPET_OK; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            status = refuse_text();
    pp_free(sorted);
    return status;
}

/* Nothing but what an append writes is accepted: it is printed again, with its checksum, and compared. */
parapet_status pp_append_mark_parse(pp_append_mark *mark, char *text, size_t bytes)
{
    pp_text again = {0};
    parapet_status status = strlen(text) == bytes ? take_lines(mark, text) : refuse_text();
    if (status == PARAPET_OK && (mark->dimension == NULL || mark->count == 0 || mark->after <= mark->before ||
                                 mark->document_count != (mark->is_stored ? mark->count : 0) ||
                                 strcmp(mark->names[mark->count - 1], mark->dimension) != 0))
        status = refuse_text();
    if (status == PARAPET_OK && (status = pp_append_mark_print(mark, &again)) == PARAPET_OK &&
        strcmp(text, again.data) != 0)
        status = refuse_text();
    pp_text_free(&again);
    return status == PARAPET_OK ? check_distinct(mark) : status;
}

/* ---- In the store; on rank 0 ---- */

parapet_status pp_append_mark_name(pp_append_mark *mark)
{
    uint64_t number;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        return pp_fail(PARAPET_ERR_IO, "the system provides no random numbers");
    (void)snprintf(mark->word, sizeof mark->word, "%016llx", (unsigned long long)number);
    return PARAPET_OK;
}

static pp_mark place_of(const pp_append *append)
{
    return (pp_mark){.store = append->request->target, .group = append->target_root, .own = PP_OWN_APPEND};
}

parapet_status pp_append_mark_write(const pp_append *append)
{
    pp_mark place = place_of(append);
    pp_text text = {0};
    parapet_status status = pp_append_mark_print(&append->mark, &text);
    if (status == PARAPET_OK && text.bytes > MARK_BYTES_MOST)
        status =
            pp_fail(PARAPET_ERR_UNSUPPORTED,
                    "%d arrays are more than one append can make longer; append groups below the target one by one",
                    append->mark.count);
    if (status == PARAPET_OK && (status = pp_node_lock_prove(&append->group_hold)) == PARAPET_OK)
        status = pp_mark_write(&place, text.data, text.bytes);
    pp_text_free(&text);
    return status;
}

/* The text of the mark, which may be empty, or NULL if there is none. */
static parapet_status load_text(const pp_append *append, char **text, size_t *bytes)
{
    char *key = NULL;
    parapet_status status = pp_own_key(append->target_root, PP_OWN_APPEND, &key);
    if (status == PARAPET_OK)
        status = pp_store_read_all(pp_store_backend(append->request->target), key, MARK_BYTES_MOST, text, bytes);
    pp_free(key);
    return pp_accept_absence(status);
}

/* Or there is none. Whoever took this one's place meanwhile has a mark of his own, which stays. */
static parapet_status is_own(const pp_append *append, bool *is_ours)
{
    char *text = NULL;
    size_t bytes = 0;
    parapet_status status = load_text(append, &text, &bytes);
    const char *found = text != NULL ? strstr(text, "\n" WORD) : NULL;
    *is_ours = text == NULL || (found != NULL && about(found + 1 + strlen(WORD), append->mark.word) != NULL);
    pp_free(text);
    return status;
}

parapet_status pp_append_mark_remove(const pp_append *append)
{
    pp_mark place = place_of(append);
    bool is_ours = false;
    parapet_status status;
    if ((status = pp_node_lock_prove(&append->group_hold)) != PARAPET_OK ||
        (status = is_own(append, &is_ours)) != PARAPET_OK || !is_ours ||
        (status = pp_mark_remove(&place)) != PARAPET_OK)
        return status;
    return pp_store_sync_dirs(pp_store_backend(append->request->target));
}

static parapet_status parse(const pp_append *append, pp_append_mark *mark, char *text, size_t bytes)
{
    parapet_status status = pp_append_mark_parse(mark, text, bytes);
    if (status != PARAPET_ERR_FORMAT)
        return status;
    return pp_fail(status,
                   "%s%s__parapet/append is not what an append leaves there; look at it, and remove it if nobody "
                   "needs it",
                   append->target_root, append->target_root[0] != '\0' ? "/" : "");
}

parapet_status pp_append_mark_read(const pp_append *append, pp_append_mark *mark)
{
    pp_comm *comm = pp_append_comm(append);
    char *text = NULL;
    void *data;
    size_t bytes = 0;
    parapet_status status = PARAPET_OK;
    if (pp_append_leads(append) && (status = load_text(append, &text, &bytes)) == PARAPET_OK && text != NULL)
        bytes += 1; /* the NUL behind it */
    data = text;
    status = pp_comm_share(comm, "looking for an append", status, &data, &bytes);
    if (status == PARAPET_OK && bytes > 0)
        status = parse(append, mark, data, bytes - 1);
    pp_free(data);
    return pp_comm_agree(comm, "looking for an append", status);
}
