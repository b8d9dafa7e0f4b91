/* step.h - the parts of one step, checked. */
#ifndef PARAPET_SERIES_STEP_H
#define PARAPET_SERIES_STEP_H

#include "transfer/parts.h"

/* The caller's parts, which leave out the first dimension. */
typedef struct pp_series_step {
    int count;       /* arrays */
    pp_parts *parts; /* of each */
} pp_series_step;

/* Checks the parts and refers to their memory. Clear it even after a failure. */
parapet_status pp_series_step_init(pp_series_step *step, const parapet_series *series, const parapet_step *steps);
void pp_series_step_clear(pp_series_step *step);

#endif
