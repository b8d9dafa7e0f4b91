/* trim.c - what is cut off an array stays gone.
 *
 * Shrinking writes zarr.json first, with a mark of the dimensions that shrank, then removes and trims shards,
 * then takes the mark off. As long as the mark is there, growing or writing first completes the trimming, so
 * that nothing that was cut off comes back. */
#include "array/trim.h"

#include "array/array.h"
#include "array/array_handle.h"
#include "array/attributes.h"
#include "array/stored_document.h"
#include "array/walk.h"

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

parapet_status pp_trim_mark(pp_array_document *document, const bool *is_shrunk)
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

static parapet_status take_mark_off(parapet_array *array, pp_array_document *changed, const void *argument)
{
    (void)array;
    (void)argument;
    pp_json_remove(changed->attributes, PP_RESERVED_ATTRIBUTE);
    return PARAPET_OK;
}

parapet_status pp_trim_finish(parapet_array *array)
{
    bool is_shrunk[PARAPET_MAX_NDIM] = {false};
    parapet_status status;
    if (trim_member(array) == NULL)
        return PARAPET_OK;
    if ((status = read_mark(array, is_shrunk)) != PARAPET_OK ||
        (status = pp_walk_objects(array->store, array->path, remove_if_outside, array)) != PARAPET_OK ||
        (status = trim_edge(array, is_shrunk)) != PARAPET_OK)
        return status;
    return pp_array_edit(array, take_mark_off, NULL, PP_SEAL_KEEP);
}
