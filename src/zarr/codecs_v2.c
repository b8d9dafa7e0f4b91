/* Filters and compressors of Zarr v2, which name codecs of numcodecs. All of them work on bytes here: v2 puts
 * the byte order into the dtype and applies filters to the stored elements. */
#include "zarr/codecs_v2.h"

#include <stdio.h>

#include "base/status.h"
#include "zarr/codec_parameters.h"
#include "zarr/codecs_json.h"
#include "zarr/json_print.h"

#define WHO_BYTES 48

static bool has_same_astype(pp_json *json)
{
    pp_json *astype = pp_json_member(json, "astype");
    return astype == NULL || pp_json_equals(astype, pp_json_member(json, "dtype"));
}

/* ---- Filters that lose digits: what they store is what was meant, and no codec is needed to read it ---- */

static bool is_rounding(pp_json *id)
{
    return pp_json_is_text(id, "quantize") || pp_json_is_text(id, "bitround");
}

static parapet_status check_rounding(pp_json *json)
{
    if (!has_same_astype(json))
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "the filter quantize can be read only where astype equals dtype");
    return PARAPET_OK;
}

/* ---- delta, whose parameter is a type ---- */

static bool is_float(parapet_type id)
{
    return id == PARAPET_FLOAT16 || id == PARAPET_FLOAT32 || id == PARAPET_FLOAT64;
}

static bool is_integer(parapet_type id)
{
    return id >= PARAPET_INT8 && id <= PARAPET_UINT64;
}

static parapet_status parse_delta(pp_codec_spec *codec, pp_json *json)
{
    pp_type type;
    bool is_big_endian, is_accepted;
    parapet_status status = pp_type_parse_v2(&type, pp_json_member(json, "dtype"), &is_big_endian);
    if (status != PARAPET_OK)
        return pp_fail_within(status, "the filter delta");
    codec->element_bytes = (int)type.element_bytes;
    codec->delta_kind = is_float(type.id) ? PP_DELTA_FLOAT : PP_DELTA_INTEGER;
    is_accepted = (is_float(type.id) || is_integer(type.id)) && !is_big_endian && has_same_astype(json);
    pp_type_clear(&type);
    if (!is_accepted)
        return pp_fail(PARAPET_ERR_UNSUPPORTED,
                       "the filter delta can be read for little-endian numbers that are stored as the same type");
    return PARAPET_OK;
}

/* ---- Lists ---- */

static bool find_codec(pp_json *id, pp_codec_id *found)
{
    for (*found = 0; *found < PP_CODEC_COUNT; ++*found) {
        const char *name = pp_codec_traits_of(*found)->v2_name;
        if (name != NULL && pp_json_is_text(id, name))
            return true;
    }
    return false;
}

/* field: "filters" or "compressor". */
static parapet_status parse_described(pp_codec_spec *codec, pp_json *json, const pp_type *type, const char *field)
{
    const pp_codec_traits *traits = pp_codec_traits_of(codec->id);
    char who[WHO_BYTES];
    parapet_status status;
    (void)snprintf(who, sizeof who, "%s: %s", field, traits->v2_name);
    if ((status = pp_parameters_parse(traits->v2_parameters, json, who, codec)) != PARAPET_OK)
        return status;
    if (traits->complete != NULL)
        traits->complete(codec, type->element_bytes);
    return PARAPET_OK;
}

typedef parapet_status (*codec_parser)(pp_codec_spec *codec, pp_json *json);

/* The parser of a codec that parameters do not describe; NULL: they do. */
static codec_parser parser_of(pp_codec_id id)
{
    static const struct {
        pp_codec_id id;
        codec_parser parse;
    } parsers[] = {{PP_CODEC_DELTA, parse_delta}};
    size_t i;
    for (i = 0; i < sizeof parsers / sizeof parsers[0]; i++)
        if (parsers[i].id == id)
            return parsers[i].parse;
    return NULL;
}

static parapet_status parse_codec(pp_chain_spec *spec, pp_json *json, const pp_type *type, const char *field)
{
    char words[PP_JSON_WORDS_BYTES];
    pp_codec_spec codec = {0};
    pp_json *id = pp_json_member(json, "id");
    codec_parser parse;
    parapet_status status;
    if (pp_json_kind_of(id) != PP_JSON_STRING)
        return pp_fail(PARAPET_ERR_FORMAT, "%s must be an object with an id, not %s", field,
                       pp_json_words(json, words));
    if (is_rounding(id))
        return check_rounding(json);
    if (!find_codec(id, &codec.id))
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "%s: %s is not known to this version", field,
                       pp_json_words(id, words));
    parse = parser_of(codec.id);
    status = parse != NULL ? parse(&codec, json) : parse_described(&codec, json, type, field);
    return status != PARAPET_OK ? status : pp_codec_append(spec, &codec);
}

parapet_status pp_codecs_parse_v2(pp_chain_spec *spec, pp_json *zarray, const pp_type *type)
{
    char words[PP_JSON_WORDS_BYTES];
    pp_json *filters = pp_json_member(zarray, "filters"), *compressor = pp_json_member(zarray, "compressor");
    parapet_status status = PARAPET_OK;
    size_t i;
    if (filters != NULL && pp_json_kind_of(filters) != PP_JSON_ARRAY)
        return pp_fail(PARAPET_ERR_FORMAT, "filters must be a list or null, not %s", pp_json_words(filters, words));
    for (i = 0; i < pp_json_length(filters) && status == PARAPET_OK; i++)
        status = parse_codec(spec, pp_json_element(filters, i), type, "filters");
    if (status == PARAPET_OK && compressor != NULL)
        status = parse_codec(spec, compressor, type, "compressor");
    return status;
}
