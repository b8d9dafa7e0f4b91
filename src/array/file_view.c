/* file_view.c - from the file view of a program that used MPI-IO to parts of an array. */
#include "array/array.h"
#include "array/part_list.h"
#include "array/store_queries.h"
#include "base/status.h"
#include "comm/flavour.h"

static parapet_status build_parts(parapet_array_parts *list, parapet_array *array, int64_t displacement,
                                  MPI_Datatype filetype, void *data)
{
    parapet_store *store = pp_array_store(array);
    const pp_type *type = &pp_array_document_of(array)->type;
    pp_element element = {type->id, type->element_bytes, type->name};
    const pp_pattern *pattern = NULL;
    pp_patterns set;
    parapet_status status = pp_array_check_usable(array);
    if (status != PARAPET_OK || (status = pp_array_check_readable(array)) != PARAPET_OK)
        return status;
    pp_patterns_init(&set, pp_store_budget(store));
    if ((status = pp_datatype_read(&set, &element, filetype, &pattern)) == PARAPET_OK)
        status = pp_part_list_build(list, array, pattern, displacement, data);
    pp_patterns_clear(&set);
    pp_counters_plan(pp_store_counters(store), pp_budget_peak(pp_store_budget(store)));
    return status;
}

parapet_status parapet_array_parts_build(parapet_array_parts *list, parapet_array *array, int64_t displacement_bytes,
                                         MPI_Datatype filetype, void *data)
{
    PP_TURN turn = {0};
    parapet_status status;
    if (list != NULL)
        *list = (parapet_array_parts){0};
    if (list == NULL || array == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_array_parts_build needs a list and an array");
    if ((status = pp_turn_take(&turn, pp_store_comm(pp_array_store(array)), PP_TURN_LOCAL)) != PARAPET_OK)
        return status;
    status = build_parts(list, array, displacement_bytes, filetype, data);
    if (status != PARAPET_OK)
        status = pp_fail_within(status, "the datatype does not become parts of array \"%s\"", pp_array_path(array));
    return pp_outcome(status);
}
