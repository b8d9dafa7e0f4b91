/* spec.h - the spec of a new array: checking it, comparing it between ranks, and choosing what it leaves open. */
#ifndef PARAPET_ARRAY_SPEC_H
#define PARAPET_ARRAY_SPEC_H

#include "comm/comm.h"

/* Checks that a spec is well formed; adds everything in it that must be equal on all ranks to a call. */
parapet_status pp_spec_check(const parapet_array_spec *spec);
void pp_spec_add(const parapet_array_spec *spec, pp_call *call);

/* Fills in the shapes that a spec leaves open (defaults.c). */
parapet_status pp_shapes_choose(const parapet_array_spec *spec, size_t element_bytes, int64_t expected_servers,
                                int64_t *chunks, int64_t *shards);

#endif
