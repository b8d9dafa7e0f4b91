/* Types of HDF5 as Zarr names them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "places.h"

static void name_number(type *found, const char *word, size_t bytes)
{
    (void)snprintf(found->name, sizeof found->name, "\"%s%zu\"", word, 8 * bytes);
}

static void set_integer(hid_t id, type *found)
{
    size_t bytes = found->bytes;
    if ((bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) || H5Tget_precision(id) != 8 * bytes) {
        found->reason = "its elements are integers that do not fill 1, 2, 4 or 8 bytes";
        return;
    }
    found->kind = KIND_INTEGER;
    found->is_signed = H5Tget_class(id) == H5T_INTEGER && H5Tget_sign(id) == H5T_SGN_2;
    name_number(found, found->is_signed ? "int" : "uint", bytes);
}

/* Where the exponent begins and how long it is tells the formats of IEEE from all others. */
static void set_float(hid_t id, type *found)
{
    static const size_t known[][3] = {{2, 10, 5}, {4, 23, 8}, {8, 52, 11}};
    size_t sign, exponent, exponent_bits, mantissa, mantissa_bits, i;
    if (H5Tget_fields(id, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) >= 0)
        for (i = 0; i < 3; i++)
            if (found->bytes == known[i][0] && exponent == known[i][1] && exponent_bits == known[i][2] &&
                mantissa == 0 && mantissa_bits == exponent && sign == 8 * found->bytes - 1) {
                found->kind = KIND_FLOAT;
                name_number(found, "float", found->bytes);
                return;
            }
    found->reason = "its elements are floating-point numbers of an unusual format";
}

static void set_text(hid_t id, type *found)
{
    found->has_order = false;
    if (H5Tis_variable_str(id) > 0) {
        found->kind = KIND_TEXTS;
        (void)snprintf(found->name, sizeof found->name, "\"string\"");
        return;
    }
    found->kind = KIND_TEXT;
    (void)snprintf(found->name, sizeof found->name,
                   "{\"name\":\"null_terminated_bytes\",\"configuration\":{\"length_bytes\":%zu}}", found->bytes);
}

static bool is_member(hid_t id, unsigned number, const char *name)
{
    char *found = H5Tget_member_name(id, number);
    bool is_same = found != NULL && strcmp(found, name) == 0;
    H5free_memory(found);
    return is_same;
}

/* h5py writes truth values as an enumeration. */
static void set_enumeration(hid_t id, type *found)
{
    hid_t base = H5Tget_super(id);
    type_of(base, found);
    H5Tclose(base);
    if (found->bytes == 1 && H5Tget_nmembers(id) == 2 && is_member(id, 0, "FALSE") && is_member(id, 1, "TRUE")) {
        found->kind = KIND_BOOL;
        (void)snprintf(found->name, sizeof found->name, "\"bool\"");
    }
}

static void set_compound(hid_t id, type *found)
{
    type part = {0}, other = {0};
    hid_t first, second;
    found->reason = "its elements are records";
    if (H5Tget_nmembers(id) != 2 || !is_member(id, 0, "r") || !is_member(id, 1, "i"))
        return;
    first = H5Tget_member_type(id, 0);
    second = H5Tget_member_type(id, 1);
    type_of(first, &part);
    type_of(second, &other);
    if (part.kind == KIND_FLOAT && part.bytes >= 4 && 2 * part.bytes == found->bytes && other.kind == KIND_FLOAT &&
        H5Tequal(first, second) > 0 && H5Tget_member_offset(id, 1) == part.bytes) {
        found->kind = KIND_COMPLEX;
        found->is_big = part.is_big;
        name_number(found, "complex", found->bytes);
    }
    H5Tclose(first);
    H5Tclose(second);
}

void type_of(hid_t id, type *found)
{
    *found = (type){.bytes = H5Tget_size(id), .is_big = H5Tget_order(id) == H5T_ORDER_BE};
    found->has_order = found->bytes > 1;
    found->reason = "its elements are of a type that Zarr does not have";
    switch (H5Tget_class(id)) {
    case H5T_INTEGER:
    case H5T_BITFIELD:
        set_integer(id, found);
        break;
    case H5T_FLOAT:
        set_float(id, found);
        break;
    case H5T_STRING:
        set_text(id, found);
        break;
    case H5T_ENUM:
        set_enumeration(id, found);
        break;
    case H5T_COMPOUND:
        set_compound(id, found);
        break;
    case H5T_REFERENCE:
        found->reason = "its elements are references to other parts of the file";
        break;
    case H5T_VLEN:
        found->reason = "its elements are lists of variable length";
        break;
    default:
        break;
    }
}
