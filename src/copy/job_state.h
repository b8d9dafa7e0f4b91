/* job_state.h - what is kept beside the target of a copy until it is complete. */
#ifndef PARAPET_COPY_JOB_STATE_H
#define PARAPET_COPY_JOB_STATE_H

#include "change/registry.h"
#include "copy/task.h"

/* Writes an object that tells of this copy, durably. */
parapet_status pp_copy_state_put(const pp_copy_task *task, pp_store *store, const char *key, const void *data,
                                 size_t bytes);

/* Writes what this copy is and how it is done. */
parapet_status pp_copy_state_write(const pp_copy_task *task);

/* What the text of a job says of the plan, if it describes this copy; nothing is planned. It has a NUL behind its
 * bytes, and loses its checksum. */
parapet_status pp_copy_job_parse(const pp_copy_task *task, const pp_text *described, char *data, size_t bytes,
                                 pp_copy_inputs *inputs);

/* Continues an unfinished copy: plans it again from what was written down, and finds out how far it has come. Refuses
 * a copy that was begun with other arguments or from another source, and says what differs; also refuses one whose
 * plan has changed. Nothing is removed then. */
parapet_status pp_copy_state_read(pp_copy_task *task);

/* A pass is done on all ranks. */
parapet_status pp_copy_state_finish_pass(const pp_copy_task *task, int pass);

/* Where a pass keeps its journals, and where an intermediate array is. Free with pp_free. */
parapet_status pp_copy_state_path(const pp_copy_task *task, pp_own kind, int pass, char **path);

#endif
