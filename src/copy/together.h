/* together.h - the pass of a copy in which all ranks read together: what several of their templates need is read and
 * decoded once, by one of them, and sent to all. */
#ifndef PARAPET_COPY_TOGETHER_H
#define PARAPET_COPY_TOGETHER_H

#include "copy/pass.h"

/* [collective] Same status on every rank. */
parapet_status pp_copy_run_together(pp_copy_job *job);

#endif
