#include "zarr/json_print.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

typedef struct printer {
    pp_text *text;
    bool is_indented;
    int depth;
    bool is_first;
} printer;

static void print_value(printer *print, pp_json *json);

static void print_escape(unsigned char byte, pp_text *text)
{
    static const char codes[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *found = byte != 0 ? strchr(codes, byte) : NULL;
    if (found != NULL)
        pp_text_add(text, "\\%c", letters[found - codes]);
    else
        pp_text_add(text, "\\u%04x", byte);
}

void pp_json_print_text(const char *string, size_t bytes, pp_text *text)
{
    size_t start = 0, i;
    pp_text_add_bytes(text, "\"", 1);
    for (i = 0; i < bytes; i++) {
        unsigned char byte = (unsigned char)string[i];
        if (byte >= 0x20 && byte != '"' && byte != '\\')
            continue;
        pp_text_add_bytes(text, string + start, i - start);
        print_escape(byte, text);
        start = i + 1;
    }
    pp_text_add_bytes(text, string + start, bytes - start);
    pp_text_add_bytes(text, "\"", 1);
}

void pp_json_print_string(const char *string, pp_text *text)
{
    pp_json_print_text(string, strlen(string), text);
}

/* The decimal point of the locale, whatever it is, becomes a point; a whole number gets ".0". */
static void add_number(const char *number, pp_text *text)
{
    size_t plain = strspn(number, "+-0123456789");
    size_t rest = plain + strcspn(number + plain, "0123456789e");
    pp_text_add_bytes(text, number, plain);
    if (number[plain] == '\0')
        pp_text_add_bytes(text, ".0", 2);
    else if (rest > plain)
        pp_text_add_bytes(text, ".", 1);
    pp_text_add_bytes(text, number + rest, strlen(number + rest));
}

void pp_json_print_double(double value, pp_text *text)
{
    char number[64];
    int digits;
    if (isnan(value)) {
        pp_text_add(text, "\"NaN\"");
        return;
    }
    if (isinf(value)) {
        pp_text_add(text, value < 0 ? "\"-Infinity\"" : "\"Infinity\"");
        return;
    }
    for (digits = 1; digits <= 17; digits++) {
        (void)snprintf(number, sizeof number, "%.*g", digits, value);
        if (strtod(number, NULL) == value)
            break;
    }
    if (fabs(value) < 1e16 && value == floor(value)) /* 1000.0 rather than 1e+03 */
        (void)snprintf(number, sizeof number, "%.0f", value);
    add_number(number, text);
}

/* A number that was read keeps its text, which json-c holds beside the value. */
static void print_number(pp_json *json, pp_text *text)
{
    const char *verbatim = json_object_get_userdata(json);
    if (verbatim != NULL)
        pp_text_add_bytes(text, verbatim, strlen(verbatim));
    else
        pp_json_print_double(json_object_get_double(json), text);
}

static void print_integer(pp_json *json, pp_text *text)
{
    int64_t value;
    uint64_t large;
    if (pp_json_get_i64(json, &value))
        pp_text_add(text, "%" PRId64, value);
    else if (pp_json_get_u64(json, &large))
        pp_text_add(text, "%" PRIu64, large);
}

static void print_scalar(pp_json *json, pp_text *text)
{
    const char *string = "";
    size_t bytes = 0;
    bool is_true = false;
    switch (pp_json_kind_of(json)) {
    case PP_JSON_BOOL:
        (void)pp_json_get_bool(json, &is_true);
        pp_text_add(text, is_true ? "true" : "false");
        break;
    case PP_JSON_INTEGER:
        print_integer(json, text);
        break;
    case PP_JSON_NUMBER:
        print_number(json, text);
        break;
    case PP_JSON_STRING:
        (void)pp_json_get_text(json, &string, &bytes);
        pp_json_print_text(string, bytes, text);
        break;
    default:
        pp_text_add(text, "null");
        break;
    }
}

static void break_line(const printer *print)
{
    int depth;
    if (!print->is_indented)
        return;
    pp_text_add_bytes(print->text, "\n", 1);
    for (depth = 0; depth < print->depth; depth++)
        pp_text_add_bytes(print->text, "  ", 2);
}

static bool is_container(pp_json *json)
{
    return pp_json_kind_of(json) == PP_JSON_ARRAY || pp_json_kind_of(json) == PP_JSON_OBJECT;
}

static bool is_flat(pp_json *array)
{
    size_t i;
    for (i = 0; i < pp_json_length(array); i++)
        if (is_container(pp_json_element(array, i)))
            return false;
    return true;
}

/* Lists of plain values stay on one line: shapes are read by people. */
static void print_array(printer *print, pp_json *array)
{
    bool has_lines = print->is_indented && !is_flat(array);
    size_t i;
    pp_text_add_bytes(print->text, "[", 1);
    print->depth++;
    for (i = 0; i < pp_json_length(array); i++) {
        if (i > 0)
            pp_text_add_bytes(print->text, ", ", print->is_indented && !has_lines ? 2 : 1);
        if (has_lines)
            break_line(print);
        print_value(print, pp_json_element(array, i));
    }
    print->depth--;
    if (has_lines)
        break_line(print);
    pp_text_add_bytes(print->text, "]", 1);
}

static parapet_status print_member(void *context, const char *name, pp_json *value)
{
    printer *print = context;
    if (!print->is_first)
        pp_text_add_bytes(print->text, ",", 1);
    break_line(print);
    pp_json_print_string(name, print->text);
    pp_text_add_bytes(print->text, ": ", print->is_indented ? 2 : 1);
    print_value(print, value);
    print->is_first = false;
    return PARAPET_OK;
}

static void print_object(printer *print, pp_json *object)
{
    pp_text_add_bytes(print->text, "{", 1);
    print->depth++;
    print->is_first = true;
    (void)pp_json_each(object, print_member, print);
    print->depth--;
    if (!print->is_first)
        break_line(print);
    print->is_first = false;
    pp_text_add_bytes(print->text, "}", 1);
}

static void print_value(printer *print, pp_json *json)
{
    if (pp_json_kind_of(json) == PP_JSON_ARRAY)
        print_array(print, json);
    else if (pp_json_kind_of(json) == PP_JSON_OBJECT)
        print_object(print, json);
    else
        print_scalar(json, print->text);
}

void pp_json_print(pp_json *json, bool is_indented, pp_text *text)
{
    printer print = {.text = text, .is_indented = is_indented};
    print_value(&print, json);
}

void pp_json_print_inside(pp_json *json, int depth, pp_text *text)
{
    printer print = {.text = text, .is_indented = true, .depth = depth};
    print_value(&print, json);
}

const char *pp_json_words(pp_json *json, char words[PP_JSON_WORDS_BYTES])
{
    pp_text text = {0};
    size_t at = 0, length;
    pp_json_print(json, false, &text);
    words[0] = '\0';
    if (text.status == PARAPET_OK && text.data != NULL) {
        while (at < text.bytes && at < PP_JSON_WORDS_BYTES - 8) {
            length = pp_utf8_character_bytes((const unsigned char *)text.data + at, text.bytes - at);
            at += length > 0 ? length : 1;
        }
        (void)snprintf(words, PP_JSON_WORDS_BYTES, "%.*s%s", (int)at, text.data, at < text.bytes ? "..." : "");
    }
    pp_text_free(&text);
    return words;
}
