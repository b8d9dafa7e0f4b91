/* The codecs of a v3 document: JSON to pp_chain_spec and back. */
#include "zarr/codecs_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "zarr/codec_parameters.h"
#include "zarr/fields.h"
#include "zarr/json_print.h"

parapet_status pp_codec_append(pp_chain_spec *spec, const pp_codec_spec *codec)
{
    if (spec->count == PP_MAX_CODECS)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "codecs: more than %d codecs in one list", PP_MAX_CODECS);
    spec->codecs[spec->count++] = *codec;
    return PARAPET_OK;
}

#define WHO_BYTES 48

/* The configuration (NULL: none) as the codec's file describes it. */
static parapet_status parse_described(pp_codec_spec *codec, pp_json *configuration, pp_codec_context *context)
{
    const pp_codec_traits *traits = pp_codec_traits_of(codec->id);
    char who[WHO_BYTES];
    parapet_status status;
    (void)snprintf(who, sizeof who, "the codec %s", traits->v3_name);
    if ((status = pp_parameters_check(traits->v3_parameters, configuration, who)) != PARAPET_OK ||
        (status = pp_parameters_parse(traits->v3_parameters, configuration, who, codec)) != PARAPET_OK)
        return status;
    if (traits->complete != NULL)
        traits->complete(codec, context->type != NULL ? context->type->element_bytes : 1);
    return PARAPET_OK;
}

static parapet_status print_described(const pp_codec_spec *codec, int ndim, pp_text *text)
{
    (void)ndim;
    pp_parameters_print(pp_codec_traits_of(codec->id)->v3_parameters, codec, text);
    return text->status;
}

/* ---- Codecs that have to know the array ---- */

static parapet_status parse_bytes(pp_codec_spec *codec, pp_json *configuration, pp_codec_context *context)
{
    parapet_status status = parse_described(codec, configuration, context);
    if (status != PARAPET_OK)
        return status;
    if (pp_json_member(configuration, "endian") == NULL && context->type != NULL && context->type->swap_bytes > 1)
        return pp_fail(PARAPET_ERR_FORMAT, "the codec bytes does not say which endian %s has", context->type->name);
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
        codec->order[i] = (int8_t)entries[i];
        shape[i] = context->shape[entries[i]];
    }
    if (i < ndim || ndim != context->ndim)
        return pp_fail(PARAPET_ERR_FORMAT, "the codec transpose: order is not a permutation of %d dimensions",
                       context->ndim);
    memcpy(context->shape, shape, (size_t)ndim * sizeof shape[0]);
    return PARAPET_OK;
}

static parapet_status print_transpose(const pp_codec_spec *codec, int ndim, pp_text *text)
{
    int i;
    pp_text_add(text, "\"order\":[");
    for (i = 0; i < ndim; i++)
        pp_text_add(text, "%s%d", i > 0 ? "," : "", codec->order[i]);
    pp_text_add(text, "]");
    return text->status;
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
        return pp_fail(PARAPET_ERR_FORMAT, "the codec sharding_indexed: index_codecs must be a non-empty list");
    status = pp_codecs_parse(&sharding->index_codecs, list, &context);
    for (i = 0; status == PARAPET_OK && i < sharding->index_codecs.count; i++)
        if (!pp_codec_traits_of(sharding->index_codecs.codecs[i].id)->is_for_index)
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
                       "the codec sharding_indexed is not allowed here, or is nested more than %d deep",
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

static parapet_status print_sharding(const pp_codec_spec *codec, int ndim, pp_text *text)
{
    const pp_sharding_spec *sharding = codec->sharding;
    int i;
    parapet_status status;
    pp_text_add(text, "\"chunk_shape\":[");
    for (i = 0; i < ndim; i++)
        pp_text_add(text, "%s%" PRId64, i > 0 ? "," : "", sharding->chunk_shape[i]);
    pp_text_add(text, "],\"codecs\":");
    if ((status = pp_codecs_print(&sharding->codecs, ndim, text)) != PARAPET_OK)
        return status;
    pp_text_add(text, ",\"index_codecs\":");
    if ((status = pp_codecs_print(&sharding->index_codecs, ndim + 1, text)) != PARAPET_OK)
        return status;
    pp_text_add(text, ",\"index_location\":\"%s\"", sharding->is_index_at_start ? "start" : "end");
    return text->status;
}

/* ---- Lists ---- */

/* How a configuration is read and printed. */
typedef struct codec_form {
    pp_codec_id id;
    parapet_status (*parse)(pp_codec_spec *codec, pp_json *configuration, pp_codec_context *context);
    parapet_status (*print)(const pp_codec_spec *codec, int ndim, pp_text *text);
} codec_form;

static const codec_form *form_of(pp_codec_id id)
{
    static const codec_form forms[] = {
        {PP_CODEC_BYTES, parse_bytes, print_described},
        {PP_CODEC_TRANSPOSE, parse_transpose, print_transpose},
        {PP_CODEC_SHARDING, parse_sharding, print_sharding},
    };
    static const codec_form described = {.parse = parse_described, .print = print_described};
    size_t i;
    for (i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (forms[i].id == id)
            return &forms[i];
    return &described;
}

static bool is_name(const char *known, const char *name)
{
    return known != NULL && strcmp(known, name) == 0;
}

static bool find_codec(const char *name, pp_codec_id *id)
{
    for (*id = 0; *id < PP_CODEC_COUNT; ++*id) {
        const pp_codec_traits *traits = pp_codec_traits_of(*id);
        if (is_name(traits->v3_name, name) || is_name(traits->draft_name, name))
            return true;
    }
    return false;
}

typedef struct codec_list {
    pp_chain_spec *spec;
    pp_codec_context context;
    bool has_bytes; /* the array->bytes codec was met */
} codec_list;

static parapet_status check_kind(codec_list *list, const pp_codec_traits *traits)
{
    if (traits->kind == PP_BYTES_TO_BYTES && !list->has_bytes)
        return pp_fail(PARAPET_ERR_FORMAT, "codecs: %s comes before any codec that turns the array into bytes",
                       traits->v3_name);
    if (traits->kind != PP_BYTES_TO_BYTES && list->has_bytes)
        return pp_fail(PARAPET_ERR_FORMAT, "codecs: %s comes after a codec that turned the array into bytes",
                       traits->v3_name);
    list->has_bytes = traits->kind != PP_ARRAY_TO_ARRAY;
    return PARAPET_OK;
}

static parapet_status parse_codec(codec_list *list, pp_json *json)
{
    pp_extension extension;
    pp_codec_spec codec = {0};
    bool is_known;
    parapet_status status;
    if ((status = pp_extension_parse(&extension, json, "codecs")) != PARAPET_OK)
        return status;
    is_known = find_codec(extension.name, &codec.id);
    if (!is_known && !extension.must_understand)
        return PARAPET_OK;
    if (!is_known)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "codecs: \"%.64s\" is not known to this version", extension.name);
    if ((status = check_kind(list, pp_codec_traits_of(codec.id))) != PARAPET_OK ||
        (status = pp_codec_append(list->spec, &codec)) != PARAPET_OK)
        return status;
    return form_of(codec.id)->parse(&list->spec->codecs[list->spec->count - 1], extension.configuration,
                                    &list->context);
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

static bool is_named(pp_json *json, const char *name)
{
    pp_extension extension;
    return pp_extension_parse(&extension, json, "codecs") == PARAPET_OK && strcmp(extension.name, name) == 0;
}

parapet_status pp_codecs_parse_texts(pp_chain_spec *spec, pp_json *json)
{
    const pp_codec_spec texts = {.id = PP_CODEC_BYTES};
    codec_list list = {.spec = spec, .has_bytes = true};
    size_t i;
    parapet_status status;
    if (pp_json_kind_of(json) != PP_JSON_ARRAY || pp_json_length(json) == 0 ||
        !is_named(pp_json_element(json, 0), "vlen-utf8"))
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "codecs: the first is not vlen-utf8");
    status = pp_codec_append(spec, &texts);
    for (i = 1; i < pp_json_length(json) && status == PARAPET_OK; i++)
        status = parse_codec(&list, pp_json_element(json, i));
    return status;
}

/* ---- Back to JSON ---- */

/* A codec that is told nothing has no configuration, as zarr-python writes it. */
static parapet_status print_codec(const pp_codec_spec *codec, int ndim, pp_text *text)
{
    const char *name = pp_codec_traits_of(codec->id)->v3_name;
    pp_text configuration = {0};
    parapet_status status;
    if (name == NULL)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "codecs: a codec of Zarr v2 cannot be written in Zarr v3");
    status = form_of(codec->id)->print(codec, ndim, &configuration);
    if (status == PARAPET_OK && configuration.bytes > 0)
        pp_text_add(text, "{\"name\":\"%s\",\"configuration\":{%s}}", name, configuration.data);
    else if (status == PARAPET_OK)
        pp_text_add(text, "{\"name\":\"%s\"}", name);
    pp_text_free(&configuration);
    return status != PARAPET_OK ? status : text->status;
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
