#include <string.h>

#include "array/array.h"
#include "array/array_handle.h"
#include "array/create.h"
#include "array/document.h"
#include "array/node.h"
#include "array/path.h"
#include "array/spec.h"
#include "array/store.h"
#include "array/stored_document.h"
#include "array/walk.h"

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
    return pp_array_store_document(array, &document, PP_SEAL_KEEP);
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
        if ((status = pp_spec_check(&specs[i])) == PARAPET_OK) {
            if (count > 1)
                pp_call_within(call, "specs[%d].", i);
            pp_spec_add(&specs[i], call);
        } else
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
    return pp_outcome(pp_arrays_create(arrays, store, paths, specs, count, false));
}

parapet_status parapet_array_create(parapet_array **array, parapet_store *store, const char *path,
                                    const parapet_array_spec *spec)
{
    return parapet_arrays_create(array, store, &path, spec, 1);
}
