/* part_write.c - writing parts of arrays, one array or many as one transfer; batch.h has the parts of such a call.
 *
 * A write, with the number of each agreement:
 *
 *     pp_batch_begin             1  the same call everywhere; rank 0 holds the arrays if they are free (hold_at_once)
 *     pp_batch_hold                 if they were not: rank 0 waits, and completes what a crash left undone
 *     pp_batch_stage             2  plans   3  all shards are staged, and invisible; then seals are taken off
 *     pp_batch_enter_publishing  4  rank 0 has SHORT   5  all ranks that have shards hold PUBLISHING
 *     publish_batch              6  the shards have their names, and are durable
 *
 * A read has 1, 2 and 3, and with a fourth says whether the arrays are still what they were
 * (check_batch_fresh). A flush is a write without parts (flush_batch). New arrays, of which no other job knows,
 * need no locks (pp_arrays_make).
 *
 * Invariants:
 *
 *  1. Before publish_batch a call only completes what a crash left, and takes seals off: if it fails there, no
 *     element has changed. After a failure there the handles are broken: some shards may be visible. Only a
 *     flush leaves them usable, because what it could not write is still with its server.
 *  2. A shard that keeps anything of an older object is published only in place of that very object:
 *     pp_staged_check looks while no other job can publish.
 *  3. Gates are closed only after agreement 1: a rank for which others wait must not wait for a gate
 *     (array/guards.h).
 *  4. What is written enters cache and write-back for good (pp_staged_note_outcome) after agreement 6, or that of
 *     publish_rest in batch_flush.c; after any failure the cache forgets the arrays of the call (pp_batch_forget).
 *  5. Between two agreements no rank returns alone.
 *
 * Panda moves many arrays in one request, and ROMIO many pieces in one call (docs/design/papers.md, 3 and 2).
 * The options: docs/guide/many-ranks.md. docs/design/collective.md, "The life of a collective write". */
#include "array/part_write.h"

#include "array/array.h"
#include "array/batch.h"
#include "array/batch_begin.h"
#include "array/batch_locks.h"
#include "array/epochs.h"
#include "array/part_calls.h"
#include "plan/owners.h"
#include "transfer/memory_plan.h"

parapet_status pp_batch_write(pp_batch *all)
{
    pp_epochs_mark began;
    pp_staged staged = {0};
    int64_t is_held = 1;
    parapet_status status = pp_batch_begin(all, &is_held);
    if (status == PARAPET_OK && !is_held)
        status = pp_batch_hold(all, PARAPET_OK);
    began = pp_epochs_mark_now(all->store);
    if (status == PARAPET_OK && (status = all->steps->stage(all, &staged)) == PARAPET_OK)
        status = all->steps->publish(all, &staged);
    if (status == PARAPET_OK)
        pp_epochs_note(all->store, PP_WRITING, &began);
    else
        pp_batch_forget(all);
    pp_staged_clear(&staged);
    pp_batch_clear(all);
    return status == PARAPET_OK ? status
                                : pp_fail_within(status, "cannot write array \"%s\"", all->list[0].array->path);
}

size_t pp_array_write_bytes(const parapet_array *array, size_t part_count, int64_t shards)
{
    const parapet_store *store = array->store;
    int ranks = pp_comm_size(store->comm);
    bool takes = ranks > 1 && store->options->sharing == PARAPET_SHARING_STEALING;
    size_t fragment = pp_memory_fragment_bytes(store->least_memory_bytes);
    return (takes ? pp_memory_stealing_bytes(array->document.ndim, ranks - 1, fragment) : 0) +
           pp_memory_least_bytes(&array->layout, (int)store->options->threads, ranks, fragment) +
           pp_memory_list_bytes(
               array->document.ndim, (int64_t)part_count, (int64_t)part_count,
               pp_memory_others(ranks, store->server_count, shards, pp_epochs_turns(store, PP_WRITING)));
}

parapet_status pp_array_write_alone(parapet_array *array, pp_comm *alone, const parapet_part *part)
{
    static const int servers[1] = {0};
    pp_team team = {.comm = alone,
                    .servers = servers,
                    .server_count = 1,
                    .fragment_bytes = pp_memory_fragment_bytes(array->store->least_memory_bytes),
                    .owners = pp_owner_strategy_of(PARAPET_OWNERS_IN_TURN)};
    pp_transfer_context context;
    pp_parts parts = {0};
    pp_transfer_array only = {.context = &context, .parts = &parts};
    pp_staged staged = {0};
    parapet_status status;
    if ((status = pp_array_transfer_context(array, &context)) != PARAPET_OK ||
        (status = pp_parts_init(&parts, part, 1, &array->layout, array->document.type.id)) != PARAPET_OK)
        return status;
    context.progress = NULL;
    if ((status = pp_transfer_stage(&team, &only, 1, &staged)) == PARAPET_OK)
        status = pp_staged_publish(&context, &staged);
    pp_staged_clear(&staged);
    return status == PARAPET_OK ? status : pp_fail_within(status, "cannot write array \"%s\"", array->path);
}
