/* points.c - reading and writing elements that are listed one by one, together with other ranks. */
#include "array/part_calls.h"

parapet_status parapet_array_write_points(parapet_array *array, const parapet_points *points)
{
    const pp_index_list listed = {.are_points = true, .points = points};
    return pp_outcome(pp_array_move_listed(array, PP_WRITING, &listed, "parapet_array_write_points"));
}

parapet_status parapet_array_read_points(parapet_array *array, const parapet_points *points)
{
    const pp_index_list listed = {.are_points = true, .points = points};
    return pp_outcome(pp_array_move_listed(array, PP_READING, &listed, "parapet_array_read_points"));
}

parapet_status parapet_array_write_runs(parapet_array *array, const parapet_runs *runs)
{
    const pp_index_list listed = {.runs = runs};
    return pp_outcome(pp_array_move_listed(array, PP_WRITING, &listed, "parapet_array_write_runs"));
}

parapet_status parapet_array_read_runs(parapet_array *array, const parapet_runs *runs)
{
    const pp_index_list listed = {.runs = runs};
    return pp_outcome(pp_array_move_listed(array, PP_READING, &listed, "parapet_array_read_runs"));
}
