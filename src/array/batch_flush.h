/* batch_flush.h - what write_back has left in memory is written. */
#ifndef PARAPET_ARRAY_BATCH_FLUSH_H
#define PARAPET_ARRAY_BATCH_FLUSH_H

#include "array/dirty_arrays.h"

/* [collective, if there is one] Writes what is dirty of the arrays that are chosen: all of it, or as much as servers
 * need room for. */
parapet_status pp_batch_flush_chosen(parapet_store *store, const pp_dirty_choice *choice, bool all);

#endif
