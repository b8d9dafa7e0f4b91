/* part_new.c - new arrays, of which no other job knows: no locks are needed, and four agreements are enough. */
#include "array/batch.h"
#include "array/batch_begin.h"
#include "array/batch_stage.h"
#include "array/epochs.h"
#include "array/part_calls.h"
#include "transfer/sync_dirs.h"

static parapet_status stage_new(pp_batch *all, const pp_making *making, pp_staged *staged)
{
    pp_failure failure = {0};
    pp_failure_take(&failure, making->begin(making->context));
    pp_failure_take(&failure, pp_batch_list_arrays(all));
    return pp_transfer_stage_after(&failure, &all->team, all->arrays, all->count, staged);
}

/* [collective] No reader looks at these arrays before the agreement at the end of this, so none is needed
 * before it. */
static parapet_status finish_new(const pp_batch *all, const pp_making *making, pp_staged *staged)
{
    pp_failure failure = {0};
    pp_failure_take(&failure, pp_staged_show(&all->contexts[0], staged));
    if (failure.status == PARAPET_OK)
        pp_batch_note(all, staged);
    making->end(making->context, &failure);
    return pp_sync_dirs_agree(all->store->comm, all->store->backend, "finishing", pp_failure_put(&failure));
}

parapet_status pp_arrays_make(const pp_making *making, const pp_call *call, parapet_status mine, bool *has_begun)
{
    pp_batch all = {.direction = PP_WRITING, .list = making->list, .count = making->count, .store = making->store};
    pp_epochs_mark began;
    pp_staged staged = {0};
    parapet_status status;
    pp_batch_choose_team(&all);
    status = pp_batch_begin_new(&all, call, mine);
    *has_begun = status == PARAPET_OK;
    began = pp_epochs_mark_now(all.store);
    if (*has_begun && (status = stage_new(&all, making, &staged)) == PARAPET_OK)
        status = finish_new(&all, making, &staged);
    if (status == PARAPET_OK)
        pp_epochs_note(all.store, PP_WRITING, &began);
    else if (*has_begun)
        status = pp_fail_within(status, "cannot write array \"%s\"", all.list[0].array->path);
    pp_staged_clear(&staged);
    pp_batch_clear(&all);
    return status;
}
