/* state.h - all that a handle knows of its node, as bytes: how ranks come to know the same of it. */
#ifndef PARAPET_ARRAY_STATE_H
#define PARAPET_ARRAY_STATE_H

#include "array/rank0.h"

/* What adopt cannot do leaves the handle as it was. */
parapet_status pp_array_state_print(const parapet_array *array, pp_text *bytes);
parapet_status pp_array_state_adopt(parapet_array *array, pp_cursor *bytes);
parapet_status pp_group_state_print(const parapet_group *group, pp_text *bytes);
parapet_status pp_group_state_adopt(parapet_group *group, pp_cursor *bytes);

/* [collective] Changes a node that is open. Whether it fails or not, all ranks know the same of it afterwards. */
parapet_status pp_array_rank0_do(parapet_array *array, const char *phase, pp_rank0_work work, const void *argument);
parapet_status pp_group_rank0_do(parapet_group *group, const char *phase, pp_rank0_work work, const void *argument);

#endif
