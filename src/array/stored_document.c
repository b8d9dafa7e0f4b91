/* stored_document.c - an array's document goes to the store. */
#include "array/stored_document.h"

#include <string.h>

#include "array/ancestors.h"
#include "array/array_handle.h"
#include "array/attributes.h"
#include "array/document.h"
#include "array/node.h"
#include "array/node_path.h"
#include "array/refresh.h"
#include "array/seal_objects.h"
#include "change/registry.h"

/* Once the document may be visible, what the handle knows is not certain any more unless all went well. Before the
 * first one, the groups above were prepared. */
static parapet_status write_document(parapet_array *array, const pp_text *text, pp_seal_change seal,
                                     pp_publish_mode mode)
{
    bool is_sealed = seal == PP_SEAL_KEEP ? array->is_sealed : seal == PP_SEAL_SET;
    unsigned char digest[PP_SHA256_BYTES];
    parapet_status status = PARAPET_OK;
    pp_sha256_of(text->data, text->bytes, digest);
    if (!array->is_detached && mode == PP_PUBLISH_REPLACE &&
        (status = pp_ancestors_drop_consolidated_with(array->store, array->path)) != PARAPET_OK)
        return status;
    if (array->is_sealed || is_sealed)
        status = pp_seal_write_head(array, array->document_digest, digest);
    else if (array->has_head)
        status = pp_seal_remove_head(array);
    if (status != PARAPET_OK)
        return status;
    memcpy(array->document_digest, digest, sizeof digest);
    array->document_version = 0;
    status = (mode == PP_PUBLISH_EXCLUSIVE ? pp_node_publish : pp_node_write)(
        array->store, array->path, PARAPET_NODE_ARRAY, text->data, text->bytes, mode);
    if (status == PARAPET_OK &&
        is_sealed) /* from now on the head goes with this document alone, and an older one is found out */
        status = pp_seal_write_head(array, digest, digest);
    array->is_broken = status != PARAPET_OK;
    if (status == PARAPET_OK)
        array->is_sealed = is_sealed;
    return status;
}

/* Whatever needs memory comes before the document is stored, so that afterwards nothing can fail. */
static parapet_status store_document(parapet_array *array, pp_array_document *document, pp_seal_change seal,
                                     pp_publish_mode mode)
{
    pp_derived follows = {0};
    pp_text text = {0};
    parapet_status status;
    if ((status = pp_derived_init(&follows, array->store, document)) == PARAPET_OK &&
        (status = pp_array_document_print(document, &text)) == PARAPET_OK)
        status = write_document(array, &text, seal, mode);
    if (status == PARAPET_OK) {
        pp_array_document old = array->document;
        array->document = *document;
        *document = old;
        pp_derived_adopt(&follows, array);
    }
    pp_derived_clear(&follows);
    pp_text_free(&text);
    pp_array_document_clear(document);
    return status;
}

parapet_status pp_array_store_first_document(parapet_array *array, pp_array_document *document)
{
    return store_document(array, document, PP_SEAL_KEEP, PP_PUBLISH_EXCLUSIVE);
}

parapet_status pp_array_edit_held(parapet_array *array, pp_document_change change, const void *argument,
                                  pp_seal_change seal)
{
    pp_array_document changed = {0};
    parapet_status status = pp_array_document_duplicate(&array->document, &changed);
    if (status == PARAPET_OK)
        status = change(array, &changed, argument);
    if (status != PARAPET_OK) {
        pp_array_document_clear(&changed);
        return status;
    }
    return store_document(array, &changed, seal, PP_PUBLISH_REPLACE);
}

/* No other job knows of an array that is detached, so that needs no lock. */
parapet_status pp_array_edit(parapet_array *array, pp_document_change change, const void *argument,
                             pp_seal_change seal)
{
    pp_edit edit;
    parapet_status status;
    if (array->is_detached)
        return pp_array_edit_held(array, change, argument, seal);
    if ((status = pp_edit_begin(&edit, array->store, array->path)) != PARAPET_OK)
        return status;
    if ((status = pp_array_refresh_document(array)) == PARAPET_OK && (status = pp_edit_prove(&edit)) == PARAPET_OK)
        status = pp_array_edit_held(array, change, argument, seal);
    pp_edit_end(&edit);
    return status;
}

static parapet_status digest_document(const parapet_array *array, unsigned char digest[PP_SHA256_BYTES])
{
    pp_text printed = {0};
    parapet_status status = pp_array_document_print(&array->document, &printed);
    if (status == PARAPET_OK)
        pp_sha256_of(printed.data, printed.bytes, digest);
    pp_text_free(&printed);
    return status;
}

parapet_status pp_array_note_digest(parapet_array *array)
{
    return digest_document(array, array->document_digest);
}

parapet_status pp_array_digest_extended(const parapet_array *array, int64_t extent,
                                        unsigned char digest[PP_SHA256_BYTES])
{
    parapet_array extended = {0};
    parapet_status status = pp_array_document_duplicate(&array->document, &extended.document);
    if (status == PARAPET_OK) {
        pp_json_remove(extended.document.attributes, PP_RESERVED_ATTRIBUTE);
        extended.document.shape[0] = extent;
        status = digest_document(&extended, digest);
    }
    pp_array_document_clear(&extended.document);
    return status;
}

parapet_status pp_array_write_document(parapet_array *array, pp_publish_mode mode)
{
    parapet_store *store = array->store;
    char *key = NULL, *staging = NULL;
    pp_text text = {0};
    parapet_status status;
    if ((status = pp_array_document_print(&array->document, &text)) == PARAPET_OK &&
        (status = pp_path_join(array->path, "zarr.json", &key)) == PARAPET_OK &&
        (status = pp_own_key(array->path, PP_OWN_TEMPORARIES, &staging)) == PARAPET_OK)
        status = pp_store_write_all(
            store->backend,
            &(pp_write_request){.key = key, .staging = staging, .budget = &store->budget, .is_small = true},
            text.data, text.bytes, mode);
    if (status == PARAPET_OK) {
        pp_sha256_of(text.data, text.bytes, array->document_digest);
        store->counters.written_bytes += (int64_t)text.bytes;
        store->counters.objects_written += 1;
    }
    pp_text_free(&text);
    pp_free(staging);
    pp_free(key);
    return status;
}
