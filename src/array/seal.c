/* seal.c - the steps that put a seal in force and take it off; on rank 0 alone.
 *
 * What is stored, with the SHA-256 of zarr.json before (D0) and after (D1) the step; the head has two of them:
 *
 *     zarr.json D0, no head
 *      | pp_seal_remove_stale: an older head and its pages; then seal_many.c writes the pages
 *      | pp_seal_mark: pp_seal_write_head
 *     zarr.json D0, head (D0, D1): not in force, since D0 has no mark
 *      | pp_seal_mark: zarr.json
 *     zarr.json D1, head (D0, D1): sealed
 *      | pp_seal_mark: pp_seal_write_head
 *     zarr.json D1, head (D1, D1): sealed, and D0 would be found out
 *
 * pp_seal_break goes back: head (D1, D2), zarr.json D2 without the mark, then the head and the pages are
 * removed. write_document in stored_document.c has this order, for every other change of a sealed array, too.
 *
 * Invariants:
 *
 *  1. Each arrow is durable before the next. So in any crash zarr.json is one that the head names, and no crash
 *     looks like damage.
 *  2. The mark in zarr.json is what seals the array. A head without it is not in force, and is removed by the
 *     next change (drop_leftover); a mark without a head that names this zarr.json is damage.
 *  3. Pages are removed after the head that names them, and written before it.
 *  4. Of several jobs that write a sealed array, one takes the seal off, with SHORT held
 *     (pp_seal_break_shared). The others find it gone when they look again, and this is no damage
 *     (pp_batch_look_for_broken_seals).
 *
 * The options require_sealed and ignore_seal: docs/guide/arrays.md, "Seal and check". */
#include "array/seal.h"

#include "array/array.h"
#include "array/array_handle.h"
#include "array/attributes.h"
#include "array/change.h"
#include "array/refresh.h"
#include "array/seal_objects.h"
#include "array/stored_document.h"
#include "array/trim.h"

/* {"sealed": {...}} or, for an array without seal, nothing. */
static parapet_status mark_document(parapet_array *array, pp_array_document *document, const void *is_sealed)
{
    unsigned char digest[PP_SHA256_BYTES];
    char hex[PP_SHA256_HEX_BYTES];
    pp_text text = {0};
    pp_json *mark = NULL;
    parapet_status status;
    if (!*(const bool *)is_sealed) {
        pp_json_remove(document->attributes, PP_RESERVED_ATTRIBUTE);
        return PARAPET_OK;
    }
    pp_manifest_head_digest(&array->head, digest);
    pp_sha256_print(digest, hex);
    pp_text_add(&text, "{\"sealed\": {\"shards\": %llu, \"manifest_sha256\": \"%s\"}}",
                (unsigned long long)array->head.shard_count, hex);
    if ((status = text.status) == PARAPET_OK && (status = pp_json_parse(&mark, text.data, text.bytes)) == PARAPET_OK)
        status = pp_json_set(document->attributes, PP_RESERVED_ATTRIBUTE, mark);
    pp_text_free(&text);
    return status;
}

/* The step that seals or unseals. */
static parapet_status replace_document(parapet_array *array, pp_seal_change seal)
{
    bool is_sealed = seal == PP_SEAL_SET;
    return pp_array_edit(array, mark_document, &is_sealed, seal);
}

parapet_status pp_seal_remove_stale(parapet_array *array)
{
    parapet_status status = pp_trim_finish(array);
    return status == PARAPET_OK && array->has_head ? pp_seal_remove_objects(array) : status;
}

parapet_status pp_seal_mark(parapet_array *array)
{
    pp_seal_forget_pages(array);
    return replace_document(array, PP_SEAL_SET);
}

parapet_status pp_seal_mark_apart(parapet_array *array)
{
    bool is_sealed = true;
    parapet_status status;
    pp_seal_forget_pages(array);
    if ((status = mark_document(array, &array->document, &is_sealed)) != PARAPET_OK ||
        (status = pp_array_write_document(array, PP_PUBLISH_REPLACE)) != PARAPET_OK)
        return status;
    return pp_seal_publish_head(array, array->document_digest);
}

/* The handle's document has no mark: as it is, it takes the mark off. */
static parapet_status leave_unmarked(parapet_array *array, pp_array_document *changed, const void *argument)
{
    (void)array;
    (void)changed;
    (void)argument;
    return PARAPET_OK;
}

/* A head that is not in force: left by a crash, or ignored on request; then zarr.json may still say sealed. */
static parapet_status drop_leftover(parapet_array *array)
{
    parapet_status status;
    if (array->has_head && (status = pp_seal_remove_objects(array)) != PARAPET_OK)
        return status;
    if (!array->is_mark_ignored)
        return PARAPET_OK;
    if ((status = pp_array_edit(array, leave_unmarked, NULL, PP_SEAL_KEEP)) == PARAPET_OK)
        array->is_mark_ignored = false;
    return status;
}

parapet_status pp_seal_break(parapet_array *array)
{
    parapet_status status;
    if (!array->is_sealed)
        return drop_leftover(array);
    if ((status = replace_document(array, PP_SEAL_OFF)) != PARAPET_OK)
        return status;
    return pp_seal_remove_objects(array);
}

parapet_status pp_seal_break_shared(parapet_array *array)
{
    bool is_sealed = false;
    pp_edit edit;
    parapet_status status;
    if (array->is_detached)
        return pp_seal_break(array);
    if ((status = pp_edit_begin(&edit, array->store, array->path)) != PARAPET_OK)
        return status;
    /* Another job that writes this array may have taken the seal off while this one waited for SHORT. */
    if ((status = pp_array_refresh(array)) == PARAPET_OK && (status = pp_edit_prove(&edit)) == PARAPET_OK &&
        array->is_sealed)
        status = pp_array_edit_held(array, mark_document, &is_sealed, PP_SEAL_OFF);
    if (status == PARAPET_OK && array->has_head)
        status = pp_seal_remove_objects(array);
    pp_edit_end(&edit);
    return status;
}

static parapet_status unseal(parapet_array *array, const void *argument)
{
    (void)argument;
    return pp_seal_break(array);
}

parapet_status parapet_array_unseal(parapet_array *array)
{
    PP_TURN turn = {0};
    pp_call call;
    parapet_status status;
    if (array == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_array_unseal needs an array");
    if ((status = pp_turn_take(&turn, array->store->comm, PP_TURN_COLLECTIVE)) != PARAPET_OK)
        return status;
    pp_call_init(&call, "unseal(%s)", array->path);
    if ((status = pp_comm_begin(array->store->comm, &call, pp_array_check_writable(array))) != PARAPET_OK)
        return pp_outcome(status);
    return pp_outcome(pp_array_change_alone(array, "unsealing", unseal, NULL));
}
