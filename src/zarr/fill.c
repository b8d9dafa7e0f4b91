/* fill_value: one element, from JSON and to JSON. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zarr/internal.h"

/* How RAW elements are told in JSON; their name says it. */
typedef enum raw_form { RAW_BITS, RAW_BASE64, RAW_TERMINATED, RAW_NUMBER } raw_form;

static raw_form raw_form_of(const pp_type *type)
{
    if (type->name[0] == 'r' && type->name[1] >= '0' && type->name[1] <= '9')
        return RAW_BITS;
    if (strncmp(type->name, "raw_bytes", 9) == 0)
        return RAW_BASE64;
    return strncmp(type->name, "null_terminated_bytes", 21) == 0 ? RAW_TERMINATED : RAW_NUMBER;
}

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

static bool is_signed(parapet_type id)
{
    return id == PARAPET_INT8 || id == PARAPET_INT16 || id == PARAPET_INT32 || id == PARAPET_INT64;
}

static void store_integer(void *element, size_t bytes, uint64_t value)
{
    uint8_t one = (uint8_t)value;
    uint16_t two = (uint16_t)value;
    uint32_t four = (uint32_t)value;
    const void *source = bytes == 1 ? (void *)&one : bytes == 2 ? (void *)&two : bytes == 4 ? (void *)&four : &value;
    memcpy(element, source, bytes);
}

static uint64_t load_integer(const void *element, size_t bytes)
{
    uint8_t one;
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (bytes) {
    case 1:
        memcpy(&one, element, 1);
        return one;
    case 2:
        memcpy(&two, element, 2);
        return two;
    case 4:
        memcpy(&four, element, 4);
        return four;
    default:
        memcpy(&eight, element, 8);
        return eight;
    }
}

static parapet_status parse_integer(const pp_type *type, pp_json *json, void *element)
{
    unsigned bits = (unsigned)type->element_bytes * 8 - (is_signed(type->id) ? 1 : 0);
    uint64_t largest = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1, magnitude, limit;
    bool is_negative;
    if (!get_whole(json, &is_negative, &magnitude))
        return refuse(type, json, "an integer");
    limit = !is_negative ? largest : is_signed(type->id) ? largest + 1 : 0;
    if (magnitude > limit)
        return refuse(type, json, "within the range of the type");
    store_integer(element, type->element_bytes, is_negative ? (uint64_t)0 - magnitude : magnitude);
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
    store_integer(element, 1, value ? 1 : 0);
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

/* One real number: a float type, or half of a complex one. */
typedef enum float_kind { FLOAT_16, FLOAT_B16, FLOAT_32, FLOAT_64 } float_kind;

static float_kind float_kind_of(parapet_type id)
{
    switch (id) {
    case PARAPET_FLOAT16:
        return FLOAT_16;
    case PARAPET_BFLOAT16:
        return FLOAT_B16;
    case PARAPET_FLOAT32:
    case PARAPET_COMPLEX64:
        return FLOAT_32;
    default:
        return FLOAT_64;
    }
}

static size_t float_bytes(float_kind kind)
{
    return kind == FLOAT_64 ? 8 : kind == FLOAT_32 ? 4 : 2;
}

/* The bits of value in its format; "NaN" is the quiet one with only the top mantissa bit. */
static uint64_t float_from_double(float_kind kind, double value)
{
    float single = (float)value;
    uint32_t single_bits;
    uint64_t bits;
    if (kind == FLOAT_16 || kind == FLOAT_B16)
        return pp_small_float_from_double(kind == FLOAT_16 ? pp_float16 : pp_bfloat16, value);
    if (isnan(value))
        return kind == FLOAT_32 ? UINT64_C(0x7fc00000) : UINT64_C(0x7ff8000000000000);
    if (kind == FLOAT_32) {
        memcpy(&single_bits, &single, sizeof single_bits);
        return single_bits;
    }
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double float_to_double(float_kind kind, uint64_t bits)
{
    uint32_t single_bits = (uint32_t)bits;
    float single;
    double value;
    if (kind == FLOAT_16 || kind == FLOAT_B16)
        return pp_small_float_to_double(kind == FLOAT_16 ? pp_float16 : pp_bfloat16, (uint16_t)bits);
    if (kind == FLOAT_32) {
        memcpy(&single, &single_bits, sizeof single);
        return (double)single;
    }
    memcpy(&value, &bits, sizeof value);
    return value;
}

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

static bool get_float(pp_json *json, float_kind kind, uint64_t *bits)
{
    double value;
    if (pp_json_is_text(json, "NaN"))
        value = NAN;
    else if (pp_json_is_text(json, "Infinity"))
        value = INFINITY;
    else if (pp_json_is_text(json, "-Infinity"))
        value = -INFINITY;
    else if (!pp_json_get_double(json, &value))
        return get_hex(json, float_bytes(kind), bits);
    *bits = float_from_double(kind, value);
    return true;
}

static parapet_status parse_float(const pp_type *type, pp_json *json, void *element)
{
    float_kind kind = float_kind_of(type->id);
    uint64_t bits;
    if (!get_float(json, kind, &bits))
        return refuse(type, json, "a number, \"NaN\", \"Infinity\", \"-Infinity\" or a hexadecimal bit pattern");
    store_integer(element, float_bytes(kind), bits);
    return PARAPET_OK;
}

static parapet_status parse_complex(const pp_type *type, pp_json *json, void *element)
{
    float_kind kind = float_kind_of(type->id);
    size_t bytes = float_bytes(kind), i;
    uint64_t bits;
    for (i = 0; i < 2; i++) {
        if (pp_json_length(json) != 2 || !get_float(pp_json_element(json, i), kind, &bits))
            return refuse(type, json, "a list of two numbers");
        store_integer((char *)element + i * bytes, bytes, bits);
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
    raw_form form = raw_form_of(type);
    if (form == RAW_NUMBER)
        return parse_number_byte(type, json, element);
    if (format == 2 && is_zero(json))
        return PARAPET_OK; /* zeroed already; v2 writers put 0 for any type */
    if (pp_json_kind_of(json) == PP_JSON_ARRAY)
        return parse_byte_list(type, json, element);
    return parse_base64(type, json, format == 2 || form == RAW_TERMINATED, element);
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

static size_t encode_point(uint32_t point, char utf8[4])
{
    if (point < 0x80) {
        utf8[0] = (char)point;
        return 1;
    }
    if (point < 0x800) {
        utf8[0] = (char)(0xC0 | point >> 6);
        utf8[1] = (char)(0x80 | (point & 0x3F));
        return 2;
    }
    if (point < 0x10000) {
        utf8[0] = (char)(0xE0 | point >> 12);
        utf8[1] = (char)(0x80 | (point >> 6 & 0x3F));
        utf8[2] = (char)(0x80 | (point & 0x3F));
        return 3;
    }
    utf8[0] = (char)(0xF0 | point >> 18);
    utf8[1] = (char)(0x80 | (point >> 12 & 0x3F));
    utf8[2] = (char)(0x80 | (point >> 6 & 0x3F));
    utf8[3] = (char)(0x80 | (point & 0x3F));
    return 4;
}

/* Trailing zeros are padding. */
static parapet_status print_utf32(const pp_type *type, const unsigned char *element, pp_text *text)
{
    pp_text utf8 = {0};
    size_t bytes = type->element_bytes, i;
    while (bytes >= 4 && load_integer(element + bytes - 4, 4) == 0)
        bytes -= 4;
    for (i = 0; i < bytes; i += 4) {
        uint32_t point = (uint32_t)load_integer(element + i, 4);
        char one[4];
        if (point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) {
            pp_text_free(&utf8);
            return pp_fail(PARAPET_ERR_ARGUMENT, "fill_value of %s holds 0x%" PRIx32 ", which is no character",
                           type->name, point);
        }
        pp_text_add_bytes(&utf8, one, encode_point(point, one));
    }
    if (utf8.status == PARAPET_OK)
        pp_json_print_text(utf8.data != NULL ? utf8.data : "", utf8.bytes, text);
    else
        text->status = utf8.status;
    pp_text_free(&utf8);
    return text->status;
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

typedef struct record_printer {
    const unsigned char *element;
    pp_text *text;
} record_printer;

static parapet_status print_field(void *context, const pp_field *field)
{
    const record_printer *printer = context;
    pp_text_add(printer->text, "%s", field->offset > 0 ? "," : "");
    pp_json_print_string(field->name, printer->text);
    pp_text_add(printer->text, ":");
    return pp_fill_print(&field->type, printer->element + field->offset, printer->text);
}

static void print_base64(const unsigned char *element, size_t bytes, pp_text *text)
{
    pp_text_add(text, "\"");
    pp_base64_print(element, bytes, text);
    pp_text_add(text, "\"");
}

static parapet_status print_struct(const pp_type *type, const unsigned char *element, pp_text *text)
{
    record_printer printer = {element, text};
    parapet_status status;
    if (strncmp(type->name, "structured", 10) == 0) {
        print_base64(element, type->element_bytes, text);
        return text->status;
    }
    pp_text_add(text, "{");
    status = pp_type_fields_each(type, print_field, &printer);
    pp_text_add(text, "}");
    return status;
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

/* The shortest decimal that comes back as the same bits when read as a double and then rounded, as readers do. */
static double shortest(float_kind kind, uint64_t bits, double value)
{
    double shorter = value;
    char number[64];
    int digits;
    if (!isfinite(value) || (value == floor(value) && fabs(value) < 1e16))
        return value;
    for (digits = 1; digits <= 17; digits++) {
        (void)snprintf(number, sizeof number, "%.*g", digits, value);
        shorter = strtod(number, NULL);
        if (float_from_double(kind, shorter) == bits)
            break;
    }
    return shorter;
}

static void print_float(float_kind kind, const unsigned char *element, pp_text *text)
{
    size_t bytes = float_bytes(kind);
    uint64_t bits = load_integer(element, bytes);
    double value = float_to_double(kind, bits);
    if (isnan(value) && bits != float_from_double(kind, NAN))
        pp_text_add(text, "\"0x%0*" PRIx64 "\"", (int)bytes * 2, bits);
    else
        pp_json_print_double(shortest(kind, bits, value), text);
}

static void print_integer(const pp_type *type, const unsigned char *element, pp_text *text)
{
    unsigned unused_bits = 64 - (unsigned)type->element_bytes * 8;
    uint64_t value = load_integer(element, type->element_bytes);
    if (is_signed(type->id))
        pp_text_add(text, "%" PRId64, (int64_t)(value << unused_bits) >> unused_bits);
    else
        pp_text_add(text, "%" PRIu64, value);
}

static void print_time(const unsigned char *element, pp_text *text)
{
    int64_t ticks = (int64_t)load_integer(element, 8);
    if (ticks == INT64_MIN)
        pp_text_add(text, "\"NaT\"");
    else
        pp_text_add(text, "%" PRId64, ticks);
}

static void print_raw(const pp_type *type, const unsigned char *element, pp_text *text)
{
    raw_form form = raw_form_of(type);
    size_t bytes = type->element_bytes, i;
    if (form == RAW_NUMBER) {
        if (element[0] == 0)
            pp_text_add(text, "0");
        else
            pp_text_add(text, "\"0x%02x\"", element[0]);
        return;
    }
    if (form == RAW_BITS) {
        for (i = 0; i < bytes; i++)
            pp_text_add(text, "%s%d", i == 0 ? "[" : ",", element[i]);
        pp_text_add(text, "]");
        return;
    }
    while (form == RAW_TERMINATED && bytes > 0 && element[bytes - 1] == 0)
        bytes--;
    print_base64(element, bytes, text);
}

static void print_complex(const pp_type *type, const unsigned char *element, pp_text *text)
{
    float_kind kind = float_kind_of(type->id);
    pp_text_add(text, "[");
    print_float(kind, element, text);
    pp_text_add(text, ",");
    print_float(kind, element + float_bytes(kind), text);
    pp_text_add(text, "]");
}

parapet_status pp_fill_print(const pp_type *type, const void *element, pp_text *text)
{
    const unsigned char *bytes = element;
    switch (type->id) {
    case PARAPET_BOOL:
        pp_text_add(text, bytes[0] != 0 ? "true" : "false");
        break;
    case PARAPET_FLOAT16:
    case PARAPET_BFLOAT16:
    case PARAPET_FLOAT32:
    case PARAPET_FLOAT64:
        print_float(float_kind_of(type->id), bytes, text);
        break;
    case PARAPET_COMPLEX64:
    case PARAPET_COMPLEX128:
        print_complex(type, bytes, text);
        break;
    case PARAPET_DATETIME64:
    case PARAPET_TIMEDELTA64:
        print_time(bytes, text);
        break;
    case PARAPET_RAW:
        print_raw(type, bytes, text);
        break;
    case PARAPET_UTF32:
        return print_utf32(type, bytes, text);
    case PARAPET_STRUCT:
        return print_struct(type, bytes, text);
    case PARAPET_VARIABLE:
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "fill_value of %s cannot be written", type->name);
    default:
        print_integer(type, bytes, text);
        break;
    }
    return text->status;
}
