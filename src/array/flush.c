/* flush.c - the public functions that write what was delayed. */
#include "array/array_handle.h"
#include "array/part_calls.h"

parapet_status parapet_array_flush(parapet_array *array)
{
    PP_TURN turn = {0};
    pp_call call;
    parapet_status status;
    if (array == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_array_flush needs an array");
    if ((status = pp_turn_take(&turn, array->store->comm, PP_TURN_COLLECTIVE)) != PARAPET_OK)
        return status;
    pp_call_init(&call, "flush(%s)", array->path);
    status = pp_comm_begin_at_once(array->store->comm, &call, PARAPET_OK);
    return pp_outcome(status == PARAPET_OK ? pp_array_flush(array) : status);
}

parapet_status parapet_store_flush(parapet_store *store)
{
    PP_TURN turn = {0};
    pp_call call;
    parapet_status status;
    if (store == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_store_flush needs a store");
    if ((status = pp_turn_take(&turn, store->comm, PP_TURN_COLLECTIVE)) != PARAPET_OK)
        return status;
    pp_call_init(&call, "store_flush()");
    return pp_outcome(pp_comm_begin(store->comm, &call, PARAPET_OK)); /* which flushes */
}
