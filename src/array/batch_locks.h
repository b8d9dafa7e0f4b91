/* batch_locks.h - how the arrays of a call are held while it changes them. */
#ifndef PARAPET_ARRAY_BATCH_LOCKS_H
#define PARAPET_ARRAY_BATCH_LOCKS_H

#include "array/batch.h"

/* Rank 0: holds the arrays if no other job does and they are as the handles know them; else *is_held is 0, and
 * nothing is held. */
parapet_status pp_batch_hold_at_once(pp_batch *all, int64_t *is_held);

/* [collective] For calls that could not hold the arrays where they began. From here on other jobs can only write
 * parts of the arrays, and the handles agree with what is stored. */
parapet_status pp_batch_hold(pp_batch *all, parapet_status mine);

/* [collective] From here on no other job publishes shards of these arrays, and those that are stored are the ones
 * that the new ones were built from. */
parapet_status pp_batch_enter_publishing(pp_batch *all, const pp_staged *staged);

#endif
