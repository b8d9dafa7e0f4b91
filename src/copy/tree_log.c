/* tree_log.c - which arrays of a hierarchy are copied already: a log beside the target's root.
 *
 *     chunks: ...; shards: ...         what the copy was begun with
 *     old <SHA-256 of zarr.json> <path>   an array that is going to be replaced: with overwrite
 *     <version of the source> <path>      one that is copied */
#include "copy/tree_log.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "array/node.h"
#include "base/status.h"
#include "copy/copy_request.h"

#define LOG_BYTES_MOST ((size_t)64 << 20)

/* Only lines that end are whole. */
static size_t whole_bytes(const char *text, size_t bytes)
{
    while (bytes > 0 && text[bytes - 1] != '\n')
        bytes--;
    return bytes;
}

static const char *said(const char *text)
{
    return pp_copy_is_given(text) ? text : "as the source";
}

static void add_names(pp_text *text, const char *what, const char *names)
{
    if (pp_copy_is_given(names))
        pp_text_add(text, "; %s: %s", what, names);
}

/* The first line: what must be the same for the copy to be resumed. Of every array more is checked. */
static parapet_status print_head(pp_text *text, const parapet_copy_request *request)
{
    const parapet_copy_changes *changes = &request->changes;
    pp_text_add(text, "chunks: %s; shards: %s; order: %s; region: %s; codec: %s; ", said(changes->chunks),
                said(changes->shards), said(changes->order), said(changes->region), said(changes->codec));
    pp_text_add(text, "no_checksum: %d; unit_bytes: %" PRId64 "; intermediate store: %s", changes->no_checksum,
                request->unit_bytes, request->temporary != NULL ? "another" : "the target's");
    add_names(text, "include", request->include);
    add_names(text, "exclude", request->exclude);
    pp_text_add(text, "\n");
    return text->status;
}

static parapet_status compare_heads(const char *lines, const pp_text *head)
{
    if (strncmp(lines, head->data, head->bytes) == 0)
        return PARAPET_OK;
    return pp_fail(PARAPET_ERR_ARGUMENT,
                   "the copy cannot be resumed: it was begun with \"%.*s\", but now it is \"%.*s\"; start again with "
                   "overwrite",
                   (int)strcspn(lines, "\n"), lines, (int)head->bytes - 1, head->data);
}

/* No whole line: nothing was begun. */
parapet_status pp_copy_tree_log_take(pp_copy_tree_log *log, const parapet_copy_request *request, char *lines,
                                     size_t *bytes)
{
    pp_text head = {0};
    parapet_status status = print_head(&head, request);
    log->lines = lines;
    *bytes = whole_bytes(lines, strlen(lines));
    lines[*bytes] = '\0';
    if (status == PARAPET_OK && *bytes > 0)
        status = compare_heads(lines, &head);
    log->is_empty = *bytes <= head.bytes;
    pp_text_free(&head);
    return status;
}

static parapet_status take_up(pp_copy_tree_log *log, const parapet_copy_request *request, size_t *bytes)
{
    char *lines = NULL;
    parapet_status status = pp_store_read_all(log->store, log->key, LOG_BYTES_MOST, &lines, bytes);
    if (status == PARAPET_OK)
        return pp_copy_tree_log_take(log, request, lines, bytes);
    *bytes = 0;
    return pp_accept_absence(status);
}

static parapet_status refuse_unfinished(const pp_copy_tree_log *log, const char *target)
{
    pp_reader *reader = NULL;
    parapet_status status = pp_store_open_object(log->store, log->key, &reader);
    pp_reader_free(reader);
    if (status == PARAPET_OK)
        return pp_fail(PARAPET_ERR_EXISTS,
                       "there is an unfinished copy at \"%s\"; resume it, or set overwrite to start again", target);
    return pp_accept_absence(status);
}

static void print_old(pp_text *text, const char *path, const unsigned char document[PP_SHA256_BYTES])
{
    char digits[PP_SHA256_HEX_BYTES];
    pp_sha256_print(document, digits);
    pp_text_add(text, "old %s %s\n", digits, path);
}

parapet_status pp_copy_tree_log_add_old(pp_copy_tree_log *log, parapet_store *store, const char *path)
{
    pp_node node = {0};
    parapet_status status = pp_node_load(store, path, &node);
    if (status == PARAPET_OK && node.kind == PARAPET_NODE_ARRAY && node.zarr_format == 3) {
        print_old(&log->old, path, node.digest);
        status = log->old.status;
    }
    pp_node_clear(&node);
    return pp_accept_absence(status);
}

parapet_status pp_copy_tree_log_open(pp_copy_tree_log *log, const parapet_copy_request *request, const char *target)
{
    pp_text head = {0};
    size_t bytes = 0;
    parapet_status status = print_head(&head, request);
    if (status == PARAPET_OK && request->resume)
        status = take_up(log, request, &bytes);
    else if (status == PARAPET_OK && !request->overwrite)
        status = refuse_unfinished(log, target);
    log->is_new = status == PARAPET_OK && bytes == 0;
    if (status == PARAPET_OK && (status = pp_store_open_log(log->store, log->key, bytes, &log->log)) == PARAPET_OK &&
        log->is_new) {
        pp_text_add_bytes(&head, log->old.data, log->old.bytes);
        status = head.status == PARAPET_OK ? pp_log_append(log->log, head.data, head.bytes) : head.status;
    }
    pp_text_free(&head);
    return status;
}

static void print_line(pp_text *text, const char *path, int64_t source_version)
{
    pp_text_add(text, "%016" PRIx64 " %s\n", (uint64_t)source_version, path);
}

parapet_status pp_copy_tree_log_note(pp_copy_tree_log *log, const char *path, int64_t source_version)
{
    pp_text line = {0};
    parapet_status status;
    print_line(&line, path, source_version);
    status = line.status == PARAPET_OK ? pp_log_append(log->log, line.data, line.bytes) : line.status;
    log->is_empty = false;
    pp_text_free(&line);
    return status;
}

/* The next line, without its end; NULL: there is none. */
static const char *next_line(const char *line, size_t *bytes)
{
    line += *bytes + (line[*bytes] == '\n');
    *bytes = strcspn(line, "\n");
    return *line != '\0' ? line : NULL;
}

enum { VERSION_BYTES = 17 /* with the blank behind it */ };

/* The line about an array that is copied, or NULL; the first of all is about none. */
static const char *find_copied(const pp_copy_tree_log *log, const char *path)
{
    size_t bytes = log->lines != NULL ? strcspn(log->lines, "\n") : 0, path_bytes = strlen(path);
    const char *line = log->lines;
    while (line != NULL && (line = next_line(line, &bytes)) != NULL)
        if (bytes == VERSION_BYTES + path_bytes && memcmp(line + VERSION_BYTES, path, path_bytes) == 0)
            return line;
    return NULL;
}

bool pp_copy_tree_log_is_old(const pp_copy_tree_log *log, const char *path,
                             const unsigned char document[PP_SHA256_BYTES], bool overwrites)
{
    size_t bytes = log->lines != NULL ? strcspn(log->lines, "\n") : 0;
    const char *line = log->lines;
    pp_text wanted = {0};
    bool is_old = overwrites;
    print_old(&wanted, path, document);
    while (wanted.status == PARAPET_OK && !is_old && line != NULL && (line = next_line(line, &bytes)) != NULL)
        is_old = bytes + 1 == wanted.bytes && memcmp(line, wanted.data, bytes) == 0;
    pp_text_free(&wanted);
    return is_old && find_copied(log, path) == NULL;
}

parapet_status pp_copy_tree_log_check(const pp_copy_tree_log *log, const char *path, int64_t source_version)
{
    const char *line = find_copied(log, path);
    char now[VERSION_BYTES + 1];
    (void)snprintf(now, sizeof now, "%016" PRIx64 " ", (uint64_t)source_version);
    if (line != NULL && memcmp(line, now, VERSION_BYTES) == 0)
        return PARAPET_OK;
    if (line != NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "the copy cannot be resumed: the source of \"%s\" has changed since it was copied; "
                       "start again with overwrite",
                       path);
    return pp_fail(
        PARAPET_ERR_EXISTS,
        "there is an array at \"%s\" that does not belong to the copy being resumed; set overwrite to replace it",
        path);
}

void pp_copy_tree_log_clear(pp_copy_tree_log *log)
{
    pp_log_close(log->log);
    pp_text_free(&log->old);
    pp_free(log->lines);
    pp_free(log->key);
}
