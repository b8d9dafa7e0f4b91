/* resize.h - another shape for an array; what is cut off stays gone. */
#ifndef PARAPET_ARRAY_RESIZE_H
#define PARAPET_ARRAY_RESIZE_H

#include "base/status.h"

/* Completes a shrinking that was interrupted. */
parapet_status pp_resize_finish(parapet_array *array);

/* Changes the shape of an array that is not sealed; where it shrinks, removes and trims shards. */
parapet_status pp_resize_apply(parapet_array *array, const int64_t *shape);

#endif
