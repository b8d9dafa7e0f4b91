/* base64.h - bytes as text in documents. */
#ifndef PARAPET_ZARR_BASE64_H
#define PARAPET_ZARR_BASE64_H

#include <stdbool.h>

#include "base/text.h"

void pp_base64_print(const unsigned char *data, size_t bytes, pp_text *text);

/* Decodes into data, which has room for capacity; false when it is not base64 or does not fit. */
bool pp_base64_parse(const char *text, size_t text_bytes, unsigned char *data, size_t capacity, size_t *bytes);

#endif
