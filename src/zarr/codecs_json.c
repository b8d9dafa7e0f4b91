/* The codecs of a v3 document: JSON to pp_chain_spec and back. */
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "zarr/internal.h"

static const char *const blosc_compressors[] = {"blosclz", "lz4", "lz4hc", "zlib", "zstd", "snappy"};
static const char *const blosc_shuffles[] = {"noshuffle", "shuffle", "bitshuffle"};

bool pp_blosc_has(const char *name)
{
    size_t i;
    for (i = 0; i < sizeof blosc_compressors / sizeof blosc_compressors[0]; i++)
        if (strcmp(name, blosc_compressors[i]) == 0)
            return true;
    return false;
}

parapet_status pp_codec_append(pp_chain_spec *spec, const pp_codec_spec *codec)
{
    if (spec->count == PP_MAX_CODECS)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "codecs: more than %d codecs in one list", PP_MAX_CODECS);
    spec->codecs[spec->count++] = *codec;
    return PARAPET_OK;
}

/* ---- One codec each: its configuration (NULL: none) into a spec ---- */

static parapet_status parse_bytes(pp_codec_spec *codec, pp_json *configuration, pp_codec_context *context)
{
    static const char *const names[] = {"endian", NULL};
    char words[PP_JSON_WORDS_BYTES];
    pp_json *endian = pp_json_member(configuration, "endian");
    parapet_status status = pp_members_check(configuration, names, "the codec bytes");
    if (status != PARAPET_OK)
        return status;
    codec->is_big_endian = pp_json_is_text(endian, "big");
    if (endian == NULL && context->type != NULL && context->type->swap_bytes > 1)
        return pp_fail(PARAPET_ERR_FORMAT, "the codec bytes does not tell the endian of %s", context->type->name);
    if (endian != NULL && !codec->is_big_endian && !pp_json_is_text(endian, "little"))
        return pp_fail(PARAPET_ERR_FORMAT, "the codec bytes: endian must be \"little\" or \"big\", not %s",
                       pp_json_words(endian, words));
    if (codec->is_big_endian && context->type != NULL && context->type->id == PARAPET_STRUCT)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "the codec bytes: big-endian records cannot be read");
    return PARAPET_OK;
}

/* "C" and "F" are from drafts of Zarr v3. */
static bool is_letter_order(pp_json *order, int ndim, int64_t *entries)
{
    bool is_fortran = pp_json_is_text(order, "F");
    int i;
    if (!is_fortran && !pp_json_is_text(order, "C"))
        return false;
    for (i = 0; i < ndim; i++)
        entries[i] = is_fortran ? ndim - 1 - i : i;
    return true;
}

static parapet_status parse_transpose(pp_codec_spec *codec, pp_json *configuration, pp_codec_context *context)
{
    static const char *const names[] = {"order", NULL};
    int64_t entries[PARAPET_MAX_NDIM], shape[PARAPET_MAX_NDIM];
    bool is_taken[PARAPET_MAX_NDIM] = {false};
    pp_json *order = pp_json_member(configuration, "order");
    int ndim = context->ndim, i;
    parapet_status status = pp_members_check(configuration, names, "the codec transpose");
    if (status != PARAPET_OK)
        return status;
    if (!is_letter_order(order, ndim, entries) &&
        (status = pp_shape_parse(order, "the codec transpose: order", 0, &ndim, entries)) != PARAPET_OK)
        return status;
    for (i = 0; i < ndim && ndim == context->ndim; i++) {
        if (entries[i] >= ndim || is_taken[entries[i]])
            break;
        is_taken[entries[i]] = true;
        codec->order[i] = (int)entries[i];
        shape[i] = context->shape[entries[i]];
    }
    if (i < ndim || ndim != context->ndim)
        return pp_fail(PARAPET_ERR_FORMAT, "the codec transpose: order is not a permutation of %d dimensions",
                       context->ndim);
    memcpy(context->shape, shape, (size_t)ndim * sizeof shape[0]);
    return PARAPET_OK;
}

static parapet_status parse_gzip(pp_codec_spec *codec, pp_json *configuration, pp_codec_context *context)
{
    static const char *const names[] = {"level", NULL};
    const pp_integer_range range = {"the codec gzip: level", 0, 9};
    parapet_status status = pp_members_check(configuration, names, "the codec gzip");
    (void)context;
    codec->level = 5;
    return status != PARAPET_OK ? status
                                : pp_integer_parse(pp_json_member(configuration, "level"), &range, &codec->level);
}

static parapet_status parse_zstd(pp_codec_spec *codec, pp_json *configuration, pp_codec_context *context)
{
    static const char *const names[] = {"level", "checksum", NULL};
    const pp_integer_range range = {"the codec zstd: level", -131072, 22};
    pp_json *checksum = pp_json_member(configuration, "checksum");
    parapet_status status = pp_members_check(configuration, names, "the codec zstd");
    (void)context;
    if (status == PARAPET_OK && checksum != NULL && !pp_json_get_bool(checksum, &codec->has_frame_checksum))
        return pp_fail(PARAPET_ERR_FORMAT, "the codec zstd: checksum must be true or false");
    return status != PARAPET_OK ? status
                                : pp_integer_parse(pp_json_member(configuration, "level"), &range, &codec->level);
}

static parapet_status parse_blosc_shuffle(pp_codec_spec *codec, pp_json *shuffle)
{
    char words[PP_JSON_WORDS_BYTES];
    for (codec->blosc_shuffle = 0; codec->blosc_shuffle < 3; codec->blosc_shuffle++)
        if (pp_json_is_text(shuffle, blosc_shuffles[codec->blosc_shuffle]))
            return PARAPET_OK;
    codec->blosc_shuffle = 1;
    if (shuffle == NULL)
        return PARAPET_OK;
    return pp_fail(PARAPET_ERR_FORMAT,
                   "the codec blosc: shuffle must be \"noshuffle\", \"shuffle\" or \"bitshuffle\", not %s",
                   pp_json_words(shuffle, words));
}

static parapet_status parse_blosc_name(pp_codec_spec *codec, pp_json *cname)
{
    char words[PP_JSON_WORDS_BYTES];
    const char *name;
    size_t bytes;
    if (!pp_json_get_text(cname, &name, &bytes) || strlen(name) != bytes || !pp_blosc_has(name))
        return pp_fail(PARAPET_ERR_UNSUPPORTED,
                       "the codec blosc: cname must be one of blosclz, lz4, lz4hc, zlib, zstd, snappy, not %s",
                       pp_json_words(cname, words));
    memcpy(codec->blosc_compressor, name, bytes + 1);
    return PARAPET_OK;
}

static parapet_status parse_blosc(pp_codec_spec *codec, pp_json *configuration, pp_codec_context *context)
{
    static const char *const names[] = {"cname", "clevel", "shuffle", "typesize", "blocksize", NULL};
    const pp_integer_range level = {"the codec blosc: clevel", 0, 9};
    const pp_integer_range type_bytes = {"the codec blosc: typesize", 1, INT_MAX};
    const pp_integer_range block_bytes = {"the codec blosc: blocksize", 0, INT_MAX};
    parapet_status status = pp_members_check(configuration, names, "the codec blosc");
    codec->level = 5;
    codec->blosc_type_bytes = context->type != NULL ? (int)context->type->element_bytes : 1;
    if (status != PARAPET_OK ||
        (status = parse_blosc_name(codec, pp_json_member(configuration, "cname"))) != PARAPET_OK ||
        (status = parse_blosc_shuffle(codec, pp_json_member(configuration, "shuffle"))) != PARAPET_OK ||
        (status = pp_integer_parse(pp_json_member(configuration, "clevel"), &level, &codec->level)) != PARAPET_OK ||
        (status = pp_integer_parse(pp_json_member(configuration, "typesize"), &type_bytes,
                                   &codec->blosc_type_bytes)) != PARAPET_OK)
        return status;
    return pp_integer_parse(pp_json_member(configuration, "blocksize"), &block_bytes, &codec->blosc_block_bytes);
}

static parapet_status parse_crc32c(pp_codec_spec *codec, pp_json *configuration, pp_codec_context *context)
{
    static const char *const no_names[] = {NULL};
    (void)codec;
    (void)context;
    return pp_members_check(configuration, no_names, "the codec crc32c");
}

/* ---- Sharding ---- */

static parapet_status parse_inner_shape(pp_sharding_spec *sharding, pp_json *json, const pp_codec_context *context)
{
    int i;
    parapet_status status =
        pp_shape_parse(json, "the codec sharding_indexed: chunk_shape", 1, &sharding->ndim, sharding->chunk_shape);
    if (status != PARAPET_OK)
        return status;
    if (sharding->ndim != context->ndim)
        return pp_fail(PARAPET_ERR_FORMAT, "the codec sharding_indexed: chunk_shape has %d dimensions, not %d",
                       sharding->ndim, context->ndim);
    for (i = 0; i < sharding->ndim; i++)
        if (context->shape[i] % sharding->chunk_shape[i] != 0)
            return pp_fail(PARAPET_ERR_FORMAT,
                           "the codec sharding_indexed: chunk_shape %" PRId64 " does not divide the shard's %" PRId64
                           " in dimension %d",
                           sharding->chunk_shape[i], context->shape[i], i);
    return PARAPET_OK;
}

static parapet_status parse_index_location(pp_sharding_spec *sharding, pp_json *json)
{
    char words[PP_JSON_WORDS_BYTES];
    sharding->is_index_at_start = pp_json_is_text(json, "start");
    if (json != NULL && !sharding->is_index_at_start && !pp_json_is_text(json, "end"))
        return pp_fail(PARAPET_ERR_FORMAT,
                       "the codec sharding_indexed: index_location must be \"start\" or \"end\", not %s",
                       pp_json_words(json, words));
    return PARAPET_OK;
}

/* The index must have a size that is known beforehand. */
static parapet_status parse_index_codecs(pp_sharding_spec *sharding, pp_json *list)
{
    const pp_codec_context context = {.sharding_depth = PP_MAX_SHARDING_DEPTH};
    int i;
    parapet_status status;
    if (pp_json_length(list) == 0)
        return pp_fail(PARAPET_ERR_FORMAT,
                       "the codec sharding_indexed: index_codecs must be a list that is not empty");
    status = pp_codecs_parse(&sharding->index_codecs, list, &context);
    for (i = 0; status == PARAPET_OK && i < sharding->index_codecs.count; i++)
        if (sharding->index_codecs.codecs[i].id != PP_CODEC_BYTES &&
            sharding->index_codecs.codecs[i].id != PP_CODEC_CRC32C)
            status = pp_fail(PARAPET_ERR_UNSUPPORTED,
                             "the codec sharding_indexed: index_codecs may hold only bytes and crc32c");
    return status;
}

static parapet_status parse_sharding(pp_codec_spec *codec, pp_json *configuration, pp_codec_context *context)
{
    static const char *const names[] = {"chunk_shape", "codecs", "index_codecs", "index_location", NULL};
    pp_codec_context inner = {.type = context->type, .sharding_depth = context->sharding_depth + 1};
    pp_json *chunk_shape, *codecs, *index_codecs;
    pp_sharding_spec *sharding;
    parapet_status status;
    if (context->sharding_depth == PP_MAX_SHARDING_DEPTH)
        return pp_fail(PARAPET_ERR_UNSUPPORTED,
                       "the codec sharding_indexed may not be here, or is nested more than %d deep",
                       PP_MAX_SHARDING_DEPTH);
    if ((status = pp_members_check(configuration, names, "the codec sharding_indexed")) != PARAPET_OK ||
        (status = pp_member_require(configuration, "chunk_shape", &chunk_shape)) != PARAPET_OK ||
        (status = pp_member_require(configuration, "codecs", &codecs)) != PARAPET_OK ||
        (status = pp_member_require(configuration, "index_codecs", &index_codecs)) != PARAPET_OK)
        return pp_fail_within(status, "the codec sharding_indexed");
    if ((status = pp_allocate(&codec->sharding, sizeof *codec->sharding)) != PARAPET_OK)
        return status;
    sharding = codec->sharding;
    if ((status = parse_inner_shape(sharding, chunk_shape, context)) != PARAPET_OK)
        return status;
    inner.ndim = sharding->ndim;
    memcpy(inner.shape, sharding->chunk_shape, sizeof inner.shape);
    if ((status = pp_codecs_parse(&sharding->codecs, codecs, &inner)) != PARAPET_OK ||
        (status = parse_index_codecs(sharding, index_codecs)) != PARAPET_OK)
        return status;
    return parse_index_location(sharding, pp_json_member(configuration, "index_location"));
}

/* ---- Lists ---- */

typedef enum codec_stage { ARRAY_TO_ARRAY, ARRAY_TO_BYTES, BYTES_TO_BYTES } codec_stage;

typedef struct known_codec {
    const char *name;
    pp_codec_id id;
    codec_stage stage;
    parapet_status (*parse)(pp_codec_spec *codec, pp_json *configuration, pp_codec_context *context);
} known_codec;

static const known_codec known_codecs[] = {
    {"transpose", PP_CODEC_TRANSPOSE, ARRAY_TO_ARRAY, parse_transpose},
    {"bytes", PP_CODEC_BYTES, ARRAY_TO_BYTES, parse_bytes},
    {"endian", PP_CODEC_BYTES, ARRAY_TO_BYTES, parse_bytes}, /* its name in drafts */
    {"sharding_indexed", PP_CODEC_SHARDING, ARRAY_TO_BYTES, parse_sharding},
    {"gzip", PP_CODEC_GZIP, BYTES_TO_BYTES, parse_gzip},
    {"zstd", PP_CODEC_ZSTD, BYTES_TO_BYTES, parse_zstd},
    {"blosc", PP_CODEC_BLOSC, BYTES_TO_BYTES, parse_blosc},
    {"crc32c", PP_CODEC_CRC32C, BYTES_TO_BYTES, parse_crc32c},
};

static const known_codec *find_codec(const char *name)
{
    size_t i;
    for (i = 0; i < sizeof known_codecs / sizeof known_codecs[0]; i++)
        if (strcmp(name, known_codecs[i].name) == 0)
            return &known_codecs[i];
    return NULL;
}

typedef struct codec_list {
    pp_chain_spec *spec;
    pp_codec_context context;
    bool has_bytes; /* the array->bytes codec was met */
} codec_list;

static parapet_status check_stage(codec_list *list, const known_codec *known)
{
    if (known->stage == BYTES_TO_BYTES && !list->has_bytes)
        return pp_fail(PARAPET_ERR_FORMAT, "codecs: %s stands before any codec that turns the array into bytes",
                       known->name);
    if (known->stage != BYTES_TO_BYTES && list->has_bytes)
        return pp_fail(PARAPET_ERR_FORMAT, "codecs: %s stands after a codec that turned the array into bytes",
                       known->name);
    list->has_bytes = known->stage != ARRAY_TO_ARRAY;
    return PARAPET_OK;
}

static parapet_status parse_codec(codec_list *list, pp_json *json)
{
    pp_extension extension;
    pp_codec_spec codec = {0};
    const known_codec *known;
    parapet_status status;
    if ((status = pp_extension_parse(&extension, json, "codecs")) != PARAPET_OK)
        return status;
    known = find_codec(extension.name);
    if (known == NULL && !extension.must_understand)
        return PARAPET_OK;
    if (known == NULL)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "codecs: \"%.64s\" is not known to this version", extension.name);
    codec.id = known->id;
    if ((status = check_stage(list, known)) != PARAPET_OK ||
        (status = pp_codec_append(list->spec, &codec)) != PARAPET_OK)
        return status;
    return known->parse(&list->spec->codecs[list->spec->count - 1], extension.configuration, &list->context);
}

parapet_status pp_codecs_parse(pp_chain_spec *spec, pp_json *json, const pp_codec_context *context)
{
    const pp_codec_spec little = {.id = PP_CODEC_BYTES};
    codec_list list = {.spec = spec, .context = *context};
    char words[PP_JSON_WORDS_BYTES];
    size_t i;
    parapet_status status = PARAPET_OK;
    if (pp_json_kind_of(json) != PP_JSON_ARRAY)
        return pp_fail(PARAPET_ERR_FORMAT, "codecs must be a list, not %s", pp_json_words(json, words));
    if (pp_json_length(json) > PP_MAX_CODECS)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "codecs: %zu codecs in one list, more than %d", pp_json_length(json),
                       PP_MAX_CODECS);
    if (pp_json_length(json) == 0) /* zarrita writes this for plain little-endian bytes */
        return pp_codec_append(spec, &little);
    for (i = 0; i < pp_json_length(json) && status == PARAPET_OK; i++)
        status = parse_codec(&list, pp_json_element(json, i));
    if (status == PARAPET_OK && !list.has_bytes)
        status = pp_fail(PARAPET_ERR_FORMAT, "codecs: none of them turns the array into bytes");
    return status;
}

/* ---- Back to JSON ---- */

static parapet_status print_sharding(const pp_sharding_spec *sharding, pp_text *text)
{
    int i;
    parapet_status status;
    pp_text_add(text, "{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[");
    for (i = 0; i < sharding->ndim; i++)
        pp_text_add(text, "%s%" PRId64, i > 0 ? "," : "", sharding->chunk_shape[i]);
    pp_text_add(text, "],\"codecs\":");
    if ((status = pp_codecs_print(&sharding->codecs, sharding->ndim, text)) != PARAPET_OK)
        return status;
    pp_text_add(text, ",\"index_codecs\":");
    if ((status = pp_codecs_print(&sharding->index_codecs, sharding->ndim + 1, text)) != PARAPET_OK)
        return status;
    pp_text_add(text, ",\"index_location\":\"%s\"}}", sharding->is_index_at_start ? "start" : "end");
    return text->status;
}

static void print_transpose(const pp_codec_spec *codec, int ndim, pp_text *text)
{
    int i;
    pp_text_add(text, "{\"name\":\"transpose\",\"configuration\":{\"order\":[");
    for (i = 0; i < ndim; i++)
        pp_text_add(text, "%s%d", i > 0 ? "," : "", codec->order[i]);
    pp_text_add(text, "]}}");
}

static void print_blosc(const pp_codec_spec *codec, pp_text *text)
{
    pp_text_add(text,
                "{\"name\":\"blosc\",\"configuration\":{\"cname\":\"%s\",\"clevel\":%d,\"shuffle\":\"%s\","
                "\"typesize\":%d,\"blocksize\":%d}}",
                codec->blosc_compressor, codec->level, blosc_shuffles[codec->blosc_shuffle], codec->blosc_type_bytes,
                codec->blosc_block_bytes);
}

static parapet_status print_codec(const pp_codec_spec *codec, int ndim, pp_text *text)
{
    switch (codec->id) {
    case PP_CODEC_BYTES:
        pp_text_add(text, "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"%s\"}}",
                    codec->is_big_endian ? "big" : "little");
        break;
    case PP_CODEC_TRANSPOSE:
        print_transpose(codec, ndim, text);
        break;
    case PP_CODEC_SHARDING:
        return print_sharding(codec->sharding, text);
    case PP_CODEC_GZIP:
        pp_text_add(text, "{\"name\":\"gzip\",\"configuration\":{\"level\":%d}}", codec->level);
        break;
    case PP_CODEC_ZSTD:
        pp_text_add(text, "{\"name\":\"zstd\",\"configuration\":{\"level\":%d,\"checksum\":%s}}", codec->level,
                    codec->has_frame_checksum ? "true" : "false");
        break;
    case PP_CODEC_BLOSC:
        print_blosc(codec, text);
        break;
    case PP_CODEC_CRC32C: /* without configuration, as zarr-python writes it */
        pp_text_add(text, "{\"name\":\"crc32c\"}");
        break;
    default:
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "codecs: a codec of Zarr v2 cannot be written in Zarr v3");
    }
    return text->status;
}

parapet_status pp_codecs_print(const pp_chain_spec *spec, int ndim, pp_text *text)
{
    parapet_status status = PARAPET_OK;
    int i;
    pp_text_add(text, "[");
    for (i = 0; i < spec->count && status == PARAPET_OK; i++) {
        pp_text_add(text, "%s", i > 0 ? "," : "");
        status = print_codec(&spec->codecs[i], ndim, text);
    }
    pp_text_add(text, "]");
    return status;
}
