/* target_document.c - the document of the target of a copy, from that of the source and the changes that are asked
 * for. */
#include "copy/target_document.h"

#include <string.h>

#include "array/attributes.h"
#include "array/document.h"
#include "base/checked.h"
#include "copy/changes.h"
#include "copy/copy_request.h"
#include "plan/shapes.h"

/* How an array is cut, in the order of the target's dimensions. */
typedef struct cut {
    int64_t chunks[PARAPET_MAX_NDIM], shards[PARAPET_MAX_NDIM];
    bool is_sharded;
} cut;

/* ---- What an element is, and what is said about the array ---- */

static parapet_status copy_elements(const pp_array_document *source, pp_array_document *target)
{
    parapet_status status;
    target->type.id = source->type.id;
    target->type.element_bytes = source->type.element_bytes;
    target->type.swap_bytes = source->type.swap_bytes;
    target->is_fill_defined = source->is_fill_defined;
    if ((status = pp_text_duplicate(&target->type.name, source->type.name)) != PARAPET_OK ||
        (status = pp_text_duplicate(&target->type.json, source->type.json)) != PARAPET_OK)
        return status;
    return pp_bytes_duplicate(&target->fill_value, source->fill_value, source->type.element_bytes);
}

static parapet_status copy_names(const pp_array_document *source, const pp_copy_view *view, pp_array_document *target)
{
    parapet_status status = PARAPET_OK;
    int d;
    target->has_dimension_names = source->has_dimension_names;
    for (d = 0; d < view->ndim && status == PARAPET_OK; d++) {
        target->shape[d] = view->shape[d];
        if (source->dimension_names[view->axis[d]] != NULL)
            status = pp_text_duplicate(&target->dimension_names[d], source->dimension_names[view->axis[d]]);
    }
    return status;
}

/* A seal is of the source. What Zarr v2 has to keep in an attribute has a field of its own, whose order may differ.
 */
static parapet_status copy_attributes(const pp_array_document *source, pp_array_document *target)
{
    parapet_status status;
    if ((status = pp_json_duplicate(source->attributes, &target->attributes)) != PARAPET_OK ||
        (status = pp_json_duplicate(source->extra, &target->extra)) != PARAPET_OK)
        return status;
    pp_json_remove(target->attributes, PP_RESERVED_ATTRIBUTE);
    if (source->zarr_format == 2 && source->has_dimension_names)
        pp_json_remove(target->attributes, "_ARRAY_DIMENSIONS");
    return PARAPET_OK;
}

/* ---- Codecs of a chunk ---- */

static bool is_permuted(const pp_copy_view *view)
{
    int d;
    for (d = 0; d < view->ndim; d++)
        if (view->axis[d] != d)
            return true;
    return false;
}

static parapet_status choose_codecs(const parapet_copy_changes *changes, const pp_copy_wishes *wishes,
                                    const pp_array_document *source, pp_chain_spec *codecs)
{
    const pp_chain_spec *own = pp_document_chunk_codecs(source);
    bool is_new = source->zarr_format == 2 || source->is_foreign || wishes->chunks.kind != PP_EXTENTS_SAME;
    if (pp_copy_is_given(changes->codec))
        return pp_codecs_from_words(codecs, changes->codec, source->type.element_bytes, !changes->no_checksum);
    if (is_new || !pp_chain_spec_can_stay(own, is_permuted(&wishes->view)))
        return pp_chain_spec_carry_over(own, is_new ? !changes->no_checksum : pp_chain_spec_ends_in_crc32c(own),
                                        codecs);
    *codecs = *own;
    return PARAPET_OK;
}

/* ---- Chunks and shards ---- */

static void cut_of_source(const pp_array_document *source, const pp_copy_view *view, cut *of)
{
    const pp_sharding_spec *sharding = pp_chain_spec_sharding(&source->codecs);
    int d;
    of->is_sharded = sharding != NULL;
    for (d = 0; d < view->ndim; d++) {
        of->shards[d] = source->grid_shape[view->axis[d]];
        of->chunks[d] = sharding != NULL ? sharding->chunk_shape[view->axis[d]] : of->shards[d];
    }
}

static bool is_same_shape(int ndim, const int64_t *a, const int64_t *b)
{
    return ndim == 0 || memcmp(a, b, (size_t)ndim * sizeof a[0]) == 0;
}

static void list_chunks(const pp_copy_wishes *wishes, const cut *source, int64_t *chunks)
{
    int d;
    for (d = 0; d < wishes->view.ndim; d++) {
        int64_t wanted = wishes->chunks.kind == PP_EXTENTS_LISTED ? wishes->chunks.extent[d] : PP_EXTENT_SAME;
        chunks[d] = wanted;
        if (wanted == PP_EXTENT_SAME)
            chunks[d] = source->chunks[d];
        else if (wanted == PP_EXTENT_WHOLE)
            chunks[d] = pp_max_i64(wishes->view.shape[d], 1);
    }
}

static parapet_status refuse_shard(const pp_array_document *target, int d, int64_t shard, int64_t chunk)
{
    pp_text name = {0};
    parapet_status status;
    if (target->dimension_names[d] != NULL)
        pp_text_add(&name, "%s", target->dimension_names[d]);
    else
        pp_text_add(&name, "dimension %d", d);
    if ((status = name.status) == PARAPET_OK)
        status = pp_fail(PARAPET_ERR_ARGUMENT, "shards: %lld for %s is not a multiple of its chunks, %lld",
                         (long long)shard, name.data, (long long)chunk);
    pp_text_free(&name);
    return status;
}

/* chunks NULL: not known yet. What is kept has to hold whole chunks, whatever they have become. */
static parapet_status list_shards(const pp_copy_wishes *wishes, const cut *source, const int64_t *chunks,
                                  const pp_array_document *target, int64_t *shards)
{
    int d;
    for (d = 0; d < target->ndim; d++) {
        int64_t wanted = wishes->shards.extent[d], rounded;
        shards[d] = wanted == PP_EXTENT_SAME ? source->shards[d] : wanted;
        if (chunks == NULL)
            continue;
        if (wanted > 0 && wanted % chunks[d] != 0)
            return refuse_shard(target, d, wanted, chunks[d]);
        if (wanted == PP_EXTENT_SAME && pp_multiply_fits(pp_divide_up(shards[d], chunks[d]), chunks[d], &rounded))
            shards[d] = rounded;
    }
    return PARAPET_OK;
}

static parapet_status choose_cut(const pp_copy_wishes *wishes, const pp_array_document *target, const cut *source,
                                 int64_t expected_servers, cut *chosen)
{
    int64_t chunks[PARAPET_MAX_NDIM], shards[PARAPET_MAX_NDIM];
    parapet_array_spec spec = {.ndim = target->ndim, .shape = target->shape};
    parapet_status status;
    if (wishes->chunks.kind != PP_EXTENTS_CHOSEN) {
        list_chunks(wishes, source, chunks);
        spec.chunks = chunks;
    }
    if (wishes->shards.kind == PP_EXTENTS_SAME && spec.chunks != NULL &&
        is_same_shape(target->ndim, chunks, source->chunks)) {
        *chosen = *source;
        return PARAPET_OK;
    }
    spec.unsharded = wishes->shards.kind == PP_EXTENTS_UNSHARDED;
    if (wishes->shards.kind == PP_EXTENTS_LISTED) {
        if ((status = list_shards(wishes, source, spec.chunks, target, shards)) != PARAPET_OK)
            return status;
        spec.shards = shards;
    }
    if ((status = pp_shapes_choose(&spec, target->type.element_bytes, expected_servers, chosen->chunks,
                                   chosen->shards)) != PARAPET_OK)
        return status;
    chosen->is_sharded = target->ndim > 0 && !spec.unsharded &&
                         (spec.shards != NULL || !is_same_shape(target->ndim, chosen->chunks, chosen->shards));
    return PARAPET_OK;
}

/* Shards that stay as they are keep the codecs of their index, which comes last: a shard is written as a stream. */
static void keep_index_codecs(const pp_sharding_spec *source, pp_sharding_spec *target)
{
    int i;
    for (i = 0; i < source->index_codecs.count; i++)
        if (source->index_codecs.codecs[i].sharding != NULL)
            return;
    target->index_codecs = source->index_codecs;
}

static parapet_status cut_target(const pp_copy_wishes *wishes, const pp_array_document *source,
                                 int64_t expected_servers, pp_array_document *target)
{
    cut before = {.is_sharded = false}, after = {.is_sharded = false};
    parapet_status status;
    cut_of_source(source, &wishes->view, &before);
    if ((status = choose_cut(wishes, target, &before, expected_servers, &after)) != PARAPET_OK)
        return status;
    memcpy(target->grid_shape, after.shards, sizeof target->grid_shape);
    if (!after.is_sharded)
        return PARAPET_OK;
    if ((status = pp_document_wrap_in_shards(target, after.chunks)) != PARAPET_OK)
        return status;
    if (before.is_sharded && is_same_shape(target->ndim, before.chunks, after.chunks) &&
        is_same_shape(target->ndim, before.shards, after.shards))
        keep_index_codecs(pp_chain_spec_sharding(&source->codecs), target->codecs.codecs[0].sharding);
    return PARAPET_OK;
}

parapet_status pp_copy_document(const parapet_copy_changes *changes, const pp_array_document *source, bool is_in_tree,
                                int64_t expected_servers, pp_array_document *target, pp_copy_view *view)
{
    pp_copy_wishes wishes;
    parapet_status status;
    *target = (pp_array_document){.zarr_format = 3, .ndim = source->ndim, .keys = {.separator = '/'}};
    if (source->zarr_format == 3)
        target->keys = source->keys;
    if ((status = pp_copy_changes_parse(&wishes, changes, source, is_in_tree)) != PARAPET_OK ||
        (status = copy_elements(source, target)) != PARAPET_OK ||
        (status = copy_names(source, &wishes.view, target)) != PARAPET_OK ||
        (status = copy_attributes(source, target)) != PARAPET_OK ||
        (status = choose_codecs(changes, &wishes, source, &target->codecs)) != PARAPET_OK)
        return status;
    *view = wishes.view;
    return cut_target(&wishes, source, expected_servers, target);
}
