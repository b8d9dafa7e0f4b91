/* part_read.c - reading parts of arrays: staging is reading, and a fourth agreement says whether the arrays are still
 * what they were. */
#include "array/part_read.h"

#include "array/array.h"
#include "array/batch.h"
#include "array/batch_begin.h"
#include "array/epochs.h"
#include "array/refresh.h"
#include "transfer/point_passes.h"

/* [collective] Whether another job has changed the arrays meanwhile, so that what was read may be wrong. */
static parapet_status check_batch_fresh(const pp_batch *all, bool has_failed)
{
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; pp_comm_rank(all->store->comm) == 0 && i < all->count && status == PARAPET_OK; i++)
        if (!all->list[i].array->is_detached)
            status =
                has_failed ? pp_array_check_damage(all->list[i].array) : pp_array_check_fresh(all->list[i].array);
    return pp_comm_agree(all->store->comm, "looking again", status);
}

parapet_status pp_batch_read(pp_batch *all)
{
    pp_failure failure = {0};
    int64_t is_held = 1;
    parapet_status status = pp_batch_begin(all, &is_held);
    pp_epochs_mark began = pp_epochs_mark_now(all->store);
    if (status == PARAPET_OK && (status = pp_batch_list_arrays(all)) == PARAPET_OK)
        status = all->listed != NULL ? pp_transfer_read_indices(&all->team, all->arrays, &all->indices)
                                     : pp_transfer_read(&all->team, all->arrays, all->count);
    if (status == PARAPET_OK)
        pp_epochs_note(all->store, PP_READING, &began);
    pp_failure_take(&failure, status);
    if (!pp_comm_is_lost(all->store->comm) && pp_array_is_worth_looking(status) &&
        (status = check_batch_fresh(all, status != PARAPET_OK)) != PARAPET_ERR_STALE && failure.status != PARAPET_OK)
        status = pp_failure_put(&failure);
    if (status != PARAPET_OK)
        pp_batch_forget(all);
    pp_batch_clear(all);
    return status == PARAPET_OK ? status
                                : pp_fail_within(status, "cannot read array \"%s\"", all->list[0].array->path);
}
