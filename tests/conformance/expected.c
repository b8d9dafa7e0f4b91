#include "expected.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHARACTER_BYTES 4

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* Every dtype ends in its number of bits, but for these. */
static size_t bytes_of_dtype(const char *dtype)
{
    if (strcmp(dtype, "bool") == 0)
        return 1;
    return strtoul(dtype + strcspn(dtype, "0123456789"), NULL, 10) / 8;
}

bool expected_load(expected_values *expected, const char *file_name)
{
    struct json_object *shape = NULL;
    size_t i;
    *expected = (expected_values){.json = json_object_from_file(file_name), .element_count = 1};
    if (expected->json == NULL) {
        printf("%s: cannot be read\n", file_name);
        return false;
    }
    expected->path = json_object_get_string(json_object_object_get(expected->json, "path"));
    expected->dtype = json_object_get_string(json_object_object_get(expected->json, "dtype"));
    shape = json_object_object_get(expected->json, "shape");
    expected->ndim = (int)json_object_array_length(shape);
    expected->element_bytes = bytes_of_dtype(expected->dtype);
    for (i = 0; i < json_object_array_length(shape); i++) {
        expected->shape[i] = json_object_get_int64(json_object_array_get_idx(shape, i));
        expected->element_count *= (size_t)expected->shape[i];
    }
    if (expected->element_count == json_object_array_length(json_object_object_get(expected->json, "data")))
        return true;
    printf("%s: the values do not fill the shape\n", file_name);
    expected_clear(expected);
    return false;
}

void expected_clear(expected_values *expected)
{
    json_object_put(expected->json);
    expected->json = NULL;
}

parapet_type expected_type(const expected_values *expected)
{
    if (starts_with(expected->dtype, "datetime"))
        return PARAPET_DATETIME64;
    if (starts_with(expected->dtype, "timedelta"))
        return PARAPET_TIMEDELTA64;
    if (starts_with(expected->dtype, "str"))
        return PARAPET_UTF32;
    return parapet_type_from_name(expected->dtype);
}

static double half_to_double(uint16_t bits)
{
    int exponent = bits >> 10 & 31;
    double fraction = bits & 1023, value;
    if (exponent == 31)
        value = fraction == 0 ? (double)INFINITY : (double)NAN;
    else if (exponent == 0)
        value = ldexp(fraction, -24);
    else
        value = ldexp(1024 + fraction, exponent - 25);
    return (bits & 0x8000) != 0 ? -value : value;
}

static double load_float(const unsigned char *bytes, size_t count, bool is_bfloat)
{
    uint16_t half;
    uint32_t word;
    float single;
    double value;
    if (count == 2) {
        memcpy(&half, bytes, 2);
        if (!is_bfloat)
            return half_to_double(half);
        word = (uint32_t)half << 16;
        memcpy(&single, &word, 4);
        return (double)single;
    }
    if (count == 4) {
        memcpy(&single, bytes, 4);
        return (double)single;
    }
    memcpy(&value, bytes, 8);
    return value;
}

static double float_of_json(struct json_object *value)
{
    const char *text = json_object_get_string(value);
    if (!json_object_is_type(value, json_type_string))
        return json_object_get_double(value);
    if (strcmp(text, "NaN") == 0)
        return (double)NAN;
    return text[0] == '-' ? -(double)INFINITY : (double)INFINITY;
}

static bool is_same_float(struct json_object *value, double actual)
{
    double wanted = float_of_json(value);
    return isnan(wanted) ? isnan(actual) : memcmp(&wanted, &actual, sizeof wanted) == 0;
}

static bool is_same_complex(struct json_object *value, const unsigned char *bytes, size_t count)
{
    return is_same_float(json_object_array_get_idx(value, 0), load_float(bytes, count / 2, false)) &&
           is_same_float(json_object_array_get_idx(value, 1), load_float(bytes + count / 2, count / 2, false));
}

/* The bits of an integer, sign-extended where the type has a sign. */
static uint64_t load_integer(const unsigned char *bytes, size_t count, bool is_signed)
{
    uint64_t value = 0;
    uint16_t two;
    uint32_t four;
    memcpy(&two, bytes, count == 2 ? 2 : 0);
    memcpy(&four, bytes, count == 4 ? 4 : 0);
    if (count == 1)
        value = is_signed ? (uint64_t)(int64_t)(int8_t)bytes[0] : bytes[0];
    else if (count == 2)
        value = is_signed ? (uint64_t)(int64_t)(int16_t)two : two;
    else if (count == 4)
        value = is_signed ? (uint64_t)(int64_t)(int32_t)four : four;
    else
        memcpy(&value, bytes, 8);
    return value;
}

static bool is_same_integer(struct json_object *value, const unsigned char *bytes, size_t count, bool is_signed)
{
    const char *text = json_object_get_string(value);
    uint64_t wanted = is_signed ? (uint64_t)strtoll(text, NULL, 10) : (uint64_t)strtoull(text, NULL, 10);
    return wanted == load_integer(bytes, count, is_signed);
}

static bool is_same_bytes(struct json_object *value, const unsigned char *bytes, size_t count)
{
    size_t i;
    if (json_object_array_length(value) != count)
        return false;
    for (i = 0; i < count; i++)
        if (json_object_get_int(json_object_array_get_idx(value, i)) != bytes[i])
            return false;
    return true;
}

/* Fixed-length text ends at its first NUL; behind it there may only be more of them. */
static bool is_same_text(struct json_object *value, const unsigned char *bytes, size_t count)
{
    size_t length = (size_t)json_object_get_string_len(value), i;
    if (length > count || memcmp(json_object_get_string(value), bytes, length) != 0)
        return false;
    for (i = length; i < count; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

static size_t utf8_print(uint32_t character, char *text)
{
    if (character < 0x80) {
        text[0] = (char)character;
        return 1;
    }
    if (character < 0x800) {
        text[0] = (char)(0xc0 | character >> 6);
        text[1] = (char)(0x80 | (character & 0x3f));
        return 2;
    }
    text[0] = (char)(0xe0 | character >> 12);
    text[1] = (char)(0x80 | (character >> 6 & 0x3f));
    text[2] = (char)(0x80 | (character & 0x3f));
    return 3;
}

static bool is_same_utf32(struct json_object *value, const unsigned char *bytes, size_t count)
{
    char text[256] = {0};
    size_t used = 0, i;
    uint32_t character;
    for (i = 0; i < count && used + CHARACTER_BYTES < sizeof text; i += CHARACTER_BYTES) {
        memcpy(&character, bytes + i, CHARACTER_BYTES);
        if (character == 0)
            break;
        used += utf8_print(character, text + used);
    }
    return strcmp(text, json_object_get_string(value)) == 0;
}

static bool is_same(const char *dtype, struct json_object *value, const unsigned char *bytes, size_t count)
{
    if (strcmp(dtype, "bool") == 0)
        return bytes[0] == (json_object_get_boolean(value) ? 1 : 0);
    if (strcmp(dtype, "bfloat16") == 0)
        return is_same_float(value, load_float(bytes, count, true));
    if (starts_with(dtype, "float"))
        return is_same_float(value, load_float(bytes, count, false));
    if (starts_with(dtype, "complex"))
        return is_same_complex(value, bytes, count);
    if (starts_with(dtype, "r"))
        return is_same_bytes(value, bytes, count);
    if (starts_with(dtype, "bytes"))
        return is_same_text(value, bytes, count);
    if (starts_with(dtype, "str"))
        return is_same_utf32(value, bytes, count);
    return is_same_integer(value, bytes, count, dtype[0] != 'u');
}

static void print_difference(size_t index, struct json_object *value, const unsigned char *bytes, size_t count)
{
    size_t i;
    printf("element %zu is not %s but has the bytes", index, json_object_to_json_string(value));
    for (i = 0; i < count; i++)
        printf(" %02x", bytes[i]);
    printf("\n");
}

bool expected_equals(const expected_values *expected, const void *elements)
{
    struct json_object *data = json_object_object_get(expected->json, "data");
    const unsigned char *bytes = elements;
    size_t i;
    for (i = 0; i < expected->element_count; i++, bytes += expected->element_bytes) {
        struct json_object *value = json_object_array_get_idx(data, i);
        if (!is_same(expected->dtype, value, bytes, expected->element_bytes)) {
            print_difference(i, value, bytes, expected->element_bytes);
            return false;
        }
    }
    return true;
}
