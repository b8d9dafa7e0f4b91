/* batch_seals.c - sealed arrays in a call that writes: what is kept of old shards is what was sealed. */
#include "array/batch_seals.h"

#include "array/batch.h"
#include "array/refresh.h"
#include "array/seal.h"

/* [collective] Rank 0 changes the handles, which no local read uses meanwhile, and tells the others. */
static parapet_status change_handles(pp_batch *all, const char *phase, pp_rank0_work work)
{
    parapet_status status;
    pp_batch_close_guards(all);
    if ((status = pp_comm_agree(all->store->comm, phase, PARAPET_OK)) == PARAPET_OK)
        status = pp_batch_do(all, phase, work);
    pp_batch_open_guards(all);
    return status;
}

static parapet_status break_seals(void *subject, const void *argument)
{
    pp_batch *all = subject;
    parapet_status status = PARAPET_OK;
    int i;
    (void)argument;
    for (i = 0; i < all->path_count && status == PARAPET_OK; i++)
        status = pp_node_lock_prove(&all->holds[i]);
    for (i = 0; i < all->count && status == PARAPET_OK; i++)
        if (all->list[i].array->is_sealed && (status = pp_seal_break_shared(all->list[i].array)) != PARAPET_OK &&
            i > 0)
            status = pp_fail_within(status, "array \"%s\"", all->list[i].array->path);
    return status;
}

parapet_status pp_batch_break_seals(pp_batch *all)
{
    return change_handles(all, "unsealing", break_seals);
}

static parapet_status refresh_sealed(void *subject, const void *argument)
{
    const pp_batch *all = subject;
    parapet_status status = PARAPET_OK;
    int i;
    (void)argument;
    for (i = 0; i < all->count && status == PARAPET_OK; i++)
        if (all->list[i].array->is_sealed && !all->list[i].array->is_detached)
            status = pp_array_refresh(all->list[i].array);
    return status;
}

/* [collective] Staging has failed. Where another job that writes has taken a seal off meanwhile, its pages are gone
 * and its shards are not those that were sealed: that is no damage, and staging begins again without the seal. */
parapet_status pp_batch_look_for_broken_seals(pp_batch *all, parapet_status failed, bool *is_again)
{
    pp_failure failure = {0};
    int sealed = pp_batch_count_sealed(all);
    parapet_status status;
    *is_again = false;
    if (pp_comm_is_lost(all->store->comm) || !pp_array_is_worth_looking(failed))
        return failed;
    pp_failure_take(&failure, failed);
    status = change_handles(all, "looking again", refresh_sealed);
    *is_again = status == PARAPET_OK && pp_batch_count_sealed(all) < sealed;
    return *is_again || status == PARAPET_ERR_STALE ? status : pp_failure_put(&failure);
}
