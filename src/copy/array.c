/* array.c - the copy of one array: its plan, its passes, and what makes it visible or forgets it. */
#include <string.h>

#include "array/array.h"
#include "array/children.h"
#include "array/create.h"
#include "array/node.h"
#include "array/path.h"
#include "array/store.h"
#include "base/bytes.h"
#include "base/checked.h"
#include "comm/wait.h"
#include "copy/copy.h"
#include "rechunk/print.h"

/* What a zarr.json of ours never exceeds. */
#define DOCUMENT_BYTES_MOST ((size_t)16 << 20)

static pp_comm *comm_of(const pp_copy_task *task)
{
    return pp_store_comm(task->target_store);
}

static bool leads(const pp_copy_task *task)
{
    return pp_comm_rank(comm_of(task)) == 0;
}

/* ---- What is copied to where ---- */

static parapet_status build_target(pp_copy_task *task, const char *path, bool is_in_tree)
{
    pp_array_document document = {0};
    parapet_status status = pp_arrays_build(&task->target, task->target_store, &path, 1);
    if (status == PARAPET_OK && (status = pp_array_check_readable(task->source)) == PARAPET_OK &&
        (status = pp_copy_document(&task->request->changes, pp_array_document_of(task->source), is_in_tree,
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
        return pp_fail(PARAPET_ERR_ARGUMENT, "array \"%s\" cannot be copied to \"%s\", which it lies in", source,
                       target);
    return pp_store_check_writable(task->target_store);
}

static parapet_status place_state(pp_copy_task *task, const char *target_path, bool is_in_tree)
{
    int64_t memory = task->request->memory_bytes > 0 ? task->request->memory_bytes
                                                     : pp_store_options(task->target_store)->memory_bytes;
    parapet_status status;
    pp_budget_init(&task->budget, (size_t)memory);
    if ((status = build_target(task, target_path, is_in_tree)) != PARAPET_OK ||
        (status = check_places(task)) != PARAPET_OK ||
        (status = pp_allocate(&task->plan, sizeof *task->plan)) != PARAPET_OK)
        return status;
    return pp_path_join(pp_array_path(task->target), "__parapet/copy", &task->state);
}

/* [collective] */
static parapet_status open_task(pp_copy_task *task, const char *source_path, const char *target_path, bool is_in_tree)
{
    const parapet_copy_request *request = task->request;
    parapet_status status;
    task->source_store = request->source;
    task->target_store = request->target;
    task->temporary_store = request->temporary != NULL ? request->temporary : request->target;
    if ((status = parapet_array_open(&task->source, request->source, source_path)) != PARAPET_OK)
        return status;
    return pp_comm_agree(comm_of(task), "preparing a copy", place_state(task, target_path, is_in_tree));
}

/* [collective] */
static void close_task(pp_copy_task *task)
{
    (void)parapet_array_close(&task->source);
    pp_array_free(task->target);
    pp_free(task->plan);
    pp_free(task->state);
}

/* ---- What is left of it ---- */

static parapet_status remove_unless_job(void *context, const pp_listed *listed)
{
    const pp_copy_task *task = context;
    char *path = NULL;
    parapet_status status;
    if (strcmp(listed->name, "job") == 0)
        return PARAPET_OK;
    if ((status = pp_path_join(task->state, listed->name, &path)) == PARAPET_OK)
        status = listed->is_prefix ? pp_store_remove_prefix(pp_store_backend(task->target_store), path)
                                   : pp_store_remove(pp_store_backend(task->target_store), path);
    pp_free(path);
    return status;
}

/* The store for what lies between passes may hold arrays of its own: theirs are seals beside it. */
static parapet_status clear_between(const pp_copy_task *task)
{
    pp_store *store = pp_store_backend(task->temporary_store);
    parapet_status status;
    if (task->temporary_store == task->target_store)
        return PARAPET_OK;
    status = pp_store_remove_prefix(store, task->state);
    return status == PARAPET_OK ? pp_store_settle(store) : status;
}

/* What says that there is something to tidy up goes last. */
static parapet_status remove_state(const pp_copy_task *task)
{
    char *own = NULL;
    parapet_status status =
        pp_store_list(pp_store_backend(task->target_store), task->state, remove_unless_job, (void *)(uintptr_t)task);
    if (status != PARAPET_OK && status != PARAPET_ERR_NOT_FOUND)
        return status;
    status = pp_path_join(pp_array_path(task->target), "__parapet", &own);
    if (status == PARAPET_OK)
        status = clear_between(task);
    if (status == PARAPET_OK &&
        (status = pp_store_remove_prefix(pp_store_backend(task->target_store), own)) == PARAPET_OK)
        status = pp_store_settle(pp_store_backend(task->target_store));
    pp_free(own);
    return status;
}

/* Whether there is something below the target's path that is not of the array: an array may lie above others. */
static bool has_neighbours(const pp_copy_task *task)
{
    pp_children children = {0};
    parapet_status status = pp_children_list(&children, task->target_store, pp_array_path(task->target));
    bool has_some = status != PARAPET_OK && status != PARAPET_ERR_NOT_FOUND;
    size_t i;
    for (i = 0; i < children.count; i++)
        has_some = has_some || strcmp(children.names[i], "c") != 0;
    pp_children_clear(&children);
    return has_some;
}

static void remove_document(const pp_copy_task *task)
{
    char *key = NULL;
    if (pp_path_join(pp_array_path(task->target), "zarr.json", &key) == PARAPET_OK)
        (void)pp_store_remove(pp_store_backend(task->target_store), key);
    pp_free(key);
}

/* Whether an array that is not this copy has appeared at its place. */
static bool is_place_taken(const pp_copy_task *task)
{
    pp_text own = {0};
    char *key = NULL, *data = NULL;
    size_t bytes = 0;
    bool is_taken = false;
    if (pp_array_document_print(pp_array_document_of(task->target), &own) == PARAPET_OK && own.status == PARAPET_OK &&
        pp_path_join(pp_array_path(task->target), "zarr.json", &key) == PARAPET_OK &&
        pp_store_read_all(pp_store_backend(task->target_store), key, DOCUMENT_BYTES_MOST, &data, &bytes) ==
            PARAPET_OK)
        is_taken = bytes != own.bytes || memcmp(data, own.data, bytes) != 0;
    pp_free(key);
    pp_free(data);
    pp_text_free(&own);
    return is_taken;
}

/* Rank 0, after a failure that is not an interruption: as if nothing had been begun. Where another array has appeared
 * meanwhile, nobody can tell any more what belongs to whom, and all of it stays. */
static void forget(pp_copy_task *task)
{
    pp_failure failure = {0};
    pp_failure_take(&failure, PARAPET_ERR_INTERNAL);
    if (is_place_taken(task)) {
        (void)pp_failure_put(&failure);
        return;
    }
    remove_document(task);
    (void)pp_copy_state_drop(task);
    (void)remove_state(task);
    (void)pp_array_remove_remains(task->target, pp_array_document_of(task->target));
    if (pp_array_path(task->target)[0] != '\0' && !has_neighbours(task))
        (void)pp_store_remove_prefix(pp_store_backend(task->target_store), pp_array_path(task->target));
    (void)pp_store_settle(pp_store_backend(task->target_store));
    (void)pp_failure_put(&failure);
}

/* ---- Whether the source changed ---- */

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
static parapet_status version_source(pp_copy_task *task)
{
    pp_comm *comm = comm_of(task);
    int64_t shard, count = pp_array_layout(task->source)->tiling.shards.cell_count;
    parapet_status status = PARAPET_OK;
    int64_t sums[2] = {0, 0}; /* of halves: they neither overflow nor depend on how many ranks there are */
    uint64_t version;
    for (shard = pp_comm_rank(comm); shard < count && status == PARAPET_OK; shard += pp_comm_size(comm)) {
        status = version_of_shard(task, shard, &version);
        sums[0] += (int64_t)(version & UINT32_MAX);
        sums[1] += (int64_t)(version >> 32);
    }
    status = pp_comm_agree_sums(comm, "looking at the source", status, sums, 2);
    version = mix((uint64_t)sums[0]) ^ (uint64_t)sums[1] ^ pp_load_u64le(pp_array_document_digest(task->source));
    task->source_version = (int64_t)(version >> 1);
    return status;
}

/* ---- The plan ---- */

static parapet_status plan_copy(pp_copy_task *task, bool probes)
{
    pp_rechunk_problem problem;
    const parapet_copy_request *request = task->request;
    pp_copy_means means = {
        .memory_bytes = (int64_t)task->budget.limit_bytes,
        .unit_bytes = pp_copy_unit_bytes(request->unit_bytes, (int64_t)task->budget.limit_bytes),
        .threads = (int)pp_store_options(task->target_store)->threads,
        .ranks = pp_comm_size(comm_of(task)),
    };
    parapet_status status = pp_copy_means_force(&means, request->passes, request->reading, request->cooperation);
    if (status != PARAPET_OK)
        return status;
    means.cooperation_bytes = pp_copy_cooperation_bytes(pp_array_layout(task->source), means.ranks);
    pp_copy_problem_init(&problem, pp_array_layout(task->source), pp_array_layout(task->target), &task->view, &means);
    if (probes && (status = pp_copy_probe(task, &problem)) != PARAPET_OK)
        return status;
    return pp_rechunk_plan_build(&problem, task->plan);
}

/* What rank 0 finds out and decides, for all. */
typedef struct decision {
    pp_rechunk_plan plan;
    int first_pass;
    bool is_complete, has_holes;
} decision;

static parapet_status refuse_unfinished(const pp_copy_task *task)
{
    return pp_fail(PARAPET_ERR_EXISTS,
                   "an unfinished copy lies at \"%s\"; resume it, or set overwrite to start again",
                   pp_array_path(task->target));
}

static parapet_status is_target_there(const pp_copy_task *task, bool *is_there)
{
    pp_node node = {0};
    parapet_status status = pp_node_load(task->target_store, pp_array_path(task->target), &node);
    *is_there = status == PARAPET_OK && !node.is_implicit;
    pp_node_clear(&node);
    return status == PARAPET_ERR_NOT_FOUND ? PARAPET_OK : status;
}

/* Rank 0: takes up what is there, or makes room. */
static parapet_status take_up(pp_copy_task *task)
{
    bool exists, is_there;
    parapet_status status;
    if ((status = pp_copy_state_exists(task, &exists)) != PARAPET_OK ||
        (status = is_target_there(task, &is_there)) != PARAPET_OK)
        return status;
    if (exists && task->request->resume) {
        if (is_there && is_place_taken(task))
            return pp_fail(PARAPET_ERR_EXISTS,
                           "the copy cannot be resumed: another array has appeared at \"%s\" meanwhile",
                           pp_array_path(task->target));
        task->is_complete = is_there;
        return pp_copy_state_read(task);
    }
    if (is_there && task->request->resume && task->tree != NULL) {
        task->is_complete = task->is_noted = true;
        return pp_copy_finished_check(task->tree, pp_array_path(task->target), task->source_version);
    }
    if (exists && !is_there && !task->request->overwrite)
        return refuse_unfinished(task);
    if (exists && task->request->overwrite && (status = pp_copy_state_drop(task)) != PARAPET_OK)
        return status;
    if ((status = pp_array_make_room(task->target, pp_array_document_of(task->target), task->request->overwrite)) !=
        PARAPET_OK)
        return status;
    task->is_new = true;
    /* An earlier copy may have left something there, with journals that would be believed. */
    if ((status = clear_between(task)) != PARAPET_OK)
        return status;
    return pp_node_prepare_ancestors(task->target_store, pp_array_path(task->target));
}

/* [collective] All ranks do what rank 0 has decided. */
static parapet_status share_decision(pp_copy_task *task, parapet_status status)
{
    decision *made = NULL;
    void *data = NULL;
    size_t bytes = sizeof *made;
    if (leads(task)) {
        if (status == PARAPET_OK && (status = pp_allocate(&made, sizeof *made)) == PARAPET_OK)
            *made = (decision){.plan = *task->plan,
                               .first_pass = task->first_pass,
                               .is_complete = task->is_complete,
                               .has_holes = task->has_holes};
        data = made;
    }
    if ((status = pp_comm_share(comm_of(task), "planning", status, &data, &bytes)) == PARAPET_OK && data != NULL) {
        made = data;
        *task->plan = made->plan;
        task->first_pass = made->first_pass;
        task->is_complete = made->is_complete;
        task->has_holes = made->has_holes;
    }
    pp_free(data);
    return status;
}

/* [collective] With the machine measured, unless it shall not be. */
static parapet_status plan_measured(pp_copy_task *task)
{
    if (task->request->no_probe)
        return PARAPET_OK;
    return pp_comm_agree(comm_of(task), "planning", plan_copy(task, true));
}

/* [collective] What cannot be done is refused before anything is touched. */
static parapet_status plan_unmeasured(pp_copy_task *task)
{
    int64_t least = (int64_t)task->budget.limit_bytes;
    parapet_status status = pp_comm_agree_least(comm_of(task), "planning", PARAPET_OK, &least);
    if (status != PARAPET_OK)
        return status;
    task->budget.limit_bytes = (size_t)least;
    return pp_comm_agree(comm_of(task), "planning", plan_copy(task, false));
}

/* [collective] */
static parapet_status decide(pp_copy_task *task, bool begins)
{
    int64_t is_taken_up = 1;
    parapet_status status = plan_unmeasured(task);
    if (status != PARAPET_OK)
        return status;
    if (!begins)
        return plan_measured(task);
    status = leads(task) ? take_up(task) : PARAPET_OK;
    if (leads(task))
        is_taken_up = !task->is_new;
    if ((status = pp_comm_agree_least(comm_of(task), "planning", status, &is_taken_up)) != PARAPET_OK ||
        (!is_taken_up && (status = plan_measured(task)) != PARAPET_OK))
        return status;
    return share_decision(task, task->is_new ? pp_copy_state_write(task) : PARAPET_OK);
}

/* ---- The arrays between two passes ---- */

/* One end of a pass: an array and how to reach it. */
typedef struct copy_end {
    pp_array_document document; /* of an intermediate array: shares type and fill value with the target's */
    pp_layout layout;
    char *path;
    pp_transfer_context context;
} copy_end;

static parapet_status lay_out_between(const pp_copy_task *task, const pp_rechunk_side *side, copy_end *end)
{
    const pp_array_document *target = pp_array_document_of(task->target);
    pp_sharding_spec *sharding;
    parapet_status status = pp_allocate(&sharding, sizeof *sharding);
    if (status != PARAPET_OK)
        return status;
    sharding->ndim = target->ndim;
    memcpy(sharding->chunk_shape, side->chunk, sizeof sharding->chunk_shape);
    sharding->codecs.count = sharding->index_codecs.count = 2;
    sharding->codecs.codecs[0].id = sharding->index_codecs.codecs[0].id = PP_CODEC_BYTES;
    sharding->codecs.codecs[1].id = sharding->index_codecs.codecs[1].id = PP_CODEC_CRC32C;
    end->document = (pp_array_document){
        .zarr_format = 3,
        .ndim = target->ndim,
        .type = target->type,
        .fill_value = target->fill_value,
        .keys = {.separator = '/'},
        .codecs = {.count = 1, .codecs = {{.id = PP_CODEC_SHARDING, .sharding = sharding}}},
    };
    memcpy(end->document.shape, target->shape, sizeof target->shape);
    memcpy(end->document.grid_shape, side->shard, sizeof end->document.grid_shape);
    return pp_layout_init(&end->layout, &end->document, false);
}

static parapet_status open_between(pp_copy_task *task, int pass, copy_end *end)
{
    parapet_status status = lay_out_between(task, &task->plan->passes[pass].target, end);
    if (status != PARAPET_OK || (status = pp_copy_state_path(task, "between", pass, &end->path)) != PARAPET_OK ||
        (status = pp_array_transfer_context(task->target, &end->context)) != PARAPET_OK)
        return status;
    end->context.store = pp_store_backend(task->temporary_store);
    end->context.counters = pp_store_counters(task->temporary_store);
    end->context.path = end->path;
    end->context.layout = &end->layout;
    end->context.elides_fill = false; /* what the source has is there, so that what is lost is noticed */
    return PARAPET_OK;
}

static parapet_status open_end(pp_copy_task *task, int pass, bool is_source, copy_end *end)
{
    bool is_outer = is_source ? pass == 0 : pass == task->plan->pass_count - 1;
    parapet_status status;
    *end = (copy_end){0};
    if (is_outer)
        status = pp_array_transfer_context(is_source ? task->source : task->target, &end->context);
    else
        status = open_between(task, is_source ? pass - 1 : pass, end);
    end->context.budget = &task->budget;
    end->context.threads = (int)pp_min_i64(end->context.threads, task->plan->threads);
    return status;
}

static void close_end(copy_end *end)
{
    pp_layout_clear(&end->layout);
    pp_chain_spec_clear(&end->document.codecs);
    pp_free(end->path);
}

/* ---- Running a pass ---- */

typedef struct copy_run {
    pp_copy_task *task;
    pp_copy_job job;
    pp_copy_progress *progress;
    bool is_aborted; /* another rank has failed */
} copy_run;

static parapet_status report(void *context)
{
    copy_run *run = context;
    const parapet_store_options *options = pp_store_options(run->task->target_store);
    pp_comm *comm = comm_of(run->task);
    int64_t done = run->progress->done_bytes + atomic_load(&run->job.done_bytes) * pp_comm_size(comm);
    if (pp_comm_is_aborted(comm)) {
        run->is_aborted = true;
        return pp_fail(PARAPET_ERR_CANCELLED, "another rank has failed");
    }
    if (options->progress != NULL &&
        options->progress(options->progress_context, pp_min_i64(done, run->progress->total_bytes),
                          run->progress->total_bytes) != 0)
        return pp_fail(PARAPET_ERR_CANCELLED, "copying was cancelled by the progress callback");
    return PARAPET_OK;
}

/* [collective] Ranks work for themselves, or together; all of them know the outcome. */
static parapet_status work(copy_run *run)
{
    pp_comm *comm = comm_of(run->task);
    parapet_status status = pp_copy_pass_run(&run->job);
    if (status != PARAPET_OK && !run->is_aborted && !run->job.pass->cooperates)
        pp_comm_abort(comm);
    return pp_comm_agree(comm, "copying", run->is_aborted ? PARAPET_OK : status);
}

/* Rank 0, when all ranks are done with a pass: nobody needs what it was made from any more. */
static parapet_status leave_pass(const pp_copy_task *task, int pass)
{
    char *state = NULL, *before = NULL;
    parapet_status status;
    if ((status = pp_copy_state_finish_pass(task, pass)) != PARAPET_OK ||
        (status = pp_copy_state_path(task, "pass", pass, &state)) != PARAPET_OK)
        goto done;
    if ((status = pp_store_remove_prefix(pp_store_backend(task->target_store), state)) != PARAPET_OK || pass == 0 ||
        (status = pp_copy_state_path(task, "between", pass - 1, &before)) != PARAPET_OK)
        goto done;
    status = pp_store_remove_prefix(pp_store_backend(task->temporary_store), before);
done:
    pp_free(state);
    pp_free(before);
    return status;
}

/* [collective] Whether some chunk of the source is not stored: then absence has to be looked up when the last pass
 * writes. What an earlier run has read is not known. */
static parapet_status look_for_holes(copy_run *run, int64_t missing)
{
    int64_t holes = missing + run->job.done.templates_resumed;
    parapet_status status = pp_comm_agree_sums(comm_of(run->task), "copying", PARAPET_OK, &holes, 1);
    run->task->has_holes = holes > 0;
    return status;
}

/* How absence is looked up in the last of several passes: through the source itself. */
static parapet_status open_origin(pp_copy_task *task, copy_end *end, pp_copy_job *origin)
{
    parapet_status status = open_end(task, 0, true, end);
    *origin = (pp_copy_job){
        .source = &end->context, .target = &end->context, .view = &task->view, .pass = &task->plan->passes[0]};
    return status;
}

static parapet_status prepare_pass(copy_run *run, int pass, copy_end *ends, pp_copy_view *whole, pp_copy_job *origin)
{
    pp_copy_task *task = run->task;
    bool needs_origin = pass > 0 && pass == task->plan->pass_count - 1 && task->has_holes;
    parapet_status status;
    if ((status = open_end(task, pass, true, &ends[0])) != PARAPET_OK ||
        (status = open_end(task, pass, false, &ends[1])) != PARAPET_OK ||
        (needs_origin && (status = open_origin(task, &ends[2], origin)) != PARAPET_OK))
        return status;
    pp_copy_view_init(whole, task->view.ndim, task->view.shape);
    run->job.source = &ends[0].context;
    run->job.target = &ends[1].context;
    run->job.view = pass == 0 ? &task->view : whole;
    run->job.is_source_whole = pass > 0;
    run->job.is_target_whole = pass < task->plan->pass_count - 1;
    run->job.origin = needs_origin ? origin : NULL;
    return pp_copy_state_path(task, "pass", pass, (char **)(uintptr_t)&run->job.state);
}

static parapet_status run_pass(pp_copy_task *task, int pass, pp_copy_progress *progress, pp_copy_totals *totals)
{
    parapet_store *reads = pass == 0 ? task->source_store : task->temporary_store;
    pp_team team = pp_store_team(reads, PP_READING);
    copy_run run = {.task = task, .progress = progress};
    copy_end ends[3] = {{.path = NULL}, {.path = NULL}, {.path = NULL}};
    pp_copy_view whole;
    pp_copy_job origin;
    int64_t missing = atomic_load(&pp_store_counters(reads)->chunks_missing);
    parapet_status status;
    team.fragment_bytes = PP_COPY_MESSAGE_BYTES;
    run.job = (pp_copy_job){
        .pass = &task->plan->passes[pass],
        .team = &team,
        .rank = pp_comm_rank(comm_of(task)),
        .rank_count = pp_comm_size(comm_of(task)),
        .tick = report,
        .tick_context = &run,
    };
    status = pp_comm_agree(comm_of(task), "preparing a pass", prepare_pass(&run, pass, ends, &whole, &origin));
    if (status == PARAPET_OK)
        status = work(&run);
    pp_rechunk_counts_add(&totals->done, &run.job.done);
    if (status == PARAPET_OK && pass == 0)
        status = look_for_holes(&run, atomic_load(&pp_store_counters(reads)->chunks_missing) - missing);
    if (status == PARAPET_OK)
        status = pp_comm_agree(comm_of(task), "ending a pass", leads(task) ? leave_pass(task, pass) : PARAPET_OK);
    progress->done_bytes += pp_rechunk_plan_array_bytes(task->plan);
    pp_free((char *)(uintptr_t)run.job.state);
    close_end(&ends[0]);
    close_end(&ends[1]);
    close_end(&ends[2]);
    return status;
}

/* ---- The end ---- */

/* The document makes the array visible; what was needed to make it goes afterwards. */
static parapet_status complete(pp_copy_task *task)
{
    pp_text text = {0};
    parapet_status status = pp_array_document_print(pp_array_document_of(task->target), &text);
    if (status == PARAPET_OK)
        status = text.status;
    if (status == PARAPET_OK && !task->is_complete)
        status = pp_node_write(task->target_store, pp_array_path(task->target), PARAPET_NODE_ARRAY, text.data,
                               text.bytes, PP_PUBLISH_EXCLUSIVE);
    pp_text_free(&text);
    if (status != PARAPET_OK)
        return status;
    task->is_complete = true;
    if (task->tree != NULL && !task->is_noted)
        status = pp_copy_finished_note(task->tree, pp_array_path(task->target), task->source_version);
    return status == PARAPET_OK ? remove_state(task) : status;
}

/* [collective] */
static parapet_status run_passes(pp_copy_task *task, pp_copy_progress *progress, pp_copy_totals *totals)
{
    parapet_status status = PARAPET_OK;
    int pass;
    progress->done_bytes += task->first_pass * pp_rechunk_plan_array_bytes(task->plan);
    for (pass = task->first_pass; pass < task->plan->pass_count && status == PARAPET_OK && !task->is_complete; pass++)
        status = run_pass(task, pass, progress, totals);
    if (status == PARAPET_OK)
        status = pp_comm_agree(comm_of(task), "making the copy visible", leads(task) ? complete(task) : PARAPET_OK);
    /* A copy that can be seen is whole: whatever else fails, resuming it tidies up. */
    if (status != PARAPET_OK && status != PARAPET_ERR_CANCELLED && leads(task) && !task->is_complete)
        forget(task);
    return status;
}

static void note_array(const pp_copy_task *task, pp_copy_totals *totals)
{
    totals->arrays += 1;
    totals->passes = pp_max_i64(totals->passes, task->plan->pass_count);
    totals->array_bytes += pp_rechunk_plan_array_bytes(task->plan);
    totals->planned_seconds += task->plan->seconds;
    totals->memory_planned_bytes = pp_max_i64(totals->memory_planned_bytes, task->plan->memory_bytes);
    totals->memory_peak_bytes = pp_max_i64(totals->memory_peak_bytes, (int64_t)pp_budget_peak(&task->budget));
}

parapet_status pp_copy_array(const parapet_copy_request *request, const char *source_path, const char *target_path,
                             pp_copy_finished *tree, pp_copy_progress *progress, pp_copy_totals *totals)
{
    pp_copy_task task = {.request = request, .tree = tree};
    double start;
    parapet_status status = open_task(&task, source_path, target_path, tree != NULL);
    if (status == PARAPET_OK && (status = version_source(&task)) == PARAPET_OK &&
        (status = decide(&task, true)) == PARAPET_OK) {
        progress->total_bytes =
            pp_max_i64(progress->total_bytes,
                       progress->done_bytes + task.plan->pass_count * pp_rechunk_plan_array_bytes(task.plan));
        start = pp_clock_seconds();
        status = run_passes(&task, progress, totals);
        totals->seconds += pp_clock_seconds() - start;
        note_array(&task, totals);
    } else if (task.is_new) {
        forget(&task);
    }
    if (status == PARAPET_OK && request->verify)
        status = pp_copy_verify(&task, &totals->verified_bytes);
    if (task.source != NULL)
        close_task(&task);
    return status == PARAPET_OK ? status : pp_fail_within(status, "cannot copy array \"%s\"", source_path);
}

parapet_status pp_copy_array_explain(const parapet_copy_request *request, const char *source_path,
                                     const char *target_path, bool is_in_tree, int as_json, pp_text *text, char **svg)
{
    pp_copy_task task = {.request = request};
    pp_text drawing = {0};
    parapet_status status = open_task(&task, source_path, target_path, is_in_tree);
    if (status == PARAPET_OK && (status = decide(&task, false)) == PARAPET_OK) {
        const pp_copy_planned planned = {pp_array_document_of(task.source), pp_array_document_of(task.target),
                                         &task.view, task.plan};
        status = pp_copy_planned_print(&planned, as_json != 0, text);
        if (status == PARAPET_OK && svg != NULL && *svg == NULL &&
            (status = pp_copy_planned_draw(&planned, &drawing)) == PARAPET_OK)
            status = pp_text_finish(&drawing, svg);
        pp_text_free(&drawing);
        status = pp_comm_agree(comm_of(&task), "explaining", status);
    }
    if (task.source != NULL)
        close_task(&task);
    return status == PARAPET_OK ? status : pp_fail_within(status, "cannot copy array \"%s\"", source_path);
}

parapet_status pp_copy_array_survey(const parapet_copy_request *request, const char *source_path,
                                    const char *target_path, bool *is_touched, int64_t *bytes)
{
    pp_copy_task task = {.request = request};
    pp_copy_wishes wishes;
    parapet_status status = open_task(&task, source_path, target_path, true);
    if (status == PARAPET_OK && (status = plan_unmeasured(&task)) == PARAPET_OK)
        status =
            pp_comm_agree(comm_of(&task), "planning",
                          pp_copy_changes_parse(&wishes, &request->changes, pp_array_document_of(task.source), true));
    if (status == PARAPET_OK) {
        *is_touched = wishes.is_touched;
        *bytes = pp_rechunk_plan_array_bytes(task.plan);
    }
    if (task.source != NULL)
        close_task(&task);
    return status == PARAPET_OK ? status : pp_fail_within(status, "cannot copy array \"%s\"", source_path);
}
