/* part_list.h - the parts of an array that a pattern of bytes selects. */
#ifndef PARAPET_ARRAY_PART_LIST_H
#define PARAPET_ARRAY_PART_LIST_H

#include <parapet_arrays.h>

#include "base/pattern.h"

/* [local] What the pattern selects of the array, whose elements are in C order, from displacement on; data has the
 * packed bytes. parapet_array_parts_free frees the list. */
parapet_status pp_part_list_build(parapet_array_parts *list, parapet_array *array, const pp_pattern *pattern,
                                  int64_t displacement, void *data);

#endif
