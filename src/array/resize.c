#include "array/resize.h"

#include <string.h>

#include "array/array.h"
#include "array/array_handle.h"
#include "array/document.h"
#include "array/seal.h"
#include "array/state.h"
#include "array/stored_document.h"
#include "array/trim.h"

parapet_status pp_array_make_changeable(parapet_array *array)
{
    parapet_status status = pp_seal_break(array);
    return status == PARAPET_OK ? pp_trim_finish(array) : status;
}

/* Where the array shrinks, what lies beyond goes; the mark in the document says so until it is gone. */
static parapet_status store_shape(parapet_array *array, const pp_grid *grid, const bool *is_shrunk)
{
    pp_array_document changed = {0};
    bool shrinks = false;
    parapet_status status = pp_array_document_duplicate(&array->document, &changed);
    int d;
    for (d = 0; d < grid->ndim; d++)
        shrinks = shrinks || is_shrunk[d];
    if (status == PARAPET_OK && shrinks)
        status = pp_trim_mark(&changed, is_shrunk);
    if (status != PARAPET_OK) {
        pp_array_document_clear(&changed);
        return status;
    }
    memcpy(changed.shape, grid->shape, sizeof changed.shape);
    if ((status = pp_array_store_document(array, &changed, PP_SEAL_KEEP)) != PARAPET_OK)
        return status;
    return pp_trim_finish(array);
}

static parapet_status apply(parapet_array *array, const int64_t *shape, bool trims_first)
{
    bool is_shrunk[PARAPET_MAX_NDIM] = {false};
    pp_grid grid;
    parapet_status status = pp_grid_init(&grid, array->document.ndim, shape, array->document.grid_shape);
    int d;
    if (status != PARAPET_OK)
        return status;
    for (d = 0; d < grid.ndim; d++)
        is_shrunk[d] = shape[d] < array->document.shape[d] || (trims_first && d == 0);
    return store_shape(array, &grid, is_shrunk);
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

parapet_status pp_array_remove_layer(const parapet_array *array, int64_t layer)
{
    pp_store *backend = array->store->backend;
    pp_text key = {0};
    parapet_status status;
    if (array->layout.keys.is_v2 || array->layout.keys.separator != '/')
        return PARAPET_OK;
    pp_text_add(&key, "%s%sc/%lld", array->path, array->path[0] != '\0' ? "/" : "", (long long)layer);
    if ((status = key.status) == PARAPET_OK)
        status =
            array->document.ndim > 1 ? pp_store_remove_prefix(backend, key.data) : pp_store_remove(backend, key.data);
    pp_text_free(&key);
    return status == PARAPET_ERR_NOT_FOUND ? PARAPET_OK : status;
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

static parapet_status resize(void *node, const void *shape)
{
    parapet_array *array = node;
    parapet_status status;
    if ((status = pp_array_make_changeable(array)) != PARAPET_OK)
        return status;
    return array->document.ndim > 0 ? apply(array, shape, false) : PARAPET_OK;
}

parapet_status parapet_array_resize(parapet_array *array, const int64_t *shape)
{
    pp_call call;
    parapet_status status;
    if (array == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_array_resize needs an array");
    pp_call_init(&call, "resize(%s)", array->path);
    if (shape != NULL)
        pp_call_add_integers(&call, "shape", array->document.ndim, shape);
    if ((status = pp_comm_begin(array->store->comm, &call, check_arguments(array, shape))) == PARAPET_OK) {
        pp_shard_notes_clear(&array->notes); /* shards get other numbers, and some are trimmed */
        status = pp_array_rank0_do(array, "resizing", resize, shape);
    }
    return pp_outcome(status == PARAPET_OK ? status
                                           : pp_fail_within(status, "cannot resize array \"%s\"", array->path));
}
