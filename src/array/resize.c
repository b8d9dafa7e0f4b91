#include <string.h>

#include "array/array.h"
#include "array/array_handle.h"
#include "array/attributes.h"
#include "array/document.h"
#include "array/resize.h"
#include "array/seal.h"
#include "array/state.h"
#include "array/walk.h"

/* Shrinking writes zarr.json first, with a mark of the dimensions that shrank, then removes and trims shards,
 * then takes the mark off. As long as the mark is there, growing or writing first completes the trimming, so
 * that nothing that was cut off comes back. */

static pp_json *trim_member(const parapet_array *array)
{
    return pp_json_member(pp_json_member(array->document.attributes, PP_RESERVED_ATTRIBUTE), "trim");
}

static parapet_status read_mark(const parapet_array *array, bool *is_shrunk)
{
    pp_json *trim = trim_member(array);
    int d;
    if (pp_json_length(trim) != (size_t)array->document.ndim)
        return pp_fail(PARAPET_ERR_FORMAT, "attributes._parapet.trim does not list the dimensions of the array");
    for (d = 0; d < array->document.ndim; d++)
        if (!pp_json_get_bool(pp_json_element(trim, (size_t)d), &is_shrunk[d]))
            return pp_fail(PARAPET_ERR_FORMAT, "attributes._parapet.trim must be a list of true and false");
    return PARAPET_OK;
}

static parapet_status set_mark(pp_array_document *document, const bool *is_shrunk)
{
    pp_text text = {0};
    pp_json *mark = NULL;
    parapet_status status;
    int d;
    pp_text_add(&text, "{\"trim\": [");
    for (d = 0; d < document->ndim; d++)
        pp_text_add(&text, "%s%s", d > 0 ? ", " : "", is_shrunk[d] ? "true" : "false");
    pp_text_add(&text, "]}");
    if ((status = text.status) == PARAPET_OK && (status = pp_json_parse(&mark, text.data, text.bytes)) == PARAPET_OK)
        status = pp_json_set(document->attributes, PP_RESERVED_ATTRIBUTE, mark);
    pp_text_free(&text);
    return status;
}

static bool is_inside(const pp_grid *grid, const int64_t *cell)
{
    int d;
    for (d = 0; d < grid->ndim; d++)
        if (cell[d] >= grid->cells[d])
            return false;
    return true;
}

static parapet_status remove_if_outside(void *context, const char *key, uint64_t bytes)
{
    parapet_array *array = context;
    int64_t cell[PARAPET_MAX_NDIM];
    (void)bytes;
    if (!pp_key_parse(&array->layout.keys, array->document.ndim, key, cell) ||
        is_inside(&array->layout.tiling.shards, cell))
        return PARAPET_OK;
    return pp_walk_remove(array->store, array->path, key);
}

static parapet_status trim_edge(parapet_array *array, const bool *is_shrunk)
{
    pp_transfer_context context;
    pp_staged staged = {0};
    parapet_status status;
    if ((status = pp_array_transfer_context(array, &context)) != PARAPET_OK)
        return status;
    if ((status = pp_transfer_stage_trimmed(&context, is_shrunk, &staged)) == PARAPET_OK)
        status = pp_staged_publish(&context, &staged);
    pp_staged_clear(&staged);
    return status;
}

parapet_status pp_resize_finish(parapet_array *array)
{
    bool is_shrunk[PARAPET_MAX_NDIM] = {false};
    pp_array_document unmarked = {0};
    parapet_status status;
    if (trim_member(array) == NULL)
        return PARAPET_OK;
    if ((status = read_mark(array, is_shrunk)) != PARAPET_OK ||
        (status = pp_walk_objects(array->store, array->path, remove_if_outside, array)) != PARAPET_OK ||
        (status = trim_edge(array, is_shrunk)) != PARAPET_OK)
        return status;
    if ((status = pp_array_document_duplicate(&array->document, &unmarked)) != PARAPET_OK) {
        pp_array_document_clear(&unmarked);
        return status;
    }
    pp_json_remove(unmarked.attributes, PP_RESERVED_ATTRIBUTE);
    return pp_array_replace_document(array, &unmarked);
}

parapet_status pp_resize_apply(parapet_array *array, const int64_t *shape)
{
    bool is_shrunk[PARAPET_MAX_NDIM] = {false}, shrinks = false;
    pp_array_document changed = {0};
    pp_grid grid;
    parapet_status status = pp_grid_init(&grid, array->document.ndim, shape, array->document.grid_shape);
    int d;
    if (status != PARAPET_OK)
        return status;
    for (d = 0; d < grid.ndim; d++) {
        is_shrunk[d] = shape[d] < array->document.shape[d];
        shrinks = shrinks || is_shrunk[d];
    }
    if ((status = pp_array_document_duplicate(&array->document, &changed)) == PARAPET_OK && shrinks)
        status = set_mark(&changed, is_shrunk);
    if (status != PARAPET_OK) {
        pp_array_document_clear(&changed);
        return status;
    }
    memcpy(changed.shape, grid.shape, sizeof changed.shape);
    if ((status = pp_array_replace_document(array, &changed)) != PARAPET_OK)
        return status;
    return pp_resize_finish(array);
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
    if ((status = pp_seal_break(array)) != PARAPET_OK || (status = pp_resize_finish(array)) != PARAPET_OK)
        return status;
    return array->document.ndim > 0 ? pp_resize_apply(array, shape) : PARAPET_OK;
}

parapet_status parapet_array_resize(parapet_array *array, const int64_t *shape)
{
    pp_call call;
    parapet_status status;
    if (array == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_array_resize needs an array");
    pp_call_init(&call, "resize(%s)", array->path);
    if (shape != NULL)
        pp_call_add(&call, shape, (size_t)array->document.ndim * sizeof shape[0]);
    if ((status = pp_comm_begin(array->store->comm, &call, check_arguments(array, shape))) == PARAPET_OK) {
        pp_shard_notes_clear(&array->notes); /* shards get other numbers, and some are trimmed */
        status = pp_array_rank0_do(array, "resizing", resize, shape);
    }
    return status == PARAPET_OK ? status : pp_fail_within(status, "cannot resize array \"%s\"", array->path);
}
