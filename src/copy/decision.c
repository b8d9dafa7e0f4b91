/* decision.c - how an array is copied: planned anew, or taken up from a run before; rank 0 decides for all. */
#include "copy/decision.h"

#include <parapet_store.h>

#include "array/ancestors.h"
#include "array/array.h"
#include "array/create.h"
#include "array/node.h"
#include "array/store_queries.h"
#include "base/status.h"
#include "change/registry.h"
#include "copy/cleanup.h"
#include "copy/inputs.h"
#include "copy/job_state.h"
#include "copy/probe.h"
#include "copy/problem.h"
#include "copy/replace.h"
#include "copy/task.h"
#include "copy/tree_log.h"
#include "copy/verbatim.h"
#include "rechunk/plan_print.h"

#define MEASURED_LEAST_BYTES (INT64_C(128) << 20) /* of an array in a hierarchy */

static parapet_status refuse_sparse(const pp_copy_task *task, const char *what)
{
    return pp_fail(PARAPET_ERR_ARGUMENT,
                   "only %lld of the %lld shards of the source are stored: such an array is copied in one pass, and "
                   "every rank reads alone, but the request asks for %s; leave that to be chosen",
                   (long long)pp_ranges_number_count(&task->stored),
                   (long long)pp_array_layout(task->source)->tiling.shards.cell_count, what);
}

/* A sparse source is read by every rank for itself, where it is stored, and in one pass: what lies between two is
 * stored whole. Lists of what is stored take their part of the memory: of its shards, and as much each for work
 * units, target chunks and verifying. */
static parapet_status choose_sparse_inputs(pp_copy_task *task)
{
    size_t lists = 4 * pp_budget_used(&task->budget), enough = 2 * lists + ((size_t)64 << 20);
    if (task->inputs.cooperation == PARAPET_COOPERATION_TOGETHER)
        return refuse_sparse(task, "cooperation");
    if (task->inputs.passes > 1)
        return refuse_sparse(task, "more than one pass");
    if (lists >= task->budget.limit_bytes)
        return pp_refuse_memory(
            enough,
            "the lists of shards that the source has stored take up to %zu bytes, but the limit is %zu; set "
            "memory_bytes to at least %zu",
            lists, task->budget.limit_bytes, enough);
    task->inputs.cooperation = PARAPET_COOPERATION_ALONE;
    task->inputs.passes = 1;
    task->inputs.memory_bytes -= (int64_t)lists;
    return PARAPET_OK;
}

static parapet_status choose_inputs(pp_copy_task *task)
{
    const parapet_copy_request *request = task->request;
    task->inputs = (pp_copy_inputs){
        .memory_bytes = (int64_t)task->budget.limit_bytes,
        .unit_bytes = pp_copy_unit_bytes(request->unit_bytes, (int64_t)task->budget.limit_bytes),
        .threads = pp_store_options(task->target_store)->threads,
        .ranks = pp_comm_size(pp_copy_task_comm(task)),
        .passes = request->passes,
        .reading = request->reading,
        .cooperation = request->cooperation,
    };
    return task->is_sparse ? choose_sparse_inputs(task) : PARAPET_OK;
}

static parapet_status plan_copy(pp_copy_task *task, bool probes)
{
    pp_rechunk_problem problem;
    parapet_status status = choose_inputs(task);
    if (status != PARAPET_OK)
        return status;
    if (probes) {
        pp_copy_inputs_problem(&task->inputs, task, &problem);
        if ((status = pp_copy_probe(task, &problem)) != PARAPET_OK)
            return status;
        pp_copy_inputs_measured(&task->inputs, &problem);
    }
    return pp_copy_inputs_plan(&task->inputs, task, task->plan);
}

/* What rank 0 finds out and decides, for all. */
typedef struct decision {
    pp_rechunk_plan plan;
    int first_pass;
    bool is_complete, has_holes, replaces;
} decision;

static parapet_status refuse_unfinished(const pp_copy_task *task)
{
    return pp_fail(PARAPET_ERR_EXISTS,
                   "there is an unfinished copy at \"%s\"; resume it, or set overwrite to start again",
                   pp_array_path(task->target));
}

/* And whether it is there to be replaced by this copy, which is resumed. */
static parapet_status is_target_there(pp_copy_task *task, bool *is_there)
{
    pp_node node = {0};
    parapet_status status = pp_node_load(task->target_store, pp_array_path(task->target), &node);
    *is_there = status == PARAPET_OK && !node.is_implicit;
    task->overwrites = task->request->overwrite != 0;
    if (*is_there && task->request->resume && task->tree != NULL)
        task->overwrites = pp_copy_tree_log_is_old(task->tree, pp_array_path(task->target), node.digest,
                                                   task->request->overwrite != 0);
    pp_node_clear(&node);
    return pp_accept_absence(status);
}

static parapet_status prepare_ancestors(const pp_copy_task *task)
{
    const char *path = pp_array_path(task->target);
    pp_edit edit;
    parapet_status status = pp_edit_begin(&edit, task->target_store, path);
    if (status != PARAPET_OK)
        return status;
    status = pp_ancestors_prepare(task->target_store, path);
    pp_edit_end(&edit);
    return status;
}

static parapet_status resume(pp_copy_task *task, bool is_there)
{
    bool is_old = false;
    parapet_status status = pp_copy_replace_read(task, &is_old);
    if (status != PARAPET_OK)
        return status;
    if (is_there && !is_old && pp_copy_cleanup_is_foreign(task))
        return pp_fail(PARAPET_ERR_EXISTS, "the copy cannot be resumed: another array has since appeared at \"%s\"",
                       pp_array_path(task->target));
    task->is_complete = is_there && !is_old;
    return pp_copy_state_read(task);
}

/* An array that is there stays until the copy is complete; where there is none, what is left of one goes. */
static parapet_status make_room(pp_copy_task *task, bool is_there)
{
    parapet_status status;
    if (!is_there)
        return pp_array_make_room(task->target, pp_array_document_of(task->target), task->overwrites);
    if ((status = pp_array_check_replaceable(task->target, task->overwrites)) != PARAPET_OK ||
        (status = pp_node_drop_copy(task->target_store, pp_array_path(task->target))) != PARAPET_OK)
        return status;
    return pp_copy_replace_begin(task);
}

/* Rank 0: takes up what is there, or makes room. */
static parapet_status take_up(pp_copy_task *task)
{
    bool exists, is_there;
    parapet_status status;
    if ((status = pp_node_has_own(task->target_store, pp_array_path(task->target), PP_OWN_COPY_JOB, &exists)) !=
            PARAPET_OK ||
        (status = is_target_there(task, &is_there)) != PARAPET_OK)
        return status;
    if (exists && task->request->resume)
        return resume(task, is_there);
    if (is_there && task->request->resume && task->tree != NULL && !task->overwrites) {
        task->is_complete = task->is_noted = true;
        return pp_copy_tree_log_check(task->tree, pp_array_path(task->target), task->source_version);
    }
    if (exists && !is_there && !task->request->overwrite)
        return refuse_unfinished(task);
    if ((status = make_room(task, is_there)) != PARAPET_OK)
        return status;
    task->is_new = true;
    /* An earlier copy may have left something there, with journals that would be believed. */
    if ((status = pp_copy_cleanup_clear_between(task)) != PARAPET_OK)
        return status;
    return prepare_ancestors(task);
}

/* [collective] All ranks do what rank 0 has decided. */
static parapet_status share_decision(pp_copy_task *task, parapet_status status)
{
    decision *made = NULL;
    void *data = NULL;
    size_t bytes = sizeof *made;
    if (pp_copy_task_leads(task)) {
        if (status == PARAPET_OK && (status = pp_allocate(&made, sizeof *made)) == PARAPET_OK)
            *made = (decision){.plan = *task->plan,
                               .first_pass = task->first_pass,
                               .is_complete = task->is_complete,
                               .replaces = task->replaces,
                               .has_holes = task->has_holes};
        data = made;
    }
    if ((status = pp_comm_share(pp_copy_task_comm(task), "planning", status, &data, &bytes)) == PARAPET_OK &&
        data != NULL) {
        made = data;
        *task->plan = made->plan;
        task->first_pass = made->first_pass;
        task->is_complete = made->is_complete;
        task->replaces = made->replaces;
        task->has_holes = made->has_holes;
    }
    pp_free(data);
    return status;
}

/* Measuring takes as long as copying such an array, and a hierarchy may have thousands of them. */
static bool is_one_of_many_small(const pp_copy_task *task)
{
    return task->is_in_tree && pp_rechunk_plan_array_bytes(task->plan) < MEASURED_LEAST_BYTES;
}

/* [collective] With the machine measured, unless it shall not be. */
static parapet_status plan_measured(pp_copy_task *task)
{
    if (task->request->no_probe || task->is_verbatim || is_one_of_many_small(task))
        return PARAPET_OK;
    return pp_comm_agree(pp_copy_task_comm(task), "planning", plan_copy(task, true));
}

/* [collective] What cannot be done is refused before anything is touched. */
parapet_status pp_copy_task_plan(pp_copy_task *task)
{
    int64_t least = (int64_t)task->budget.limit_bytes;
    parapet_status status = pp_comm_agree_min(pp_copy_task_comm(task), "planning", PARAPET_OK, &least);
    if (status != PARAPET_OK)
        return status;
    task->budget.limit_bytes = (size_t)least;
    if (task->is_verbatim) {
        task->plan->memory_bytes = (int64_t)PP_COPY_OBJECTS_BYTES;
        return PARAPET_OK;
    }
    return pp_comm_agree(pp_copy_task_comm(task), "planning", plan_copy(task, false));
}

/* [collective] A copy that is resumed while its first run still works is refused. */
static parapet_status hold_target(pp_copy_task *task)
{
    const char *path = pp_array_path(task->target);
    pp_node_lock_wish wish = {.store = task->target_store,
                              .paths = &path,
                              .count = 1,
                              .mode = PP_LOCK_EXCLUSIVE,
                              .purpose = "copying",
                              .is_for_all = true};
    parapet_status status =
        pp_comm_agree(pp_copy_task_comm(task), "preparing a copy", pp_store_check_writable(task->target_store));
    return status == PARAPET_OK ? pp_node_locks_take_collectively(&task->hold, &wish) : status;
}

/* [collective] */
parapet_status pp_copy_decide(pp_copy_task *task, bool begins)
{
    int64_t is_taken_up = 1;
    parapet_status status;
    if (!begins)
        return plan_measured(task);
    if ((status = hold_target(task)) != PARAPET_OK)
        return status;
    status = pp_copy_task_leads(task) ? take_up(task) : PARAPET_OK;
    if (pp_copy_task_leads(task))
        is_taken_up = !task->is_new;
    if ((status = pp_comm_agree_min(pp_copy_task_comm(task), "planning", status, &is_taken_up)) != PARAPET_OK ||
        (!is_taken_up && (status = plan_measured(task)) != PARAPET_OK))
        return status;
    return share_decision(task, task->is_new ? pp_copy_state_write(task) : PARAPET_OK);
}
