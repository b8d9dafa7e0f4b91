/* array_copy.c - the copy of one array: its passes, and what makes it visible.
 *
 *     no copy --pp_copy_decide: `job`--> begun --run_pass, leave_pass: `finished-<k>`--> begun, the next pass
 *     begun --complete, after the last pass: pp_copy_replace_run, publish_document--> visible
 *     visible --complete: pp_copy_cleanup_tidy--> the array alone
 *     begun --a failure that is no interruption: pp_copy_cleanup_forget--> no copy
 *     begun, visible --a kill or an interruption--> as it is; --resume goes on
 *
 * Invariants:
 *
 *  1. zarr.json is written last. Until then other programs see no array, or with overwrite the old one.
 *  2. A pass is recorded as finished, durably, before anything is removed that it was made from (leave_pass).
 *  3. Nothing is made visible whose source has changed meanwhile (look_at_source).
 *  4. The target is held alone from pp_copy_decide on, and this is proved before zarr.json is published.
 *  5. Ranks meet only where a pass begins and ends. In between one that fails aborts the others (work, report).
 *
 * docs/guide/copying.md, "Interrupt and resume"; docs/design/copy.md, "The life of a copy". Several passes
 * through an array on disk are those of Krishnamoorthy et al. (docs/design/papers.md, 1). */
#include "copy/array_copy.h"

#include "array/ancestors.h"
#include "array/array.h"
#include "array/node.h"
#include "array/refresh.h"
#include "array/store_queries.h"
#include "base/checked.h"
#include "base/clock.h"
#include "codec/crc32c.h"
#include "copy/changes.h"
#include "copy/cleanup.h"
#include "copy/decision.h"
#include "copy/job_state.h"
#include "copy/pass_ends.h"
#include "copy/plan_text.h"
#include "copy/problem.h"
#include "copy/progress.h"
#include "copy/replace.h"
#include "copy/source_version.h"
#include "copy/task.h"
#include "copy/tree_log.h"
#include "copy/unit_stealing.h"
#include "copy/verbatim.h"
#include "copy/verify_copy.h"
#include "rechunk/plan_print.h"

/* ---- Running a pass ---- */

typedef struct copy_run {
    pp_copy_task *task;
    pp_copy_job job;
    pp_unit_stealing dealing; /* unless the pass cooperates */
    int64_t told_bytes;       /* the most that was reported of this pass */
    bool is_aborted;          /* another rank has failed */
} copy_run;

/* What all ranks have done of a pass, as far as this one knows. It takes ranks that work alone to be as far as
 * itself, because they even out who has how much. The whole pass is reported only when all ranks are done; a
 * single rank knows that by itself. */
static int64_t estimate_done(const copy_run *run)
{
    int64_t bytes = pp_rechunk_plan_array_bytes(run->task->plan);
    int64_t done = run->job.all_done_bytes;
    if (run->job.rank_count == 1)
        return pp_min_i64(atomic_load(&run->job.done_bytes), bytes);
    if (run->job.dealing != NULL)
        done = (int64_t)((double)bytes * pp_unit_stealing_part(run->job.dealing));
    return pp_max_i64(0, pp_min_i64(done, bytes - 1));
}

static parapet_status report(void *context)
{
    copy_run *run = context;
    if (pp_comm_is_aborted(pp_copy_task_comm(run->task))) {
        run->is_aborted = true;
        return pp_fail(PARAPET_ERR_CANCELLED, "another rank has failed");
    }
    run->told_bytes = pp_max_i64(run->told_bytes, estimate_done(run));
    return pp_copy_task_tick(run->task, run->told_bytes);
}

/* [collective] Ranks work for themselves, or together; all of them know the outcome. */
static parapet_status work(copy_run *run)
{
    pp_comm *comm = pp_copy_task_comm(run->task);
    parapet_status status = pp_copy_pass_run(&run->job);
    if (run->job.dealing == NULL)
        return pp_comm_agree(comm, "copying", run->is_aborted ? PARAPET_OK : status);
    if (status != PARAPET_OK && !run->is_aborted)
        pp_comm_abort(comm);
    return pp_unit_stealing_agree(run->job.dealing, "copying", run->is_aborted ? PARAPET_OK : status);
}

/* Rank 0, when all ranks are done with a pass: no rank needs what it was made from any more. */
static parapet_status leave_pass(const pp_copy_task *task, int pass)
{
    char *state = NULL, *before = NULL;
    parapet_status status;
    if ((status = pp_copy_state_finish_pass(task, pass)) != PARAPET_OK ||
        (status = pp_copy_state_path(task, PP_OWN_COPY_PASS, pass, &state)) != PARAPET_OK)
        goto done;
    /* Only now that the pass is recorded as finished: a copy that is resumed would otherwise do it again, without
     * what it was made from. */
    if ((status = pp_store_remove_prefix(pp_store_backend(task->target_store), state)) != PARAPET_OK || pass == 0 ||
        (status = pp_copy_state_path(task, PP_OWN_COPY_BETWEEN, pass - 1, &before)) != PARAPET_OK)
        goto done;
    status = pp_store_remove_prefix(pp_store_backend(task->temporary_store), before);
done:
    pp_free(state);
    pp_free(before);
    return status;
}

/* [collective] All ranks have done everything; one rank alone has said so. */
static parapet_status end_pass(const copy_run *run, int pass)
{
    const pp_copy_task *task = run->task;
    int64_t bytes = pp_rechunk_plan_array_bytes(task->plan);
    parapet_status status = run->told_bytes < bytes ? pp_copy_task_tick(task, bytes) : PARAPET_OK;
    if (status == PARAPET_OK && pp_copy_task_leads(task))
        status = leave_pass(task, pass);
    return pp_comm_agree(pp_copy_task_comm(task), "ending a pass", status);
}

/* [collective] Whether some chunk of the source is not stored: then absence has to be looked up when the last pass
 * writes. What an earlier run has read is not known. */
static parapet_status look_for_holes(copy_run *run, int64_t missing)
{
    int64_t holes = missing + run->job.done.templates_resumed;
    parapet_status status = pp_comm_agree_sums(pp_copy_task_comm(run->task), "copying", PARAPET_OK, &holes, 1);
    run->task->has_holes = holes > 0;
    return status;
}

/* How absence is looked up in the last of several passes: through the source itself. */
static parapet_status open_origin(pp_copy_task *task, pp_copy_end *end, pp_copy_job *origin)
{
    parapet_status status = pp_copy_end_open(task, 0, true, end);
    *origin = (pp_copy_job){
        .source = &end->context, .target = &end->context, .view = &task->view, .pass = &task->plan->passes[0]};
    return status;
}

static parapet_status prepare_pass(copy_run *run, int pass, pp_copy_end *ends, pp_copy_view *whole,
                                   pp_copy_job *origin)
{
    pp_copy_task *task = run->task;
    bool needs_origin = pass > 0 && pass == task->plan->pass_count - 1 && task->has_holes;
    parapet_status status;
    if ((status = pp_copy_end_open(task, pass, true, &ends[0])) != PARAPET_OK ||
        (status = pp_copy_end_open(task, pass, false, &ends[1])) != PARAPET_OK ||
        (needs_origin && (status = open_origin(task, &ends[2], origin)) != PARAPET_OK))
        return status;
    pp_copy_view_init(whole, task->view.ndim, task->view.shape);
    run->job.source = &ends[0].context;
    run->job.target = &ends[1].context;
    run->job.view = pass == 0 ? &task->view : whole;
    run->job.is_source_whole = pass > 0;
    run->job.is_target_whole = pass < task->plan->pass_count - 1;
    run->job.origin = needs_origin ? origin : NULL;
    status = pp_copy_state_path(task, PP_OWN_COPY_PASS, pass, (char **)(uintptr_t)&run->job.state);
    if (status != PARAPET_OK || run->job.pass->cooperates)
        return status;
    run->job.dealing = &run->dealing;
    return pp_unit_stealing_open(&run->dealing, &run->job, pp_copy_task_comm(task));
}

static parapet_status run_pass(pp_copy_task *task, int pass, pp_copy_progress *progress, pp_copy_totals *totals)
{
    parapet_store *reads = pass == 0 ? task->source_store : task->temporary_store;
    pp_team team = pp_store_team(reads, PP_READING);
    copy_run run = {.task = task};
    pp_copy_end ends[3] = {{.path = NULL}, {.path = NULL}, {.path = NULL}};
    pp_copy_view whole;
    pp_copy_job origin;
    int64_t missing = atomic_load(&pp_store_counters(reads)->chunks_missing);
    parapet_status status;
    team.fragment_bytes = PP_COPY_MESSAGE_BYTES;
    run.job = (pp_copy_job){
        .stored = task->is_sparse ? &task->stored : NULL,
        .pass = &task->plan->passes[pass],
        .team = &team,
        .rank = pp_comm_rank(pp_copy_task_comm(task)),
        .rank_count = pp_comm_size(pp_copy_task_comm(task)),
        .tick = report,
        .tick_context = &run,
    };
    status =
        pp_comm_agree(pp_copy_task_comm(task), "preparing a pass", prepare_pass(&run, pass, ends, &whole, &origin));
    if (status == PARAPET_OK)
        status = work(&run);
    pp_rechunk_counts_add(&totals->done, &run.job.done);
    if (status == PARAPET_OK && pass == 0)
        status = look_for_holes(&run, atomic_load(&pp_store_counters(reads)->chunks_missing) - missing);
    if (status == PARAPET_OK)
        status = end_pass(&run, pass);
    progress->done_bytes += pp_rechunk_plan_array_bytes(task->plan);
    pp_unit_stealing_close(&run.dealing);
    pp_free((char *)(uintptr_t)run.job.state);
    pp_copy_end_close(&ends[0]);
    pp_copy_end_close(&ends[1]);
    pp_copy_end_close(&ends[2]);
    return status;
}

/* ---- The end ---- */

/* Groups above may have been consolidated or removed meanwhile by another job. */
static parapet_status publish_held(pp_copy_task *task, const pp_edit *edit, const pp_text *text)
{
    const char *path = pp_array_path(task->target);
    char incarnation[PP_INCARNATION_BYTES];
    parapet_status status;
    if ((status = pp_ancestors_prepare(task->target_store, path)) != PARAPET_OK ||
        (status = pp_node_lock_renew_incarnation(&task->hold, incarnation)) != PARAPET_OK ||
        (status = pp_node_lock_prove(&task->hold)) != PARAPET_OK || (status = pp_edit_prove(edit)) != PARAPET_OK)
        return status;
    return pp_node_write(task->target_store, path, PARAPET_NODE_ARRAY, text->data, text->bytes, PP_PUBLISH_EXCLUSIVE);
}

static parapet_status publish_document(pp_copy_task *task)
{
    pp_text text = {0};
    pp_edit edit = {0};
    parapet_status status = pp_copy_task_document(task, &text);
    if (status == PARAPET_OK &&
        (status = pp_edit_begin(&edit, task->target_store, pp_array_path(task->target))) == PARAPET_OK)
        status = publish_held(task, &edit, &text);
    pp_edit_end(&edit);
    pp_text_free(&text);
    return status;
}

/* The document makes the array visible; what was needed to make it goes afterwards. */
static parapet_status complete(pp_copy_task *task)
{
    parapet_status status = task->is_complete ? PARAPET_OK : pp_node_lock_prove(&task->hold);
    if (status == PARAPET_OK && !task->is_complete && task->replaces)
        status = pp_copy_replace_run(task);
    if (status == PARAPET_OK && !task->is_complete)
        status = publish_document(task);
    if (status != PARAPET_OK)
        return status;
    task->is_complete = true;
    if (task->tree != NULL && !task->is_noted)
        status = pp_copy_tree_log_note(task->tree, pp_array_path(task->target), task->source_version);
    /* An array that an earlier run has finished has nothing left of the copy, and perhaps a seal since. */
    return status == PARAPET_OK && !task->is_noted ? pp_copy_cleanup_tidy(task) : status;
}

/* [collective] Looks whether another job has changed the source meanwhile. Then the copy may have parts of both
 * versions, and a failure may have come from the change. */
static parapet_status look_at_source(const pp_copy_task *task, parapet_status status)
{
    pp_failure failure = {0};
    pp_comm *comm = pp_copy_task_comm(task);
    if (pp_comm_is_lost(comm) || !pp_array_is_worth_looking(status))
        return status;
    pp_failure_take(&failure, status);
    if (pp_copy_task_leads(task))
        status = status == PARAPET_OK ? pp_array_check_fresh(task->source) : pp_array_check_damage(task->source);
    else
        status = PARAPET_OK;
    status = pp_comm_agree(comm, "looking again", status);
    return status == PARAPET_OK ? pp_failure_put(&failure) : status;
}

/* [collective] */
static parapet_status run_passes(pp_copy_task *task, pp_copy_progress *progress, pp_copy_totals *totals)
{
    parapet_status status = PARAPET_OK;
    int pass;
    progress->done_bytes +=
        (task->is_complete ? task->plan->pass_count : task->first_pass) * pp_rechunk_plan_array_bytes(task->plan);
    for (pass = task->first_pass; pass < task->plan->pass_count && status == PARAPET_OK && !task->is_complete; pass++)
        status = run_pass(task, pass, progress, totals);
    if (task->is_verbatim && !task->is_complete)
        status = pp_copy_verbatim(task, totals);
    if ((status = look_at_source(task, status)) == PARAPET_OK)
        status = pp_comm_agree(pp_copy_task_comm(task), "making the copy visible",
                               pp_copy_task_leads(task) ? complete(task) : PARAPET_OK);
    /* A copy that can be seen is whole: whatever else fails, resuming it tidies up. What was taken up and turns out
     * to be damaged stays: its owner shall see it. */
    if (status != PARAPET_OK && status != PARAPET_ERR_CANCELLED && pp_copy_task_leads(task) && !task->is_complete &&
        (task->is_new || status != PARAPET_ERR_CORRUPT))
        pp_copy_cleanup_forget(task);
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

/* [collective] */
static parapet_status verify(pp_copy_task *task, pp_copy_progress *progress, pp_copy_totals *totals)
{
    parapet_status status = task->is_verbatim ? pp_copy_verbatim_verify(task, &totals->verified_bytes)
                                              : pp_copy_verify(task, &totals->verified_bytes);
    progress->done_bytes += pp_copy_task_bytes(task, 0);
    return status == PARAPET_ERR_CANCELLED
               ? pp_fail_within(status, "the copy is complete, but not verified; parapet diff compares it")
               : status;
}

/* [collective] The first progress report already has the amount of work: until there is a plan, as if there
 * were one pass, which is also what the survey of a hierarchy assumes. */
static parapet_status prepare(pp_copy_task *task, pp_copy_progress *progress)
{
    parapet_status status;
    if ((status = pp_copy_task_look(task)) != PARAPET_OK || (status = pp_copy_task_plan(task)) != PARAPET_OK)
        return status;
    if (task->tree == NULL)
        progress->total_bytes += pp_copy_task_bytes(task, 1);
    if ((status = pp_copy_task_version(task)) != PARAPET_OK || (status = pp_copy_decide(task, true)) != PARAPET_OK)
        return status;
    progress->total_bytes += pp_copy_task_bytes(task, task->plan->pass_count) - pp_copy_task_bytes(task, 1);
    return PARAPET_OK;
}

static uint32_t shape_of(const parapet_array *array)
{
    const pp_array_document *document = pp_array_document_of(array);
    return pp_crc32c(0, document->shape, (size_t)document->ndim * sizeof document->shape[0]);
}

parapet_status pp_copy_array(const parapet_copy_request *request, const char *source_path, const char *target_path,
                             pp_copy_tree_log *tree, pp_copy_progress *progress, pp_copy_totals *totals)
{
    pp_copy_task task = {.request = request, .tree = tree, .progress = progress};
    double start;
    parapet_status status = pp_copy_task_open(&task, source_path, target_path, tree != NULL);
    if (status == PARAPET_OK && (status = prepare(&task, progress)) == PARAPET_OK) {
        start = pp_clock_seconds();
        status = run_passes(&task, progress, totals);
        totals->seconds += pp_clock_seconds() - start;
        note_array(&task, totals);
    } else if (task.is_new) {
        pp_copy_cleanup_forget(&task);
    }
    if (status == PARAPET_OK && request->verify)
        status = verify(&task, progress, totals);
    if (status == PARAPET_OK)
        totals->shape = shape_of(task.source);
    if (task.source != NULL)
        pp_copy_task_close(&task);
    return status == PARAPET_OK ? status : pp_fail_within(status, "cannot copy array \"%s\"", source_path);
}

parapet_status pp_copy_array_explain(const parapet_copy_request *request, const char *source_path,
                                     const char *target_path, bool is_in_tree, int as_json, pp_text *text, char **svg)
{
    pp_copy_task task = {.request = request};
    pp_text drawing = {0};
    parapet_status status = pp_copy_task_open(&task, source_path, target_path, is_in_tree);
    if (status == PARAPET_OK && task.is_verbatim) {
        status = pp_copy_verbatim_explain(&task, as_json != 0, text);
    } else if (status == PARAPET_OK && (status = pp_copy_task_look(&task)) == PARAPET_OK &&
               (status = pp_copy_task_plan(&task)) == PARAPET_OK &&
               (status = pp_copy_decide(&task, false)) == PARAPET_OK) {
        const pp_copy_planned planned = {pp_array_document_of(task.source), pp_array_document_of(task.target),
                                         &task.view, task.plan};
        status = pp_copy_planned_print(&planned, as_json != 0, text);
        if (status == PARAPET_OK && svg != NULL && *svg == NULL &&
            (status = pp_copy_planned_draw(&planned, &drawing)) == PARAPET_OK)
            status = pp_text_finish(&drawing, svg);
        pp_text_free(&drawing);
        status = pp_comm_agree(pp_copy_task_comm(&task), "explaining", status);
    }
    if (task.source != NULL)
        pp_copy_task_close(&task);
    return status == PARAPET_OK ? status : pp_fail_within(status, "cannot copy array \"%s\"", source_path);
}

parapet_status pp_copy_array_survey(const parapet_copy_request *request, const char *source_path,
                                    const char *target_path, pp_copy_surveyed *surveyed)
{
    pp_copy_task task = {.request = request};
    pp_copy_wishes wishes;
    parapet_status status = pp_copy_task_open(&task, source_path, target_path, true);
    bool is_planned = status == PARAPET_OK && !task.is_verbatim && (status = pp_copy_task_plan(&task)) == PARAPET_OK;
    if (is_planned) {
        const pp_array_document *source = pp_array_document_of(task.source);
        const parapet_copy_changes changes = pp_copy_changes_for(&request->changes, source, source_path, true);
        status = pp_comm_agree(pp_copy_task_comm(&task), "planning",
                               pp_copy_changes_parse(&wishes, &changes, source, true));
    }
    *surveyed = (pp_copy_surveyed){0};
    if (status == PARAPET_OK && is_planned)
        *surveyed = (pp_copy_surveyed){.is_touched = wishes.is_touched, .bytes = pp_copy_task_bytes(&task, 1)};
    if (status == PARAPET_OK)
        surveyed->shape = shape_of(task.source);
    if (task.source != NULL)
        pp_copy_task_close(&task);
    return status == PARAPET_OK ? status : pp_fail_within(status, "cannot copy array \"%s\"", source_path);
}
