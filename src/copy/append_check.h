/* append_check.h - whether what is appended means the same as what is there. */
#ifndef PARAPET_COPY_APPEND_CHECK_H
#define PARAPET_COPY_APPEND_CHECK_H

#include "copy/append_task.h"

/* [collective] Whether numbers mean the same in both, and all that does not become longer is equal. */
parapet_status pp_append_check(pp_append *append);

/* On rank 0: whether none of what becomes longer is a part of something that is kept as a whole. */
parapet_status pp_append_check_membership(const pp_append *append);

#endif
