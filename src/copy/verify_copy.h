/* verify_copy.h - reads source and target of a copy again, and compares them. */
#ifndef PARAPET_COPY_VERIFY_COPY_H
#define PARAPET_COPY_VERIFY_COPY_H

#include "copy/task.h"

/* [collective] Each is read once, and their digests are compared. */
parapet_status pp_copy_verify(pp_copy_task *task, int64_t *verified_bytes);

#endif
