#include <parapet_store.h>
#include <string.h>

#include "array/array.h"
#include "array/array_handle.h"
#include "array/attributes.h"
#include "array/document.h"
#include "array/rank0.h"
#include "array/refresh.h"
#include "array/seal_objects.h"
#include "array/state.h"
#include "array/store_queries.h"
#include "array/stored_document.h"

parapet_status pp_arrays_finish(const pp_arrays *made, parapet_status status)
{
    int i;
    if (status == PARAPET_OK)
        made->store->handle_count += made->count;
    for (i = 0; status != PARAPET_OK && made->arrays != NULL && i < made->count; i++) {
        pp_array_free(made->arrays[i]);
        made->arrays[i] = NULL;
    }
    return status;
}

parapet_status pp_arrays_take_turn(pp_turn *turn, parapet_array **arrays, const parapet_store *store, int count)
{
    int i;
    for (i = 0; arrays != NULL && i < count; i++)
        arrays[i] = NULL;
    return pp_turn_take(turn, store != NULL ? store->comm : NULL, PP_TURN_COLLECTIVE);
}

void pp_arrays_call(pp_call *call, const char *verb, const char *const *paths, int count)
{
    const char *first = count > 0 && paths != NULL && paths[0] != NULL ? paths[0] : "";
    int i;
    if (count > 1)
        pp_call_init(call, "%s(%s and %d more)", verb, first, count - 1);
    else
        pp_call_init(call, "%s(%s)", verb, first);
    for (i = 0; paths != NULL && i < count; i++)
        pp_call_add_element(call, "paths", i, paths[i]);
}

parapet_status pp_array_choose_homes(parapet_array *array, pp_homes *homes)
{
    parapet_status status =
        pp_homes_choose(homes, &array->layout.tiling.shards, array->store->server_count, &array->lattice);
    if (status == PARAPET_OK)
        pp_array_keep_cells(array);
    return status;
}

static parapet_status print_arrays(void *subject, pp_text *bytes)
{
    const pp_arrays *all = subject;
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < all->count && status == PARAPET_OK; i++)
        if ((status = pp_array_choose_homes(all->arrays[i], &all->store->homes)) == PARAPET_OK)
            status = pp_array_state_print(all->arrays[i], bytes);
    return status;
}

static parapet_status adopt_arrays(void *subject, pp_cursor *bytes)
{
    const pp_arrays *all = subject;
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < all->count && status == PARAPET_OK; i++)
        if ((status = pp_array_state_adopt(all->arrays[i], bytes)) != PARAPET_OK)
            status = pp_fail_within(status, "cannot receive array \"%s\" from rank 0", all->arrays[i]->path);
    return status;
}

parapet_status pp_arrays_rank0_do(const pp_arrays *arrays, const pp_call *call, parapet_status mine,
                                  pp_rank0_work work, const void *argument)
{
    pp_arrays subject = *arrays;
    pp_rank0_task task = {
        .subject = &subject, .argument = argument, .work = work, .print = print_arrays, .adopt = adopt_arrays};
    parapet_status status = pp_comm_begin(arrays->store->comm, call, mine);
    if (status == PARAPET_OK)
        status = pp_rank0_do(arrays->store->comm, "opening", &task);
    return pp_arrays_finish(arrays, status);
}

static parapet_status load_array(parapet_array *array)
{
    parapet_status status = pp_array_load(array);
    if (status == PARAPET_OK && array->store->options->require_sealed && !array->is_sealed)
        status = pp_fail(PARAPET_ERR_MISSING, "it is not sealed, but the option require_sealed is set");
    return status == PARAPET_OK ? status : pp_fail_within(status, "cannot open array \"%s\"", array->path);
}

static parapet_status load_arrays(void *subject, const void *argument)
{
    const pp_arrays *all = subject;
    parapet_status status = PARAPET_OK;
    int i;
    (void)argument;
    for (i = 0; i < all->count && status == PARAPET_OK; i++)
        status = load_array(all->arrays[i]);
    return status;
}

parapet_status pp_arrays_open(parapet_array **arrays, parapet_store *store, const char *const *paths, int count,
                              bool is_detached)
{
    pp_arrays made = {.store = store, .arrays = arrays, .count = count};
    parapet_status status = pp_arrays_build(arrays, store, paths, count);
    pp_call call;
    int i;
    if (store == NULL)
        return status;
    for (i = 0; status == PARAPET_OK && i < count; i++)
        arrays[i]->is_detached = is_detached;
    pp_arrays_call(&call, "open", paths, count);
    return pp_arrays_rank0_do(&made, &call, status, load_arrays, NULL);
}

parapet_status parapet_arrays_open(parapet_array **arrays, parapet_store *store, const char *const *paths, int count)
{
    PP_TURN turn = {0};
    parapet_status status = pp_arrays_take_turn(&turn, arrays, store, count);
    return status != PARAPET_OK ? status : pp_outcome(pp_arrays_open(arrays, store, paths, count, false));
}

parapet_status parapet_array_open(parapet_array **array, parapet_store *store, const char *path)
{
    return parapet_arrays_open(array, store, &path, 1);
}

parapet_status parapet_array_get_info(parapet_array *array, parapet_array_info *info)
{
    PP_TURN turn = {0};
    parapet_status status;
    const pp_array_document *document;
    bool has_layout;
    if (array == NULL || info == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_array_get_info needs an array and a pointer for the result");
    if ((status = pp_turn_take(&turn, array->store->comm, PP_TURN_LOCAL)) != PARAPET_OK)
        return status;
    document = &array->document;
    has_layout = array->layout_failure == NULL;
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
        .chunks = has_layout ? array->layout.tiling.chunks.cell_shape : document->grid_shape,
        .shards = document->grid_shape,
        .dimension_names = document->has_dimension_names ? (const char *const *)document->dimension_names : NULL,
        .codecs = array->codec_words,
        .fill_value = document->fill_value,
        .fill_is_defined = document->is_fill_defined,
    };
    return pp_outcome(PARAPET_OK);
}

parapet_status pp_array_check_usable(const parapet_array *array)
{
    if (array->is_broken)
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "array \"%s\": an earlier change failed half-way; close the array and open it again to see "
                       "what is stored",
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

parapet_status pp_array_check_readable(const parapet_array *array)
{
    return pp_failure_put(array->layout_failure);
}

parapet_store *pp_array_store(const parapet_array *array)
{
    return array->store;
}

const char *pp_array_path(const parapet_array *array)
{
    return array->path;
}

const pp_array_document *pp_array_document_of(const parapet_array *array)
{
    return &array->document;
}

const unsigned char *pp_array_document_digest(const parapet_array *array)
{
    return array->document_digest;
}

const pp_layout *pp_array_layout(const parapet_array *array)
{
    return &array->layout;
}

bool pp_array_is_sealed(const parapet_array *array)
{
    return array->is_sealed;
}

parapet_status pp_array_take_document(parapet_array *array, pp_array_document *document)
{
    pp_derived derived = {0};
    parapet_status status = pp_derived_init(&derived, array->store, document);
    if (status == PARAPET_OK && (status = pp_failure_put(derived.layout_failure)) == PARAPET_OK) {
        array->document = *document;
        *document = (pp_array_document){0};
        pp_derived_adopt(&derived, array);
    }
    pp_derived_clear(&derived);
    return status;
}

void pp_array_take_undecodable(parapet_array *array, pp_array_document *document)
{
    array->document = *document;
    *document = (pp_array_document){0};
}

/* Only the grid of shards depends on the shape. */
parapet_status pp_array_set_extent(parapet_array *array, int64_t extent)
{
    int64_t shape[PARAPET_MAX_NDIM];
    pp_grid shards;
    parapet_status status;
    memcpy(shape, array->document.shape, sizeof shape);
    shape[0] = extent;
    if ((status = pp_grid_init(&shards, array->document.ndim, shape, array->document.grid_shape,
                               array->document.type.element_bytes)) != PARAPET_OK)
        return pp_fail_within(status, "array \"%s\"", array->path);
    array->document.shape[0] = extent;
    array->layout.tiling.shards = shards;
    return PARAPET_OK;
}

parapet_status pp_array_transfer_context(parapet_array *array, pp_transfer_context *context)
{
    parapet_store *store = array->store;
    bool may_start = store->options->io_thread != PARAPET_IO_THREAD_NONE && pp_comm_allows_threads();
    parapet_status status = pp_array_local_context(array, context);
    if (status != PARAPET_OK)
        return status;
    context->budget = &store->budget;
    context->threads = may_start ? (int)store->options->threads : 1;
    context->pool = may_start ? store->pool : NULL;
    context->progress = store->options->progress;
    context->progress_context = store->options->progress_context;
    return PARAPET_OK;
}

parapet_status pp_array_local_context(parapet_array *array, pp_transfer_context *context)
{
    parapet_store *store = array->store;
    parapet_status status = pp_array_check_readable(array);
    if (status != PARAPET_OK)
        return status;
    *context = (pp_transfer_context){
        .store = store->backend,
        .path = array->path,
        .layout = &array->layout,
        .layer = &pp_plain_layer,
        .lattice = &array->lattice,
        .budget = &store->alone.budget,
        .counters = &store->counters,
        .cost = &store->cost,
        .threads = 1,
        .elides_fill = store->options->elide_fill,
        .seal = array->is_sealed ? pp_seal_lookup_visit : NULL,
        .seal_context = array,
    };
    return PARAPET_OK;
}

static parapet_status change_attribute(parapet_array *array, pp_array_document *changed, const void *attribute)
{
    pp_json *attributes = NULL;
    parapet_status status = pp_attributes_changed(changed->attributes, attribute, &attributes);
    (void)array;
    if (status != PARAPET_OK)
        return status;
    pp_json_free(changed->attributes);
    changed->attributes = attributes;
    return PARAPET_OK;
}

static parapet_status edit_attribute(parapet_array *array, const pp_attribute *attribute)
{
    pp_edit edit;
    parapet_status status = pp_edit_begin(&edit, array->store, array->path);
    if (status != PARAPET_OK)
        return status;
    if ((status = pp_array_refresh(array)) == PARAPET_OK && (status = pp_edit_prove(&edit)) == PARAPET_OK)
        status = pp_array_edit_held(array, change_attribute, attribute, PP_SEAL_KEEP);
    pp_edit_end(&edit);
    return status;
}

/* Beside those that write parts: only the document changes, and what others change of it stays. */
static parapet_status set_attribute(void *node, const void *attribute)
{
    parapet_array *array = node;
    pp_node_lock hold = {0};
    parapet_status status = pp_node_locks_take(&hold, &(pp_node_lock_wish){.store = array->store,
                                                                           .paths = (const char *const *)&array->path,
                                                                           .count = 1,
                                                                           .mode = PP_LOCK_SHARED,
                                                                           .purpose = "setting an attribute"});
    if (status != PARAPET_OK)
        return status;
    status = edit_attribute(array, attribute);
    pp_node_locks_release(&hold, 1);
    return status;
}

parapet_status parapet_array_attribute_set(parapet_array *array, const char *name, const char *json)
{
    PP_TURN turn = {0};
    pp_attribute attribute = {.name = name, .json = json};
    pp_call call;
    parapet_status status;
    if (array == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_array_attribute_set needs an array");
    if ((status = pp_turn_take(&turn, array->store->comm, PP_TURN_COLLECTIVE)) != PARAPET_OK)
        return status;
    pp_call_init(&call, "attribute_set(%s)", array->path);
    pp_attribute_add(&attribute, &call);
    if ((status = pp_comm_begin(array->store->comm, &call, pp_array_check_writable(array))) != PARAPET_OK)
        return pp_outcome(status);
    pp_guards_close(&array, 1);
    status = pp_array_rank0_do(array, "setting an attribute", set_attribute, &attribute);
    pp_guards_open(&array, 1);
    return pp_outcome(status);
}

parapet_status parapet_array_attribute_get(parapet_array *array, const char *name, char **json)
{
    PP_TURN turn = {0};
    parapet_status status;
    if (array == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_array_attribute_get needs an array");
    if ((status = pp_turn_take(&turn, array->store->comm, PP_TURN_LOCAL)) != PARAPET_OK)
        return status;
    return pp_outcome(pp_attributes_get(array->document.attributes, name, json));
}
