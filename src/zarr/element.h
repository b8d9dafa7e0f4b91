/* element.h - one element as its bits. Not for other modules. */
#ifndef PARAPET_ZARR_ELEMENT_H
#define PARAPET_ZARR_ELEMENT_H

#include "zarr/types.h"

/* How RAW elements appear in JSON, which depends on the name of the type. */
typedef enum pp_raw_form { PP_RAW_BITS, PP_RAW_BASE64, PP_RAW_TERMINATED, PP_RAW_NUMBER } pp_raw_form;
pp_raw_form pp_raw_form_of(const pp_type *type);

bool pp_type_is_signed(parapet_type id);

/* An integer of 1, 2, 4 or 8 bytes in the byte order of this machine, at any alignment. */
void pp_bits_store(void *element, size_t bytes, uint64_t value);
uint64_t pp_bits_load(const void *element, size_t bytes);

/* One real number: a float type, or half of a complex one. */
typedef enum pp_real_kind { PP_REAL_FLOAT16, PP_REAL_BFLOAT16, PP_REAL_FLOAT32, PP_REAL_FLOAT64 } pp_real_kind;
pp_real_kind pp_real_kind_of(parapet_type id);
size_t pp_real_bytes(pp_real_kind kind);

/* The bits of value; a NaN becomes the one that "NaN" means: quiet, with only the top mantissa bit. */
uint64_t pp_real_from_double(pp_real_kind kind, double value);
double pp_real_to_double(pp_real_kind kind, uint64_t bits);

#endif
