/* uncommitted.h - whether what lies beyond the committed steps is the series' own; on rank 0 alone. */
#ifndef PARAPET_SERIES_UNCOMMITTED_H
#define PARAPET_SERIES_UNCOMMITTED_H

#include <parapet_arrays.h>
#include <stdbool.h>

/* Refuses a series whose number of steps was changed by anything but the series itself. cuts: an earlier run was
 * about to add steps, and the remains are to be cut off. */
parapet_status pp_series_check_uncommitted(const parapet_series *series, bool *cuts);

/* Counts the steps that the arrays have as committed. */
parapet_status pp_series_adopt_uncommitted(parapet_series *series);

#endif
