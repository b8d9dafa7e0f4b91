#include <stdio.h>
#include <string.h>

#include "array/internal.h"

static parapet_status name_dimension(const parapet_array_spec *spec, int d, char **name)
{
    char fallback[16];
    const char *given = spec->dimension_names != NULL ? spec->dimension_names[d] : NULL;
    int i;
    if (spec->dimension_names != NULL && (given == NULL || given[0] == '\0'))
        return pp_fail(PARAPET_ERR_ARGUMENT, "dimension_names[%d] is empty", d);
    for (i = 0; given != NULL && i < d; i++)
        if (strcmp(given, spec->dimension_names[i]) == 0)
            return pp_fail(PARAPET_ERR_ARGUMENT, "dimension_names[%d] and [%d] are both \"%s\"", i, d, given);
    (void)snprintf(fallback, sizeof fallback, "dim_%d", d);
    return pp_text_duplicate(name, given != NULL ? given : fallback);
}

static parapet_status set_names(const parapet_array_spec *spec, pp_array_document *document)
{
    parapet_status status = PARAPET_OK;
    int d;
    document->has_dimension_names = true;
    for (d = 0; d < spec->ndim && status == PARAPET_OK; d++)
        status = name_dimension(spec, d, &document->dimension_names[d]);
    return status;
}

static parapet_status set_fill(const parapet_array_spec *spec, pp_array_document *document)
{
    parapet_status status = pp_allocate(&document->fill_value, document->type.element_bytes);
    if (status == PARAPET_OK && spec->fill_value != NULL)
        memcpy(document->fill_value, spec->fill_value, document->type.element_bytes);
    document->is_fill_defined = true;
    return status;
}

/* The index is the one every reader knows: little-endian, CRC-32C, at the end. */
parapet_status pp_document_wrap_in_shards(pp_array_document *document, const int64_t *chunks)
{
    pp_sharding_spec *sharding;
    parapet_status status = pp_allocate(&sharding, sizeof *sharding);
    if (status != PARAPET_OK)
        return status;
    sharding->ndim = document->ndim;
    memcpy(sharding->chunk_shape, chunks, (size_t)document->ndim * sizeof chunks[0]);
    sharding->codecs = document->codecs;
    sharding->index_codecs.count = 2;
    sharding->index_codecs.codecs[0].id = PP_CODEC_BYTES;
    sharding->index_codecs.codecs[1].id = PP_CODEC_CRC32C;
    document->codecs = (pp_chain_spec){.count = 1};
    document->codecs.codecs[0].id = PP_CODEC_SHARDING;
    document->codecs.codecs[0].sharding = sharding;
    return PARAPET_OK;
}

/* A scalar, and an array that fits one chunk, would gain nothing from a shard around it. */
static bool is_worth_sharding(const parapet_array_spec *spec, const int64_t *chunks, const int64_t *shards)
{
    if (spec->unsharded || spec->ndim == 0)
        return false;
    return spec->shards != NULL || memcmp(chunks, shards, (size_t)spec->ndim * sizeof chunks[0]) != 0;
}

static parapet_status set_layout(const parapet_array_spec *spec, int64_t expected_servers,
                                 pp_array_document *document)
{
    int64_t chunks[PARAPET_MAX_NDIM];
    parapet_status status =
        pp_shapes_choose(spec, document->type.element_bytes, expected_servers, chunks, document->grid_shape);
    if (status != PARAPET_OK ||
        (status = pp_codecs_from_words(&document->codecs, spec->codec != NULL ? spec->codec : "zstd:3",
                                       document->type.element_bytes, !spec->no_checksum)) != PARAPET_OK)
        return status;
    return is_worth_sharding(spec, chunks, document->grid_shape) ? pp_document_wrap_in_shards(document, chunks)
                                                                 : PARAPET_OK;
}

parapet_status pp_document_from_spec(pp_array_document *document, const parapet_array_spec *spec,
                                     int64_t expected_servers)
{
    parapet_status status;
    *document = (pp_array_document){.zarr_format = 3, .ndim = spec->ndim, .keys = {.separator = '/'}};
    if (spec->ndim > 0)
        memcpy(document->shape, spec->shape, (size_t)spec->ndim * sizeof spec->shape[0]);
    if ((status = pp_type_init(&document->type, spec->type, spec->element_bytes, spec->time_unit)) != PARAPET_OK ||
        (status = set_fill(spec, document)) != PARAPET_OK || (status = set_names(spec, document)) != PARAPET_OK ||
        (status = pp_attributes_parse(spec->attributes, &document->attributes)) != PARAPET_OK)
        return status;
    return set_layout(spec, expected_servers, document);
}

typedef struct remains {
    parapet_array *array;
    const pp_array_document *document;
} remains;

static parapet_status remove_if_shard(void *context, const char *key, uint64_t bytes)
{
    const remains *job = context;
    int64_t cell[PARAPET_MAX_NDIM];
    (void)bytes;
    if (!pp_key_parse(&job->document->keys, job->document->ndim, key, cell))
        return PARAPET_OK;
    return pp_walk_remove(job->array->store, job->array->path, key);
}

/* Keys of shards begin with "c": a node of that name would lose its own objects. */
static parapet_status check_no_node(parapet_array *array, const char *name)
{
    pp_node node = {0};
    char *path = NULL;
    parapet_status status = pp_path_join(array->path, name, &path);
    if (status == PARAPET_OK)
        status = pp_node_load(array->store, path, &node);
    if (status == PARAPET_OK && !node.is_implicit)
        status = pp_fail(PARAPET_ERR_EXISTS, "there is an array or group at \"%s\"; nothing can be above it", path);
    pp_node_clear(&node);
    pp_free(path);
    return status == PARAPET_ERR_NOT_FOUND ? PARAPET_OK : status;
}

/* Objects without a document have no meaning, but would get one again from a new document: they must be gone, and
 * durably so, before it is written. A crash inside an overwrite leaves such objects. */
parapet_status pp_array_remove_remains(parapet_array *array, const pp_array_document *document)
{
    remains job = {.array = array, .document = document};
    char *own = NULL;
    parapet_status status = check_no_node(array, "c");
    if (status != PARAPET_OK || (status = pp_path_join(array->path, "__parapet", &own)) != PARAPET_OK)
        return status;
    if ((status = pp_store_remove_prefix(array->store->backend, own)) == PARAPET_OK &&
        (status = pp_walk_objects(array->store, array->path, remove_if_shard, &job)) == PARAPET_ERR_NOT_FOUND)
        status = PARAPET_OK;
    pp_free(own);
    return status == PARAPET_OK ? pp_store_settle(array->store->backend) : status;
}

/* Removes the document first: from then on there is no array, only objects without meaning. */
static parapet_status remove_existing(parapet_array *array, const pp_array_document *document)
{
    pp_store *backend = array->store->backend;
    char *key = NULL;
    parapet_status status;
    if ((status = pp_node_drop_consolidated(array->store, array->path)) != PARAPET_OK ||
        (status = pp_path_join(array->path, "zarr.json", &key)) != PARAPET_OK)
        return status;
    if ((status = pp_store_remove(backend, key)) == PARAPET_OK)
        status = pp_store_settle(backend);
    pp_free(key);
    if (status != PARAPET_OK || array->path[0] == '\0')
        return status == PARAPET_OK ? pp_array_remove_remains(array, document) : status;
    status = pp_store_remove_prefix(backend, array->path);
    return status == PARAPET_OK ? pp_store_settle(backend) : status;
}

parapet_status pp_array_make_room(parapet_array *array, const pp_array_document *document, bool overwrites)
{
    pp_node node = {0};
    parapet_status status = pp_node_load(array->store, array->path, &node);
    if (status == PARAPET_ERR_NOT_FOUND)
        status = PARAPET_OK;
    else if (status == PARAPET_OK && node.is_implicit)
        status = pp_array_remove_remains(array, document);
    else if (status == PARAPET_OK && node.kind == PARAPET_NODE_GROUP)
        status = pp_fail(PARAPET_ERR_EXISTS, "there is a group at \"%s\", which is never replaced", array->path);
    else if (status == PARAPET_OK && node.zarr_format == 2)
        status =
            pp_fail(PARAPET_ERR_EXISTS, "there is a Zarr v2 array at \"%s\", which is never replaced", array->path);
    else if (status == PARAPET_OK && !overwrites)
        status = pp_fail(PARAPET_ERR_EXISTS, "there is an array at \"%s\" already; set overwrite to replace it",
                         array->path);
    else if (status == PARAPET_OK)
        status = remove_existing(array, document);
    pp_node_clear(&node);
    return status;
}

static parapet_status create(parapet_array *array, const parapet_array_spec *spec)
{
    pp_array_document document = {0};
    pp_layout layout = {0};
    parapet_status status;
    if ((status = pp_document_from_spec(&document, spec, array->store->options.expected_servers)) == PARAPET_OK)
        status = pp_layout_init(&layout, &document, false);
    pp_layout_clear(&layout);
    if (status != PARAPET_OK || (status = pp_array_make_room(array, &document, spec->overwrite)) != PARAPET_OK ||
        (!array->is_apart && (status = pp_node_prepare_ancestors(array->store, array->path)) != PARAPET_OK)) {
        pp_array_document_clear(&document);
        return status;
    }
    return pp_array_replace_document(array, &document);
}

static parapet_status create_arrays(void *subject, const void *argument)
{
    const pp_arrays *all = subject;
    const parapet_array_spec *specs = argument;
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < all->count && status == PARAPET_OK; i++)
        if ((status = create(all->arrays[i], &specs[i])) != PARAPET_OK)
            status = pp_fail_within(status, "cannot create array \"%s\"", all->arrays[i]->path);
    return status;
}

/* Says what is wrong with the specs, and to the other ranks what is in them. */
static parapet_status describe_specs(const char *const *paths, const parapet_array_spec *specs, int count,
                                     pp_call *call)
{
    parapet_status status = PARAPET_OK;
    int i;
    if (paths == NULL || specs == NULL)
        return count > 0 ? pp_fail(PARAPET_ERR_ARGUMENT, "parapet_array_create needs a path and a spec") : status;
    for (i = 0; i < count && status == PARAPET_OK; i++)
        if ((status = pp_spec_check(&specs[i])) == PARAPET_OK)
            pp_spec_add(&specs[i], call);
        else
            status = pp_fail_within(status, "cannot create array \"%s\"", paths[i] != NULL ? paths[i] : "");
    return status;
}

parapet_status pp_arrays_create(parapet_array **arrays, parapet_store *store, const char *const *paths,
                                const parapet_array_spec *specs, int count, bool is_apart)
{
    pp_arrays made = {.store = store, .arrays = arrays, .count = count};
    parapet_status status, built;
    pp_call call;
    int i;
    pp_arrays_call(&call, "create", paths, count);
    status = describe_specs(paths, specs, count, &call);
    if ((built = pp_arrays_build(arrays, store, paths, count)) != PARAPET_OK)
        status = built;
    if (store == NULL)
        return status;
    for (i = 0; built == PARAPET_OK && i < count; i++)
        arrays[i]->is_apart = is_apart;
    if (status == PARAPET_OK)
        status = pp_store_check_writable(store);
    return pp_arrays_rank0_do(&made, &call, status, create_arrays, specs);
}

parapet_status parapet_arrays_create(parapet_array **arrays, parapet_store *store, const char *const *paths,
                                     const parapet_array_spec *specs, int count)
{
    return pp_arrays_create(arrays, store, paths, specs, count, false);
}

parapet_status parapet_array_create(parapet_array **array, parapet_store *store, const char *path,
                                    const parapet_array_spec *spec)
{
    return parapet_arrays_create(array, store, &path, spec, 1);
}
