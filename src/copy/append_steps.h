/* append_steps.h - the steps by which an append becomes visible: see append.h. */
#ifndef PARAPET_COPY_APPEND_STEPS_H
#define PARAPET_COPY_APPEND_STEPS_H

#include "copy/append_task.h"

/* [collective] From the first mark to the last; between the two, elements are moved. */
parapet_status pp_append_transact(pp_append *append);

/* [collective] Its ends: all arrays are longer, or become as they were. */
parapet_status pp_append_finish(pp_append *append);
parapet_status pp_append_undo(const pp_append *append);

#endif
