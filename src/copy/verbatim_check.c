/* verbatim_check.c - which arrays nobody here can decode, because their elements have no fixed length, what may be
 * asked of a copy of them, and their documents, which are copied as they are stored. */
#include "copy/verbatim_check.h"

#include <string.h>

#include "array/array.h"
#include "array/node_path.h"
#include "array/store_queries.h"
#include "base/status.h"
#include "copy/changes.h"
#include "copy/copy_request.h"
#include "copy/task.h"

/* What a zarr.json never exceeds. */
#define DOCUMENT_BYTES_MOST ((size_t)16 << 20)

bool pp_copy_verbatim_suit(const pp_copy_task *task)
{
    const pp_array_document *source = pp_array_document_of(task->source);
    return source->type.element_bytes == 0 && source->zarr_format == 3;
}

parapet_status pp_copy_verbatim_check(const pp_copy_task *task, bool is_in_tree)
{
    const pp_array_document *source = pp_array_document_of(task->source);
    parapet_copy_changes changes = task->request->changes;
    pp_copy_wishes wishes;
    parapet_status status;
    if (is_in_tree)
        changes.chunks = changes.shards = NULL;
    if ((status = pp_copy_changes_parse(&wishes, &changes, source, is_in_tree)) != PARAPET_OK)
        return status;
    if (!wishes.is_touched && (is_in_tree || !pp_copy_is_given(changes.codec)))
        return PARAPET_OK;
    return pp_fail(PARAPET_ERR_UNSUPPORTED,
                   "data_type %s has elements of variable length, which can only be copied as they are: without %s",
                   source->type.name, is_in_tree ? "order and region" : "chunks, shards, codec, order and region");
}

bool pp_copy_is_object(const pp_copy_task *task, const char *key)
{
    const pp_array_document *document = pp_array_document_of(task->source);
    int64_t cell[PARAPET_MAX_NDIM];
    return pp_key_parse(&document->keys, document->ndim, key, cell);
}

/* Rank 0: reads the document as it is stored, which must be the one that was opened. */
static parapet_status read_document(pp_copy_task *task)
{
    unsigned char digest[PP_SHA256_BYTES];
    pp_text *text = &task->stored_document;
    char *key = NULL, *data = NULL;
    size_t bytes = 0;
    parapet_status status = pp_path_join(pp_array_path(task->source), "zarr.json", &key);
    if (status == PARAPET_OK)
        status = pp_store_read_all(pp_store_backend(task->source_store), key, DOCUMENT_BYTES_MOST, &data, &bytes);
    if (status == PARAPET_OK) {
        pp_sha256_of(data, bytes, digest);
        pp_text_add_bytes(text, data, bytes);
        status = text->status;
    }
    pp_free(key);
    pp_free(data);
    if (status == PARAPET_OK && memcmp(digest, pp_array_document_digest(task->source), sizeof digest) != 0)
        return pp_fail(PARAPET_ERR_STALE, "array \"%s\" has changed since it was opened",
                       pp_array_path(task->source));
    return status;
}

parapet_status pp_copy_verbatim_build(pp_copy_task *task)
{
    pp_array_document document = {0};
    pp_json *json = NULL;
    parapet_status status = read_document(task);
    if (status == PARAPET_OK &&
        (status = pp_json_parse(&json, task->stored_document.data, task->stored_document.bytes)) == PARAPET_OK &&
        (status = pp_array_document_parse(&document, json)) == PARAPET_OK)
        pp_array_take_undecodable(task->target, &document);
    pp_array_document_clear(&document);
    pp_json_free(json);
    return status;
}
