/* fill_value: one element to JSON. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "zarr/base64.h"
#include "zarr/element.h"
#include "zarr/json_print.h"
#include "zarr/types_struct.h"

/* The shortest decimal that comes back as the same bits when read as a double and then rounded, as readers do. */
static double shortest(pp_real_kind kind, uint64_t bits, double value)
{
    double shorter = value;
    char number[64];
    int digits;
    if (!isfinite(value) || (value == floor(value) && fabs(value) < 1e16))
        return value;
    for (digits = 1; digits <= 17; digits++) {
        (void)snprintf(number, sizeof number, "%.*g", digits, value);
        shorter = strtod(number, NULL);
        if (pp_real_from_double(kind, shorter) == bits)
            break;
    }
    return shorter;
}

static void print_float(pp_real_kind kind, const unsigned char *element, pp_text *text)
{
    size_t bytes = pp_real_bytes(kind);
    uint64_t bits = pp_bits_load(element, bytes);
    double value = pp_real_to_double(kind, bits);
    if (isnan(value) && bits != pp_real_from_double(kind, NAN))
        pp_text_add(text, "\"0x%0*" PRIx64 "\"", (int)bytes * 2, bits);
    else
        pp_json_print_double(shortest(kind, bits, value), text);
}

static void print_integer(const pp_type *type, const unsigned char *element, pp_text *text)
{
    unsigned unused_bits = 64 - (unsigned)type->element_bytes * 8;
    uint64_t value = pp_bits_load(element, type->element_bytes);
    if (pp_type_is_signed(type->id))
        pp_text_add(text, "%" PRId64, (int64_t)(value << unused_bits) >> unused_bits);
    else
        pp_text_add(text, "%" PRIu64, value);
}

static void print_time(const unsigned char *element, pp_text *text)
{
    int64_t ticks = (int64_t)pp_bits_load(element, 8);
    if (ticks == INT64_MIN)
        pp_text_add(text, "\"NaT\"");
    else
        pp_text_add(text, "%" PRId64, ticks);
}

static void print_base64(const unsigned char *element, size_t bytes, pp_text *text)
{
    pp_text_add(text, "\"");
    pp_base64_print(element, bytes, text);
    pp_text_add(text, "\"");
}

static void print_raw(const pp_type *type, const unsigned char *element, pp_text *text)
{
    pp_raw_form form = pp_raw_form_of(type);
    size_t bytes = type->element_bytes, i;
    if (form == PP_RAW_NUMBER) {
        if (element[0] == 0)
            pp_text_add(text, "0");
        else
            pp_text_add(text, "\"0x%02x\"", element[0]);
        return;
    }
    if (form == PP_RAW_BITS) {
        for (i = 0; i < bytes; i++)
            pp_text_add(text, "%s%d", i == 0 ? "[" : ",", element[i]);
        pp_text_add(text, "]");
        return;
    }
    while (form == PP_RAW_TERMINATED && bytes > 0 && element[bytes - 1] == 0)
        bytes--;
    print_base64(element, bytes, text);
}

static void print_complex(const pp_type *type, const unsigned char *element, pp_text *text)
{
    pp_real_kind kind = pp_real_kind_of(type->id);
    pp_text_add(text, "[");
    print_float(kind, element, text);
    pp_text_add(text, ",");
    print_float(kind, element + pp_real_bytes(kind), text);
    pp_text_add(text, "]");
}

/* ---- Text and records ---- */

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
    while (bytes >= 4 && pp_bits_load(element + bytes - 4, 4) == 0)
        bytes -= 4;
    for (i = 0; i < bytes; i += 4) {
        uint32_t point = (uint32_t)pp_bits_load(element + i, 4);
        char one[4];
        if (point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) {
            pp_text_free(&utf8);
            return pp_fail(PARAPET_ERR_ARGUMENT, "fill_value of %s holds 0x%" PRIx32 ", which is not a character",
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
        print_float(pp_real_kind_of(type->id), bytes, text);
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
