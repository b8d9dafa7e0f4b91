/* resize.h - changes the shape of an array in the store; on rank 0 alone. */
#ifndef PARAPET_ARRAY_RESIZE_H
#define PARAPET_ARRAY_RESIZE_H

#include <parapet_types.h>
#include <stdbool.h>
#include <stdint.h>

/* Removes a seal, and completes an interrupted shrinking: the first step of every change of shards. */
parapet_status pp_array_make_changeable(parapet_array *array);

/* The same for an array that will end, or go on, at this extent of its first dimension. What is kept of the shards
 * there must be what was sealed. */
parapet_status pp_array_make_continuable(parapet_array *array, int64_t extent);

/* The following functions need an array that was made changeable and that has dimensions. */

/* Gives the first dimension this extent; if it shrinks, everything beyond is removed and trimmed. */
parapet_status pp_array_resize_first(parapet_array *array, int64_t extent);

/* The same for an array whose shards may hold elements beyond the extent, whatever its document says. */
parapet_status pp_array_trim_beyond(parapet_array *array, int64_t extent);

/* Whether anything is stored in one layer along the first dimension. */
parapet_status pp_array_has_layer(const parapet_array *array, int64_t layer, bool *has_some);

/* Removes the shards of one layer along the first dimension. */
parapet_status pp_array_remove_layer(const parapet_array *array, int64_t layer);

#endif
