/* decision.h - how an array is copied: planned anew, or taken up from a run before. */
#ifndef PARAPET_COPY_DECISION_H
#define PARAPET_COPY_DECISION_H

#include "copy/task.h"

/* [collective] Plans without measuring: a copy that is impossible is refused before anything is changed. */
parapet_status pp_copy_task_plan(pp_copy_task *task);

/* [collective] After that: measures, and finds out how far an earlier run has come. begins: makes room for the
 * target. */
parapet_status pp_copy_decide(pp_copy_task *task, bool begins);

#endif
