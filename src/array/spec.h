/* spec.h - the spec of a new array: checking it, and comparing it between ranks. */
#ifndef PARAPET_ARRAY_SPEC_H
#define PARAPET_ARRAY_SPEC_H

#include <parapet_arrays.h>

#include "comm/comm.h"

/* Checks that a spec is well formed; adds everything in it that must be equal on all ranks to a call. */
parapet_status pp_spec_check(const parapet_array_spec *spec);
void pp_spec_add(const parapet_array_spec *spec, pp_call *call);

#endif
