/* change.h - changes of an array during which no other job may change it. */
#ifndef PARAPET_ARRAY_CHANGE_H
#define PARAPET_ARRAY_CHANGE_H

#include "array/node_lock.h"

typedef parapet_status (*pp_array_change)(parapet_array *array, const void *argument);

/* [collective] Part of a call that has begun: rank 0 makes the change, based on what is stored now, while it holds
 * the array alone and no rank reads it locally. Afterwards all ranks know the same about the array. */
parapet_status pp_array_change_alone(parapet_array *array, const char *purpose, pp_array_change change,
                                     const void *argument);

/* [collective] Part of a call that has begun: rank 0 holds the array alone, the others are its delegates, and
 * the handle is refreshed from what is stored. Release the hold even after a failure. */
parapet_status pp_array_lock_collectively(parapet_array *array, const char *purpose, pp_node_lock *hold);

#endif
