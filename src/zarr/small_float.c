#include "zarr/small_float.h"

#include <math.h>

const pp_small_float pp_float16 = {5, 10};
const pp_small_float pp_bfloat16 = {8, 7};

static int bias_of(pp_small_float format)
{
    return (1 << (format.exponent_bits - 1)) - 1;
}

static uint16_t infinity_of(pp_small_float format)
{
    return (uint16_t)(((1u << format.exponent_bits) - 1) << format.mantissa_bits);
}

/* The bits of a finite number that is not negative: scaled so that its last mantissa bit is 1, then rounded.
 * A carry out of the mantissa runs into the exponent, which is what rounding up to the next power means. */
static uint32_t magnitude_bits(pp_small_float format, double value)
{
    int bias = bias_of(format), exponent = value > 0 ? ilogb(value) : 1 - bias;
    double scaled;
    if (exponent < 1 - bias)
        exponent = 1 - bias;
    if (exponent > bias)
        return infinity_of(format);
    scaled = rint(ldexp(value, format.mantissa_bits - exponent));
    return (uint32_t)(exponent + bias - 1) * (1u << format.mantissa_bits) + (uint32_t)scaled;
}

uint16_t pp_small_float_from_double(pp_small_float format, double value)
{
    uint32_t sign = signbit(value) ? 0x8000u : 0;
    if (isnan(value))
        return (uint16_t)(infinity_of(format) | 1u << (format.mantissa_bits - 1));
    if (isinf(value))
        return (uint16_t)(sign | infinity_of(format));
    return (uint16_t)(sign | magnitude_bits(format, fabs(value)));
}

double pp_small_float_to_double(pp_small_float format, uint16_t bits)
{
    uint32_t exponent = (bits & 0x7FFFu) >> format.mantissa_bits;
    uint32_t mantissa = bits & ((1u << format.mantissa_bits) - 1);
    double value;
    if ((bits & infinity_of(format)) == infinity_of(format))
        value = mantissa != 0 ? NAN : INFINITY;
    else if (exponent == 0)
        value = ldexp(mantissa, 1 - bias_of(format) - format.mantissa_bits);
    else
        value = ldexp(mantissa + (double)(1u << format.mantissa_bits),
                      (int)exponent - bias_of(format) - format.mantissa_bits);
    return (bits & 0x8000u) != 0 ? -value : value;
}
