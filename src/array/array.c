#include <string.h>

#include "array/internal.h"

static void free_array(parapet_array *array)
{
    if (array == NULL)
        return;
    pp_layout_clear(&array->layout);
    pp_array_document_clear(&array->document);
    pp_manifest_head_clear(&array->head);
    pp_free(array->page);
    pp_free(array->codec_words);
    pp_free(array->path);
    pp_free(array);
}

parapet_status pp_array_handle_finish(parapet_array **array, parapet_status status)
{
    if (status == PARAPET_OK) {
        (*array)->store->handle_count++;
        return PARAPET_OK;
    }
    free_array(*array);
    *array = NULL;
    return status;
}

parapet_status pp_array_handle_build(parapet_array **array, parapet_store *store, const char *path)
{
    parapet_status status;
    if (array != NULL)
        *array = NULL;
    if (array == NULL || store == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "an array needs a store and a place for its handle");
    if ((status = pp_allocate(array, sizeof **array)) != PARAPET_OK)
        return status;
    (*array)->store = store;
    (*array)->page_number = -1;
    if ((status = pp_path_normalize(path, &(*array)->path)) != PARAPET_OK) {
        free_array(*array);
        *array = NULL;
    }
    return status;
}

static const pp_chain_spec *chunk_codecs(const pp_array_document *document)
{
    const pp_chain_spec *codecs = &document->codecs;
    return codecs->count == 1 && codecs->codecs[0].id == PP_CODEC_SHARDING ? &codecs->codecs[0].sharding->codecs
                                                                           : codecs;
}

/* What follows from a document. */
typedef struct derived {
    pp_layout layout;
    pp_failure layout_failure;
    char *codec_words;
} derived;

static void clear_derived(derived *from)
{
    pp_layout_clear(&from->layout);
    pp_free(from->codec_words);
    from->codec_words = NULL;
}

/* Arrays of variable-length elements have no layout: they open and list, and say why they cannot be read. */
static parapet_status derive(const parapet_store *store, const pp_array_document *document, derived *result)
{
    pp_text text = {0};
    parapet_status status = pp_layout_init(&result->layout, document, store->options.ignore_checksums == 1);
    if (status == PARAPET_ERR_ARGUMENT) /* a shape that cannot be, found in a document instead of a call */
        status = PARAPET_ERR_FORMAT;
    pp_failure_take(&result->layout_failure, status);
    if (status != PARAPET_OK && document->type.id != PARAPET_VARIABLE)
        return status;
    pp_chain_spec_print(chunk_codecs(document), &text);
    return pp_text_finish(&text, &result->codec_words);
}

static void adopt_derived(parapet_array *array, const derived *from)
{
    pp_layout_clear(&array->layout);
    pp_free(array->codec_words);
    array->layout = from->layout;
    array->layout_failure = from->layout_failure;
    array->codec_words = from->codec_words;
}

static parapet_status derive_own(parapet_array *array)
{
    derived own = {0};
    parapet_status status = derive(array->store, &array->document, &own);
    if (status == PARAPET_OK)
        adopt_derived(array, &own);
    else
        clear_derived(&own);
    return status;
}

static parapet_status parse_node(parapet_array *array, const pp_node *node)
{
    if (node->kind != PARAPET_NODE_ARRAY)
        return pp_fail(PARAPET_ERR_ARGUMENT, "\"%s\" is a group, not an array", array->path);
    memcpy(array->document_digest, node->digest, sizeof node->digest);
    if (node->zarr_format == 2)
        return pp_array_document_parse_v2(&array->document, node->json, node->zattrs);
    return pp_array_document_parse(&array->document, node->json);
}

static parapet_status load_array(parapet_array *array)
{
    pp_node node = {0};
    parapet_status status = pp_node_load(array->store, array->path, &node);
    if (status == PARAPET_OK && (status = parse_node(array, &node)) == PARAPET_OK &&
        (status = derive_own(array)) == PARAPET_OK && node.zarr_format == 3)
        status = pp_seal_open(array);
    pp_node_clear(&node);
    if (status == PARAPET_OK && array->store->options.require_sealed && !array->is_sealed)
        status = pp_fail(PARAPET_ERR_MISSING, "it is not sealed, but require_sealed was asked for");
    return status == PARAPET_OK ? status : pp_fail_within(status, "cannot open array \"%s\"", array->path);
}

parapet_status parapet_array_open(parapet_array **array, parapet_store *store, const char *path)
{
    parapet_status status = pp_array_handle_build(array, store, path);
    if (status != PARAPET_OK)
        return status;
    return pp_array_handle_finish(array, pp_comm_agree(store->comm, load_array(*array)));
}

parapet_status parapet_array_close(parapet_array **array)
{
    if (array == NULL || *array == NULL)
        return PARAPET_OK;
    (*array)->store->handle_count--;
    free_array(*array);
    *array = NULL;
    return PARAPET_OK;
}

parapet_status parapet_array_get_info(parapet_array *array, parapet_array_info *info)
{
    const pp_array_document *document;
    bool has_layout;
    if (array == NULL || info == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_array_get_info needs an array and a place for the answer");
    document = &array->document;
    has_layout = array->layout_failure.status == PARAPET_OK;
    *info = (parapet_array_info){
        .path = array->path,
        .type = document->type.id,
        .type_name = document->type.name,
        .element_bytes = document->type.element_bytes,
        .ndim = document->ndim,
        .zarr_format = document->zarr_format,
        .is_sharded = array->layout.is_sharded,
        .is_sealed = array->is_sealed,
        .shape = document->shape,
        .chunks = has_layout ? array->layout.chunks.cell_shape : document->grid_shape,
        .shards = document->grid_shape,
        .dimension_names = document->has_dimension_names ? (const char *const *)document->dimension_names : NULL,
        .codecs = array->codec_words,
        .fill_value = document->fill_value,
        .fill_is_defined = document->is_fill_defined,
    };
    return PARAPET_OK;
}

parapet_status pp_array_check_usable(const parapet_array *array)
{
    if (array == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "the array is NULL");
    if (array->is_broken)
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "array \"%s\": publishing failed before; close it, and open it again to see what is stored",
                       array->path);
    return PARAPET_OK;
}

parapet_status pp_array_check_writable(const parapet_array *array)
{
    parapet_status status;
    if ((status = pp_array_check_usable(array)) != PARAPET_OK ||
        (status = pp_store_check_writable(array->store)) != PARAPET_OK)
        return status;
    if (array->document.zarr_format == 2)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "array \"%s\" is Zarr v2, which can only be read", array->path);
    return PARAPET_OK;
}

parapet_status pp_array_transfer_context(parapet_array *array, pp_transfer_context *context)
{
    parapet_store *store = array->store;
    bool may_start = store->options.io_thread != 2 && pp_comm_allows_threads();
    if (array->layout_failure.status != PARAPET_OK)
        return pp_failure_put(&array->layout_failure);
    *context = (pp_transfer_context){
        .store = store->backend,
        .path = array->path,
        .layout = &array->layout,
        .budget = &store->budget,
        .counters = &store->counters,
        .threads = may_start ? (int)store->options.threads : 1,
        .has_storage_thread = may_start,
        .elides_fill = store->options.elide_fill == 1,
        .progress = store->options.progress,
        .progress_context = store->options.progress_context,
        .seal = array->is_sealed ? pp_seal_lookup_record : NULL,
        .seal_context = array,
    };
    return PARAPET_OK;
}

/* By way of the text: a document is small, and so nothing is ever shared by two handles. */
parapet_status pp_array_document_copy(const pp_array_document *document, pp_array_document *copy)
{
    pp_text text = {0};
    pp_json *json = NULL;
    parapet_status status = pp_array_document_print(document, &text);
    *copy = (pp_array_document){0};
    if (status == PARAPET_OK && (status = text.status) == PARAPET_OK &&
        (status = pp_json_parse(&json, text.data, text.bytes)) == PARAPET_OK)
        status = pp_array_document_parse(copy, json);
    pp_json_free(json);
    pp_text_free(&text);
    return status;
}

/* Once the document may be visible, what the handle knows is not certain any more unless all went well. */
static parapet_status store_document(parapet_array *array, const pp_array_document *document, const pp_text *text)
{
    unsigned char digest[PP_SHA256_BYTES];
    parapet_status status;
    pp_sha256_of(text->data, text->bytes, digest);
    if ((status = pp_node_drop_consolidated(array->store, array->path)) != PARAPET_OK)
        return status;
    if (array->is_sealed)
        status = pp_seal_write_head(array, array->document_digest, digest);
    else if (array->has_head)
        status = pp_seal_remove_head(array);
    if (status != PARAPET_OK)
        return status;
    memcpy(array->document_digest, digest, sizeof digest);
    if ((status = pp_node_write(array->store, array->path, PARAPET_NODE_ARRAY, text->data, text->bytes,
                                PP_PUBLISH_REPLACE)) == PARAPET_OK)
        status = pp_seal_confirm(array, document);
    array->is_broken = status != PARAPET_OK;
    return status;
}

/* Whatever needs memory comes before the document is stored, so that afterwards nothing can fail. */
parapet_status pp_array_replace_document(parapet_array *array, pp_array_document *document)
{
    derived follows = {0};
    pp_text text = {0};
    parapet_status status;
    if ((status = derive(array->store, document, &follows)) == PARAPET_OK &&
        (status = pp_array_document_print(document, &text)) == PARAPET_OK && (status = text.status) == PARAPET_OK)
        status = store_document(array, document, &text);
    if (status == PARAPET_OK) {
        pp_array_document old = array->document;
        array->document = *document;
        *document = old;
        adopt_derived(array, &follows);
    } else {
        clear_derived(&follows);
    }
    pp_text_free(&text);
    pp_array_document_clear(document);
    return status;
}

static parapet_status set_attribute(parapet_array *array, const char *name, const char *json)
{
    pp_array_document changed = {0};
    pp_json *attributes = NULL;
    parapet_status status;
    if ((status = pp_array_check_writable(array)) != PARAPET_OK ||
        (status = pp_attributes_changed(array->document.attributes, name, json, &attributes)) != PARAPET_OK)
        return status;
    if ((status = pp_array_document_copy(&array->document, &changed)) != PARAPET_OK) {
        pp_json_free(attributes);
        pp_array_document_clear(&changed);
        return status;
    }
    pp_json_free(changed.attributes);
    changed.attributes = attributes;
    return pp_array_replace_document(array, &changed);
}

parapet_status parapet_array_attribute_set(parapet_array *array, const char *name, const char *json)
{
    if (array == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_array_attribute_set needs an array");
    return pp_comm_agree(array->store->comm, set_attribute(array, name, json));
}

parapet_status parapet_array_attribute_get(parapet_array *array, const char *name, char **json)
{
    if (array == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_array_attribute_get needs an array");
    return pp_attributes_get(array->document.attributes, name, json);
}

/* All that may fail before anything becomes visible. */
static parapet_status stage_parts(parapet_array *array, const parapet_part *given, int count, pp_staged *staged)
{
    pp_transfer_context context;
    pp_parts parts = {0};
    parapet_status status;
    if ((status = pp_array_check_writable(array)) != PARAPET_OK ||
        (status = pp_array_transfer_context(array, &context)) != PARAPET_OK ||
        (status = pp_parts_init(&parts, given, count, &array->layout, array->document.type.id)) != PARAPET_OK)
        return status;
    if ((status = pp_seal_break(array)) == PARAPET_OK && (status = pp_resize_finish(array)) == PARAPET_OK &&
        (status = pp_array_transfer_context(array, &context)) == PARAPET_OK)
        status = pp_transfer_stage(&context, &parts, staged);
    pp_parts_clear(&parts);
    return status;
}

static parapet_status publish_staged(parapet_array *array, pp_staged *staged)
{
    pp_transfer_context context;
    parapet_status status = pp_array_transfer_context(array, &context);
    if (status == PARAPET_OK && (status = pp_staged_publish(&context, staged)) != PARAPET_OK)
        array->is_broken = true;
    return status;
}

static parapet_status write_parts(parapet_array *array, const parapet_part *given, int count)
{
    pp_staged staged = {0};
    parapet_status status = pp_comm_agree(array->store->comm, stage_parts(array, given, count, &staged));
    if (status == PARAPET_OK)
        status = publish_staged(array, &staged);
    pp_staged_clear(&staged);
    return status == PARAPET_OK ? status : pp_fail_within(status, "cannot write array \"%s\"", array->path);
}

parapet_status parapet_array_write(parapet_array *array, const parapet_part *parts, int part_count)
{
    if (array == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_array_write needs an array");
    return pp_comm_agree(array->store->comm, write_parts(array, parts, part_count));
}

static parapet_status read_parts(parapet_array *array, const parapet_part *given, int count)
{
    pp_transfer_context context;
    pp_parts parts = {0};
    parapet_status status;
    if ((status = pp_array_check_usable(array)) == PARAPET_OK &&
        (status = pp_array_transfer_context(array, &context)) == PARAPET_OK &&
        (status = pp_parts_init(&parts, given, count, &array->layout, array->document.type.id)) == PARAPET_OK)
        status = pp_transfer_read(&context, &parts);
    pp_parts_clear(&parts);
    return status == PARAPET_OK ? status : pp_fail_within(status, "cannot read array \"%s\"", array->path);
}

parapet_status parapet_array_read(parapet_array *array, const parapet_part *parts, int part_count)
{
    if (array == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_array_read needs an array");
    return pp_comm_agree(array->store->comm, read_parts(array, parts, part_count));
}
