#include "element.h"
#include "document.h"
#include "memory.h"
#include "texts.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More of an opaque element than this tells a person nothing. */
enum { MAX_HEX_BYTES = 32 };

static void print_hex(FILE *out, const unsigned char *bytes, size_t count)
{
    fputs("0x", out);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%02x", bytes[i]);
}

/* The fewest digits that read back as the same value. */
static void print_finite(FILE *out, double value, bool is_single)
{
    char text[40];
    for (int digits = is_single ? 6 : 15; digits <= 17; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, value);
        if (is_single ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value)
            break;
    }
    fputs(text, out);
}

/* How a binary floating-point type lays out its bits. */
typedef struct tool_float_layout {
    size_t bytes;
    int exponent_bits;
    int fraction_bits;
} tool_float_layout;

static tool_float_layout layout_of(parapet_type type)
{
    switch (type) {
    case PARAPET_FLOAT16:
        return (tool_float_layout){2, 5, 10};
    case PARAPET_BFLOAT16:
        return (tool_float_layout){2, 8, 7};
    case PARAPET_FLOAT32:
    case PARAPET_COMPLEX64:
        return (tool_float_layout){4, 8, 23};
    default:
        return (tool_float_layout){8, 11, 52};
    }
}

static uint64_t load_bits(const void *data, size_t bytes)
{
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    if (bytes == 1)
        return *(const unsigned char *)data;
    if (bytes == 2) {
        memcpy(&two, data, sizeof two);
        return two;
    }
    if (bytes == 4) {
        memcpy(&four, data, sizeof four);
        return four;
    }
    memcpy(&eight, data, sizeof eight);
    return eight;
}

/* The value of float bits that are neither NaN nor infinite; exact, as every layout fits in a double. */
static double value_of_bits(uint64_t bits, const tool_float_layout *layout)
{
    int bias = (1 << (layout->exponent_bits - 1)) - 1;
    int exponent = (int)(bits >> layout->fraction_bits) & ((1 << layout->exponent_bits) - 1);
    uint64_t fraction = bits & ((UINT64_C(1) << layout->fraction_bits) - 1);
    bool is_negative = bits >> (layout->exponent_bits + layout->fraction_bits) & 1;
    double magnitude;
    if (exponent == 0)
        magnitude = ldexp((double)fraction, 1 - bias - layout->fraction_bits);
    else
        magnitude =
            ldexp((double)(fraction | UINT64_C(1) << layout->fraction_bits), exponent - bias - layout->fraction_bits);
    return is_negative ? -magnitude : magnitude;
}

/* Prints one float. quote surrounds what JSON does not know as a number. A NaN with unusual bits is shown as
 * those bits, the way Zarr spells such a fill value, so that two NaNs that differ look different. */
static void print_float(FILE *out, const void *data, parapet_type type, const char *quote)
{
    tool_float_layout layout = layout_of(type);
    uint64_t bits = load_bits(data, layout.bytes);
    uint64_t exponent_mask = ((UINT64_C(1) << layout.exponent_bits) - 1) << layout.fraction_bits;
    uint64_t quiet_nan = exponent_mask | UINT64_C(1) << (layout.fraction_bits - 1);
    uint64_t sign = UINT64_C(1) << (layout.exponent_bits + layout.fraction_bits);
    if ((bits & exponent_mask) != exponent_mask)
        print_finite(out, value_of_bits(bits, &layout), layout.bytes < 8);
    else if ((bits & ~sign) == exponent_mask)
        fprintf(out, "%s%sInfinity%s", quote, bits & sign ? "-" : "", quote);
    else if (bits == quiet_nan)
        fprintf(out, "%sNaN%s", quote, quote);
    else
        fprintf(out, "%s0x%0*" PRIx64 "%s", quote, (int)layout.bytes * 2, bits, quote);
}

static void print_complex(FILE *out, const void *data, parapet_type type, bool is_json)
{
    const unsigned char *bytes = data;
    size_t half = layout_of(type).bytes;
    const char *quote = is_json ? "\"" : "";
    fputs(is_json ? "[" : "(", out);
    print_float(out, bytes, type, quote);
    fputs(", ", out);
    print_float(out, bytes + half, type, quote);
    fputs(is_json ? "]" : ")", out);
}

/* UTF-8 of one character; what Unicode does not allow becomes U+FFFD. */
static size_t encode_utf8(uint32_t code, char text[5])
{
    size_t length = 0;
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        code = 0xfffd;
    if (code < 0x80) {
        text[length++] = (char)code;
    } else if (code < 0x800) {
        text[length++] = (char)(0xc0 | code >> 6);
        text[length++] = (char)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        text[length++] = (char)(0xe0 | code >> 12);
        text[length++] = (char)(0x80 | (code >> 6 & 0x3f));
        text[length++] = (char)(0x80 | (code & 0x3f));
    } else {
        text[length++] = (char)(0xf0 | code >> 18);
        text[length++] = (char)(0x80 | (code >> 12 & 0x3f));
        text[length++] = (char)(0x80 | (code >> 6 & 0x3f));
        text[length++] = (char)(0x80 | (code & 0x3f));
    }
    text[length] = '\0';
    return length;
}

/* Text that is padded with NUL characters, as numpy does it. */
static char *text_of_characters(const unsigned char *data, size_t bytes)
{
    char *text = memory_get(bytes + 1);
    size_t characters = bytes / 4;
    size_t used = 0;
    while (characters > 0 && load_bits(data + 4 * (characters - 1), 4) == 0)
        characters--;
    for (size_t i = 0; i < characters; i++) {
        char encoded[5];
        uint32_t code = (uint32_t)load_bits(data + 4 * i, 4);
        size_t length = encode_utf8(code == 0 ? 0xfffd : code, encoded);
        memcpy(text + used, encoded, length);
        used += length;
    }
    text[used] = '\0';
    return text;
}

static int64_t load_signed(const void *data, size_t bytes)
{
    int8_t one;
    if (bytes == 1) {
        memcpy(&one, data, sizeof one);
        return one;
    }
    if (bytes == 2)
        return (int16_t)load_bits(data, bytes);
    if (bytes == 4)
        return (int32_t)load_bits(data, bytes);
    return (int64_t)load_bits(data, bytes);
}

static void print_time(FILE *out, const void *data, bool is_json)
{
    int64_t ticks = load_signed(data, 8);
    if (ticks == INT64_MIN)
        fputs(is_json ? "\"NaT\"" : "NaT", out);
    else
        fprintf(out, "%" PRId64, ticks);
}

static void print_verbatim(FILE *out, const parapet_array_info *info, const void *element, bool is_json)
{
    bool is_long = !is_json && info->element_bytes > MAX_HEX_BYTES;
    fputs(is_json ? "\"" : "", out);
    print_hex(out, element, is_long ? MAX_HEX_BYTES : info->element_bytes);
    fputs(is_json ? "\"" : is_long ? "..." : "", out);
}

/* Text of a fixed length in bytes, padded with NULs, as netCDF and HDF5 have it. */
static bool is_fixed_text(const parapet_array_info *info)
{
    return strncmp(info->type_name, "null_terminated_bytes", strlen("null_terminated_bytes")) == 0;
}

static char *text_of_fixed(const char *element, size_t bytes)
{
    while (bytes > 0 && element[bytes - 1] == '\0')
        bytes--;
    return text_of_text(&(tool_text){element, bytes});
}

char *element_text(const parapet_array_info *info, const void *element)
{
    if (info->type == PARAPET_UTF32)
        return text_of_characters(element, info->element_bytes);
    if (info->type == PARAPET_VARIABLE)
        return text_of_text(element);
    return is_fixed_text(info) ? text_of_fixed(element, info->element_bytes) : NULL;
}

static void print_no_number(FILE *out, const parapet_array_info *info, const void *element, bool is_json)
{
    char *text = element_text(info, element);
    if (text != NULL)
        json_print_string(out, text);
    else
        print_verbatim(out, info, element, is_json);
    free(text);
}

static void print_element(FILE *out, const parapet_array_info *info, const void *element, bool is_json)
{
    switch (info->type) {
    case PARAPET_BOOL:
        fputs(*(const unsigned char *)element != 0 ? "true" : "false", out);
        break;
    case PARAPET_INT8:
    case PARAPET_INT16:
    case PARAPET_INT32:
    case PARAPET_INT64:
        fprintf(out, "%" PRId64, load_signed(element, info->element_bytes));
        break;
    case PARAPET_UINT8:
    case PARAPET_UINT16:
    case PARAPET_UINT32:
    case PARAPET_UINT64:
        fprintf(out, "%" PRIu64, load_bits(element, info->element_bytes));
        break;
    case PARAPET_FLOAT16:
    case PARAPET_FLOAT32:
    case PARAPET_FLOAT64:
    case PARAPET_BFLOAT16:
        print_float(out, element, info->type, is_json ? "\"" : "");
        break;
    case PARAPET_COMPLEX64:
    case PARAPET_COMPLEX128:
        print_complex(out, element, info->type, is_json);
        break;
    case PARAPET_DATETIME64:
    case PARAPET_TIMEDELTA64:
        print_time(out, element, is_json);
        break;
    default:
        print_no_number(out, info, element, is_json);
    }
}

void element_print(FILE *out, const parapet_array_info *info, const void *element)
{
    if (element == NULL || info->element_bytes == 0)
        fputs("none", out);
    else
        print_element(out, info, element, false);
}

void element_print_json(FILE *out, const parapet_array_info *info, const void *element)
{
    if (element == NULL || info->element_bytes == 0)
        fputs("null", out);
    else
        print_element(out, info, element, true);
}

char *text_of_element(const parapet_array_info *info, const void *element)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (out == NULL)
        return text_format("?");
    element_print(out, info, element);
    (void)fclose(out);
    return text;
}

static bool float_number(const void *element, parapet_type type, double *number)
{
    tool_float_layout layout = layout_of(type);
    uint64_t bits = load_bits(element, layout.bytes);
    uint64_t exponent_mask = ((UINT64_C(1) << layout.exponent_bits) - 1) << layout.fraction_bits;
    bool is_negative = bits >> (layout.exponent_bits + layout.fraction_bits) & 1;
    if ((bits & exponent_mask) != exponent_mask)
        *number = value_of_bits(bits, &layout);
    else if (bits & ((UINT64_C(1) << layout.fraction_bits) - 1))
        *number = NAN;
    else
        *number = is_negative ? -INFINITY : INFINITY;
    return true;
}

bool element_number(const parapet_array_info *info, const void *element, double *number)
{
    switch (info->type) {
    case PARAPET_INT8:
    case PARAPET_INT16:
    case PARAPET_INT32:
    case PARAPET_INT64:
        *number = (double)load_signed(element, info->element_bytes);
        return true;
    case PARAPET_BOOL:
    case PARAPET_UINT8:
    case PARAPET_UINT16:
    case PARAPET_UINT32:
    case PARAPET_UINT64:
        *number = (double)load_bits(element, info->element_bytes);
        return true;
    case PARAPET_FLOAT16:
    case PARAPET_BFLOAT16:
    case PARAPET_FLOAT32:
    case PARAPET_FLOAT64:
        return float_number(element, info->type, number);
    default:
        return false;
    }
}

static bool is_signed(const parapet_array_info *info)
{
    return info->type == PARAPET_INT8 || info->type == PARAPET_INT16 || info->type == PARAPET_INT32 ||
           info->type == PARAPET_INT64;
}

bool element_is_integer(const parapet_array_info *info)
{
    return is_signed(info) || info->type == PARAPET_UINT8 || info->type == PARAPET_UINT16 ||
           info->type == PARAPET_UINT32 || info->type == PARAPET_UINT64;
}

uint64_t element_integer(const parapet_array_info *info, const void *element)
{
    return is_signed(info) ? (uint64_t)load_signed(element, info->element_bytes)
                           : load_bits(element, info->element_bytes);
}

bool element_integer_parse(const parapet_array_info *info, const char *text, uint64_t *integer)
{
    const double exact_most = 9007199254740992.0; /* 2^53: a double has all integers up to it */
    char *end = NULL;
    double number = strtod(text, NULL);
    if (!is_signed(info) && number < 0)
        return false;
    errno = 0;
    *integer = is_signed(info) ? (uint64_t)strtoll(text, &end, 10) : strtoull(text, &end, 10);
    if (end != text && *end == '\0')
        return errno == 0;
    /* "-999.0" and "1e9" are integers, too. */
    *integer = fabs(number) <= exact_most ? (uint64_t)(int64_t)number : 0;
    return fabs(number) <= exact_most && number == floor(number);
}
