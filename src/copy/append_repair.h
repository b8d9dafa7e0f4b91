/* append_repair.h - completes or undoes what an append that was killed has left. */
#ifndef PARAPET_COPY_APPEND_REPAIR_H
#define PARAPET_COPY_APPEND_REPAIR_H

#include "copy/append_task.h"

/* [collective] Puts right what an append that was killed has left; *repair says what was done. */
parapet_status pp_append_repair_target(const pp_append *append, parapet_repair *repair);

/* [collective] The same for a group that nobody holds, without a source. */
parapet_status pp_append_repair_group(parapet_store *store, const char *group, parapet_repair *repair);

#endif
