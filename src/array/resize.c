#include "array/resize.h"

#include <stdio.h>
#include <string.h>

#include "array/array.h"
#include "array/array_handle.h"
#include "array/change.h"
#include "array/node_path.h"
#include "array/remove_node.h"
#include "array/seal.h"
#include "array/stored_document.h"
#include "array/trim.h"
#include "array/walk.h"

parapet_status pp_array_make_changeable(parapet_array *array)
{
    parapet_status status = pp_seal_break(array);
    return status == PARAPET_OK ? pp_trim_finish(array) : status;
}

parapet_status pp_array_make_continuable(parapet_array *array, int64_t extent)
{
    bool is_cut[PARAPET_MAX_NDIM] = {true};
    int64_t shape[PARAPET_MAX_NDIM];
    parapet_status status;
    memcpy(shape, array->document.shape, sizeof shape);
    shape[0] = extent;
    status = pp_seal_verify_edge(array, shape, is_cut);
    return status == PARAPET_OK ? pp_array_make_changeable(array) : status;
}

/* What a document is to say of the shape. */
typedef struct new_shape {
    const int64_t *shape;
    const bool *is_shrunk;
} new_shape;

/* Where the array shrinks, what lies beyond goes; the mark in the document says so until it is gone. */
static parapet_status change_shape(parapet_array *array, pp_array_document *changed, const void *argument)
{
    const new_shape *wanted = argument;
    bool shrinks = false;
    int d;
    (void)array;
    for (d = 0; d < changed->ndim; d++)
        shrinks = shrinks || wanted->is_shrunk[d];
    memcpy(changed->shape, wanted->shape, (size_t)changed->ndim * sizeof wanted->shape[0]);
    return shrinks ? pp_trim_mark(changed, wanted->is_shrunk) : PARAPET_OK;
}

static parapet_status apply(parapet_array *array, const int64_t *shape, bool trims_first)
{
    bool is_shrunk[PARAPET_MAX_NDIM] = {false};
    pp_grid grid;
    parapet_status status = pp_grid_init(&grid, array->document.ndim, shape, array->document.grid_shape,
                                         array->document.type.element_bytes);
    int d;
    if (status != PARAPET_OK)
        return status;
    for (d = 0; d < grid.ndim; d++)
        is_shrunk[d] = shape[d] < array->document.shape[d] || (trims_first && d == 0);
    status = pp_array_edit(array, change_shape, &(new_shape){.shape = shape, .is_shrunk = is_shrunk}, PP_SEAL_KEEP);
    return status == PARAPET_OK ? pp_trim_finish(array) : status;
}

static parapet_status apply_to_first(parapet_array *array, int64_t extent, bool trims_first)
{
    int64_t shape[PARAPET_MAX_NDIM];
    memcpy(shape, array->document.shape, sizeof shape);
    shape[0] = extent;
    return apply(array, shape, trims_first);
}

parapet_status pp_array_resize_first(parapet_array *array, int64_t extent)
{
    return array->document.shape[0] == extent ? PARAPET_OK : apply_to_first(array, extent, false);
}

parapet_status pp_array_trim_beyond(parapet_array *array, int64_t extent)
{
    return apply_to_first(array, extent, true);
}

/* The prefix of a layer's shards, or the key of its only one; *key NULL: it has none, keys are not in layers. */
static parapet_status layer_key(const parapet_array *array, int64_t layer, char **key)
{
    char name[32];
    *key = NULL;
    if (array->layout.keys.is_v2 || array->layout.keys.separator != '/')
        return PARAPET_OK;
    (void)snprintf(name, sizeof name, "c/%lld", (long long)layer);
    return pp_path_join(array->path, name, key);
}

typedef struct layer_search {
    pp_store *backend;
    const char *prefix;
    int depth; /* of dimensions below */
    bool has_some;
} layer_search;

static parapet_status look_below(void *context, const pp_listed *listed)
{
    layer_search *search = context, below = {.backend = search->backend, .depth = search->depth - 1};
    char *prefix = NULL;
    parapet_status status;
    search->has_some = search->has_some || !listed->is_prefix;
    if (search->has_some || search->depth <= 1)
        return PARAPET_OK;
    if ((status = pp_path_join(search->prefix, listed->name, &prefix)) == PARAPET_OK) {
        below.prefix = prefix;
        status = pp_store_list(search->backend, prefix, look_below, &below);
    }
    search->has_some = below.has_some;
    pp_free(prefix);
    return pp_accept_absence(status);
}

static parapet_status look_for_object(const parapet_array *array, const char *key, bool *is_there)
{
    pp_reader *reader = NULL;
    parapet_status status = pp_store_open_object(array->store->backend, key, &reader);
    *is_there = status == PARAPET_OK;
    pp_reader_free(reader);
    return status;
}

parapet_status pp_array_has_layer(const parapet_array *array, int64_t layer, bool *has_some)
{
    layer_search search = {.backend = array->store->backend, .depth = array->document.ndim - 1};
    char *key = NULL;
    parapet_status status = layer_key(array, layer, &key);
    *has_some = false;
    if (status == PARAPET_OK && key != NULL && array->document.ndim == 1)
        status = look_for_object(array, key, has_some);
    else if (status == PARAPET_OK && key != NULL) {
        search.prefix = key;
        status = pp_store_list(search.backend, key, look_below, &search);
        *has_some = search.has_some;
    }
    pp_free(key);
    return pp_accept_absence(status);
}

parapet_status pp_array_remove_layer(const parapet_array *array, int64_t layer)
{
    char name[32];
    if (array->layout.keys.is_v2 || array->layout.keys.separator != '/')
        return PARAPET_OK;
    (void)snprintf(name, sizeof name, "c/%lld", (long long)layer);
    return array->document.ndim > 1 ? pp_remove_shards_below(array->store, array->path, &array->document, name)
                                    : pp_walk_remove(array->store, array->path, name);
}

static parapet_status check_arguments(parapet_array *array, const int64_t *shape)
{
    pp_transfer_context context;
    parapet_status status;
    if (shape == NULL && array->document.ndim > 0)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_array_resize needs a shape");
    status = pp_array_check_writable(array);
    return status == PARAPET_OK ? pp_array_transfer_context(array, &context) : status;
}

static parapet_status resize(parapet_array *array, const void *shape)
{
    bool is_shrunk[PARAPET_MAX_NDIM] = {false};
    parapet_status status;
    int d;
    for (d = 0; d < array->document.ndim; d++)
        is_shrunk[d] = ((const int64_t *)shape)[d] < array->document.shape[d];
    if ((status = pp_seal_verify_edge(array, shape, is_shrunk)) != PARAPET_OK ||
        (status = pp_array_make_changeable(array)) != PARAPET_OK)
        return status;
    return array->document.ndim > 0 ? apply(array, shape, false) : PARAPET_OK;
}

parapet_status parapet_array_resize(parapet_array *array, const int64_t *shape)
{
    PP_TURN turn = {0};
    pp_call call;
    parapet_status status;
    if (array == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_array_resize needs an array");
    if ((status = pp_turn_take(&turn, array->store->comm, PP_TURN_COLLECTIVE)) != PARAPET_OK)
        return status;
    pp_call_init(&call, "resize(%s)", array->path);
    if (shape != NULL)
        pp_call_add_integers(&call, "shape", array->document.ndim, shape);
    if ((status = pp_comm_begin(array->store->comm, &call, check_arguments(array, shape))) == PARAPET_OK) {
        pp_shard_notes_clear(&array->notes); /* shards get other numbers, and some are trimmed */
        status = pp_array_change_alone(array, "resizing", resize, shape);
    }
    return pp_outcome(status == PARAPET_OK ? status
                                           : pp_fail_within(status, "cannot resize array \"%s\"", array->path));
}
