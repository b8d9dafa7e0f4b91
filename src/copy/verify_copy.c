/* verify_copy.c - reads source and target of a copy again, each once, and compares. */
#include "copy/verify_copy.h"

#include "array/array.h"
#include "array/store_queries.h"
#include "array/stored_shards.h"
#include "base/checked.h"
#include "base/status.h"
#include "copy/digest.h"
#include "copy/task.h"
#include "rechunk/plan_print.h"

/* How far the verification of one array is. */
typedef struct verifying {
    const pp_copy_task *task;
    int64_t before_bytes;        /* of the other array, if that is done */
    int64_t shards, shard_count; /* done on all ranks if they are equally fast, and in all; less until they are */
} verifying;

static parapet_status tick(const void *context)
{
    verifying *here = (verifying *)(uintptr_t)context;
    int64_t bytes = pp_rechunk_plan_array_bytes(here->task->plan);
    int64_t done;
    here->shards = pp_min_i64(here->shards + pp_comm_size(pp_copy_task_comm(here->task)), here->shard_count);
    done = (int64_t)((double)bytes * (double)here->shards / (double)here->shard_count);
    return pp_copy_task_tick(here->task, here->before_bytes + pp_max_i64(0, pp_min_i64(done, bytes - 1)));
}

static parapet_status add(pp_copy_task *task, parapet_array *array, const pp_copy_view *view, pp_copy_digest *digest)
{
    pp_comm *comm = pp_store_comm(task->target_store);
    pp_ranges stored = {.budget = &task->budget};
    const pp_copy_share share = {
        .rank = pp_comm_rank(comm), .rank_count = pp_comm_size(comm), .some = task->is_sparse ? &stored : NULL};
    verifying here = {.task = task,
                      .before_bytes = array == task->target ? pp_rechunk_plan_array_bytes(task->plan) : 0,
                      .shard_count = pp_max_i64(1, pp_array_layout(array)->tiling.shards.cell_count)};
    pp_transfer_context context;
    parapet_status status = pp_array_transfer_context(array, &context);
    context.budget = &task->budget;
    if (status == PARAPET_OK && task->is_sparse)
        status = pp_array_stored_shards(array, &stored);
    if (status == PARAPET_OK)
        status = pp_copy_digest_add(digest, &context, view, &share, &(pp_copy_watch){tick, &here});
    pp_ranges_clear(&stored);
    return status;
}

parapet_status pp_copy_verify(pp_copy_task *task, int64_t *verified_bytes)
{
    pp_copy_digest source = {{0}, 0}, target = {{0}, 0};
    pp_copy_view whole;
    int64_t sums[5];
    parapet_status status;
    pp_copy_view_init(&whole, task->view.ndim, task->view.shape);
    if ((status = add(task, task->source, &task->view, &source)) == PARAPET_OK)
        status = add(task, task->target, &whole, &target);
    /* Differences add up as numbers modulo 2^64 do. */
    sums[0] = (int64_t)((source.sums[0] - target.sums[0]) >> 1);
    sums[1] = (int64_t)((source.sums[0] - target.sums[0]) & 1);
    sums[2] = (int64_t)((source.sums[1] - target.sums[1]) >> 1);
    sums[3] = (int64_t)((source.sums[1] - target.sums[1]) & 1);
    sums[4] = target.bytes;
    if ((status = pp_comm_agree_sums(pp_store_comm(task->target_store), "verifying", status, sums, 5)) != PARAPET_OK)
        return status;
    *verified_bytes += sums[4];
    if (((uint64_t)sums[0] << 1) + (uint64_t)sums[1] != 0 || ((uint64_t)sums[2] << 1) + (uint64_t)sums[3] != 0)
        return pp_fail(PARAPET_ERR_CORRUPT,
                       "verifying found differences between array \"%s\" and its copy \"%s\"; copy it again with "
                       "overwrite",
                       pp_array_path(task->source), pp_array_path(task->target));
    (void)pp_copy_task_tick(task, 2 * pp_rechunk_plan_array_bytes(task->plan)); /* nothing is left to be cancelled */
    return PARAPET_OK;
}
