/* probe.h - what storage, codecs and memory do here. */
#ifndef PARAPET_COPY_PROBE_H
#define PARAPET_COPY_PROBE_H

#include "copy/task.h"

/* [collective] Measures storage, codecs and memory; the result is the same on every rank. */
parapet_status pp_copy_probe(pp_copy_task *task, pp_rechunk_problem *problem);

#endif
