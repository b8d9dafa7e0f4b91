/* batch_seals.h - seals of arrays that are written. */
#ifndef PARAPET_ARRAY_BATCH_SEALS_H
#define PARAPET_ARRAY_BATCH_SEALS_H

#include "array/batch.h"

/* [collective] Takes the seals off, of which there are some, when everything is staged. */
parapet_status pp_batch_break_seals(pp_batch *all);

/* [collective] Staging has failed, of arrays of which some are sealed. *is_again: only because another job has taken
 * a seal off meanwhile. */
parapet_status pp_batch_look_for_broken_seals(pp_batch *all, parapet_status failed, bool *is_again);

#endif
