/* netcdf_attributes.c - attributes of netCDF as JSON. A single number becomes a number, several a list; text becomes
 * a string without NUL. Text that is not UTF-8 is taken as Latin-1, so that no character is lost. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "base/utf8.h"
#include "foreign/netcdf.h"
#include "zarr/base64.h"

/* A header has up to 4 MiB, and a document 16: text may grow on its way into JSON. */
#define MOST_JSON_BYTES PP_JSON_MAX_BYTES

/* In all attributes of a file. */
#define MOST_NUMBERS 65536

static bool is_utf8(const unsigned char *text, size_t bytes)
{
    size_t i, step;
    for (i = 0; i < bytes; i += step)
        if ((step = pp_utf8_character_bytes(text + i, bytes - i)) == 0)
            return false;
    return true;
}

static void add_latin1(pp_text *text, unsigned char letter)
{
    const unsigned char two[2] = {(unsigned char)(0xc0 | letter >> 6), (unsigned char)(0x80 | (letter & 0x3f))};
    if (letter < 0x80)
        pp_text_add_bytes(text, &letter, 1);
    else
        pp_text_add_bytes(text, two, sizeof two);
}

/* Text in UTF-8, without NUL. */
static parapet_status make_text(const unsigned char *bytes, size_t count, char **result)
{
    pp_text text = {0};
    bool is_valid = is_utf8(bytes, count);
    size_t i;
    pp_text_add(&text, "%s", "");
    for (i = 0; i < count; i++) {
        const unsigned char *end = is_valid ? memchr(bytes + i, '\0', count - i) : NULL;
        size_t plain = !is_valid ? 0 : end != NULL ? (size_t)(end - bytes) - i : count - i;
        if (plain > 0)
            pp_text_add_bytes(&text, bytes + i, plain);
        else if (bytes[i] != '\0')
            add_latin1(&text, bytes[i]);
        i += plain;
    }
    return pp_text_finish(&text, result);
}

parapet_status pp_netcdf_name(pp_netcdf_header *header, char **name)
{
    uint64_t count = pp_netcdf_count(header);
    const unsigned char *bytes = pp_netcdf_bytes(header, count);
    *name = NULL;
    if (bytes == NULL)
        return pp_text_duplicate(name, "");
    return make_text(bytes, (size_t)count, name);
}

static int64_t load_integer(const pp_netcdf_values *values, uint64_t index)
{
    const unsigned char *at = values->data + index * values->type->bytes;
    bool is_signed = values->type->kind == 'i';
    switch (values->type->bytes) {
    case 1:
        return is_signed ? (int64_t)(int8_t)at[0] : (int64_t)at[0];
    case 2:
        return is_signed ? (int64_t)(int16_t)(at[0] << 8 | at[1]) : (int64_t)(at[0] << 8 | at[1]);
    case 4:
        return is_signed ? (int64_t)(int32_t)pp_load_u32be(at) : (int64_t)pp_load_u32be(at);
    default:
        return (int64_t)pp_load_u64be(at);
    }
}

static double load_real(const pp_netcdf_values *values, uint64_t index)
{
    const unsigned char *at = values->data + index * values->type->bytes;
    uint32_t narrow = values->type->bytes == 4 ? pp_load_u32be(at) : 0;
    uint64_t wide = values->type->bytes == 8 ? pp_load_u64be(at) : 0;
    float single;
    double value;
    if (values->type->kind != 'f')
        return values->type->kind == 'u' ? (double)(uint64_t)load_integer(values, index)
                                         : (double)load_integer(values, index);
    memcpy(&single, &narrow, sizeof single);
    memcpy(&value, &wide, sizeof value);
    return values->type->bytes == 4 ? (double)single : value;
}

static void print_number(const pp_netcdf_values *values, uint64_t index, pp_text *json)
{
    if (values->type->kind == 'f')
        pp_json_print_double(load_real(values, index), json);
    else if (values->type->kind == 'u')
        pp_text_add(json, "%" PRIu64, (uint64_t)load_integer(values, index));
    else
        pp_text_add(json, "%" PRId64, load_integer(values, index));
}

static void print_numbers(const pp_netcdf_values *values, pp_text *json)
{
    uint64_t i;
    if (values->count != 1)
        pp_text_add(json, "[");
    for (i = 0; i < values->count && json->bytes < MOST_JSON_BYTES; i++) {
        pp_text_add(json, "%s", i > 0 ? "," : "");
        print_number(values, i, json);
    }
    if (values->count != 1)
        pp_text_add(json, "]");
}

static parapet_status print_text(const pp_netcdf_values *values, pp_text *json)
{
    char *text;
    parapet_status status = make_text(values->data, (size_t)values->count, &text);
    if (status == PARAPET_OK)
        pp_json_print_string(text, json);
    pp_free(text);
    return status;
}

static void begin_member(pp_text *json, const char *name)
{
    pp_text_add(json, "%s", json->bytes > 1 ? "," : "");
    pp_json_print_string(name, json);
    pp_text_add(json, ":");
}

static parapet_status print_member(pp_text *json, const char *name, const pp_netcdf_values *values)
{
    begin_member(json, name);
    if (values->type->kind == 'c')
        return print_text(values, json);
    print_numbers(values, json);
    return PARAPET_OK;
}

static parapet_status read_values(pp_netcdf_header *header, pp_netcdf_values *values)
{
    uint32_t number = pp_netcdf_u32(header);
    parapet_status status;
    *values = (pp_netcdf_values){0};
    values->count = pp_netcdf_count(header);
    if (header->is_short)
        return PARAPET_OK;
    if ((status = pp_netcdf_type_find(number, &values->type)) != PARAPET_OK)
        return status;
    if (values->count > PP_JSON_MAX_BYTES)
        return pp_fail(PARAPET_ERR_FORMAT, "an attribute has %" PRIu64 " values, more than any header holds",
                       values->count);
    values->data = pp_netcdf_bytes(header, values->count * values->type->bytes);
    return PARAPET_OK;
}

/* Before any becomes text, which takes some microseconds for each. */
static parapet_status count_numbers(pp_netcdf_header *header, const pp_netcdf_values *values)
{
    if (values->type->kind != 'c')
        header->number_count += values->count;
    return header->number_count <= MOST_NUMBERS
               ? PARAPET_OK
               : pp_fail(PARAPET_ERR_UNSUPPORTED, "attributes have more than %d numbers", MOST_NUMBERS);
}

static parapet_status read_attribute(pp_netcdf_header *header, pp_netcdf_attributes *attributes)
{
    pp_netcdf_values values;
    char *name;
    parapet_status status;
    if ((status = pp_netcdf_name(header, &name)) != PARAPET_OK)
        return status;
    if ((status = read_values(header, &values)) == PARAPET_OK && !header->is_short) {
        if (attributes->is_skipped)
            status = count_numbers(header, &values);
        else if (strcmp(name, "_FillValue") == 0 && values.count == 1 && attributes->fill.count == 0)
            attributes->fill = values;
        else
            status = print_member(&attributes->json, name, &values);
    }
    if (status == PARAPET_OK && attributes->json.bytes > MOST_JSON_BYTES)
        status = pp_fail(PARAPET_ERR_UNSUPPORTED, "attributes take more than %u MiB", MOST_JSON_BYTES >> 20);
    pp_free(name);
    return status;
}

parapet_status pp_netcdf_attributes_read(pp_netcdf_header *header, pp_netcdf_attributes *attributes)
{
    static const pp_netcdf_list list = {PP_NETCDF_ATTRIBUTES, 12, PP_JSON_MAX_BYTES, "attributes"};
    uint64_t count = 0, i;
    parapet_status status = pp_netcdf_list_begin(header, &list, &count);
    pp_text_add(&attributes->json, "{");
    for (i = 0; i < count && status == PARAPET_OK && !header->is_short; i++)
        status = read_attribute(header, attributes);
    return status != PARAPET_OK ? status : attributes->json.status;
}

/* ---- _FillValue ---- */

/* As xarray writes and reads it: base64 of a little-endian double for floats. */
static void print_fill_attribute(const pp_netcdf_values *fill, const pp_netcdf_type *type, pp_text *json)
{
    unsigned char bytes[8];
    uint64_t bits;
    double value = load_real(fill, 0);
    if (type->kind == 'i' || type->kind == 'u') {
        print_number(fill, 0, json);
        return;
    }
    memcpy(&bits, &value, sizeof bits);
    pp_store_u64le(bytes, isnan(value) ? UINT64_C(0x7ff8000000000000) : bits);
    pp_text_add(json, "\"");
    pp_base64_print(bytes, sizeof bytes, json);
    pp_text_add(json, "\"");
}

/* The element as this machine has it. */
static void set_fill_value(const pp_netcdf_values *fill, pp_array_document *document)
{
    unsigned char *element = document->fill_value;
    const uint16_t probe = 1;
    bool is_little = *(const unsigned char *)&probe == 1;
    size_t bytes = fill->type->bytes, i;
    for (i = 0; i < bytes; i++)
        element[i] = fill->data[is_little ? bytes - 1 - i : i];
    document->is_fill_defined = true;
}

parapet_status pp_netcdf_attributes_give(pp_netcdf_attributes *attributes, const pp_netcdf_type *type,
                                         pp_array_document *document)
{
    pp_text *json = &attributes->json;
    const pp_netcdf_values *fill = &attributes->fill;
    parapet_status status = PARAPET_OK;
    bool is_text = fill->count == 1 && fill->type->kind == 'c';
    /* Text has it as its fill value alone: xarray opens no dataset in which text has this attribute. */
    if (fill->count == 1 && is_text && type->kind == 'c')
        status = PARAPET_OK;
    else if (fill->count == 1 && !is_text && type->kind != 'c') {
        begin_member(json, "_FillValue");
        print_fill_attribute(fill, type, json);
    } else if (fill->count == 1)
        status = print_member(json, "_FillValue", fill);
    if (fill->count == 1 && fill->type == type)
        set_fill_value(fill, document);
    pp_text_add(json, "}");
    if (status == PARAPET_OK && (status = json->status) == PARAPET_OK)
        status = pp_json_parse(&document->attributes, json->data, json->bytes);
    return status;
}

parapet_status pp_netcdf_attributes_finish(pp_netcdf_attributes *attributes)
{
    parapet_status status = PARAPET_OK;
    if (attributes->fill.count == 1)
        status = print_member(&attributes->json, "_FillValue", &attributes->fill);
    pp_text_add(&attributes->json, "}");
    return status != PARAPET_OK ? status : attributes->json.status;
}
