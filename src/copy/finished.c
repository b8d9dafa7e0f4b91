/* finished.c - which arrays of a hierarchy are copied already: a log beside the target's root, one line for each. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "copy/copy.h"

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
    return text != NULL && text[0] != '\0' ? text : "as the source";
}

/* The first line: what must be the same for the copy to be resumed. Of every array more is checked. */
static parapet_status print_head(pp_text *text, const parapet_copy_request *request)
{
    const parapet_copy_changes *changes = &request->changes;
    pp_text_add(text, "chunks: %s; shards: %s; order: %s; region: %s; codec: %s; ", said(changes->chunks),
                said(changes->shards), said(changes->order), said(changes->region), said(changes->codec));
    pp_text_add(text, "no_checksum: %d; unit_bytes: %" PRId64 "; intermediate store: %s\n", changes->no_checksum,
                request->unit_bytes, request->temporary != NULL ? "another" : "the target's");
    return text->status;
}

/* Takes up the lines that are there; no whole one: nothing was begun. */
static parapet_status take_up(pp_copy_finished *log, const pp_text *head, size_t *bytes)
{
    parapet_status status = pp_store_read_all(log->store, log->key, LOG_BYTES_MOST, &log->lines, bytes);
    if (status != PARAPET_OK) {
        *bytes = 0;
        return status == PARAPET_ERR_NOT_FOUND ? PARAPET_OK : status;
    }
    *bytes = whole_bytes(log->lines, *bytes);
    log->lines[*bytes] = '\0';
    if (*bytes > 0 && strncmp(log->lines, head->data, head->bytes) != 0)
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "the copy cannot be resumed: it was begun with \"%.*s\", but now there is \"%.*s\"; start "
                       "again with overwrite",
                       (int)strcspn(log->lines, "\n"), log->lines, (int)head->bytes - 1, head->data);
    return PARAPET_OK;
}

static parapet_status refuse_unfinished(const pp_copy_finished *log, const char *target)
{
    pp_reader *reader = NULL;
    parapet_status status = pp_store_open_object(log->store, log->key, &reader);
    pp_reader_free(reader);
    if (status == PARAPET_OK)
        return pp_fail(PARAPET_ERR_EXISTS,
                       "an unfinished copy lies at \"%s\"; resume it, or set overwrite to start again", target);
    return status == PARAPET_ERR_NOT_FOUND ? PARAPET_OK : status;
}

parapet_status pp_copy_finished_open(pp_copy_finished *log, const parapet_copy_request *request, const char *target)
{
    pp_text head = {0};
    size_t bytes = 0;
    parapet_status status = print_head(&head, request);
    if (status == PARAPET_OK && request->resume)
        status = take_up(log, &head, &bytes);
    else if (status == PARAPET_OK && !request->overwrite)
        status = refuse_unfinished(log, target);
    log->is_new = status == PARAPET_OK && bytes == 0;
    if (status == PARAPET_OK && (status = pp_store_open_log(log->store, log->key, bytes, &log->log)) == PARAPET_OK &&
        log->is_new)
        status = pp_log_append(log->log, head.data, head.bytes);
    pp_text_free(&head);
    return status;
}

static void print_line(pp_text *text, const char *path, int64_t source_version)
{
    pp_text_add(text, "%016" PRIx64 " %s\n", (uint64_t)source_version, path);
}

parapet_status pp_copy_finished_note(pp_copy_finished *log, const char *path, int64_t source_version)
{
    pp_text line = {0};
    parapet_status status;
    print_line(&line, path, source_version);
    status = line.status == PARAPET_OK ? pp_log_append(log->log, line.data, line.bytes) : line.status;
    pp_text_free(&line);
    return status;
}

parapet_status pp_copy_finished_check(const pp_copy_finished *log, const char *path, int64_t source_version)
{
    const char *line = log->lines; /* the first is no array */
    char now[24];
    (void)snprintf(now, sizeof now, "%016" PRIx64 " ", (uint64_t)source_version);
    while (line != NULL && *line != '\0') {
        size_t bytes = strcspn(line, "\n");
        if (line != log->lines && bytes == strlen(now) + strlen(path) &&
            memcmp(line + strlen(now), path, strlen(path)) == 0) {
            if (memcmp(line, now, strlen(now)) == 0)
                return PARAPET_OK;
            return pp_fail(PARAPET_ERR_ARGUMENT,
                           "the copy cannot be resumed: the source of \"%s\" has changed since it was copied; "
                           "start again with overwrite",
                           path);
        }
        line += bytes + (line[bytes] == '\n');
    }
    return pp_fail(PARAPET_ERR_EXISTS,
                   "there is an array at \"%s\" that is not of the copy that is resumed; set "
                   "overwrite to replace it",
                   path);
}

void pp_copy_finished_clear(pp_copy_finished *log)
{
    pp_log_close(log->log);
    pp_free(log->lines);
    pp_free(log->key);
}
