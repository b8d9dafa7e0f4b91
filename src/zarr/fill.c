/* fill_value: one element from JSON. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "base/utf8.h"
#include "zarr/base64.h"
#include "zarr/element.h"
#include "zarr/json_print.h"
#include "zarr/types_struct.h"

static parapet_status refuse(const pp_type *type, pp_json *json, const char *expected)
{
    char words[PP_JSON_WORDS_BYTES];
    return pp_fail(PARAPET_ERR_FORMAT, "fill_value of %.64s must be %s, not %s", type->name, expected,
                   pp_json_words(json, words));
}

/* ---- Integers ---- */

/* An integer, also when it is written 0.0 or 1e3; as sign and magnitude, since both ends of 64 bits occur. */
static bool get_whole(pp_json *json, bool *is_negative, uint64_t *magnitude)
{
    int64_t integer;
    double number;
    if (pp_json_get_u64(json, magnitude)) {
        *is_negative = false;
        return true;
    }
    if (pp_json_get_i64(json, &integer)) {
        *is_negative = true;
        *magnitude = (uint64_t)0 - (uint64_t)integer;
        return true;
    }
    if (pp_json_kind_of(json) != PP_JSON_NUMBER || !pp_json_get_double(json, &number))
        return false;
    *is_negative = number < 0;
    number = fabs(number);
    if (!(number < 18446744073709551616.0) || number != floor(number))
        return false;
    *magnitude = (uint64_t)number;
    return true;
}

static parapet_status parse_integer(const pp_type *type, pp_json *json, void *element)
{
    unsigned bits = (unsigned)type->element_bytes * 8 - (pp_type_is_signed(type->id) ? 1 : 0);
    uint64_t largest = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1, magnitude, limit;
    bool is_negative;
    if (!get_whole(json, &is_negative, &magnitude))
        return refuse(type, json, "an integer");
    limit = !is_negative ? largest : pp_type_is_signed(type->id) ? largest + 1 : 0;
    if (magnitude > limit)
        return refuse(type, json, "within the range of the type");
    pp_bits_store(element, type->element_bytes, is_negative ? (uint64_t)0 - magnitude : magnitude);
    return PARAPET_OK;
}

static parapet_status parse_bool(const pp_type *type, pp_json *json, int format, void *element)
{
    bool value;
    int64_t integer;
    if (!pp_json_get_bool(json, &value)) {
        if (format != 2 || !pp_json_get_i64(json, &integer) || integer < 0 || integer > 1)
            return refuse(type, json, "true or false");
        value = integer == 1;
    }
    pp_bits_store(element, 1, value ? 1 : 0);
    return PARAPET_OK;
}

static parapet_status parse_time(const pp_type *type, pp_json *json, void *element)
{
    int64_t ticks = INT64_MIN;
    if (!pp_json_is_text(json, "NaT") && !pp_json_get_i64(json, &ticks))
        return refuse(type, json, "an integer or \"NaT\"");
    memcpy(element, &ticks, sizeof ticks);
    return PARAPET_OK;
}

/* ---- Floating point ---- */

/* "0x7fc00001": the bit pattern, most significant digit first, 1 to 2 * max_bytes digits. */
static bool get_hex(pp_json *json, size_t max_bytes, uint64_t *bits)
{
    const char *text, *digits = "0123456789abcdef";
    size_t bytes, i;
    if (!pp_json_get_text(json, &text, &bytes) || bytes < 3 || bytes > 2 + 2 * max_bytes || text[0] != '0' ||
        text[1] != 'x')
        return false;
    *bits = 0;
    for (i = 2; i < bytes; i++) {
        char lower = text[i] >= 'A' && text[i] <= 'F' ? (char)(text[i] - 'A' + 'a') : text[i];
        const char *digit = lower != '\0' ? strchr(digits, lower) : NULL;
        if (digit == NULL)
            return false;
        *bits = *bits << 4 | (uint64_t)(digit - digits);
    }
    return true;
}

static bool get_float(pp_json *json, pp_real_kind kind, uint64_t *bits)
{
    double value;
    if (pp_json_is_text(json, "NaN"))
        value = NAN;
    else if (pp_json_is_text(json, "Infinity"))
        value = INFINITY;
    else if (pp_json_is_text(json, "-Infinity"))
        value = -INFINITY;
    else if (!pp_json_get_double(json, &value))
        return get_hex(json, pp_real_bytes(kind), bits);
    *bits = pp_real_from_double(kind, value);
    return true;
}

static parapet_status parse_float(const pp_type *type, pp_json *json, void *element)
{
    pp_real_kind kind = pp_real_kind_of(type->id);
    uint64_t bits;
    if (!get_float(json, kind, &bits))
        return refuse(type, json, "a number, \"NaN\", \"Infinity\", \"-Infinity\" or a hexadecimal bit pattern");
    pp_bits_store(element, pp_real_bytes(kind), bits);
    return PARAPET_OK;
}

static parapet_status parse_complex(const pp_type *type, pp_json *json, void *element)
{
    pp_real_kind kind = pp_real_kind_of(type->id);
    size_t bytes = pp_real_bytes(kind), i;
    uint64_t bits;
    for (i = 0; i < 2; i++) {
        if (pp_json_length(json) != 2 || !get_float(pp_json_element(json, i), kind, &bits))
            return refuse(type, json, "a list of two numbers");
        pp_bits_store((char *)element + i * bytes, bytes, bits);
    }
    return PARAPET_OK;
}

/* ---- Opaque elements ---- */

static parapet_status parse_byte_list(const pp_type *type, pp_json *json, unsigned char *element)
{
    size_t i;
    if (pp_json_length(json) != type->element_bytes)
        return refuse(type, json, "a list with one number for every byte");
    for (i = 0; i < type->element_bytes; i++) {
        int64_t byte;
        if (!pp_json_get_i64(pp_json_element(json, i), &byte) || byte < 0 || byte > 255)
            return refuse(type, json, "a list of numbers from 0 to 255");
        element[i] = (unsigned char)byte;
    }
    return PARAPET_OK;
}

static parapet_status parse_base64(const pp_type *type, pp_json *json, bool may_be_short, unsigned char *element)
{
    const char *text;
    size_t text_bytes, bytes;
    if (!pp_json_get_text(json, &text, &text_bytes) ||
        !pp_base64_parse(text, text_bytes, element, type->element_bytes, &bytes) ||
        (bytes != type->element_bytes && !may_be_short))
        return refuse(type, json, "base64 of one element");
    return PARAPET_OK;
}

static parapet_status parse_number_byte(const pp_type *type, pp_json *json, unsigned char *element)
{
    char words[PP_JSON_WORDS_BYTES];
    double value;
    uint64_t bits;
    if (pp_json_get_double(json, &value) && value == 0 && !signbit(value))
        bits = 0;
    else if (!get_hex(json, 1, &bits))
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "fill_value of %s can be 0 or a hexadecimal bit pattern, not %s",
                       type->name, pp_json_words(json, words));
    element[0] = (unsigned char)bits;
    return PARAPET_OK;
}

static bool is_zero(pp_json *json)
{
    int64_t value;
    return pp_json_get_i64(json, &value) && value == 0;
}

static parapet_status parse_raw(const pp_type *type, pp_json *json, int format, unsigned char *element)
{
    pp_raw_form form = pp_raw_form_of(type);
    if (form == PP_RAW_NUMBER)
        return parse_number_byte(type, json, element);
    if (format == 2 && is_zero(json))
        return PARAPET_OK; /* zeroed already; v2 writers put 0 for any type */
    if (pp_json_kind_of(json) == PP_JSON_ARRAY)
        return parse_byte_list(type, json, element);
    return parse_base64(type, json, format == 2 || form == PP_RAW_TERMINATED, element);
}

/* ---- Text in UTF-32 ---- */

static uint32_t next_point(const unsigned char **at, size_t *left)
{
    static const unsigned char lead_mask[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    size_t length = pp_utf8_character_bytes(*at, *left), i;
    uint32_t point;
    if (length == 0)
        length = 1; /* cannot happen: json.h lets only UTF-8 pass */
    point = (uint32_t)((*at)[0] & lead_mask[length]);
    for (i = 1; i < length; i++)
        point = point << 6 | ((*at)[i] & 0x3Fu);
    *at += length;
    *left -= length;
    return point;
}

static parapet_status parse_utf32(const pp_type *type, pp_json *json, int format, unsigned char *element)
{
    const char *text;
    const unsigned char *at;
    size_t left, offset = 0;
    if (format == 2 && is_zero(json))
        return PARAPET_OK;
    if (!pp_json_get_text(json, &text, &left))
        return refuse(type, json, "a string");
    at = (const unsigned char *)text;
    while (left > 0) {
        uint32_t point = next_point(&at, &left);
        if (offset + 4 > type->element_bytes)
            return refuse(type, json, "no longer than an element");
        memcpy(element + offset, &point, sizeof point);
        offset += 4;
    }
    return PARAPET_OK;
}

/* ---- Records ---- */

typedef struct record_reader {
    pp_json *json;
    unsigned char *element;
    int format;
} record_reader;

static parapet_status parse_field(void *context, const pp_field *field)
{
    record_reader *reader = context;
    bool is_defined;
    if (!pp_json_has(reader->json, field->name))
        return pp_fail(PARAPET_ERR_FORMAT, "fill_value lacks the field \"%s\"", field->name);
    return pp_fill_parse(&field->type, pp_json_member(reader->json, field->name), reader->format,
                         reader->element + field->offset, &is_defined);
}

static parapet_status parse_struct(const pp_type *type, pp_json *json, int format, unsigned char *element)
{
    record_reader reader = {json, element, format};
    if (format == 2 && is_zero(json))
        return PARAPET_OK;
    if (pp_json_kind_of(json) == PP_JSON_OBJECT)
        return pp_type_fields_each(type, parse_field, &reader);
    return parse_base64(type, json, false, element);
}

/* ---- All types ---- */

static parapet_status parse_defined(const pp_type *type, pp_json *json, int format, void *element)
{
    switch (type->id) {
    case PARAPET_BOOL:
        return parse_bool(type, json, format, element);
    case PARAPET_FLOAT16:
    case PARAPET_BFLOAT16:
    case PARAPET_FLOAT32:
    case PARAPET_FLOAT64:
        return parse_float(type, json, element);
    case PARAPET_COMPLEX64:
    case PARAPET_COMPLEX128:
        return parse_complex(type, json, element);
    case PARAPET_DATETIME64:
    case PARAPET_TIMEDELTA64:
        return parse_time(type, json, element);
    case PARAPET_RAW:
        return parse_raw(type, json, format, element);
    case PARAPET_UTF32:
        return parse_utf32(type, json, format, element);
    case PARAPET_STRUCT:
        return parse_struct(type, json, format, element);
    case PARAPET_VARIABLE:
        return PARAPET_OK;
    default:
        return parse_integer(type, json, element);
    }
}

parapet_status pp_fill_parse(const pp_type *type, pp_json *fill_value, int format, void *element, bool *is_defined)
{
    if (type->element_bytes > 0)
        memset(element, 0, type->element_bytes);
    *is_defined = fill_value != NULL;
    return *is_defined ? parse_defined(type, fill_value, format, element) : PARAPET_OK;
}
