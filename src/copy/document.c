/* The document of the target of a copy, from that of the source and the changes that are asked for. */
#include <string.h>

#include "base/checked.h"
#include "copy/copy.h"

#define DEFAULT_CODEC_LEVEL 3
#define GZIP_DEFAULT_LEVEL 6
#define GZIP_MOST_LEVEL 9
#define ZSTD_MOST_LEVEL 22
#define BLOSC_MOST_TYPE_BYTES 255

/* How an array is cut, in the order of the target's dimensions. */
typedef struct cut {
    int64_t chunks[PARAPET_MAX_NDIM], shards[PARAPET_MAX_NDIM];
    bool is_sharded;
} cut;

static bool is_given(const char *text)
{
    return text != NULL && text[0] != '\0';
}

static const pp_sharding_spec *sole_sharding(const pp_array_document *document)
{
    const pp_chain_spec *codecs = &document->codecs;
    return codecs->count == 1 && codecs->codecs[0].id == PP_CODEC_SHARDING ? codecs->codecs[0].sharding : NULL;
}

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

/* Whether these codecs can encode, and mean the same for the target. */
static bool fits_target(const pp_chain_spec *codecs, const pp_copy_view *view)
{
    int i;
    for (i = 0; i < codecs->count; i++) {
        pp_codec_id id = codecs->codecs[i].id;
        if (id == PP_CODEC_SHARDING || id > PP_CODEC_CRC32C || (id == PP_CODEC_TRANSPOSE && is_permuted(view)))
            return false;
    }
    return true;
}

/* The nearest codec of Zarr v3 that compresses; false when codec does not. */
static bool find_compressor(const pp_codec_spec *codec, pp_codec_spec *compressor)
{
    *compressor = *codec;
    switch (codec->id) {
    case PP_CODEC_GZIP:
    case PP_CODEC_ZLIB:
        compressor->id = PP_CODEC_GZIP;
        if (codec->level < 0 || codec->level > GZIP_MOST_LEVEL)
            compressor->level = GZIP_DEFAULT_LEVEL;
        return true;
    case PP_CODEC_ZSTD:
        if (codec->level > ZSTD_MOST_LEVEL)
            compressor->level = ZSTD_MOST_LEVEL;
        return true;
    case PP_CODEC_BLOSC:
        if (codec->blosc_type_bytes > BLOSC_MOST_TYPE_BYTES)
            compressor->blosc_type_bytes = 1;
        return true;
    case PP_CODEC_LZ4:
        *compressor = (pp_codec_spec){.id = PP_CODEC_ZSTD, .level = DEFAULT_CODEC_LEVEL};
        return true;
    default:
        return false;
    }
}

/* Codecs that compress, also those inside shards; filters of Zarr v2 have no counterpart. */
static parapet_status add_compressors(const pp_chain_spec *codecs, pp_chain_spec *kept)
{
    pp_codec_spec compressor;
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < codecs->count && status == PARAPET_OK; i++) {
        if (codecs->codecs[i].sharding != NULL) {
            status = add_compressors(&codecs->codecs[i].sharding->codecs, kept);
            continue;
        }
        if (!find_compressor(&codecs->codecs[i], &compressor))
            continue;
        if (kept->count + 1 >= PP_MAX_CODECS)
            return pp_fail(PARAPET_ERR_UNSUPPORTED, "codecs: more than %d codecs in and around shards; give a codec",
                           PP_MAX_CODECS);
        kept->codecs[kept->count++] = compressor;
    }
    return status;
}

static bool ends_in_crc32c(const pp_chain_spec *codecs)
{
    return codecs->count > 0 && codecs->codecs[codecs->count - 1].id == PP_CODEC_CRC32C;
}

/* Little-endian bytes in C order, and what the source compresses with. */
static parapet_status carry_over(const pp_array_document *source, bool has_crc32c, pp_chain_spec *codecs)
{
    parapet_status status;
    *codecs = (pp_chain_spec){.count = 1, .codecs = {{.id = PP_CODEC_BYTES}}};
    if ((status = add_compressors(pp_document_chunk_codecs(source), codecs)) != PARAPET_OK)
        return status;
    if (has_crc32c)
        codecs->codecs[codecs->count++] = (pp_codec_spec){.id = PP_CODEC_CRC32C};
    return PARAPET_OK;
}

static parapet_status choose_codecs(const parapet_copy_changes *changes, const pp_copy_wishes *wishes,
                                    const pp_array_document *source, pp_chain_spec *codecs)
{
    const pp_chain_spec *own = pp_document_chunk_codecs(source);
    bool is_new = source->zarr_format == 2 || wishes->chunks.kind != PP_EXTENTS_SAME;
    if (is_given(changes->codec))
        return pp_codecs_from_words(codecs, changes->codec, source->type.element_bytes, !changes->no_checksum);
    if (is_new || !fits_target(own, &wishes->view))
        return carry_over(source, is_new ? !changes->no_checksum : ends_in_crc32c(own), codecs);
    *codecs = *own;
    return PARAPET_OK;
}

/* ---- Chunks and shards ---- */

static void cut_of_source(const pp_array_document *source, const pp_copy_view *view, cut *of)
{
    const pp_sharding_spec *sharding = sole_sharding(source);
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
        status = pp_fail(PARAPET_ERR_ARGUMENT, "shards: %lld for %s is no multiple of its chunks, %lld",
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
        keep_index_codecs(sole_sharding(source), target->codecs.codecs[0].sharding);
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
