/* shapes.h - the shapes of chunks and shards where the spec of a new array leaves them open.
 *
 * Pure. Depends on base. */
#ifndef PARAPET_PLAN_SHAPES_H
#define PARAPET_PLAN_SHAPES_H

#include <parapet_arrays.h>

parapet_status pp_shapes_choose(const parapet_array_spec *spec, size_t element_bytes, int64_t expected_servers,
                                int64_t *chunks, int64_t *shards);

#endif
