/* batch_begin.h - how a call begins that reads or writes parts. */
#ifndef PARAPET_ARRAY_BATCH_BEGIN_H
#define PARAPET_ARRAY_BATCH_BEGIN_H

#include "array/batch.h"

/* [collective] Starts the call: all ranks bring the same arrays, and none has a reason to refuse. *is_held: rank 0
 * holds them; if not, they have to be held first. What must be flushed before the call is flushed. */
parapet_status pp_batch_begin(pp_batch *all, int64_t *is_held);

/* [collective] The same for arrays of which no other job knows. */
parapet_status pp_batch_begin_new(pp_batch *all, const pp_call *call, parapet_status mine);

#endif
