/* verbatim_check.h - which arrays can only be copied as they are stored, and what may be asked of such a copy. */
#ifndef PARAPET_COPY_VERBATIM_CHECK_H
#define PARAPET_COPY_VERBATIM_CHECK_H

#include "copy/task.h"

/* Whether the source, which is open, can only be copied so. */
bool pp_copy_verbatim_suit(const pp_copy_task *task);

/* Refuses changes that concern it. */
parapet_status pp_copy_verbatim_check(const pp_copy_task *task, bool is_in_tree);

/* Whether a key is one of a stored object of the source, and not of something that somebody else put there. */
bool pp_copy_is_object(const pp_copy_task *task, const char *key);

/* Rank 0: gives the target the source's document. */
parapet_status pp_copy_verbatim_build(pp_copy_task *task);

#endif
