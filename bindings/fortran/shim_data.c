/* Fortran memory as parts: a descriptor has an address, and for each dimension an extent and a distance in bytes,
 * which is all that a part needs. Sections with strides are described, never copied. */
#include "shim.h"

/* Compilers number the kinds of integers differently, and some give one kind several numbers. */
static int is_integer(CFI_type_t type)
{
    const CFI_type_t integers[] = {CFI_type_signed_char, CFI_type_short,   CFI_type_int,     CFI_type_long,
                                   CFI_type_long_long,   CFI_type_int8_t,  CFI_type_int16_t, CFI_type_int32_t,
                                   CFI_type_int64_t,     CFI_type_intptr_t};
    for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++)
        if (type == integers[i])
            return 1;
    return 0;
}

static int integer_type(size_t bytes)
{
    switch (bytes) {
    case 1:
        return PARAPET_INT8;
    case 2:
        return PARAPET_INT16;
    case 4:
        return PARAPET_INT32;
    case 8:
        return PARAPET_INT64;
    default:
        return -1;
    }
}

int shim_data_type(const CFI_cdesc_t *data)
{
    if (is_integer(data->type))
        return integer_type(data->elem_len);
    if (data->type == CFI_type_float)
        return PARAPET_FLOAT32;
    if (data->type == CFI_type_double)
        return PARAPET_FLOAT64;
    if (data->type == CFI_type_float_Complex)
        return PARAPET_COMPLEX64;
    if (data->type == CFI_type_double_Complex)
        return PARAPET_COMPLEX128;
    if (data->type == CFI_type_Bool && data->elem_len == 1)
        return PARAPET_BOOL;
    return -1;
}

int shim_type_fits(parapet_type memory, parapet_type array)
{
    switch (array) {
    case PARAPET_UINT8:
        return memory == PARAPET_INT8;
    case PARAPET_UINT16:
    case PARAPET_FLOAT16:
    case PARAPET_BFLOAT16:
        return memory == PARAPET_INT16;
    case PARAPET_UINT32:
        return memory == PARAPET_INT32;
    case PARAPET_UINT64:
    case PARAPET_DATETIME64:
    case PARAPET_TIMEDELTA64:
        return memory == PARAPET_INT64;
    default:
        return memory == array;
    }
}

/* The type to be claimed for the memory; the library compares it with the array's. */
static parapet_type claimed_type(const CFI_cdesc_t *data, parapet_type array)
{
    int type = shim_data_type(data);
    if (type < 0) {
        shim_refuse(
            "the elements of this data (%zu bytes each) have a type that no array has: use integers of int8 to "
            "int64, real and complex of real32 or real64, or logical(c_bool)",
            (size_t)data->elem_len);
        return PARAPET_TYPE_OF_ARRAY;
    }
    return shim_type_fits((parapet_type)type, array) ? PARAPET_TYPE_OF_ARRAY : (parapet_type)type;
}

/* The number of dimensions of the box, or -1 if there is none, which the library refuses on all ranks. */
static int box_ndim(const CFI_cdesc_t *data, shim_place place)
{
    int ndim = place.count < 0 ? data->rank : place.count;
    if (ndim < data->rank || ndim > PARAPET_MAX_NDIM) {
        shim_refuse(
            "start has %d entries, but the data has %d dimensions: start needs one entry for each dimension of "
            "the array",
            ndim, (int)data->rank);
        return -1;
    }
    return ndim;
}

static int has_elements(const CFI_cdesc_t *data)
{
    for (int d = 0; d < data->rank; d++)
        if (data->dim[d].extent == 0)
            return 0;
    return 1;
}

int shim_part_describe(shim_part *self, const CFI_cdesc_t *data, shim_place place, parapet_type type)
{
    int ndim = box_ndim(data, place);
    self->part = (parapet_part){.ndim = ndim, .start = self->start, .count = self->count, .data = data->base_addr};
    self->part.strides_bytes = self->strides;
    self->part.type = claimed_type(data, type);
    if (shim_data_type(data) < 0)
        self->part.ndim = -1;
    for (int d = 0; d < ndim; d++) {
        int is_slab = d >= data->rank;
        self->start[ndim - 1 - d] = place.count < 0 ? 0 : place.start[d] - 1;
        self->count[ndim - 1 - d] = is_slab ? 1 : data->dim[d].extent;
        self->strides[ndim - 1 - d] = is_slab ? 0 : data->dim[d].sm;
    }
    return self->part.ndim < 0 || has_elements(data);
}
