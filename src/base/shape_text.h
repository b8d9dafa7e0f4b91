/* shape_text.h - shapes, sizes and lists of integers as plans print them. */
#ifndef PARAPET_BASE_SHAPE_TEXT_H
#define PARAPET_BASE_SHAPE_TEXT_H

#include <stdint.h>

#include "base/text.h"

/* "64 x 64 x 32", or "one element"; "1 MiB" or "1.5 MiB", never more than four digits. */
void pp_shape_print(int ndim, const int64_t *shape, pp_text *text);
void pp_bytes_print(double bytes, pp_text *text);
void pp_bytes_format(double bytes, char text[32]);

/* "key": [1, 2, 3], without braces around it. */
void pp_list_print_json(const char *key, int count, const int64_t *values, pp_text *text);

#endif
