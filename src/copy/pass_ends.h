/* pass_ends.h - the two ends of a pass: source, target, and the arrays between two passes. */
#ifndef PARAPET_COPY_PASS_ENDS_H
#define PARAPET_COPY_PASS_ENDS_H

#include "copy/task.h"
#include "transfer/context.h"

/* One end of a pass: an array and how to reach it. */
typedef struct pp_copy_end {
    pp_array_document document; /* of an intermediate array: shares type and fill value with the target's */
    pp_layout layout;
    pp_lattice lattice; /* likewise */
    char *path;
    pp_transfer_context context;
} pp_copy_end;

/* Close it even after a failure. */
parapet_status pp_copy_end_open(pp_copy_task *task, int pass, bool is_source, pp_copy_end *end);
void pp_copy_end_close(pp_copy_end *end);

#endif
