/* append_steps.h - the steps by which an append becomes visible: see append.h. */
#ifndef PARAPET_COPY_APPEND_STEPS_H
#define PARAPET_COPY_APPEND_STEPS_H

#include "copy/append_task.h"

/* Where the record lies. */
pp_announcement pp_append_place(const pp_append *append);

/* [collective] From the announcement to its end; in between, elements are moved. */
parapet_status pp_append_transact(pp_append *append);

/* [collective] Its ends: all arrays are longer, or become as they were. */
parapet_status pp_append_finish(pp_append *append);
parapet_status pp_append_undo(const pp_append *append);

#endif
