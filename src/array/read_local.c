/* read_local.c - one rank reads parts of an open array by itself. */
#include "array/array.h"
#include "array/array_handle.h"
#include "array/guards.h"
#include "array/refresh.h"

/* The ranks need not be together for this, but then nobody knows what the others have changed. */
static parapet_status check_together(const parapet_array *array)
{
    return pp_comm_is_lost(array->store->comm)
               ? pp_fail(PARAPET_ERR_TIMEOUT, "a deadline has passed, and the store can only be closed")
               : PARAPET_OK;
}

static parapet_status read_parts(parapet_array *array, const parapet_part *given, int count)
{
    pp_transfer_context context;
    pp_parts parts;
    pp_transfer_array only = {.context = &context, .parts = &parts};
    parapet_status status;
    if ((status = pp_array_check_usable(array)) != PARAPET_OK || (status = check_together(array)) != PARAPET_OK ||
        (status = pp_array_local_context(array, &context)) != PARAPET_OK ||
        (status = pp_parts_init(&parts, given, count, &array->layout, array->document.type.id)) != PARAPET_OK)
        return status;
    return pp_transfer_read_alone(&array->store->alone, &only);
}

/* What others have changed meanwhile may be what was read. */
static parapet_status look_again(parapet_array *array, parapet_status status)
{
    pp_failure failure = {0};
    parapet_status looked;
    if (array->is_apart || !pp_array_is_worth_looking(status))
        return status;
    pp_failure_take(&failure, status);
    looked = status == PARAPET_OK ? pp_array_check_fresh(array) : pp_array_check_damage(array);
    return looked == PARAPET_ERR_STALE || status == PARAPET_OK ? looked : pp_failure_put(&failure);
}

static parapet_status read_local(parapet_array *array, const parapet_part *parts, int part_count)
{
    parapet_status status = look_again(array, read_parts(array, parts, part_count));
    return status == PARAPET_OK ? status : pp_fail_within(status, "cannot read array \"%s\"", array->path);
}

parapet_status parapet_array_read_local(parapet_array *array, const parapet_part *parts, int part_count)
{
    parapet_status status;
    if (array == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_array_read_local needs an array");
    pp_gate_enter(&array->guard->gate);
    status = read_local(array, parts, part_count);
    pp_gate_leave(&array->guard->gate);
    return pp_outcome(status);
}
