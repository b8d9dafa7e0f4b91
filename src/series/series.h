/* series.h - a step that is appended, in the parts that a call and a request have in common. */
#ifndef PARAPET_SERIES_SERIES_H
#define PARAPET_SERIES_SERIES_H

#include "comm/comm.h"
#include "series/step.h"

/* [local] Checks a step, and makes room for it. Clear it even after a failure. */
parapet_status pp_series_prepare(parapet_series *series, const parapet_step *steps, pp_series_step *step);

/* [collective] Begins the call, with the status of this rank so far, and appends the step. */
parapet_status pp_series_append_step(parapet_series *series, double coordinate, const pp_series_step *step,
                                     parapet_status mine);

/* Which call this is, and for which step. */
void pp_series_append_call(pp_call *call, const char *verb, const parapet_series *series, double coordinate);

#endif
