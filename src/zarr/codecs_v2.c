/* Filters and compressors of Zarr v2, which name codecs of numcodecs. All of them work on bytes here: v2 puts
 * the byte order into the dtype and applies filters to the stored elements. */
#include <limits.h>
#include <string.h>

#include "zarr/internal.h"

typedef struct v2_codec {
    pp_json *json;
    const pp_type *type;
    pp_codec_spec spec;
    bool is_identity; /* decoding changes nothing */
} v2_codec;

static parapet_status parse_level(v2_codec *codec)
{
    const pp_integer_range range = {"the level of a v2 compressor", INT_MIN, INT_MAX};
    codec->spec.level = 1;
    return pp_integer_parse(pp_json_member(codec->json, "level"), &range, &codec->spec.level);
}

static parapet_status parse_nothing(v2_codec *codec)
{
    (void)codec;
    return PARAPET_OK;
}

static parapet_status parse_blosc(v2_codec *codec)
{
    const pp_integer_range level = {"the compressor blosc: clevel", 0, 9};
    const pp_integer_range shuffle = {"the compressor blosc: shuffle", -1, 2};
    const pp_integer_range block = {"the compressor blosc: blocksize", 0, INT_MAX};
    const char *name;
    char words[PP_JSON_WORDS_BYTES];
    size_t bytes;
    pp_json *cname = pp_json_member(codec->json, "cname");
    parapet_status status;
    codec->spec.level = 5;
    codec->spec.blosc_shuffle = 1;
    codec->spec.blosc_type_bytes = (int)codec->type->element_bytes;
    if (!pp_json_get_text(cname, &name, &bytes) || strlen(name) != bytes || !pp_blosc_has(name))
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "the compressor blosc: cname %s is not known",
                       pp_json_words(cname, words));
    memcpy(codec->spec.blosc_compressor, name, bytes + 1);
    if ((status = pp_integer_parse(pp_json_member(codec->json, "clevel"), &level, &codec->spec.level)) !=
            PARAPET_OK ||
        (status = pp_integer_parse(pp_json_member(codec->json, "shuffle"), &shuffle, &codec->spec.blosc_shuffle)) !=
            PARAPET_OK ||
        (status = pp_integer_parse(pp_json_member(codec->json, "blocksize"), &block,
                                   &codec->spec.blosc_block_bytes)) != PARAPET_OK)
        return status;
    if (codec->spec.blosc_shuffle == -1)
        codec->spec.blosc_shuffle = codec->type->element_bytes == 1 ? 2 : 1;
    return PARAPET_OK;
}

static parapet_status parse_shuffle(v2_codec *codec)
{
    const pp_integer_range range = {"the filter shuffle: elementsize", 1, PP_MAX_ELEMENT_BYTES};
    codec->spec.element_bytes = 4;
    return pp_integer_parse(pp_json_member(codec->json, "elementsize"), &range, &codec->spec.element_bytes);
}

static bool has_same_astype(const v2_codec *codec)
{
    pp_json *astype = pp_json_member(codec->json, "astype");
    return astype == NULL || pp_json_equals(astype, pp_json_member(codec->json, "dtype"));
}

static bool is_float(parapet_type id)
{
    return id == PARAPET_FLOAT16 || id == PARAPET_FLOAT32 || id == PARAPET_FLOAT64;
}

static bool is_integer(parapet_type id)
{
    return id >= PARAPET_INT8 && id <= PARAPET_UINT64;
}

static parapet_status parse_delta(v2_codec *codec)
{
    pp_type type;
    bool is_big_endian, is_accepted;
    parapet_status status = pp_type_parse_v2(&type, pp_json_member(codec->json, "dtype"), &is_big_endian);
    if (status != PARAPET_OK)
        return pp_fail_within(status, "the filter delta");
    codec->spec.element_bytes = (int)type.element_bytes;
    codec->spec.delta_kind = is_float(type.id) ? PP_DELTA_FLOAT : PP_DELTA_INTEGER;
    is_accepted = (is_float(type.id) || is_integer(type.id)) && !is_big_endian && has_same_astype(codec);
    pp_type_clear(&type);
    if (!is_accepted)
        return pp_fail(PARAPET_ERR_UNSUPPORTED,
                       "the filter delta can be read for little-endian numbers that are stored as the same type");
    return PARAPET_OK;
}

static parapet_status parse_quantize(v2_codec *codec)
{
    codec->is_identity = true;
    if (!has_same_astype(codec))
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "the filter quantize can be read only where astype equals dtype");
    return PARAPET_OK;
}

static parapet_status parse_bitround(v2_codec *codec)
{
    codec->is_identity = true;
    return PARAPET_OK;
}

/* Where a checksum stands became a choice in numcodecs 0.14; here it is where it always was. */
static parapet_status parse_location(v2_codec *codec)
{
    const char *usual = codec->spec.id == PP_CODEC_CRC32C ? "end" : "start";
    pp_json *location = pp_json_member(codec->json, "location");
    if (location != NULL && !pp_json_is_text(location, usual))
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "a checksum filter with a location other than \"%s\" cannot be read",
                       usual);
    return PARAPET_OK;
}

typedef struct known_v2_codec {
    const char *name;
    pp_codec_id id;
    parapet_status (*parse)(v2_codec *codec);
} known_v2_codec;

static const known_v2_codec known_codecs[] = {
    {"zlib", PP_CODEC_ZLIB, parse_level},         {"gzip", PP_CODEC_GZIP, parse_level},
    {"zstd", PP_CODEC_ZSTD, parse_level},         {"blosc", PP_CODEC_BLOSC, parse_blosc},
    {"lz4", PP_CODEC_LZ4, parse_nothing},         {"shuffle", PP_CODEC_SHUFFLE, parse_shuffle},
    {"delta", PP_CODEC_DELTA, parse_delta},       {"fletcher32", PP_CODEC_FLETCHER32, parse_nothing},
    {"crc32", PP_CODEC_CRC32, parse_location},    {"adler32", PP_CODEC_ADLER32, parse_location},
    {"crc32c", PP_CODEC_CRC32C, parse_location},  {"quantize", PP_CODEC_BYTES, parse_quantize},
    {"bitround", PP_CODEC_BYTES, parse_bitround},
};

static parapet_status parse_codec(pp_chain_spec *spec, pp_json *json, const pp_type *type, const char *field)
{
    char words[PP_JSON_WORDS_BYTES];
    v2_codec codec = {.json = json, .type = type};
    pp_json *id = pp_json_member(json, "id");
    size_t count = sizeof known_codecs / sizeof known_codecs[0], i = 0;
    parapet_status status;
    if (pp_json_kind_of(id) != PP_JSON_STRING)
        return pp_fail(PARAPET_ERR_FORMAT, "%s must be an object with an id, not %s", field,
                       pp_json_words(json, words));
    while (i < count && !pp_json_is_text(id, known_codecs[i].name))
        i++;
    if (i == count)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "%s: %s is not known to this version", field,
                       pp_json_words(id, words));
    codec.spec.id = known_codecs[i].id;
    if ((status = known_codecs[i].parse(&codec)) != PARAPET_OK || codec.is_identity)
        return status;
    return pp_codec_append(spec, &codec.spec);
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
