/* batch_flush.h - writing with write_back, and what it has left in memory is written. */
#ifndef PARAPET_ARRAY_BATCH_FLUSH_H
#define PARAPET_ARRAY_BATCH_FLUSH_H

#include "array/batch.h"

/* [collective, if there is one] Writes what is dirty of the arrays that are chosen: all of it, or as much as servers
 * need room for. */
parapet_status pp_batch_flush_chosen(parapet_store *store, const pp_dirty_choice *choice, bool all);

extern const pp_write_steps pp_writing_later;

#endif
