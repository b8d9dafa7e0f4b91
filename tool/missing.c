#include "missing.h"
#include "element.h"
#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DOUBLE_CHARACTERS = 12 }; /* of base64 */

static void add(tool_missing *missing, double number, uint64_t integer)
{
    missing->values = memory_grow(missing->values, missing->count, sizeof *missing->values);
    missing->values[missing->count++] = (tool_missing_value){number, integer};
}

/* A number as the attribute spells it, if the type of the array has it. */
static void add_number(tool_missing *missing, const parapet_array_info *info, const char *text)
{
    char *end = NULL;
    double number = strtod(text, &end);
    uint64_t integer = 0;
    if (end == text || *end != '\0' || (element_is_integer(info) && !element_integer_parse(info, text, &integer)))
        return;
    add(missing, info->type == PARAPET_FLOAT32 ? (double)(float)number : number, integer);
}

/* Six bits of base64; -1: the character has none. */
static int sextet_of(char character)
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = character != '\0' ? strchr(alphabet, character) : NULL;
    return found != NULL ? (int)(found - alphabet) : -1;
}

/* A little-endian double in base64, which JSON can say where it cannot say NaN: as xarray writes it. */
static bool decode_double(const char *text, double *number)
{
    uint64_t bits = 0;
    unsigned pending = 0;
    int pending_bits = 0, bytes = 0;
    if (strlen(text) != DOUBLE_CHARACTERS || text[DOUBLE_CHARACTERS - 1] != '=')
        return false;
    for (int i = 0; i < DOUBLE_CHARACTERS - 1; i++) {
        int sextet = sextet_of(text[i]);
        if (sextet < 0)
            return false;
        pending = (pending << 6 | (unsigned)sextet) & 0xffff;
        pending_bits += 6;
        if (pending_bits >= 8) {
            pending_bits -= 8;
            bits |= (uint64_t)(pending >> pending_bits & 0xff) << 8 * bytes++;
        }
    }
    memcpy(number, &bits, sizeof *number);
    return true;
}

static void add_word(tool_missing *missing, const parapet_array_info *info, const char *word)
{
    double number;
    if (!element_is_integer(info) && decode_double(word, &number))
        add(missing, number, 0);
    else
        add_number(missing, info, word);
}

/* One value, or a list of them, as JSON. */
static void add_attribute(tool_missing *missing, const parapet_array_info *info, const char *json)
{
    static const char between[] = " \t\r\n[],\"";
    for (json += strspn(json, between); *json != '\0'; json += strspn(json, between)) {
        size_t length = strcspn(json, between);
        char *word = text_format("%.*s", (int)length, json);
        add_word(missing, info, word);
        free(word);
        json += length;
    }
}

void missing_init(tool_missing *missing, tool_node *node)
{
    static const char *const names[] = {"_FillValue", "missing_value"};
    const parapet_array_info *info = &node->info;
    double number;
    *missing = (tool_missing){.info = info};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *json = NULL;
        if (parapet_array_attribute_get(node->array, names[i], &json) == PARAPET_OK)
            add_attribute(missing, info, json);
        parapet_free(json);
    }
    if (info->zarr_format == 2 && info->dimension_names != NULL && info->fill_is_defined &&
        element_number(info, info->fill_value, &number))
        add(missing, number, element_integer(info, info->fill_value));
}

void missing_free(tool_missing *missing)
{
    free(missing->values);
    *missing = (tool_missing){0};
}

bool missing_is(const tool_missing *missing, const void *element, double number)
{
    bool is_integer = missing->count > 0 && element_is_integer(missing->info);
    for (size_t i = 0; i < missing->count; i++) {
        const tool_missing_value *value = &missing->values[i];
        if (is_integer ? value->integer == element_integer(missing->info, element) : value->number == number)
            return true;
    }
    return isnan(number);
}
