/* verbatim.c - the copy of an array that nobody here can decode, because its elements have no fixed length: its
 * stored objects one by one, each byte as it is. Rank 0 does it: such arrays hold names. All else is as in other
 * copies. */
#include "copy/verbatim.h"

#include <string.h>

#include "array/array.h"
#include "array/node_path.h"
#include "array/store_queries.h"
#include "array/walk.h"
#include "base/status.h"
#include "copy/progress.h"
#include "copy/replace.h"
#include "copy/task.h"
#include "copy/verbatim_check.h"

/* What is read and written at a time; two of them are compared. */
#define PIECE_BYTES (PP_COPY_OBJECTS_BYTES / 4)

/* What is done with the objects of an array, and so far. */
typedef struct object_work {
    pp_copy_task *task;
    const char *target; /* where an object is written or compared */
    int64_t objects, bytes;
} object_work;

static parapet_status open_object(parapet_store *store, const char *path, const char *below, pp_reader **reader)
{
    char *key = NULL;
    parapet_status status = pp_path_join(path, below, &key);
    if (status == PARAPET_OK)
        status = pp_store_open_object(pp_store_backend(store), key, reader);
    pp_free(key);
    return status;
}

static parapet_status walk_source(object_work *work, pp_walk_visitor visit)
{
    parapet_status status = pp_walk_objects(work->task->source_store, pp_array_path(work->task->source), visit, work);
    return pp_accept_absence(status);
}

/* ---- Copying ---- */

static parapet_status pour(const object_work *work, pp_reader *reader, pp_writer *writer)
{
    pp_buffer buffer = {.budget = &work->task->budget};
    parapet_status status = pp_buffer_ensure(&buffer, PIECE_BYTES, "stored objects");
    uint64_t offset = 0;
    while (status == PARAPET_OK && offset < reader->bytes) {
        size_t bytes = (size_t)(reader->bytes - offset < PIECE_BYTES ? reader->bytes - offset : PIECE_BYTES);
        if ((status = pp_reader_read(reader, offset, bytes, buffer.data)) == PARAPET_OK &&
            (status = pp_writer_append(writer, buffer.data, bytes)) == PARAPET_OK)
            status = pp_copy_task_tick(work->task, 0);
        offset += bytes;
    }
    pp_buffer_free(&buffer);
    return status;
}

static parapet_status write_object(object_work *work, pp_reader *reader, const char *key)
{
    pp_copy_task *task = work->task;
    pp_writer *writer = NULL;
    parapet_status status = pp_store_begin(pp_store_backend(task->target_store),
                                           &(pp_write_request){.key = key,
                                                               .staging = task->staging,
                                                               .bound_bytes = reader->bytes,
                                                               .budget = &task->budget,
                                                               .is_small = true},
                                           &writer);
    if (status == PARAPET_OK && (status = pour(work, reader, writer)) == PARAPET_OK &&
        (status = pp_writer_stage(writer)) == PARAPET_OK &&
        (status = pp_writer_publish(writer, PP_PUBLISH_REPLACE)) == PARAPET_OK) {
        work->objects += 1;
        work->bytes += (int64_t)reader->bytes;
    }
    pp_writer_free(writer);
    return status;
}

static parapet_status copy_object(void *context, const char *below, uint64_t bytes)
{
    object_work *work = context;
    pp_reader *reader = NULL;
    char *key = NULL;
    parapet_status status;
    (void)bytes;
    if (!pp_copy_is_object(work->task, below))
        return PARAPET_OK;
    if ((status = open_object(work->task->source_store, pp_array_path(work->task->source), below, &reader)) ==
            PARAPET_OK &&
        (status = pp_path_join(work->target, below, &key)) == PARAPET_OK)
        status = write_object(work, reader, key);
    pp_free(key);
    pp_reader_free(reader);
    return status;
}

/* Rank 0: to where they stay, or beside an array that stays until they are complete. */
static parapet_status copy_all(object_work *work)
{
    pp_copy_task *task = work->task;
    char *beside = NULL;
    parapet_status status = task->replaces ? pp_copy_replace_path(task, &beside) : PARAPET_OK;
    work->target = task->replaces ? beside : pp_array_path(task->target);
    if (status == PARAPET_OK && (status = walk_source(work, copy_object)) == PARAPET_OK)
        status = pp_store_sync_dirs(pp_store_backend(task->target_store));
    pp_free(beside);
    return status;
}

parapet_status pp_copy_verbatim(pp_copy_task *task, pp_copy_totals *totals)
{
    object_work work = {.task = task};
    parapet_status status = PARAPET_OK;
    if (pp_copy_task_leads(task) && task->phase < PP_COPY_COMPLETE)
        status = copy_all(&work);
    status = pp_comm_agree_sums(pp_copy_task_comm(task), "copying objects", status, &work.bytes, 1);
    totals->array_bytes += work.bytes;
    totals->done.shards_written += work.objects;
    return status;
}

/* ---- Verifying ---- */

static parapet_status compare(object_work *work, pp_reader *one, pp_reader *other, const char *key)
{
    pp_buffer buffer = {.budget = &work->task->budget};
    parapet_status status = pp_buffer_ensure(&buffer, 2 * PIECE_BYTES, "stored objects");
    bool is_same = one->bytes == other->bytes;
    uint64_t offset = 0;
    while (status == PARAPET_OK && is_same && offset < one->bytes) {
        size_t bytes = (size_t)(one->bytes - offset < PIECE_BYTES ? one->bytes - offset : PIECE_BYTES);
        unsigned char *second = (unsigned char *)buffer.data + PIECE_BYTES;
        if ((status = pp_reader_read(one, offset, bytes, buffer.data)) == PARAPET_OK &&
            (status = pp_reader_read(other, offset, bytes, second)) == PARAPET_OK &&
            (status = pp_copy_task_tick(work->task, 0)) == PARAPET_OK)
            is_same = memcmp(buffer.data, second, bytes) == 0;
        offset += bytes;
    }
    pp_buffer_free(&buffer);
    if (status != PARAPET_OK || is_same)
        return status;
    return pp_fail(PARAPET_ERR_CORRUPT,
                   "verifying found that \"%s/%s\" is not what array \"%s\" has there; copy it "
                   "again with overwrite",
                   work->target, key, pp_array_path(work->task->source));
}

static parapet_status compare_object(void *context, const char *below, uint64_t bytes)
{
    object_work *work = context;
    pp_reader *one = NULL, *other = NULL;
    parapet_status status;
    if (!pp_copy_is_object(work->task, below))
        return PARAPET_OK;
    if ((status = open_object(work->task->source_store, pp_array_path(work->task->source), below, &one)) ==
            PARAPET_OK &&
        (status = open_object(work->task->target_store, work->target, below, &other)) == PARAPET_OK)
        status = compare(work, one, other, below);
    work->bytes += (int64_t)bytes;
    work->objects += 1;
    pp_reader_free(one);
    pp_reader_free(other);
    return status;
}

static parapet_status count_object(void *context, const char *below, uint64_t bytes)
{
    object_work *work = context;
    (void)bytes;
    work->objects -= pp_copy_is_object(work->task, below);
    return PARAPET_OK;
}

/* Rank 0. */
static parapet_status compare_all(object_work *work)
{
    parapet_status status = walk_source(work, compare_object);
    if (status == PARAPET_OK)
        status = pp_walk_objects(work->task->target_store, work->target, count_object, work);
    if (status == PARAPET_OK && work->objects != 0)
        return pp_fail(PARAPET_ERR_CORRUPT,
                       "verifying found more objects in \"%s\" than array \"%s\" has; copy it again with overwrite",
                       work->target, pp_array_path(work->task->source));
    return status;
}

parapet_status pp_copy_verbatim_verify(pp_copy_task *task, int64_t *verified_bytes)
{
    object_work work = {.task = task, .target = pp_array_path(task->target)};
    parapet_status status = pp_copy_task_leads(task) ? compare_all(&work) : PARAPET_OK;
    status = pp_comm_agree_sums(pp_copy_task_comm(task), "verifying", status, &work.bytes, 1);
    *verified_bytes += work.bytes;
    return status;
}

/* ---- Explaining ---- */

parapet_status pp_copy_verbatim_explain(const pp_copy_task *task, bool is_json, pp_text *text)
{
    const char *type = pp_array_document_of(task->source)->type.name;
    if (is_json)
        pp_text_add(text, "{\"type\": \"%s\", \"copied\": \"as stored\"}\n", type);
    else
        pp_text_add(text, "copy of %s, object by object, each byte as it is\n", type);
    return text->status;
}
