/* decision.c - how an array is copied: planned anew, or taken up from a run before; rank 0 decides for all. */
#include "array/array.h"
#include "array/create.h"
#include "array/node.h"
#include "array/store.h"
#include "copy/copy.h"

static parapet_status plan_copy(pp_copy_task *task, bool probes)
{
    pp_rechunk_problem problem;
    const parapet_copy_request *request = task->request;
    pp_copy_means means = {
        .memory_bytes = (int64_t)task->budget.limit_bytes,
        .unit_bytes = pp_copy_unit_bytes(request->unit_bytes, (int64_t)task->budget.limit_bytes),
        .threads = (int)pp_store_options(task->target_store)->threads,
        .ranks = pp_comm_size(pp_copy_task_comm(task)),
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
        if (is_there && pp_copy_remains_is_foreign(task))
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
    if ((status = pp_copy_remains_clear_between(task)) != PARAPET_OK)
        return status;
    return pp_node_prepare_ancestors(task->target_store, pp_array_path(task->target));
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
                               .has_holes = task->has_holes};
        data = made;
    }
    if ((status = pp_comm_share(pp_copy_task_comm(task), "planning", status, &data, &bytes)) == PARAPET_OK &&
        data != NULL) {
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
    return pp_comm_agree(pp_copy_task_comm(task), "planning", plan_copy(task, true));
}

/* [collective] What cannot be done is refused before anything is touched. */
parapet_status pp_copy_task_plan(pp_copy_task *task)
{
    int64_t least = (int64_t)task->budget.limit_bytes;
    parapet_status status = pp_comm_agree_least(pp_copy_task_comm(task), "planning", PARAPET_OK, &least);
    if (status != PARAPET_OK)
        return status;
    task->budget.limit_bytes = (size_t)least;
    return pp_comm_agree(pp_copy_task_comm(task), "planning", plan_copy(task, false));
}

/* [collective] */
parapet_status pp_copy_decide(pp_copy_task *task, bool begins)
{
    int64_t is_taken_up = 1;
    parapet_status status = pp_copy_task_plan(task);
    if (status != PARAPET_OK)
        return status;
    if (!begins)
        return plan_measured(task);
    status = pp_copy_task_leads(task) ? take_up(task) : PARAPET_OK;
    if (pp_copy_task_leads(task))
        is_taken_up = !task->is_new;
    if ((status = pp_comm_agree_least(pp_copy_task_comm(task), "planning", status, &is_taken_up)) != PARAPET_OK ||
        (!is_taken_up && (status = plan_measured(task)) != PARAPET_OK))
        return status;
    return share_decision(task, task->is_new ? pp_copy_state_write(task) : PARAPET_OK);
}
