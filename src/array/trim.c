/* trim.c - what is cut off an array stays gone.
 *
 * Shrinking writes zarr.json first, with a mark of the dimensions that shrank, then removes and trims shards,
 * then takes the mark off. As long as the mark is there, growing or writing first completes the trimming, so
 * that nothing that was cut off comes back; collecting what crashes left removes the shards. It can be begun again at
 * any point, because the mark goes last (invariant 9 of docs/design/change.md). */
#include "array/trim.h"

#include "array/array.h"
#include "array/array_handle.h"
#include "array/attributes.h"
#include "array/stored_document.h"

static pp_json *trim_member(pp_json *attributes)
{
    return pp_json_member(pp_json_member(attributes, PP_RESERVED_ATTRIBUTE), "trim");
}

bool pp_trim_is_marked(pp_json *attributes)
{
    return trim_member(attributes) != NULL;
}

parapet_status pp_trim_read(const pp_array_document *document, bool *is_shrunk)
{
    pp_json *trim = trim_member(document->attributes);
    int d;
    if (pp_json_length(trim) != (size_t)document->ndim)
        return pp_fail(PARAPET_ERR_FORMAT, "attributes._parapet.trim does not list the dimensions of the array");
    for (d = 0; d < document->ndim; d++)
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

typedef struct beyond {
    const pp_array_document *document;
    pp_grid shards;
    pp_walk_visitor visit;
    void *context;
} beyond;

static parapet_status visit_if_beyond(void *context, const char *key, uint64_t bytes)
{
    const beyond *search = context;
    int64_t cell[PARAPET_MAX_NDIM];
    if (!pp_key_parse(&search->document->keys, search->document->ndim, key, cell) || is_inside(&search->shards, cell))
        return PARAPET_OK;
    return search->visit(search->context, key, bytes);
}

parapet_status pp_trim_visit_beyond(parapet_store *store, const char *path, const pp_array_document *document,
                                    pp_walk_visitor visit, void *context)
{
    beyond search = {.document = document, .visit = visit, .context = context};
    bool is_shrunk[PARAPET_MAX_NDIM] = {false};
    parapet_status status;
    if ((status = pp_trim_read(document, is_shrunk)) != PARAPET_OK ||
        (status = pp_grid_init(&search.shards, document->ndim, document->shape, document->grid_shape,
                               document->type.element_bytes)) != PARAPET_OK)
        return status;
    return pp_walk_shards(store, path, "", visit_if_beyond, &search);
}

static parapet_status remove_beyond(void *context, const char *key, uint64_t bytes)
{
    const parapet_array *array = context;
    (void)bytes;
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
    if (!pp_trim_is_marked(array->document.attributes))
        return PARAPET_OK;
    if ((status = pp_trim_read(&array->document, is_shrunk)) != PARAPET_OK ||
        (status = pp_trim_visit_beyond(array->store, array->path, &array->document, remove_beyond, array)) !=
            PARAPET_OK ||
        (status = trim_edge(array, is_shrunk)) != PARAPET_OK)
        return status;
    return pp_array_edit(array, take_mark_off, NULL, PP_SEAL_KEEP);
}
