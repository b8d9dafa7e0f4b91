/* close.c - closing arrays, which writes what was delayed of them. */
#include <parapet_store.h>

#include "array/array.h"
#include "array/array_handle.h"
#include "array/part_calls.h"
#include "base/checked.h"

/* Says to the other ranks what is closed. Ranks that are not together any more have nothing to say. */
static parapet_status begin_close(parapet_array **arrays, int count, const parapet_array *first)
{
    parapet_status status = PARAPET_OK;
    pp_call call;
    int i;
    if (pp_comm_is_lost(first->store->comm))
        return PARAPET_OK;
    if (count > 1)
        pp_call_init(&call, "close(%s and %d more)", first->path, count - 1);
    else
        pp_call_init(&call, "close(%s)", first->path);
    for (i = 0; i < count; i++) {
        pp_call_add_element(&call, "arrays", i, arrays[i] != NULL ? arrays[i]->path : NULL);
        if (arrays[i] != NULL && arrays[i]->store != first->store)
            status = pp_fail(PARAPET_ERR_ARGUMENT, "arrays \"%s\" and \"%s\" belong to different stores", first->path,
                             arrays[i]->path);
    }
    return pp_comm_begin_at_once(first->store->comm, &call, status);
}

/* Those that still have marks. */
static parapet_status name_lost(parapet_array **arrays, int count, const pp_failure *failure)
{
    pp_text lost = {0};
    parapet_status status;
    int i;
    for (i = 0; i < count; i++)
        if (arrays[i] != NULL && pp_dirty_arrays_has(&arrays[i]->store->dirty_arrays, arrays[i]))
            pp_text_add(&lost, "%s\"%s\"", lost.bytes > 0 ? ", " : "", arrays[i]->path);
    status = pp_failure_put(failure);
    status = pp_fail_within(status, "what was not flushed is lost with the closed array %s",
                            lost.status == PARAPET_OK && lost.data != NULL ? lost.data : "");
    pp_text_free(&lost);
    return status;
}

/* [collective] What cannot be written is lost. */
static parapet_status flush_closing(parapet_array **arrays, int count, parapet_store *store)
{
    pp_failure failure = {0};
    parapet_status status = pp_arrays_flush(arrays, count, store);
    if (status == PARAPET_OK)
        return status;
    pp_failure_take(&failure, status);
    return name_lost(arrays, count, &failure);
}

/* Where descriptions are kept, arrays that are opened in place of this one, as by the next checkpoint, get the same
 * homes. */
static void leave_homes(parapet_array *array)
{
    int64_t shards = 1;
    int d;
    if (array->store->options->keep_descriptions == 0 || !array->has_lattice)
        return;
    for (d = 0; d < array->document.ndim; d++)
        if (!pp_multiply_fits(shards, array->first_cells[d], &shards))
            return;
    pp_homes_forget(&array->store->homes, shards);
}

static void close_array(parapet_array *array)
{
    if (array == NULL)
        return;
    pp_guard_close_for_good(array->guard);
    leave_homes(array);
    array->store->handle_count--;
    pp_array_free(array);
}

parapet_status parapet_arrays_close(parapet_array **arrays, int count)
{
    PP_TURN turn = {0};
    parapet_status status;
    int i, first = 0;
    if (arrays == NULL)
        return PARAPET_OK;
    while (first < count && arrays[first] == NULL)
        first++;
    if (first >= count)
        return PARAPET_OK;
    if ((status = pp_turn_take(&turn, arrays[first]->store->comm, PP_TURN_COLLECTIVE)) != PARAPET_OK)
        return status;
    if ((status = begin_close(arrays, count, arrays[first])) == PARAPET_ERR_ARGUMENT)
        return status; /* the ranks called different things: nobody closes */
    if (status == PARAPET_OK)
        status = flush_closing(arrays + first, count - first, arrays[first]->store);
    for (i = first; i < count; i++) {
        close_array(arrays[i]);
        arrays[i] = NULL;
    }
    return status;
}

parapet_status parapet_array_close(parapet_array **array)
{
    return parapet_arrays_close(array, 1);
}
