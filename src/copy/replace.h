/* replace.h - how a copy replaces an array, which stays until the new one is complete beside it. On rank 0, except
 * for the path. */
#ifndef PARAPET_COPY_REPLACE_H
#define PARAPET_COPY_REPLACE_H

#include "copy/task.h"

/* Where the shards of an array are kept that replaces another; free with pp_free. */
parapet_status pp_copy_replace_path(const pp_copy_task *task, char **path);

/* Notes that the array at the target will be replaced; removes what an earlier copy left beside it. */
parapet_status pp_copy_replace_begin(pp_copy_task *task);

/* Finds out whether a resumed copy replaces an array, how far it has come, and whether the old array still exists. */
parapet_status pp_copy_replace_read(pp_copy_task *task, bool *is_old);

/* Removes the old array, and gives the shards of the new one, which is complete, their keys. Only the document then
 * remains to be published. What was done before a crash is not repeated. */
parapet_status pp_copy_replace_run(pp_copy_task *task);

#endif
