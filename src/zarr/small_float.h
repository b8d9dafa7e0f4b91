/* small_float.h - float16 and bfloat16 by arithmetic. Not for other modules. */
#ifndef PARAPET_ZARR_SMALL_FLOAT_H
#define PARAPET_ZARR_SMALL_FLOAT_H

#include <stdint.h>

typedef struct pp_small_float {
    int exponent_bits;
    int mantissa_bits;
} pp_small_float;

extern const pp_small_float pp_float16;
extern const pp_small_float pp_bfloat16;

/* Rounds half to even; too large gives infinity. */
uint16_t pp_small_float_from_double(pp_small_float format, double value);
double pp_small_float_to_double(pp_small_float format, uint16_t bits);

#endif
