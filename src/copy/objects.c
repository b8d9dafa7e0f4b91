/* objects.c - the copy of an array that nobody here can decode, because its elements have no fixed length: its stored
 * objects one by one, each byte as it is, and its document last. Rank 0 does it: such arrays hold names. */
#include <string.h>

#include "array/array.h"
#include "array/node.h"
#include "array/path.h"
#include "array/remove.h"
#include "array/store.h"
#include "array/walk.h"
#include "base/checked.h"
#include "copy/copy.h"

/* What is read and written at a time. */
#define PIECE_BYTES ((size_t)256 << 10)

/* What a zarr.json never exceeds. */
#define DOCUMENT_BYTES_MOST ((size_t)16 << 20)

typedef struct object_copy {
    pp_copy_task *task;
    const char *target;
    pp_copy_totals *totals;
} object_copy;

static parapet_status pour(pp_copy_task *task, pp_reader *reader, pp_writer *writer)
{
    pp_buffer buffer = {.budget = &task->budget};
    parapet_status status = pp_buffer_ensure(&buffer, PIECE_BYTES, "stored objects");
    uint64_t offset = 0;
    while (status == PARAPET_OK && offset < reader->bytes) {
        size_t bytes = (size_t)(reader->bytes - offset < PIECE_BYTES ? reader->bytes - offset : PIECE_BYTES);
        if ((status = pp_reader_read(reader, offset, bytes, buffer.data)) == PARAPET_OK)
            status = pp_writer_append(writer, buffer.data, bytes);
        offset += bytes;
    }
    pp_buffer_free(&buffer);
    return status;
}

static parapet_status copy_object(const object_copy *copy, const char *from, const char *to, const char *staging)
{
    pp_copy_task *task = copy->task;
    pp_reader *reader = NULL;
    pp_writer *writer = NULL;
    parapet_status status = pp_store_open_object(pp_store_backend(task->source_store), from, &reader);
    if (status == PARAPET_OK)
        status = pp_store_begin(pp_store_backend(task->target_store),
                                &(pp_write_request){.key = to,
                                                    .staging = staging,
                                                    .bound_bytes = reader->bytes,
                                                    .budget = &task->budget,
                                                    .is_small = true},
                                &writer);
    if (status == PARAPET_OK && (status = pour(task, reader, writer)) == PARAPET_OK &&
        (status = pp_writer_stage(writer)) == PARAPET_OK &&
        (status = pp_writer_publish(writer, PP_PUBLISH_REPLACE)) == PARAPET_OK) {
        copy->totals->done.shards_written += 1;
        copy->totals->array_bytes += (int64_t)reader->bytes;
    }
    pp_writer_free(writer);
    pp_reader_free(reader);
    return status;
}

/* Takes what is a stored object of the array, and leaves what somebody else put there. */
static parapet_status take_object(void *context, const char *below, uint64_t bytes)
{
    const object_copy *copy = context;
    const pp_array_document *document = pp_array_document_of(copy->task->source);
    int64_t cell[PARAPET_MAX_NDIM];
    char *from = NULL, *to = NULL, *staging = NULL;
    parapet_status status;
    (void)bytes;
    if (!pp_key_parse(&document->keys, document->ndim, below, cell))
        return PARAPET_OK;
    if ((status = pp_path_join(pp_array_path(copy->task->source), below, &from)) == PARAPET_OK &&
        (status = pp_path_join(copy->target, below, &to)) == PARAPET_OK &&
        (status = pp_path_join(copy->target, "__parapet/tmp", &staging)) == PARAPET_OK &&
        (status = copy_object(copy, from, to, staging)) == PARAPET_OK)
        status = pp_copy_task_tick(copy->task, 0);
    pp_free(from);
    pp_free(to);
    pp_free(staging);
    return status;
}

/* The document makes the array visible. */
static parapet_status publish(const object_copy *copy)
{
    pp_copy_task *task = copy->task;
    char *key = NULL, *text = NULL;
    size_t bytes = 0;
    pp_edit edit = {0};
    parapet_status status;
    if ((status = pp_path_join(pp_array_path(task->source), "zarr.json", &key)) == PARAPET_OK &&
        (status = pp_store_read_all(pp_store_backend(task->source_store), key, DOCUMENT_BYTES_MOST, &text, &bytes)) ==
            PARAPET_OK &&
        (status = pp_edit_begin(&edit, task->target_store, copy->target)) == PARAPET_OK) {
        if ((status = pp_node_prepare_ancestors(task->target_store, copy->target)) == PARAPET_OK &&
            (status = pp_edit_prove(&edit)) == PARAPET_OK)
            status = pp_node_write(task->target_store, copy->target, PARAPET_NODE_ARRAY, text, bytes,
                                   PP_PUBLISH_EXCLUSIVE);
        pp_edit_end(&edit);
    }
    pp_free(key);
    pp_free(text);
    return status;
}

/* Whether an earlier run has done it; else nothing is at the target afterwards. */
static parapet_status make_room(const object_copy *copy, bool *is_done)
{
    const parapet_copy_request *request = copy->task->request;
    pp_node node = {0};
    parapet_status status = pp_node_load(copy->task->target_store, copy->target, &node);
    bool is_there = status == PARAPET_OK && !node.is_implicit;
    *is_done = is_there && request->resume &&
               memcmp(node.digest, pp_array_document_digest(copy->task->source), PP_SHA256_BYTES) == 0;
    if (status == PARAPET_OK && is_there && !*is_done && node.kind != PARAPET_NODE_ARRAY)
        status = pp_fail(PARAPET_ERR_EXISTS, "there is a group at \"%s\"; an array cannot replace it", copy->target);
    else if (status == PARAPET_OK && is_there && !*is_done && !request->overwrite)
        status = pp_fail(PARAPET_ERR_EXISTS, "there is an array at \"%s\" already; set overwrite to replace it",
                         copy->target);
    else if (status == PARAPET_OK && is_there && !*is_done)
        status = pp_remove_array(copy->task->target_store, copy->target);
    pp_node_clear(&node);
    return status == PARAPET_ERR_NOT_FOUND ? PARAPET_OK : status;
}

/* What was needed for temporary objects. */
static parapet_status remove_own_prefix(const object_copy *copy)
{
    char *prefix = NULL;
    parapet_status status = pp_path_join(copy->target, "__parapet", &prefix);
    if (status == PARAPET_OK)
        status = pp_store_remove_empty(pp_store_backend(copy->task->target_store), prefix);
    pp_free(prefix);
    return status;
}

/* Rank 0. */
static parapet_status copy_all(const object_copy *copy)
{
    pp_copy_task *task = copy->task;
    bool is_done = false;
    parapet_status status;
    if ((status = pp_store_check_writable(task->target_store)) != PARAPET_OK ||
        (status = make_room(copy, &is_done)) != PARAPET_OK || is_done ||
        (status = pp_walk_objects(task->source_store, pp_array_path(task->source), take_object,
                                  (void *)(uintptr_t)copy)) != PARAPET_OK ||
        (status = publish(copy)) != PARAPET_OK)
        return status;
    if ((status = pp_node_remove_own(task->target_store, copy->target)) != PARAPET_OK ||
        (status = remove_own_prefix(copy)) != PARAPET_OK)
        return status;
    return pp_store_settle(pp_store_backend(task->target_store));
}

parapet_status pp_copy_objects(pp_copy_task *task, const char *target_path, pp_copy_totals *totals)
{
    object_copy copy = {.task = task, .totals = totals};
    char *target = NULL;
    parapet_status status = pp_path_normalize(target_path, &target);
    copy.target = target;
    if (status == PARAPET_OK && pp_copy_task_leads(task))
        status = copy_all(&copy);
    totals->arrays += 1;
    pp_free(target);
    return pp_comm_agree(pp_copy_task_comm(task), "copying objects", status);
}

parapet_status pp_copy_objects_explain(const pp_copy_task *task, bool is_json, pp_text *text)
{
    const char *type = pp_array_document_of(task->source)->type.name;
    if (is_json)
        pp_text_add(text, "{\"type\": \"%s\", \"copied\": \"as stored\"}\n", type);
    else
        pp_text_add(text, "copy of %s, object by object, each byte as it is\n", type);
    return text->status;
}
