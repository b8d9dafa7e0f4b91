/* verbatim.h - arrays that are copied as they are stored, without being decoded. */
#ifndef PARAPET_COPY_VERBATIM_H
#define PARAPET_COPY_VERBATIM_H

#include "copy/task.h"

/* What that takes on rank 0. */
#define PP_COPY_OBJECTS_BYTES ((size_t)1 << 20)

/* [collective] Copies the stored objects, and compares them; counts their bytes. */
parapet_status pp_copy_verbatim(pp_copy_task *task, pp_copy_totals *totals);
parapet_status pp_copy_verbatim_verify(pp_copy_task *task, int64_t *verified_bytes);

/* Tells what would be done. */
parapet_status pp_copy_verbatim_explain(const pp_copy_task *task, bool is_json, pp_text *text);

#endif
