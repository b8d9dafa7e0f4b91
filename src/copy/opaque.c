/* opaque.c - which arrays nobody here can decode, because their elements have no fixed length, and what may be asked
 * of a copy of them. */
#include "array/array.h"
#include "copy/copy.h"

bool pp_copy_objects_suit(const pp_copy_task *task)
{
    const pp_array_document *source = pp_array_document_of(task->source);
    return source->type.element_bytes == 0 && source->zarr_format == 3;
}

parapet_status pp_copy_objects_check(const pp_copy_task *task, bool is_in_tree)
{
    const pp_array_document *source = pp_array_document_of(task->source);
    parapet_copy_changes changes = task->request->changes;
    pp_copy_wishes wishes;
    parapet_status status;
    if (is_in_tree)
        changes.chunks = changes.shards = NULL;
    if ((status = pp_copy_changes_parse(&wishes, &changes, source, is_in_tree)) != PARAPET_OK || !wishes.is_touched)
        return status;
    return pp_fail(PARAPET_ERR_UNSUPPORTED,
                   "data_type %s has elements of variable length, which can only be copied as they are: without %s",
                   source->type.name, is_in_tree ? "order and region" : "chunks, shards, order and region");
}
