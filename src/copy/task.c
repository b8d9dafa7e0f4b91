/* task.c - one array of a copy: what is copied to where, and whether its source changed. */
#include "copy/task.h"

#include <parapet_store.h>
#include <string.h>

#include "array/array.h"
#include "array/node_path.h"
#include "array/store_queries.h"
#include "array/stored_shards.h"
#include "base/checked.h"
#include "base/status.h"
#include "change/registry.h"
#include "copy/changes.h"
#include "copy/progress.h"
#include "copy/target_document.h"
#include "copy/verbatim_check.h"
#include "rechunk/plan_print.h"

pp_comm *pp_copy_task_comm(const pp_copy_task *task)
{
    return pp_store_comm(task->target_store);
}

bool pp_copy_task_leads(const pp_copy_task *task)
{
    return pp_comm_rank(pp_copy_task_comm(task)) == 0;
}

/* Elements that are decoded. */
static parapet_status describe_target(pp_copy_task *task, bool is_in_tree)
{
    const pp_array_document *source = pp_array_document_of(task->source);
    const parapet_copy_changes changes =
        pp_copy_changes_for(&task->request->changes, source, pp_array_path(task->source), is_in_tree);
    pp_array_document document = {0};
    parapet_status status = pp_array_check_readable(task->source);
    if (status == PARAPET_OK && (status = pp_copy_document(&changes, source, is_in_tree,
                                                           pp_store_options(task->target_store)->expected_servers,
                                                           &document, &task->view)) == PARAPET_OK)
        status = pp_array_take_document(task->target, &document);
    pp_array_document_clear(&document);
    return status;
}

static parapet_status build_target(pp_copy_task *task, const char *path, bool is_in_tree)
{
    parapet_status status = pp_arrays_build(&task->target, task->target_store, &path, 1);
    if (status != PARAPET_OK || !task->is_verbatim)
        return status == PARAPET_OK ? describe_target(task, is_in_tree) : status;
    if ((status = pp_copy_verbatim_check(task, is_in_tree)) != PARAPET_OK || !pp_copy_task_leads(task))
        return status;
    return pp_copy_verbatim_build(task);
}

parapet_status pp_copy_task_document(const pp_copy_task *task, pp_text *text)
{
    if (!task->is_verbatim)
        return pp_array_document_print(pp_array_document_of(task->target), text);
    pp_text_add_bytes(text, task->stored_document.data, task->stored_document.bytes);
    return text->status;
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
    return task->request->memory_bytes > 0 ? task->request->memory_bytes : pp_store_call_bytes(task->target_store);
}

static parapet_status place_state(pp_copy_task *task, const char *target_path, bool is_in_tree)
{
    parapet_status status;
    pp_budget_init(&task->budget, (size_t)limit_of(task));
    if ((status = build_target(task, target_path, is_in_tree)) != PARAPET_OK ||
        (status = check_places(task)) != PARAPET_OK ||
        (status = pp_allocate(&task->plan, sizeof *task->plan)) != PARAPET_OK ||
        (status = pp_own_key(pp_array_path(task->target), PP_OWN_TEMPORARIES, &task->staging)) != PARAPET_OK)
        return status;
    return pp_own_key(pp_array_path(task->target), PP_OWN_COPY, &task->state);
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
    task->is_in_tree = is_in_tree;
    if ((status = parapet_array_open(&task->source, request->source, source_path)) != PARAPET_OK)
        return status;
    task->is_verbatim = pp_copy_verbatim_suit(task);
    return pp_comm_agree(pp_copy_task_comm(task), "preparing a copy", place_state(task, target_path, is_in_tree));
}

/* [collective] */
void pp_copy_task_close(pp_copy_task *task)
{
    pp_ranges_clear(&task->stored);
    pp_node_locks_release(&task->hold, 1);
    (void)parapet_array_close(&task->source);
    pp_array_free(task->target);
    pp_free(task->plan);
    pp_free(task->staging);
    pp_free(task->state);
    pp_text_free(&task->stored_document);
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
        if (status == PARAPET_OK)
            status = pp_array_check_stored_shards(task->source, &task->stored);
        stored = pp_ranges_number_count(&task->stored);
    }
    status = pp_comm_agree_min(pp_copy_task_comm(task), "listing the source", status, &stored);
    task->is_sparse = status == PARAPET_OK && pp_is_sparse(possible, stored);
    if (!task->is_sparse)
        pp_ranges_clear(&task->stored);
    return status;
}
