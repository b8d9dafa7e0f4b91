/* cleanup.h - what is left of a copy: tidied up when it is complete, and forgotten when it failed. On rank 0. */
#ifndef PARAPET_COPY_CLEANUP_H
#define PARAPET_COPY_CLEANUP_H

#include "copy/task.h"

/* Whether an array that does not belong to this copy has appeared in its place. */
bool pp_copy_cleanup_is_foreign(const pp_copy_task *task);

/* Removes what an earlier copy may have left in the store for intermediate arrays. */
parapet_status pp_copy_cleanup_clear_between(const pp_copy_task *task);

/* Removes what was only needed until the copy was complete. */
parapet_status pp_copy_cleanup_tidy(const pp_copy_task *task);

/* After a failure that is not an interruption: as if nothing had been begun. */
void pp_copy_cleanup_forget(pp_copy_task *task);

#endif
