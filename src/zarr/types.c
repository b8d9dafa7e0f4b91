#include "zarr/types.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "zarr/fields.h"
#include "zarr/json_print.h"

typedef struct named_type {
    parapet_type id;
    const char *name;
    size_t element_bytes;
    size_t swap_bytes;
} named_type;

/* Types that their name says all about. */
static const named_type named_types[] = {
    {PARAPET_BOOL, "bool", 1, 1},           {PARAPET_INT8, "int8", 1, 1},
    {PARAPET_INT16, "int16", 2, 2},         {PARAPET_INT32, "int32", 4, 4},
    {PARAPET_INT64, "int64", 8, 8},         {PARAPET_UINT8, "uint8", 1, 1},
    {PARAPET_UINT16, "uint16", 2, 2},       {PARAPET_UINT32, "uint32", 4, 4},
    {PARAPET_UINT64, "uint64", 8, 8},       {PARAPET_FLOAT16, "float16", 2, 2},
    {PARAPET_FLOAT32, "float32", 4, 4},     {PARAPET_FLOAT64, "float64", 8, 8},
    {PARAPET_COMPLEX64, "complex64", 8, 4}, {PARAPET_COMPLEX128, "complex128", 16, 8},
    {PARAPET_BFLOAT16, "bfloat16", 2, 2},
};

/* Types that need a configuration, by the name that parapet.h knows them under. */
static const named_type time_types[] = {
    {PARAPET_DATETIME64, "numpy.datetime64", 8, 8},
    {PARAPET_TIMEDELTA64, "numpy.timedelta64", 8, 8},
};

/* Small numbers that take a byte each; moved, never looked into. */
static const char *const byte_types[] = {
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "float6_e2m3fn",
    "float6_e3m2fn",
    "float4_e2m1fn",
    "int2",
    "int4",
    "uint2",
    "uint4",
};

static const char *const variable_types[] = {"string", "bytes", "variable_length_bytes", "variable_length_utf8"};

static const char *const time_units[] = {"generic", "Y",  "M",  "W",  "D",  "h",  "m",
                                         "s",       "ms", "us", "ns", "ps", "fs", "as"};

#define COUNT_OF(list) (sizeof(list) / sizeof(list)[0])

static bool is_one_of(const char *name, const char *const *list, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++)
        if (strcmp(name, list[i]) == 0)
            return true;
    return false;
}

static const named_type *find_by_id(parapet_type id)
{
    size_t i;
    for (i = 0; i < COUNT_OF(named_types); i++)
        if (named_types[i].id == id)
            return &named_types[i];
    for (i = 0; i < COUNT_OF(time_types); i++)
        if (time_types[i].id == id)
            return &time_types[i];
    return NULL;
}

static const named_type *find_by_name(const named_type *list, size_t count, const char *name)
{
    size_t i;
    for (i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0)
            return &list[i];
    return NULL;
}

const char *parapet_type_name(parapet_type type)
{
    const named_type *found = find_by_id(type);
    return found != NULL ? found->name : NULL;
}

size_t parapet_type_bytes(parapet_type type)
{
    const named_type *found = find_by_id(type);
    return found != NULL ? found->element_bytes : 0;
}

parapet_type parapet_type_from_name(const char *name)
{
    const named_type *found;
    if (name == NULL)
        return PARAPET_TYPE_OF_ARRAY;
    found = find_by_name(named_types, COUNT_OF(named_types), name);
    if (found == NULL)
        found = find_by_name(time_types, COUNT_OF(time_types), name);
    return found != NULL ? found->id : PARAPET_TYPE_OF_ARRAY;
}

void pp_type_clear(pp_type *type)
{
    pp_free(type->name);
    pp_free(type->json);
    *type = (pp_type){0};
}

parapet_status pp_type_set(pp_type *type, parapet_type id, size_t element_bytes, size_t swap_bytes, pp_type_text text)
{
    parapet_status status;
    *type = (pp_type){.id = id, .element_bytes = element_bytes, .swap_bytes = swap_bytes};
    if ((status = pp_text_duplicate(&type->name, text.name)) == PARAPET_OK)
        status = pp_text_duplicate(&type->json, text.json);
    if (status != PARAPET_OK)
        pp_type_clear(type);
    return status;
}

static parapet_status set_plain(pp_type *type, parapet_type id, size_t element_bytes, size_t swap_bytes,
                                const char *name)
{
    char json[PP_MAX_NAME_BYTES + 8];
    (void)snprintf(json, sizeof json, "\"%s\"", name);
    return pp_type_set(type, id, element_bytes, swap_bytes, (pp_type_text){name, json});
}

/* A type with a length: raw_bytes, null_terminated_bytes, fixed_length_utf32. */
static parapet_status set_sized(pp_type *type, parapet_type id, size_t element_bytes, const char *name)
{
    char words[96], json[160];
    if (element_bytes == 0 || element_bytes > PP_MAX_ELEMENT_BYTES)
        return pp_fail(PARAPET_ERR_UNSUPPORTED,
                       "data_type %s: elements of %zu bytes are not supported, only of 1 to %u", name, element_bytes,
                       PP_MAX_ELEMENT_BYTES);
    (void)snprintf(words, sizeof words, "%s[%zu]", name, element_bytes);
    (void)snprintf(json, sizeof json, "{\"name\":\"%s\",\"configuration\":{\"length_bytes\":%zu}}", name,
                   element_bytes);
    return pp_type_set(type, id, element_bytes, id == PARAPET_UTF32 ? 4 : 1, (pp_type_text){words, json});
}

static parapet_status set_time(pp_type *type, parapet_type id, const char *unit, int scale)
{
    const char *name = parapet_type_name(id);
    char words[64], json[128], factor[16] = "";
    if (!is_one_of(unit, time_units, COUNT_OF(time_units)))
        return pp_fail(PARAPET_ERR_UNSUPPORTED,
                       "the time unit \"%.32s\" is not one of generic, Y, M, W, D, h, m, s, ms, us, ns, ps, fs, as",
                       unit);
    if (scale != 1)
        (void)snprintf(factor, sizeof factor, "%d", scale);
    (void)snprintf(words, sizeof words, "%s[%s%s]", name, factor, unit);
    (void)snprintf(json, sizeof json, "{\"name\":\"%s\",\"configuration\":{\"unit\":\"%s\",\"scale_factor\":%d}}",
                   name, unit, scale);
    return pp_type_set(type, id, 8, 8, (pp_type_text){words, json});
}

parapet_status pp_type_init(pp_type *type, parapet_type id, size_t raw_bytes, const char *time_unit)
{
    const named_type *found = find_by_id(id);
    *type = (pp_type){0};
    if (id == PARAPET_RAW && raw_bytes == 0)
        return pp_fail(PARAPET_ERR_ARGUMENT, "elements of type PARAPET_RAW need element_bytes");
    if (id == PARAPET_RAW)
        return set_sized(type, PARAPET_RAW, raw_bytes, "raw_bytes");
    if (id == PARAPET_DATETIME64 || id == PARAPET_TIMEDELTA64)
        return set_time(type, id, time_unit != NULL ? time_unit : "ns", 1);
    if (found == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "an array cannot be created with type number %d", (int)id);
    return set_plain(type, id, found->element_bytes, found->swap_bytes, found->name);
}

/* "r24": bits that are a multiple of 8. */
static bool is_raw_bits(const char *name, size_t *bytes)
{
    size_t bits = 0, i;
    if (name[0] != 'r' || name[1] < '1' || name[1] > '9')
        return false;
    for (i = 1; name[i] != '\0'; i++) {
        if (name[i] < '0' || name[i] > '9' || bits > 8 * (size_t)PP_MAX_ELEMENT_BYTES)
            return false;
        bits = bits * 10 + (size_t)(name[i] - '0');
    }
    *bytes = bits / 8;
    return bits % 8 == 0 && *bytes <= PP_MAX_ELEMENT_BYTES;
}

static parapet_status parse_length(const pp_extension *extension, size_t unit, size_t *bytes)
{
    static const char *const names[] = {"length_bytes", NULL};
    const pp_integer_range range = {"data_type: length_bytes", 1, PP_MAX_ELEMENT_BYTES};
    int length = 0;
    pp_json *json;
    parapet_status status;
    if ((status = pp_members_check(extension->configuration, names, "the configuration of data_type")) !=
            PARAPET_OK ||
        (status = pp_member_require(extension->configuration, "length_bytes", &json)) != PARAPET_OK ||
        (status = pp_integer_parse(json, &range, &length)) != PARAPET_OK)
        return status;
    *bytes = (size_t)length;
    if (json == NULL || *bytes % unit != 0)
        return pp_fail(PARAPET_ERR_FORMAT, "data_type %s: length_bytes must be a multiple of %zu", extension->name,
                       unit);
    return PARAPET_OK;
}

static parapet_status parse_sized(pp_type *type, const pp_extension *extension)
{
    bool is_utf32 = strcmp(extension->name, "fixed_length_utf32") == 0;
    size_t bytes;
    parapet_status status = parse_length(extension, is_utf32 ? 4 : 1, &bytes);
    if (status != PARAPET_OK)
        return status;
    return set_sized(type, is_utf32 ? PARAPET_UTF32 : PARAPET_RAW, bytes, extension->name);
}

static parapet_status parse_time(pp_type *type, const pp_extension *extension)
{
    static const char *const names[] = {"unit", "scale_factor", NULL};
    const pp_integer_range range = {"data_type: scale_factor", 1, INT32_MAX};
    const char *unit;
    size_t bytes;
    int scale = 1;
    parapet_status status;
    pp_json *scale_factor = pp_json_member(extension->configuration, "scale_factor");
    if ((status = pp_members_check(extension->configuration, names, "the configuration of data_type")) !=
            PARAPET_OK ||
        (status = pp_integer_parse(scale_factor, &range, &scale)) != PARAPET_OK)
        return status;
    if (!pp_json_get_text(pp_json_member(extension->configuration, "unit"), &unit, &bytes) || strlen(unit) != bytes)
        return pp_fail(PARAPET_ERR_FORMAT, "data_type %s needs a unit", extension->name);
    return set_time(type, parapet_type_from_name(extension->name), unit, scale);
}

/* Keeps data_type as it stands: types that are only moved. */
static parapet_status set_verbatim(pp_type *type, pp_type id, pp_json *data_type)
{
    pp_text text = {0};
    char *json;
    parapet_status status;
    pp_json_print(data_type, false, &text);
    if ((status = pp_text_finish(&text, &json)) != PARAPET_OK)
        return status;
    status = pp_type_set(type, id.id, id.element_bytes, 1, (pp_type_text){id.name, json});
    pp_free(json);
    return status;
}

static parapet_status parse_unconfigured(pp_type *type, const pp_extension *extension, pp_json *data_type)
{
    static const char *const no_names[] = {NULL};
    char name[PP_MAX_NAME_BYTES + 1];
    const named_type *found = find_by_name(named_types, COUNT_OF(named_types), extension->name);
    size_t bytes;
    parapet_status status;
    (void)snprintf(name, sizeof name, "%s", extension->name);
    if (is_one_of(name, variable_types, COUNT_OF(variable_types)))
        return set_verbatim(type, (pp_type){.id = PARAPET_VARIABLE, .name = name}, data_type);
    status = pp_members_check(extension->configuration, no_names, "the configuration of data_type");
    if (found != NULL)
        return status != PARAPET_OK
                   ? status
                   : set_plain(type, found->id, found->element_bytes, found->swap_bytes, found->name);
    if (is_raw_bits(name, &bytes))
        return status != PARAPET_OK ? status : set_plain(type, PARAPET_RAW, bytes, 1, name);
    if (is_one_of(name, byte_types, COUNT_OF(byte_types)))
        return set_verbatim(type, (pp_type){.id = PARAPET_RAW, .element_bytes = 1, .name = name}, data_type);
    return pp_fail(PARAPET_ERR_UNSUPPORTED, "data_type \"%.64s\" is not known to this version", name);
}

parapet_status pp_type_parse_scalar(pp_type *type, const pp_extension *extension, pp_json *data_type)
{
    static const char *const sized[] = {"raw_bytes", "null_terminated_bytes", "fixed_length_utf32"};
    if (is_one_of(extension->name, sized, COUNT_OF(sized)))
        return parse_sized(type, extension);
    if (find_by_name(time_types, COUNT_OF(time_types), extension->name) != NULL)
        return parse_time(type, extension);
    return parse_unconfigured(type, extension, data_type);
}

/* ---- Zarr v2: NumPy's notation ---- */

typedef struct v2_dtype {
    char order; /* '<', '>' or '|' */
    char kind;
    size_t size;
    char unit[16];
    int scale;
} v2_dtype;

/* "[10ns]" behind M8 and m8. */
static bool parse_v2_unit(v2_dtype *dtype, const char *text)
{
    int used = 0;
    dtype->scale = 1;
    if (*text == '\0') {
        (void)snprintf(dtype->unit, sizeof dtype->unit, "generic");
        return true;
    }
    if (text[0] == '[' && text[1] >= '1' && text[1] <= '9')
        return sscanf(text, "[%9d%15[A-Za-z]]%n", &dtype->scale, dtype->unit, &used) == 2 && used > 0 &&
               text[used] == '\0';
    return sscanf(text, "[%15[A-Za-z]]%n", dtype->unit, &used) == 1 && used > 0 && text[used] == '\0';
}

static bool parse_v2_dtype(v2_dtype *dtype, const char *text)
{
    static const char kinds[] = "biufcmMSUVO";
    *dtype = (v2_dtype){.order = '|'};
    if (*text == '<' || *text == '>' || *text == '|')
        dtype->order = *text++;
    if (*text == '\0' || strchr(kinds, *text) == NULL)
        return false;
    dtype->kind = *text++;
    for (; *text >= '0' && *text <= '9'; text++) {
        if (dtype->size > PP_MAX_ELEMENT_BYTES)
            return false;
        dtype->size = dtype->size * 10 + (size_t)(*text - '0');
    }
    if (dtype->kind == 'm' || dtype->kind == 'M')
        return dtype->size == 8 && parse_v2_unit(dtype, text);
    return *text == '\0';
}

static parapet_status set_v2_number(pp_type *type, const v2_dtype *dtype, const char *text)
{
    static const char *const families[] = {"b", "i", "u", "f", "c"};
    static const char *const names[] = {"bool", "int", "uint", "float", "complex"};
    char name[64] = "bool";
    size_t i;
    for (i = 1; i < COUNT_OF(families); i++)
        if (dtype->kind == families[i][0])
            (void)snprintf(name, sizeof name, "%s%zu", names[i], dtype->size * 8);
    if (find_by_name(named_types, COUNT_OF(named_types), name) == NULL || (dtype->kind == 'b' && dtype->size != 1))
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "dtype \"%.64s\" is not known to this version", text);
    return pp_type_init(type, parapet_type_from_name(name), 0, NULL);
}

static parapet_status set_v2(pp_type *type, const v2_dtype *dtype, const char *text)
{
    switch (dtype->kind) {
    case 'O':
        return pp_type_set(type, PARAPET_VARIABLE, 0, 1, (pp_type_text){"object", "\"string\""});
    case 'S':
        return set_sized(type, PARAPET_RAW, dtype->size, "null_terminated_bytes");
    case 'V':
        return set_sized(type, PARAPET_RAW, dtype->size, "raw_bytes");
    case 'U':
        return set_sized(type, PARAPET_UTF32, dtype->size * 4, "fixed_length_utf32");
    case 'M':
        return set_time(type, PARAPET_DATETIME64, dtype->unit, dtype->scale);
    case 'm':
        return set_time(type, PARAPET_TIMEDELTA64, dtype->unit, dtype->scale);
    default:
        return set_v2_number(type, dtype, text);
    }
}

parapet_status pp_type_parse_scalar_v2(pp_type *type, pp_json *json, bool *is_big_endian)
{
    char words[PP_JSON_WORDS_BYTES];
    const char *text;
    size_t bytes;
    v2_dtype dtype;
    parapet_status status;
    if (!pp_json_get_text(json, &text, &bytes) || strlen(text) != bytes || !parse_v2_dtype(&dtype, text))
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "dtype %s is not known to this version", pp_json_words(json, words));
    if ((status = set_v2(type, &dtype, text)) != PARAPET_OK)
        return status;
    *is_big_endian = dtype.order == '>' && type->swap_bytes > 1;
    return PARAPET_OK;
}
