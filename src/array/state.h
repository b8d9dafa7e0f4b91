/* state.h - everything that a handle knows about its node, as bytes, so that all ranks know the same. */
#ifndef PARAPET_ARRAY_STATE_H
#define PARAPET_ARRAY_STATE_H

#include <parapet_types.h>

#include "array/rank0.h"

/* If adopt fails, the handle does not change. */
parapet_status pp_array_state_print(const parapet_array *array, pp_text *bytes);
parapet_status pp_array_state_adopt(parapet_array *array, pp_cursor *bytes);

/* The same for several, one behind the other. */
parapet_status pp_array_states_print(parapet_array *const *arrays, int count, pp_text *bytes);
parapet_status pp_array_states_adopt(parapet_array *const *arrays, int count, pp_cursor *bytes);

/* The array has a lattice from now on; the shards that it has had when it got one are kept. */
void pp_array_keep_cells(parapet_array *array);

parapet_status pp_group_state_print(const parapet_group *group, pp_text *bytes);
parapet_status pp_group_state_adopt(parapet_group *group, pp_cursor *bytes);

/* [collective] Changes an open node. Even after a failure, all ranks know the same about it. */
parapet_status pp_array_rank0_do(parapet_array *array, const char *phase, pp_rank0_work work, const void *argument);
parapet_status pp_group_rank0_do(parapet_group *group, const char *phase, pp_rank0_work work, const void *argument);

#endif
