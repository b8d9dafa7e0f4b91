/* append.c - one append from its beginning to its end: see append.h. */
#include "copy/append.h"

#include <parapet_store.h>
#include <string.h>

#include "array/array.h"
#include "array/node.h"
#include "array/node_path.h"
#include "array/store_queries.h"
#include "base/checked.h"
#include "base/status.h"
#include "change/registry.h"
#include "copy/append_check.h"
#include "copy/append_list.h"
#include "copy/append_order.h"
#include "copy/append_ranks.h"
#include "copy/append_repair.h"
#include "copy/append_steps.h"
#include "copy/append_task.h"
#include "copy/copy_request.h"
#include "copy/progress.h"

/* ---- What a request for an append may say ---- */

static parapet_status refuse_field(const char *name)
{
    return pp_fail(PARAPET_ERR_ARGUMENT,
                   "append and %s cannot be combined: what is appended becomes as the target is", name);
}

parapet_status pp_append_request_check(const parapet_copy_request *request)
{
    const parapet_copy_changes *changes = &request->changes;
    const char *const texts[] = {changes->chunks, changes->shards, changes->order, changes->region, changes->codec};
    const char *const names[] = {"chunks", "shards", "order", "region", "codec"};
    size_t i;
    if (!pp_copy_is_given(request->append))
        return PARAPET_OK;
    for (i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (pp_copy_is_given(texts[i]))
            return refuse_field(names[i]);
    if (changes->no_checksum)
        return refuse_field("no_checksum");
    if (request->overwrite)
        return refuse_field("overwrite");
    if (request->resume)
        return refuse_field("resume");
    if (request->verify)
        return refuse_field("verify");
    if (request->temporary != NULL)
        return refuse_field("temporary");
    return request->passes > 0 ? refuse_field("passes") : PARAPET_OK;
}

/* ---- Progress ---- */

/* More than fits a number counts as the largest. */
static int64_t bytes_of(const pp_array_document *document)
{
    int64_t bytes = (int64_t)document->type.element_bytes;
    bool fits = true;
    int d;
    for (d = 0; d < document->ndim; d++) {
        if (document->shape[d] == 0)
            return 0;
        fits = fits && pp_multiply_fits(bytes, document->shape[d], &bytes);
    }
    return fits ? bytes : INT64_MAX;
}

static void count_bytes(pp_append *append)
{
    int i;
    for (i = 0; i < append->growing.count; i++)
        if (!pp_add_fits(append->total_bytes, bytes_of(pp_array_document_of(append->growing.sources[i])),
                         &append->total_bytes))
            append->total_bytes = INT64_MAX;
}

/* ---- From beginning to end ---- */

/* No copy is to be resumed here. */
static parapet_status check_target(const pp_append *append)
{
    parapet_store *store = append->request->target;
    bool has_copy = false;
    parapet_status status;
    if ((status = pp_node_has_own(store, append->target_root, PP_OWN_COPY_JOB, &has_copy)) == PARAPET_OK && !has_copy)
        status = pp_node_has_own(store, append->target_root, PP_OWN_COPY_TREE_LOG, &has_copy);
    if (status == PARAPET_OK && has_copy)
        return pp_fail(PARAPET_ERR_EXISTS, "there is an unfinished copy at \"%s\"; resume it first",
                       append->target_root);
    return status;
}

static parapet_status find_roots(pp_append *append)
{
    const parapet_copy_request *request = append->request;
    parapet_status status;
    if ((status = pp_path_normalize(request->source_path, &append->source_root)) != PARAPET_OK ||
        (status = pp_path_normalize(request->target_path, &append->target_root)) != PARAPET_OK)
        return status;
    if (!pp_store_is_same(pp_store_backend(request->source), pp_store_backend(request->target)))
        return append->changes ? pp_store_check_writable(request->target) : PARAPET_OK;
    append->is_alone = !append->changes && strcmp(append->source_root, append->target_root) == 0;
    if (!append->is_alone && (pp_path_is_within(append->source_root, append->target_root) ||
                              pp_path_is_within(append->target_root, append->source_root)))
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "group \"%s\" cannot be appended to \"%s\", which is the same, inside it or "
                       "around it",
                       append->source_root, append->target_root);
    return append->changes ? pp_store_check_writable(request->target) : PARAPET_OK;
}

/* [collective] Buffers take a quarter of the memory; the rest is for reading and writing. */
static parapet_status choose_buffer(pp_append *append)
{
    int64_t bytes = pp_store_call_bytes(append->request->target);
    if (append->request->memory_bytes > 0)
        bytes = pp_min_i64(bytes, append->request->memory_bytes);
    append->buffer_bytes = bytes / 4;
    return pp_comm_agree_min(pp_append_comm(append), "appending", PARAPET_OK, &append->buffer_bytes);
}

/* [collective] Everything that can be refused is refused here. */
static parapet_status look(pp_append *append, pp_selection *selection)
{
    pp_comm *comm = pp_append_comm(append);
    bool is_checked = pp_append_leads(append) && pp_append_may_change(append);
    parapet_status status = choose_buffer(append);
    if (status == PARAPET_OK)
        status = pp_comm_agree(comm, "appending", is_checked ? check_target(append) : PARAPET_OK);
    if (status == PARAPET_OK)
        status = pp_comm_agree(comm, "appending",
                               pp_selection_init(selection, append->request->include, append->request->exclude));
    if (status == PARAPET_OK && (status = pp_append_list(append, selection)) == PARAPET_OK)
        status = pp_comm_agree(comm, "appending", is_checked ? pp_append_check_membership(append) : PARAPET_OK);
    if (status == PARAPET_OK)
        count_bytes(append);
    if (status == PARAPET_OK && append->changes)
        status = pp_append_hold(append);
    if (status == PARAPET_OK && (status = pp_append_check(append)) == PARAPET_OK)
        status = pp_append_check_order(append);
    return status;
}

/* [collective] */
static parapet_status append_held(pp_append *append, pp_selection *selection)
{
    parapet_repair repair;
    parapet_status status = pp_append_repair_target(append, &repair);
    append->totals->repaired = (int)repair;
    if (status == PARAPET_OK && (status = look(append, selection)) == PARAPET_OK && !append->is_there)
        status = pp_append_transact(append);
    return status;
}

/* [collective] */
static parapet_status append_alone(pp_append *append, pp_selection *selection)
{
    parapet_status status = pp_append_hold_group(append);
    return status == PARAPET_OK ? append_held(append, selection) : status;
}

static void clear(pp_append *append)
{
    pp_append_pairs_clear(&append->growing);
    pp_append_pairs_clear(&append->fixed);
    pp_node_locks_release(append->holds, append->hold_count);
    pp_node_locks_release(&append->group_hold, 1);
    pp_free(append->holds);
    pp_change_clear(&append->change);
    pp_free(append->source_root);
    pp_free(append->target_root);
}

/* [collective] Reads and writes are parts of this call, which tells its own progress. */
static parapet_status run(pp_append *append)
{
    const parapet_copy_request *request = append->request;
    pp_selection selection = {0};
    parapet_status status = pp_comm_agree(pp_append_comm(append), "appending", find_roots(append));
    append->progress = pp_store_options(request->target)->progress;
    pp_store_suspend_progress(request->source);
    pp_store_suspend_progress(request->target);
    if (status == PARAPET_OK && append->changes)
        status = append_alone(append, &selection);
    else if (status == PARAPET_OK)
        status = look(append, &selection);
    pp_store_resume_progress(request->source);
    pp_store_resume_progress(request->target);
    pp_selection_clear(&selection);
    return status;
}

parapet_status pp_append_group(const parapet_copy_request *request, pp_copy_totals *totals)
{
    pp_append append = {.request = request, .dimension = request->append, .changes = true, .totals = totals};
    parapet_status status = run(&append);
    totals->extent_before = append.before;
    totals->extent_after = append.before;
    if (append.is_published) {
        totals->arrays = append.growing.count;
        totals->array_bytes = append.total_bytes;
        totals->extent_after = append.before + append.added;
    }
    clear(&append);
    return status;
}

static void print_for_people(const pp_append *append, pp_text *text)
{
    if (append->is_there)
        pp_text_add(text, "already there: %s has %lld\n", append->dimension, (long long)append->before);
    else
        pp_text_add(text, "%s: %lld would become %lld; %d arrays, %lld bytes\n", append->dimension,
                    (long long)append->before, (long long)(append->before + append->added), append->growing.count,
                    (long long)append->total_bytes);
}

static void print_for_programs(const pp_append *append, pp_text *text)
{
    pp_text_add(text, "{\"append\": ");
    pp_json_print_string(append->dimension, text);
    pp_text_add(text,
                ", \"already_there\": %s, \"before\": %lld, \"after\": %lld, \"arrays\": %d, \"bytes\": %lld}\n",
                append->is_there ? "true" : "false", (long long)append->before,
                (long long)(append->before + (append->is_there ? 0 : append->added)), append->growing.count,
                (long long)(append->is_there ? 0 : append->total_bytes));
}

parapet_status pp_append_explain(const parapet_copy_request *request, int as_json, pp_text *text)
{
    pp_copy_totals totals = {0};
    pp_append append = {.request = request, .dimension = request->append, .totals = &totals};
    parapet_status status = run(&append);
    if (status == PARAPET_OK && as_json)
        print_for_programs(&append, text);
    else if (status == PARAPET_OK)
        print_for_people(&append, text);
    clear(&append);
    return status;
}
