/* batch_stage.c - new shards of a call: staged, which no reader sees, and then published.
 *
 * The order of what follows the agreements is part of the contract: docs/design/durability.md. */
#include "array/batch_stage.h"

#include <parapet_store.h>

#include "array/batch.h"
#include "array/batch_locks.h"
#include "array/batch_seals.h"
#include "transfer/point_passes.h"
#include "transfer/sync_dirs.h"

/* [collective] */
static parapet_status stage_dirty(pp_batch *all, pp_staged *staged)
{
    pp_failure failure = {0};
    size_t known = 0;
    int i;
    all->left_out = (pp_failure){0};
    for (i = 0; i < all->count; i++) {
        pp_failure_take(&failure, pp_transfer_stage_write_back(&all->arrays[i], staged, &all->left_out));
        for (; known < staged->count; known++)
            staged->notes[known].target = i;
    }
    return pp_comm_agree(all->store->comm, "flushing", pp_failure_put(&failure));
}

static parapet_status stage_listed(pp_batch *all, pp_staged *staged)
{
    if (all->flushes)
        return stage_dirty(all, staged);
    if (all->listed != NULL)
        return pp_transfer_stage_indices(&all->team, all->arrays, &all->indices, staged);
    return pp_transfer_stage(&all->team, all->arrays, all->count, staged);
}

/* [collective] Seals stay in force until everything is staged, because what is kept of old shards is compared
 * with them. */
parapet_status pp_batch_stage(pp_batch *all, pp_staged *staged)
{
    parapet_status status;
    bool is_again;
    do {
        pp_staged_clear(staged);
        if ((status = pp_batch_list_arrays(all)) == PARAPET_OK)
            status = stage_listed(all, staged);
        is_again = false;
        if (status != PARAPET_OK && pp_batch_count_sealed(all) > 0)
            status = pp_batch_look_for_broken_seals(all, status, &is_again);
        if (is_again)
            pp_batch_forget_description(all); /* the first attempt has used it up */
    } while (is_again);
    return status == PARAPET_OK && pp_batch_count_sealed(all) > 0 ? pp_batch_break_seals(all) : status;
}

/* What was published, for the seal. */
void pp_batch_note(const pp_batch *all, pp_staged *staged)
{
    size_t i;
    int k;
    for (k = 0; k < all->count; k++)
        pp_shard_notes_begin(&all->list[k].array->notes);
    for (i = 0; i < staged->count; i++) {
        pp_staged_note *note = &staged->notes[i];
        bool is_known = note->record.bytes != PP_SHARD_ABSENT;
        pp_shard_notes_add(&all->list[note->target].array->notes, note->shard, is_known ? &note->record : NULL,
                           staged->writers[i]->version);
    }
    for (k = 0; k < all->count; k++)
        pp_shard_notes_end(&all->list[k].array->notes);
}

/* [collective] What failed to become visible may be visible in part. */
static parapet_status publish_batch(const pp_batch *all, pp_staged *staged)
{
    pp_comm *comm = all->store->comm;
    parapet_status status = all->leads_alone ? pp_staged_publish(&all->contexts[0], staged)
                                             : pp_sync_dirs_collectively(comm, all->store->backend,
                                                                         pp_staged_show(&all->contexts[0], staged));
    int i;
    /* Notes for a seal, cache and write-back only after the agreement: until then any rank may have failed. */
    if ((status = pp_sync_dirs_agree(comm, all->store->backend, "publishing", status)) == PARAPET_OK) {
        pp_batch_note(all, staged);
    }
    pp_staged_note_outcome(all->contexts, staged, status == PARAPET_OK);
    for (i = 0; i < all->count && status != PARAPET_OK; i++)
        all->list[i].array->is_broken |= !all->flushes;
    return status;
}

/* [collective] A rank that gave up while others staged may have changed its data since. It does not take part
 * in this agreement, so that nothing is published. */
static parapet_status check_presence(const parapet_store *store)
{
    return store->options->deadline_seconds > 0 ? pp_comm_agree(store->comm, "staged", PARAPET_OK) : PARAPET_OK;
}

parapet_status pp_batch_publish(pp_batch *all, pp_staged *staged)
{
    parapet_status status = all->path_count > 0 ? pp_batch_enter_publishing(all, staged) : check_presence(all->store);
    return status == PARAPET_OK ? publish_batch(all, staged) : status;
}

static parapet_status prepare(pp_batch *all, bool *has_room)
{
    (void)all;
    *has_room = true;
    return PARAPET_OK;
}

const pp_write_steps pp_writing_at_once = {.prepare = prepare, .stage = pp_batch_stage, .publish = pp_batch_publish};
