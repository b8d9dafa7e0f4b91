/* copy_together.h - the pass of a copy in which all ranks read together: what several of their templates need is read
 * and decoded once, by one of them, and handed to all. */
#ifndef PARAPET_TRANSFER_COPY_TOGETHER_H
#define PARAPET_TRANSFER_COPY_TOGETHER_H

#include "transfer/copy.h"

/* [collective] Same status on every rank. */
parapet_status pp_copy_run_together(pp_copy_job *job);

#endif
