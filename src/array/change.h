/* change.h - changes of an array that nobody else may change meanwhile. */
#ifndef PARAPET_ARRAY_CHANGE_H
#define PARAPET_ARRAY_CHANGE_H

#include "array/hold.h"

typedef parapet_status (*pp_array_change)(parapet_array *array, const void *argument);

/* [collective] Part of a call that has begun: rank 0 does it, on what is stored now, while it has the array alone.
 * All ranks know the same of the array afterwards. Of an array that is apart nobody else knows. */
parapet_status pp_array_change_alone(parapet_array *array, const char *purpose, pp_array_change change,
                                     const void *argument);

/* [collective] Part of a call that has begun: rank 0 has the array alone, all others lend a hand, and the handle is
 * what is stored now. Release the hold also after a failure. */
parapet_status pp_array_hold_together(parapet_array *array, const char *purpose, pp_hold *hold);

#endif
