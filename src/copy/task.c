/* task.c - one array of a copy: what is copied to where, and whether its source changed. */
#include <string.h>

#include "array/array.h"
#include "array/path.h"
#include "array/store.h"
#include "array/stored_shards.h"
#include "base/bytes.h"
#include "base/checked.h"
#include "copy/copy.h"
#include "copy/share.h"
#include "rechunk/print.h"

pp_comm *pp_copy_task_comm(const pp_copy_task *task)
{
    return pp_store_comm(task->target_store);
}

bool pp_copy_task_leads(const pp_copy_task *task)
{
    return pp_comm_rank(pp_copy_task_comm(task)) == 0;
}

static parapet_status build_target(pp_copy_task *task, const char *path, bool is_in_tree)
{
    const pp_array_document *source = pp_array_document_of(task->source);
    const parapet_copy_changes changes =
        pp_copy_changes_for(&task->request->changes, source, pp_array_path(task->source), is_in_tree);
    pp_array_document document = {0};
    parapet_status status = pp_arrays_build(&task->target, task->target_store, &path, 1);
    if (status == PARAPET_OK && (status = pp_array_check_readable(task->source)) == PARAPET_OK &&
        (status = pp_copy_document(&changes, source, is_in_tree,
                                   pp_store_options(task->target_store)->expected_servers, &document, &task->view)) ==
            PARAPET_OK)
        status = pp_array_take_document(task->target, &document);
    pp_array_document_clear(&document);
    return status;
}

static parapet_status check_places(const pp_copy_task *task)
{
    const char *source = pp_array_path(task->source), *target = pp_array_path(task->target);
    bool is_same = pp_store_is_same(pp_store_backend(task->source_store), pp_store_backend(task->target_store));
    if (is_same && strcmp(source, target) == 0)
        return pp_fail(PARAPET_ERR_ARGUMENT, "array \"%s\" cannot be copied onto itself", source);
    /* Replacing the target would take the source along. */
    if (is_same && pp_path_is_within(source, target))
        return pp_fail(PARAPET_ERR_ARGUMENT, "array \"%s\" cannot be copied to \"%s\", which contains it", source,
                       target);
    return pp_store_check_writable(task->target_store);
}

static int64_t limit_of(const pp_copy_task *task)
{
    return task->request->memory_bytes > 0 ? task->request->memory_bytes
                                           : pp_store_options(task->target_store)->memory_bytes;
}

static parapet_status place_state(pp_copy_task *task, const char *target_path, bool is_in_tree)
{
    parapet_status status;
    pp_budget_init(&task->budget, (size_t)limit_of(task));
    if ((status = build_target(task, target_path, is_in_tree)) != PARAPET_OK ||
        (status = check_places(task)) != PARAPET_OK ||
        (status = pp_allocate(&task->plan, sizeof *task->plan)) != PARAPET_OK ||
        (status = pp_path_join(pp_array_path(task->target), "__parapet/tmp", &task->staging)) != PARAPET_OK)
        return status;
    return pp_path_join(pp_array_path(task->target), "__parapet/copy", &task->state);
}

/* [collective] */
parapet_status pp_copy_task_open(pp_copy_task *task, const char *source_path, const char *target_path,
                                 bool is_in_tree)
{
    const parapet_copy_request *request = task->request;
    parapet_status status;
    task->source_store = request->source;
    task->target_store = request->target;
    task->temporary_store = request->temporary != NULL ? request->temporary : request->target;
    if ((status = parapet_array_open(&task->source, request->source, source_path)) != PARAPET_OK)
        return status;
    if ((task->is_opaque = pp_copy_objects_suit(task))) {
        pp_budget_init(&task->budget, (size_t)limit_of(task));
        return pp_comm_agree(pp_copy_task_comm(task), "preparing a copy", pp_copy_objects_check(task, is_in_tree));
    }
    return pp_comm_agree(pp_copy_task_comm(task), "preparing a copy", place_state(task, target_path, is_in_tree));
}

/* [collective] */
void pp_copy_task_close(pp_copy_task *task)
{
    pp_ranges_clear(&task->stored);
    pp_holds_release(&task->hold, 1);
    (void)parapet_array_close(&task->source);
    pp_array_free(task->target);
    pp_free(task->plan);
    pp_free(task->staging);
    pp_free(task->state);
}

int64_t pp_copy_task_bytes(const pp_copy_task *task, int passes)
{
    return (passes + (task->request->verify ? 2 : 0)) * pp_rechunk_plan_array_bytes(task->plan);
}

parapet_status pp_copy_task_tick(const pp_copy_task *task, int64_t more_bytes)
{
    const parapet_store_options *options = pp_store_options(task->target_store);
    const pp_copy_progress *progress = task->progress;
    if (progress == NULL || options->progress == NULL ||
        options->progress(options->progress_context,
                          pp_min_i64(progress->done_bytes + more_bytes, progress->total_bytes),
                          progress->total_bytes) == 0)
        return PARAPET_OK;
    return pp_fail(PARAPET_ERR_CANCELLED, "copying was cancelled by the progress callback");
}

/* [collective] Every rank lists for itself; what the one says that finds the least holds for all. */
parapet_status pp_copy_task_look(pp_copy_task *task)
{
    int64_t possible = pp_max_i64(pp_array_layout(task->source)->tiling.shards.cell_count,
                                  pp_array_layout(task->target)->tiling.shards.cell_count);
    int64_t stored = INT64_MAX;
    parapet_status status = PARAPET_OK;
    task->stored.budget = &task->budget;
    if (possible > PP_SHARDS_WALKED_MOST) {
        status = pp_array_stored_shards(task->source, &task->stored);
        stored = pp_ranges_number_count(&task->stored);
    }
    status = pp_comm_agree_least(pp_copy_task_comm(task), "listing the source", status, &stored);
    task->is_sparse = status == PARAPET_OK && pp_is_sparse(possible, stored);
    if (!task->is_sparse)
        pp_ranges_clear(&task->stored);
    return status;
}

enum { SHARDS_BETWEEN_TICKS = 256 };

static uint64_t mix(uint64_t value)
{
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

static parapet_status version_of_shard(const pp_copy_task *task, int64_t shard, uint64_t *version)
{
    pp_reader *reader = NULL;
    char *key = NULL;
    parapet_status status = pp_layout_key(pp_array_layout(task->source), pp_array_path(task->source), shard, &key);
    if (status == PARAPET_OK)
        status = pp_store_open_object(pp_store_backend(task->source_store), key, &reader);
    *version = status == PARAPET_OK ? mix(mix((uint64_t)shard + 1) ^ reader->version ^ reader->bytes) : 0;
    pp_reader_free(reader);
    pp_free(key);
    return status == PARAPET_ERR_NOT_FOUND ? PARAPET_OK : status;
}

/* [collective] A number that changes when any stored object of the source does, its document included. Each rank
 * looks at some of them. */
parapet_status pp_copy_task_version(pp_copy_task *task)
{
    pp_comm *comm = pp_copy_task_comm(task);
    int64_t shard = pp_comm_rank(comm), count = pp_array_layout(task->source)->tiling.shards.cell_count;
    const pp_copy_share share = {
        .rank = pp_comm_rank(comm), .rank_count = pp_comm_size(comm), .some = task->is_sparse ? &task->stored : NULL};
    parapet_status status = PARAPET_OK;
    int64_t sums[2] = {0, 0}; /* of halves: they neither overflow nor depend on how many ranks there are */
    uint64_t version;
    for (; status == PARAPET_OK && pp_copy_share_next(&share, count, &shard); shard += share.rank_count) {
        status = version_of_shard(task, shard, &version);
        if (status == PARAPET_OK && shard / share.rank_count % SHARDS_BETWEEN_TICKS == SHARDS_BETWEEN_TICKS - 1)
            status = pp_copy_task_tick(task, 0);
        sums[0] += (int64_t)(version & UINT32_MAX);
        sums[1] += (int64_t)(version >> 32);
    }
    status = pp_comm_agree_sums(comm, "looking at the source", status, sums, 2);
    version = mix((uint64_t)sums[0]) ^ (uint64_t)sums[1] ^ pp_load_u64le(pp_array_document_digest(task->source));
    task->source_version = (int64_t)(version >> 1);
    return status;
}
