/* outline_netcdf.c - the header of a netCDF file: CDF-5, whose counts and offsets have 64 bits, with fixed variables
 * alone, apart from those that have no record. Everything that netcdf.c turns into Zarr is turned back. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/status.h"
#include "base/utf8.h"
#include "foreign/netcdf.h"
#include "foreign/outline.h"
#include "zarr/base64.h"

enum {
    NC_BYTE = 1,
    NC_CHAR,
    NC_SHORT,
    NC_INT,
    NC_FLOAT,
    NC_DOUBLE,
    NC_UBYTE,
    NC_USHORT,
    NC_UINT,
    NC_INT64,
    NC_UINT64
};

#define NAME_BYTES_MOST 256

typedef struct dimension {
    char *name;
    int64_t length;
} dimension;

typedef struct writing {
    pp_outline *outline;
    dimension *dimensions;
    size_t dimension_count;
    size_t *starts; /* of each array: where its offset stands in the header */
} writing;

/* ---- Numbers and names ---- */

static void add_u32(pp_text *header, uint32_t value)
{
    unsigned char bytes[8];
    pp_store_u64be(bytes, value);
    pp_text_add_bytes(header, bytes + 4, 4);
}

static void add_u64(pp_text *header, uint64_t value)
{
    unsigned char bytes[8];
    pp_store_u64be(bytes, value);
    pp_text_add_bytes(header, bytes, 8);
}

static void add_padded(pp_text *header, const void *data, size_t bytes)
{
    pp_text_add_bytes(header, data, bytes);
    pp_text_add_bytes(header, "\0\0\0", (4 - bytes % 4) % 4);
}

static void add_name(pp_text *header, const char *name)
{
    add_u64(header, strlen(name));
    add_padded(header, name, strlen(name));
}

static void begin_list(pp_text *header, uint32_t tag, uint64_t count)
{
    add_u32(header, count > 0 ? tag : 0);
    add_u64(header, count);
}

/* libnetcdf composes the names that it is asked for (NFC), and finds none that are in a file otherwise. These are the
 * marks and letters of what other programs decompose: Latin, Greek, Cyrillic, Kana, Hangul, and signs that are never
 * composed. */
static bool is_composed(const char *name)
{
    static const uint32_t ranges[][2] = {{0x300, 0x36f},   {0x1100, 0x11ff}, {0x2126, 0x2126},
                                         {0x212a, 0x212b}, {0x3099, 0x309a}, {0xf900, 0xfaff}};
    size_t left = strlen(name), bytes, i;
    for (; left > 0; name += bytes, left -= bytes) {
        uint32_t code;
        if ((bytes = pp_utf8_character_bytes((const unsigned char *)name, left)) == 0)
            return false;
        code = pp_utf8_code((const unsigned char *)name, bytes);
        for (i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
            if (code >= ranges[i][0] && code <= ranges[i][1])
                return false;
    }
    return true;
}

/* What netCDF allows: a letter, a digit, "_" or something beyond ASCII first, no "/", no blank at the end; and no
 * more bytes than programs have room for. */
static bool is_name(const char *name)
{
    unsigned char first = (unsigned char)name[0];
    size_t bytes = strlen(name), i;
    bool begins = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') ||
                  (first >= '0' && first <= '9') || first == '_' || first >= 0x80;
    for (i = 0; i < bytes; i++)
        if (name[i] == '/' || (unsigned char)name[i] < 0x20 || name[i] == 0x7F)
            return false;
    return begins && name[bytes - 1] != ' ' && bytes <= NAME_BYTES_MOST && is_composed(name);
}

/* ---- Types ---- */

static const uint32_t type_numbers[] = {
    [PARAPET_BOOL] = NC_BYTE,     [PARAPET_INT8] = NC_BYTE,      [PARAPET_INT16] = NC_SHORT,
    [PARAPET_INT32] = NC_INT,     [PARAPET_INT64] = NC_INT64,    [PARAPET_UINT8] = NC_UBYTE,
    [PARAPET_UINT16] = NC_USHORT, [PARAPET_UINT32] = NC_UINT,    [PARAPET_UINT64] = NC_UINT64,
    [PARAPET_FLOAT32] = NC_FLOAT, [PARAPET_FLOAT64] = NC_DOUBLE,
};

/* 0: netCDF has none. */
static uint32_t type_of(const pp_type *type)
{
    if (type->id == PARAPET_RAW && type->element_bytes == 1 && strncmp(type->name, "null_terminated_bytes", 21) == 0)
        return NC_CHAR;
    return (size_t)type->id < sizeof type_numbers / sizeof type_numbers[0] ? type_numbers[type->id] : 0;
}

/* ---- Values of attributes ---- */

/* A number as JSON has it: exact if it is an integer. */
typedef struct number {
    bool is_integer;
    int64_t integer;
    uint64_t positive; /* of an integer beyond int64 */
    double real;
} number;

static bool take_special(pp_json *value, double *real)
{
    static const struct {
        const char *word;
        double value;
    } words[] = {{"NaN", NAN}, {"Infinity", INFINITY}, {"-Infinity", -INFINITY}};
    size_t i;
    for (i = 0; i < 3; i++)
        if (pp_json_is_text(value, words[i].word)) {
            *real = words[i].value;
            return true;
        }
    return false;
}

static bool take_number(pp_json *value, bool takes_words, number *taken)
{
    *taken = (number){0};
    if (pp_json_get_i64(value, &taken->integer)) {
        taken->is_integer = true;
        taken->positive = (uint64_t)taken->integer;
        taken->real = (double)taken->integer;
        return true;
    }
    if (pp_json_get_u64(value, &taken->positive)) {
        taken->is_integer = true;
        taken->integer = INT64_MAX;
        taken->real = (double)taken->positive;
        return true;
    }
    return pp_json_get_double(value, &taken->real) || (takes_words && take_special(value, &taken->real));
}

static bool is_real(uint32_t type)
{
    return type == NC_FLOAT || type == NC_DOUBLE;
}

/* Whether a number has this type without loss; a real number is rounded to a float. */
static bool fits(const number *taken, uint32_t type)
{
    static const int64_t least[] = {
        [NC_BYTE] = INT8_MIN, [NC_SHORT] = INT16_MIN, [NC_INT] = INT32_MIN, [NC_INT64] = INT64_MIN, [NC_UINT64] = 0};
    static const uint64_t most[] = {
        [NC_BYTE] = INT8_MAX,     [NC_SHORT] = INT16_MAX, [NC_INT] = INT32_MAX,   [NC_UBYTE] = UINT8_MAX,
        [NC_USHORT] = UINT16_MAX, [NC_UINT] = UINT32_MAX, [NC_INT64] = INT64_MAX, [NC_UINT64] = UINT64_MAX};
    if (is_real(type))
        return true;
    if (!taken->is_integer || type == NC_CHAR)
        return false;
    return taken->integer < 0 ? taken->integer >= least[type] : taken->positive <= most[type];
}

static void add_number(pp_text *values, const number *taken, uint32_t type)
{
    static const size_t bytes_of[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
    unsigned char bytes[8];
    uint64_t bits = taken->positive;
    float single = (float)taken->real;
    uint32_t single_bits;
    if (type == NC_DOUBLE)
        memcpy(&bits, &taken->real, sizeof bits);
    if (type == NC_FLOAT) {
        memcpy(&single_bits, &single, sizeof single_bits);
        bits = single_bits;
    }
    pp_store_u64be(bytes, bits);
    pp_text_add_bytes(values, bytes + 8 - bytes_of[type], bytes_of[type]);
}

/* ---- Attributes ---- */

/* Attributes on their way into a list. */
typedef struct attribute_list {
    writing *work;
    const pp_outline_array *array; /* NULL: of the file */
    pp_text body;
    uint64_t count;
    bool is_behind_fill; /* _FillValue comes first, wherever it was: so a file that is copied again stays as it is */
} attribute_list;

static parapet_status leave_out(attribute_list *list, const char *name, const char *why)
{
    pp_text *lines = &list->work->outline->left_out;
    if (list->array != NULL)
        pp_text_add(lines, "the attribute \"%s\" of \"%s\": %s\n", name, list->array->name, why);
    else
        pp_text_add(lines, "the attribute \"%s\": %s\n", name, why);
    return PARAPET_OK;
}

static void begin_attribute(attribute_list *list, const char *name, uint32_t type, uint64_t count)
{
    add_name(&list->body, name);
    add_u32(&list->body, type);
    add_u64(&list->body, count);
    list->count++;
}

/* values: of so many elements of a type, padded to 4 bytes in the file. */
static void add_values(attribute_list *list, const char *name, uint32_t type, const pp_text *values, uint64_t count)
{
    begin_attribute(list, name, type, count);
    add_padded(&list->body, values->data != NULL ? values->data : "", values->bytes);
    if (values->status != PARAPET_OK)
        list->body.status = values->status;
}

static void add_text(attribute_list *list, const char *name, const char *text, size_t bytes)
{
    begin_attribute(list, name, NC_CHAR, bytes);
    add_padded(&list->body, text, bytes);
}

/* These have the type of their variable: readers insist on it. */
static bool has_type_of_variable(const char *name)
{
    static const char *const names[] = {"_FillValue",  "missing_value", "valid_min", "valid_max",
                                        "valid_range", "flag_values",   "flag_masks"};
    size_t i;
    for (i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static pp_json *value_at(pp_json *value, size_t index)
{
    return pp_json_kind_of(value) == PP_JSON_ARRAY ? pp_json_element(value, index) : value;
}

static bool all_fit(pp_json *value, size_t count, uint32_t type)
{
    number taken;
    size_t i;
    for (i = 0; i < count; i++)
        if (!take_number(value_at(value, i), true, &taken) || !fits(&taken, type))
            return false;
    return true;
}

/* The smallest of int, int64, uint64 and double that holds them all. */
static uint32_t choose_type(const attribute_list *list, const char *name, pp_json *value, size_t count)
{
    static const uint32_t choices[] = {NC_INT, NC_INT64, NC_UINT64};
    uint32_t own = list->array != NULL ? type_of(&list->array->document->type) : 0;
    size_t i;
    if (own != 0 && own != NC_CHAR && has_type_of_variable(name) && all_fit(value, count, own))
        return own;
    for (i = 0; i < sizeof choices / sizeof choices[0]; i++)
        if (all_fit(value, count, choices[i]))
            return choices[i];
    return NC_DOUBLE;
}

static bool are_numbers(const attribute_list *list, const char *name, pp_json *value, size_t count)
{
    bool takes_words = list->array != NULL && has_type_of_variable(name);
    number taken;
    size_t i;
    for (i = 0; i < count; i++)
        if (!take_number(value_at(value, i), takes_words, &taken))
            return false;
    return count > 0;
}

static void add_numbers(attribute_list *list, const char *name, pp_json *value, size_t count)
{
    uint32_t type = choose_type(list, name, value, count);
    pp_text values = {0};
    number taken;
    size_t i;
    for (i = 0; i < count; i++) {
        (void)take_number(value_at(value, i), true, &taken);
        add_number(&values, &taken, type);
    }
    add_values(list, name, type, &values, count);
    pp_text_free(&values);
}

/* As xarray writes it: base64 of a little-endian double for floats, and of the bytes for text. */
static bool add_encoded_fill(attribute_list *list, const char *text, size_t bytes)
{
    uint32_t type = type_of(&list->array->document->type);
    unsigned char data[8];
    number taken = {0};
    uint64_t bits;
    size_t count = 0;
    pp_text values = {0};
    if (!(is_real(type) || type == NC_CHAR) || !pp_base64_parse(text, bytes, data, sizeof data, &count) ||
        count != (type == NC_CHAR ? 1u : 8u))
        return false;
    if (type == NC_CHAR)
        pp_text_add_bytes(&values, data, 1);
    else {
        bits = pp_load_u64le(data);
        memcpy(&taken.real, &bits, sizeof bits);
        add_number(&values, &taken, type);
    }
    add_values(list, "_FillValue", type, &values, 1);
    pp_text_free(&values);
    return true;
}

/* Only in Zarr v2 the fill value itself says what is missing, as _FillValue does, and in text, which cannot have the
 * attribute. Truth has no missing ones, nor has text whose fill value is nothing. */
static bool tells_missing(const pp_array_document *document)
{
    if (type_of(&document->type) == NC_CHAR)
        return pp_outline_has_fill(document);
    return document->zarr_format == 2 && document->type.id != PARAPET_BOOL;
}

/* In Zarr v2, xarray takes it whatever the attributes say. */
static bool overrules_attribute(const pp_outline_array *array)
{
    const pp_array_document *document = array != NULL ? array->document : NULL;
    return document != NULL && document->zarr_format == 2 && document->is_fill_defined && tells_missing(document);
}

/* netCDF insists on one value of the type of its variable. */
static bool is_fill_of_type(const attribute_list *list, pp_json *value, size_t count)
{
    uint32_t own = type_of(&list->array->document->type);
    number taken;
    return count == 1 && own != NC_CHAR && take_number(value_at(value, 0), true, &taken) && fits(&taken, own);
}

static parapet_status add_fill_attribute(attribute_list *list, pp_json *value, size_t count)
{
    const char *text;
    size_t bytes;
    if (overrules_attribute(list->array))
        return leave_out(list, "_FillValue", "in Zarr v2 the fill value takes its place");
    if (pp_json_get_text(value, &text, &bytes) && add_encoded_fill(list, text, bytes))
        return list->body.status;
    if (!is_fill_of_type(list, value, count))
        return leave_out(list, "_FillValue", "it is not one value of the type of its array");
    add_numbers(list, "_FillValue", value, count);
    return list->body.status;
}

static parapet_status add_attribute(void *context, const char *name, pp_json *value)
{
    attribute_list *list = context;
    size_t count = pp_json_kind_of(value) == PP_JSON_ARRAY ? pp_json_length(value) : 1, bytes;
    const char *text;
    if (pp_outline_is_hidden(list->array, name) || (strcmp(name, "_FillValue") != 0) != list->is_behind_fill)
        return PARAPET_OK;
    if (!is_name(name))
        return leave_out(list, name, "netCDF does not allow this name");
    if (list->array != NULL && !list->is_behind_fill)
        return add_fill_attribute(list, value, count);
    if (are_numbers(list, name, value, count))
        add_numbers(list, name, value, count);
    else if (pp_json_get_text(value, &text, &bytes))
        add_text(list, name, text, bytes);
    else
        return leave_out(list, name, "it is neither a text nor numbers");
    return list->body.status;
}

static void add_fill_value(attribute_list *list, const pp_array_document *document)
{
    const unsigned char *value = document->fill_value;
    size_t bytes = document->type.element_bytes, i;
    pp_text turned = {0};
    for (i = 0; i < bytes; i++)
        pp_text_add_bytes(&turned, &value[__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? i : bytes - 1 - i], 1);
    add_values(list, "_FillValue", type_of(&document->type), &turned, 1);
    pp_text_free(&turned);
}

/* Without _FillValue, who reads the file again takes zero. */
static void sync_fill(attribute_list *list, const pp_array_document *document)
{
    bool has_attribute = pp_json_has(document->attributes, "_FillValue");
    if (!document->is_fill_defined || (has_attribute && !overrules_attribute(list->array)))
        return;
    if (tells_missing(document))
        add_fill_value(list, document);
    else if (pp_outline_has_fill(document))
        pp_text_add(&list->work->outline->left_out, "the fill value of \"%s\"\n", list->array->name);
}

/* Those that the user has given, and those that say what the type and the fill value say in Zarr. */
static parapet_status collect_attributes(attribute_list *list, pp_json *attributes)
{
    const pp_array_document *document = list->array != NULL ? list->array->document : NULL;
    parapet_status status = attributes != NULL ? pp_json_each(attributes, add_attribute, list) : PARAPET_OK;
    if (document != NULL)
        sync_fill(list, document);
    list->is_behind_fill = true;
    if (status == PARAPET_OK && attributes != NULL)
        status = pp_json_each(attributes, add_attribute, list);
    if (document != NULL && document->type.id == PARAPET_BOOL && !pp_json_has(attributes, "dtype"))
        add_text(list, "dtype", "bool", 4); /* by which xarray finds them again */
    return status == PARAPET_OK ? list->body.status : status;
}

static parapet_status add_attributes(writing *work, const pp_outline_array *array, pp_json *attributes)
{
    attribute_list list = {.work = work, .array = array};
    pp_text *header = &work->outline->header;
    parapet_status status = collect_attributes(&list, attributes);
    begin_list(header, PP_NETCDF_ATTRIBUTES, list.count);
    pp_text_add_bytes(header, list.body.data != NULL ? list.body.data : "", list.body.bytes);
    pp_text_free(&list.body);
    return status;
}

/* ---- Dimensions ---- */

static size_t find_dimension(const writing *work, const char *name)
{
    size_t i = 0;
    while (i < work->dimension_count && strcmp(work->dimensions[i].name, name) != 0)
        i++;
    return i;
}

/* Whether a name is one that the library has given, and another array has it with another length. */
static bool is_name_in_the_way(const writing *work, const pp_outline_array *array, int d)
{
    const char *given = array->document->dimension_names[d];
    size_t at = find_dimension(work, given);
    char usual[24];
    (void)snprintf(usual, sizeof usual, "dim_%d", d);
    return strcmp(given, usual) == 0 && at < work->dimension_count &&
           work->dimensions[at].length != array->document->shape[d];
}

static bool has_own_name(const writing *work, const pp_outline_array *array, int d)
{
    return array->document->has_dimension_names && array->document->dimension_names[d] != NULL &&
           !is_name_in_the_way(work, array, d);
}

/* The name that a dimension has, or gets from its array; free with pp_free. */
static parapet_status name_dimension(const writing *work, const pp_outline_array *array, int d, char **name)
{
    pp_text text = {0};
    if (has_own_name(work, array, d))
        return pp_text_duplicate(name, array->document->dimension_names[d]);
    pp_text_add(&text, "%s_dim_%d", array->name, d);
    return pp_text_finish(&text, name);
}

/* A name that was given up is told. */
static void note_renaming(const writing *work, const pp_outline_array *array, int d)
{
    if (!has_own_name(work, array, d) && array->document->has_dimension_names &&
        array->document->dimension_names[d] != NULL)
        pp_text_add(&work->outline->left_out, "the name \"%s\" of a dimension of \"%s\"\n",
                    array->document->dimension_names[d], array->name);
}

/* A length of 0 makes a dimension the record dimension, of which there is one, and which comes first: then there are
 * no records. */
static bool may_be_empty(const writing *work, const char *name, int d)
{
    size_t i;
    for (i = 0; i < work->dimension_count; i++)
        if (work->dimensions[i].length == 0 && strcmp(work->dimensions[i].name, name) != 0)
            return false;
    return d == 0;
}

/* Sets problem if an array cannot be held. */
static parapet_status take_dimension(writing *work, const pp_outline_array *array, int d, const char **problem)
{
    int64_t length = array->document->shape[d];
    char *name = NULL;
    size_t at;
    parapet_status status = name_dimension(work, array, d, &name);
    if (status != PARAPET_OK)
        return status;
    note_renaming(work, array, d);
    at = find_dimension(work, name);
    if (length == 0 && !may_be_empty(work, name, d))
        *problem = "a dimension other than the first, or more than one, has no indices";
    else if (!is_name(name))
        *problem = "netCDF does not allow the name of a dimension";
    else if (at < work->dimension_count && work->dimensions[at].length != length)
        *problem = "a dimension has another length in another array";
    if (*problem != NULL || at < work->dimension_count) {
        pp_free(name);
        return PARAPET_OK;
    }
    work->dimensions[work->dimension_count++] = (dimension){.name = name, .length = length};
    return PARAPET_OK;
}

static parapet_status examine_array(writing *work, const pp_outline_array *array)
{
    const char *problem = NULL;
    parapet_status status = PARAPET_OK;
    int d;
    if (type_of(&array->document->type) == 0)
        problem = array->document->type.name;
    else if (!is_name(array->name))
        problem = "netCDF does not allow its name";
    for (d = 0; d < array->document->ndim && problem == NULL && status == PARAPET_OK; d++)
        status = take_dimension(work, array, d, &problem);
    if (problem != NULL)
        pp_outline_refuse(work->outline, array, problem);
    return status;
}

static parapet_status examine_arrays(writing *work)
{
    const pp_outline *outline = work->outline;
    size_t i, most = 0;
    parapet_status status;
    for (i = 0; i < outline->count; i++)
        most += (size_t)outline->arrays[i].document->ndim;
    if ((status = pp_allocate_array(&work->dimensions, most + 1, sizeof work->dimensions[0])) != PARAPET_OK ||
        (status = pp_allocate_array(&work->starts, outline->count + 1, sizeof work->starts[0])) != PARAPET_OK)
        return status;
    for (i = 0; i < outline->count && status == PARAPET_OK; i++)
        status = examine_array(work, &outline->arrays[i]);
    return status;
}

/* ---- The header ---- */

static void add_dimensions(const writing *work)
{
    pp_text *header = &work->outline->header;
    size_t i;
    begin_list(header, PP_NETCDF_DIMENSIONS, work->dimension_count);
    for (i = 0; i < work->dimension_count; i++) {
        add_name(header, work->dimensions[i].name);
        add_u64(header, (uint64_t)work->dimensions[i].length);
    }
}

static parapet_status add_dimension_numbers(const writing *work, const pp_outline_array *array)
{
    parapet_status status = PARAPET_OK;
    int d;
    add_u64(&work->outline->header, (uint64_t)array->document->ndim);
    for (d = 0; d < array->document->ndim && status == PARAPET_OK; d++) {
        char *name = NULL;
        if ((status = name_dimension(work, array, d, &name)) == PARAPET_OK)
            add_u64(&work->outline->header, find_dimension(work, name));
        pp_free(name);
    }
    return status;
}

/* Of all elements, or of one record, with what is added to have whole words; false: no file is that long. */
static bool measure(const pp_array_document *document, uint64_t *length)
{
    int64_t bytes = (int64_t)document->type.element_bytes;
    int d;
    for (d = 0; d < document->ndim; d++)
        if (!pp_multiply_fits(bytes, pp_max_i64(document->shape[d], 1), &bytes) || bytes > INT64_MAX / 4)
            return false;
    *length = ((uint64_t)bytes + 3) / 4 * 4;
    return true;
}

static parapet_status add_variable(writing *work, size_t index)
{
    const pp_outline_array *array = &work->outline->arrays[index];
    pp_text *header = &work->outline->header;
    uint64_t length;
    parapet_status status;
    if (!measure(array->document, &length))
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "\"%s\" has more elements than any file", array->name);
    add_name(header, array->name);
    if ((status = add_dimension_numbers(work, array)) != PARAPET_OK ||
        (status = add_attributes(work, array, array->document->attributes)) != PARAPET_OK)
        return status;
    add_u32(header, type_of(&array->document->type));
    add_u64(header, length);
    work->starts[index] = header->bytes;
    add_u64(header, 0);
    return PARAPET_OK;
}

/* Records come after everything else, also if there are none, and each variable where the first record of the one
 * before it would end: netCDF opens no file in which these offsets do not ascend. */
static parapet_status place_records(const pp_outline *outline)
{
    uint64_t next = outline->file_bytes, length;
    size_t i;
    for (i = 0; i < outline->count; i++) {
        pp_outline_array *array = &outline->arrays[i];
        if (array->bytes > 0)
            continue;
        array->start = next;
        if (!measure(array->document, &length) || !pp_add_u64_fits(next, length, &next) || next > INT64_MAX / 2)
            return pp_fail(PARAPET_ERR_UNSUPPORTED, "one record of all arrays together is larger than any file");
    }
    return PARAPET_OK;
}

/* The header is as long without the offsets as with them. */
static parapet_status add_offsets(const writing *work)
{
    pp_outline *outline = work->outline;
    size_t i;
    parapet_status status = outline->header.status;
    if (status == PARAPET_OK && (status = pp_outline_place(outline, outline->header.bytes, 4)) == PARAPET_OK)
        status = place_records(outline);
    for (i = 0; i < outline->count && status == PARAPET_OK; i++)
        pp_store_u64be((unsigned char *)outline->header.data + work->starts[i], outline->arrays[i].start);
    return status;
}

static parapet_status write_header(writing *work)
{
    pp_outline *outline = work->outline;
    parapet_status status;
    size_t i;
    pp_text_add_bytes(&outline->header, "CDF\005", 4);
    add_u64(&outline->header, 0); /* there are no records */
    add_dimensions(work);
    status = add_attributes(work, NULL, outline->attributes);
    begin_list(&outline->header, PP_NETCDF_VARIABLES, outline->count);
    for (i = 0; i < outline->count && status == PARAPET_OK; i++)
        status = add_variable(work, i);
    return status == PARAPET_OK ? add_offsets(work) : status;
}

static parapet_status lay_out_netcdf(pp_outline *outline)
{
    writing work = {.outline = outline};
    parapet_status status = examine_arrays(&work);
    size_t i;
    outline->is_big_endian = true;
    if (status == PARAPET_OK && outline->refused.bytes == 0)
        status = write_header(&work);
    for (i = 0; i < work.dimension_count; i++)
        pp_free(work.dimensions[i].name);
    pp_free(work.dimensions);
    pp_free(work.starts);
    return status;
}

const pp_outline_format pp_outline_netcdf = {
    .word = "netcdf", .suffix = ".nc", .article = "a netCDF file in the classic format", .lay_out = lay_out_netcdf};
