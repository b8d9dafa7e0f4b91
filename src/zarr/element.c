/* One element as its bits, whatever its type; reading and writing fill values share this. */
#include "zarr/element.h"

#include <math.h>
#include <string.h>

#include "zarr/small_float.h"

pp_raw_form pp_raw_form_of(const pp_type *type)
{
    if (type->name[0] == 'r' && type->name[1] >= '0' && type->name[1] <= '9')
        return PP_RAW_BITS;
    if (strncmp(type->name, "raw_bytes", 9) == 0)
        return PP_RAW_BASE64;
    return strncmp(type->name, "null_terminated_bytes", 21) == 0 ? PP_RAW_TERMINATED : PP_RAW_NUMBER;
}

bool pp_type_is_signed(parapet_type id)
{
    return id == PARAPET_INT8 || id == PARAPET_INT16 || id == PARAPET_INT32 || id == PARAPET_INT64;
}

void pp_bits_store(void *element, size_t bytes, uint64_t value)
{
    uint8_t one = (uint8_t)value;
    uint16_t two = (uint16_t)value;
    uint32_t four = (uint32_t)value;
    const void *source = bytes == 1 ? (void *)&one : bytes == 2 ? (void *)&two : bytes == 4 ? (void *)&four : &value;
    memcpy(element, source, bytes);
}

uint64_t pp_bits_load(const void *element, size_t bytes)
{
    uint8_t one;
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (bytes) {
    case 1:
        memcpy(&one, element, 1);
        return one;
    case 2:
        memcpy(&two, element, 2);
        return two;
    case 4:
        memcpy(&four, element, 4);
        return four;
    default:
        memcpy(&eight, element, 8);
        return eight;
    }
}

pp_real_kind pp_real_kind_of(parapet_type id)
{
    switch (id) {
    case PARAPET_FLOAT16:
        return PP_REAL_FLOAT16;
    case PARAPET_BFLOAT16:
        return PP_REAL_BFLOAT16;
    case PARAPET_FLOAT32:
    case PARAPET_COMPLEX64:
        return PP_REAL_FLOAT32;
    default:
        return PP_REAL_FLOAT64;
    }
}

size_t pp_real_bytes(pp_real_kind kind)
{
    return kind == PP_REAL_FLOAT64 ? 8 : kind == PP_REAL_FLOAT32 ? 4 : 2;
}

uint64_t pp_real_from_double(pp_real_kind kind, double value)
{
    float single = (float)value;
    uint32_t single_bits;
    uint64_t bits;
    if (kind == PP_REAL_FLOAT16 || kind == PP_REAL_BFLOAT16)
        return pp_small_float_from_double(kind == PP_REAL_FLOAT16 ? pp_float16 : pp_bfloat16, value);
    if (isnan(value))
        return kind == PP_REAL_FLOAT32 ? UINT64_C(0x7fc00000) : UINT64_C(0x7ff8000000000000);
    if (kind == PP_REAL_FLOAT32) {
        memcpy(&single_bits, &single, sizeof single_bits);
        return single_bits;
    }
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

double pp_real_to_double(pp_real_kind kind, uint64_t bits)
{
    uint32_t single_bits = (uint32_t)bits;
    float single;
    double value;
    if (kind == PP_REAL_FLOAT16 || kind == PP_REAL_BFLOAT16)
        return pp_small_float_to_double(kind == PP_REAL_FLOAT16 ? pp_float16 : pp_bfloat16, (uint16_t)bits);
    if (kind == PP_REAL_FLOAT32) {
        memcpy(&single, &single_bits, sizeof single);
        return (double)single;
    }
    memcpy(&value, &bits, sizeof value);
    return value;
}
