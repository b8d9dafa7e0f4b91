/* cooperative_read.h - the pass of a copy in which all ranks read together: what several of their templates need is
 * read and decoded once, by one of them, and sent to all. */
#ifndef PARAPET_COPY_COOPERATIVE_READ_H
#define PARAPET_COPY_COOPERATIVE_READ_H

#include "copy/pass.h"

/* [collective] Same status on every rank. */
parapet_status pp_copy_run_cooperative(pp_copy_job *job);

#endif
