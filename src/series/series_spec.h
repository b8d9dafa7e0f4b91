/* series_spec.h - what a new series is made of: paths and specs of its arrays and of the coordinate. */
#ifndef PARAPET_SERIES_SERIES_SPEC_H
#define PARAPET_SERIES_SERIES_SPEC_H

#include <parapet_arrays.h>

#include "comm/comm.h"

/* Paths and specs of the arrays, then of the coordinate. */
typedef struct pp_series_making {
    const parapet_series_spec *spec;
    const char *dimension;
    char **paths;
    parapet_array_spec *specs;
    const char *(*dimension_names)[PARAPET_MAX_NDIM];
    char fallbacks[PARAPET_MAX_NDIM][16]; /* "dim_1", ... */
    int64_t steps_per_row;
    bool replaces; /* replaces what an interrupted creation left */
} pp_series_making;

/* Checks the spec. Clear it even after a failure. */
parapet_status pp_series_making_init(pp_series_making *making, const parapet_store *store, const char *path,
                                     const parapet_series_spec *spec);
void pp_series_making_clear(pp_series_making *making);

/* Adds everything that must be equal on all ranks to a call; the spec need not be valid. */
void pp_series_spec_add(const parapet_series_spec *spec, pp_call *call);

#endif
