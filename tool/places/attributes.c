/* Attributes as JSON: texts, numbers and lists of both. What JSON cannot say, and what HDF5 and netCDF keep there for
 * themselves, is left out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "places.h"

#define MOST_VALUES 65536
#define MOST_TEXT_BYTES ((size_t)4 << 20)

typedef struct attribute {
    hid_t id, kind;
    type of;
    bool is_text, is_variable;
    size_t count;
    bool is_empty; /* it has no elements, not even one */
} attribute;

typedef struct printing {
    const type *of; /* the elements of the dataset; NULL: a group */
    bool has_scale;
    bool is_next;
} printing;

bool has_attribute(hid_t object, const char *name)
{
    return H5Aexists(object, name) > 0;
}

static bool is_private(const char *name, bool has_scale)
{
    static const char *const names[] = {"DIMENSION_LIST", "REFERENCE_LIST",      "DIMENSION_LABELS", "_Netcdf4Dimid",
                                        "_NCProperties",  "_Netcdf4Coordinates", "_nc3_strict"};
    size_t i;
    for (i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return has_scale && (strcmp(name, "CLASS") == 0 || strcmp(name, "NAME") == 0);
}

static bool open_attribute(hid_t object, const char *name, attribute *each)
{
    hid_t space;
    hssize_t count;
    *each = (attribute){.id = H5Aopen(object, name, H5P_DEFAULT), .kind = -1};
    if (each->id < 0 || (space = H5Aget_space(each->id)) < 0)
        return false;
    count = H5Sget_simple_extent_npoints(space);
    each->is_empty = H5Sget_simple_extent_type(space) == H5S_NULL || count == 0;
    each->count = each->is_empty || count < 0 ? 0 : (size_t)count;
    H5Sclose(space);
    if ((each->kind = H5Aget_type(each->id)) < 0)
        return false;
    each->is_text = H5Tget_class(each->kind) == H5T_STRING;
    each->is_variable = each->is_text && H5Tis_variable_str(each->kind) > 0;
    type_of(each->kind, &each->of);
    return each->count <= MOST_VALUES;
}

static void close_attribute(const attribute *each)
{
    if (each->kind >= 0)
        H5Tclose(each->kind);
    if (each->id >= 0)
        H5Aclose(each->id);
}

/* ---- Values ---- */

static void begin_list(const attribute *each)
{
    if (each->count != 1)
        put("[");
}

static void end_list(const attribute *each)
{
    if (each->count != 1)
        put("]");
}

static size_t text_bytes(const attribute *each, const char *text)
{
    size_t bytes = strnlen(text, each->is_variable ? MOST_TEXT_BYTES : each->of.bytes);
    if (H5Tget_strpad(each->kind) == H5T_STR_SPACEPAD)
        while (bytes > 0 && text[bytes - 1] == ' ')
            bytes--;
    return bytes;
}

static bool put_variable_texts(const attribute *each)
{
    char **texts = take_memory(each->count, sizeof texts[0]);
    size_t i;
    if (H5Aread(each->id, each->kind, texts) < 0)
        return false;
    begin_list(each);
    for (i = 0; i < each->count; i++) {
        put("%s", i > 0 ? "," : "");
        put_string(texts[i] != NULL ? texts[i] : "", texts[i] != NULL ? text_bytes(each, texts[i]) : 0);
    }
    end_list(each);
    return true;
}

static bool put_fixed_texts(const attribute *each)
{
    size_t bytes = each->of.bytes, i;
    char *texts;
    if (bytes > MOST_TEXT_BYTES / (each->count > 0 ? each->count : 1))
        return false;
    texts = take_memory(each->count, bytes);
    if (H5Aread(each->id, each->kind, texts) < 0)
        return false;
    begin_list(each);
    for (i = 0; i < each->count; i++) {
        put("%s", i > 0 ? "," : "");
        put_string(texts + i * bytes, text_bytes(each, texts + i * bytes));
    }
    end_list(each);
    free(texts);
    return true;
}

static bool put_integers(const attribute *each)
{
    unsigned long long *values = take_memory(each->count, sizeof values[0]);
    hid_t kind = each->of.is_signed ? H5T_NATIVE_LLONG : H5T_NATIVE_ULLONG;
    hid_t base = H5Tget_class(each->kind) == H5T_ENUM ? H5Tget_super(each->kind) : -1;
    size_t i;
    if (base >= 0 ? H5Aread(each->id, each->kind, values) < 0 ||
                        H5Tconvert(base, kind, each->count, values, NULL, H5P_DEFAULT) < 0
                  : H5Aread(each->id, kind, values) < 0)
        return false;
    begin_list(each);
    for (i = 0; i < each->count; i++)
        if (each->of.kind == KIND_BOOL)
            put("%s%s", i > 0 ? "," : "", values[i] != 0 ? "true" : "false");
        else if (each->of.is_signed)
            put("%s%lld", i > 0 ? "," : "", (long long)values[i]);
        else
            put("%s%llu", i > 0 ? "," : "", values[i]);
    end_list(each);
    free(values);
    return true;
}

static bool put_floats(const attribute *each)
{
    double *values = take_memory(each->count, sizeof values[0]);
    size_t i;
    if (H5Aread(each->id, H5T_NATIVE_DOUBLE, values) < 0)
        return false;
    begin_list(each);
    for (i = 0; i < each->count; i++) {
        put("%s", i > 0 ? "," : "");
        put_double(values[i]);
    }
    end_list(each);
    free(values);
    return true;
}

static bool put_values(const attribute *each)
{
    if (each->is_empty)
        put("%s", each->is_text ? "\"\"" : "[]");
    else if (each->is_variable)
        return put_variable_texts(each);
    else if (each->is_text)
        return put_fixed_texts(each);
    else if (each->of.kind == KIND_FLOAT)
        return put_floats(each);
    else
        return put_integers(each);
    return true;
}

/* As xarray writes and reads it: base64 of a little-endian double. */
static bool put_fill_attribute(const attribute *each)
{
    unsigned char bytes[sizeof(double)];
    double value = 0;
    uint64_t bits;
    size_t i;
    if (H5Aread(each->id, H5T_NATIVE_DOUBLE, &value) < 0)
        return false;
    memcpy(&bits, &value, sizeof bits);
    if (isnan(value))
        bits = UINT64_C(0x7ff8000000000000);
    for (i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(bits >> 8 * i);
    put("\"");
    put_base64(bytes, sizeof bytes);
    put("\"");
    return true;
}

/* Text has _FillValue as its fill value alone: xarray opens no dataset in which text has this attribute. */
static bool is_sayable(const char *name, const attribute *each, const type *of)
{
    bool is_of_text = of != NULL && (of->kind == KIND_TEXT || of->kind == KIND_TEXTS);
    if (is_of_text && each->is_text && strcmp(name, "_FillValue") == 0)
        return false;
    return each->is_text || each->of.kind == KIND_INTEGER || each->of.kind == KIND_FLOAT ||
           each->of.kind == KIND_BOOL;
}

static bool is_encoded_fill(const char *name, const attribute *each, const type *of)
{
    bool is_number = each->of.kind == KIND_INTEGER || each->of.kind == KIND_FLOAT;
    return of != NULL && strcmp(name, "_FillValue") == 0 && each->count == 1 && of->kind == KIND_FLOAT && is_number;
}

static herr_t put_attribute(hid_t object, const char *name, const H5A_info_t *info, void *context)
{
    printing *all = context;
    attribute each;
    bool is_said = true;
    (void)info;
    if (is_private(name, all->has_scale))
        return 0;
    if (open_attribute(object, name, &each) && is_sayable(name, &each, all->of)) {
        put("%s", all->is_next ? "," : "");
        put_string(name, strlen(name));
        put(":");
        is_said = is_encoded_fill(name, &each, all->of) ? put_fill_attribute(&each) : put_values(&each);
        all->is_next = true;
    }
    close_attribute(&each);
    if (!is_said)
        die("the attribute \"%.64s\" cannot be read: the file is damaged", name);
    return 0;
}

void put_attributes(hid_t object, const type *of)
{
    printing all = {.of = of, .has_scale = has_attribute(object, "CLASS") && has_attribute(object, "NAME")};
    hsize_t next = 0;
    put("{");
    if (H5Aiterate(object, H5_INDEX_CRT_ORDER, H5_ITER_INC, &next, put_attribute, &all) < 0 && !all.is_next) {
        next = 0;
        if (H5Aiterate(object, H5_INDEX_NAME, H5_ITER_INC, &next, put_attribute, &all) < 0)
            die("attributes cannot be listed: the file is damaged");
    }
    put("}");
}
