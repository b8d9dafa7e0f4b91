/* copy.c - the public functions that copy arrays and hierarchies. */
#include "copy/copy.h"

#include <string.h>

#include <parapet_plan.h>

#include "array/announcement.h"
#include "array/node.h"
#include "array/node_path.h"
#include "array/reconsolidate.h"
#include "array/store_queries.h"
#include "base/choice.h"
#include "base/status.h"
#include "copy/append.h"
#include "copy/array_copy.h"
#include "copy/copy_request.h"
#include "copy/progress.h"
#include "copy/tree.h"

static parapet_status check_request(const parapet_copy_request *request)
{
    parapet_status status;
    if (request->source_path == NULL || request->target_path == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "a copy needs a path in the source and one in the target");
    if (pp_comm_size(pp_store_comm(request->source)) != pp_comm_size(pp_store_comm(request->target)))
        return pp_fail(PARAPET_ERR_ARGUMENT, "source and target of a copy must be opened on the same ranks");
    if (request->temporary != NULL && pp_store_is_read_only(request->temporary))
        return pp_fail(PARAPET_ERR_ARGUMENT, "the store for intermediate passes is open for reading only");
    status = pp_copy_request_check(request);
    return status == PARAPET_OK ? pp_append_request_check(request) : status;
}

static void describe_call(const parapet_copy_request *request, const char *verb, pp_call *call)
{
    const parapet_copy_changes *changes = &request->changes;
    pp_call_init(call, "%s(%s)", verb, request->source_path != NULL ? request->source_path : "");
    pp_call_add_text(call, "source_path", request->source_path);
    pp_call_add_text(call, "target_path", request->target_path);
    pp_call_add_text(call, "chunks", changes->chunks);
    pp_call_add_text(call, "shards", changes->shards);
    pp_call_add_text(call, "order", changes->order);
    pp_call_add_text(call, "region", changes->region);
    pp_call_add_text(call, "codec", changes->codec);
    pp_call_add_text(call, "include", request->include);
    pp_call_add_text(call, "exclude", request->exclude);
    pp_call_add_text(call, "append", request->append);
    pp_call_add_integer(call, "unit_bytes", (int64_t)request->unit_bytes);
    pp_call_add_integer(call, "overwrite", (int64_t)request->overwrite);
    pp_call_add_integer(call, "resume", (int64_t)request->resume);
    pp_call_add_integer(call, "verify", (int64_t)request->verify);
    pp_call_add_integer(call, "passes", (int64_t)request->passes);
    pp_call_add_choice(call, &pp_choice_reading, (int)request->reading);
    pp_call_add_choice(call, &pp_choice_cooperation, (int)request->cooperation);
    pp_call_add_integer(call, "no_probe", (int64_t)request->no_probe);
    pp_call_add_integer(call, "no_checksum", changes->no_checksum);
    pp_call_add_text(call, "temporary", request->temporary != NULL ? "given" : NULL);
}

parapet_status pp_copy_find_kind(parapet_store *store, const char *source_path, pp_comm *comm,
                                 parapet_node_kind *kind)
{
    pp_node node = {0};
    char *path = NULL;
    int64_t number = INT64_MAX;
    parapet_status status = PARAPET_OK;
    if (pp_comm_rank(comm) == 0 && (status = pp_path_normalize(source_path, &path)) == PARAPET_OK &&
        (status = pp_node_load_finished(store, path, &node)) == PARAPET_OK)
        number = (int64_t)node.kind;
    pp_node_clear(&node);
    pp_free(path);
    status = pp_comm_agree_min(comm, "looking at the source", status, &number);
    *kind = (parapet_node_kind)number;
    return status;
}

static parapet_status check_names(const parapet_copy_request *request, parapet_node_kind kind)
{
    if (kind != PARAPET_NODE_GROUP && pp_copy_is_given(request->append))
        return pp_fail(PARAPET_ERR_ARGUMENT, "\"%s\" is an array; append joins groups, with their coordinates",
                       request->source_path);
    if (kind == PARAPET_NODE_GROUP || (!pp_copy_is_given(request->include) && !pp_copy_is_given(request->exclude)))
        return PARAPET_OK;
    return pp_fail(PARAPET_ERR_ARGUMENT, "\"%s\" is an array; include and exclude are for the copy of a group",
                   request->source_path);
}

/* Of the stores of a copy. That of the target comes first: the ranks that have it make the call. */
typedef struct copy_turns {
    pp_turn target, source, temporary;
} copy_turns;

static void end_turns(copy_turns *turns)
{
    pp_turn_end(&turns->temporary);
    pp_turn_end(&turns->source);
    pp_turn_end(&turns->target);
}

static parapet_status take_turns(copy_turns *turns, const parapet_copy_request *request, const char *verb)
{
    parapet_status status;
    if (request == NULL || request->source == NULL || request->target == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "%s needs a request with a source and a target", verb);
    if ((status = pp_turn_take(&turns->target, pp_store_comm(request->target), PP_TURN_COLLECTIVE)) != PARAPET_OK ||
        (status = pp_turn_take(&turns->source, pp_store_comm(request->source), PP_TURN_COLLECTIVE)) != PARAPET_OK ||
        request->temporary == NULL)
        return status;
    return pp_turn_take(&turns->temporary, pp_store_comm(request->temporary), PP_TURN_COLLECTIVE);
}

/* [collective] */
static parapet_status begin(copy_turns *turns, const parapet_copy_request *request, const char *verb,
                            parapet_status mine, parapet_node_kind *kind)
{
    parapet_status status;
    pp_call call;
    if ((status = take_turns(turns, request, verb)) != PARAPET_OK)
        return status;
    describe_call(request, verb, &call);
    if (mine == PARAPET_OK)
        mine = check_request(request);
    if ((status = pp_comm_begin(pp_store_comm(request->target), &call, mine)) != PARAPET_OK)
        return status;
    status = pp_copy_find_kind(request->source, request->source_path, pp_store_comm(request->target), kind);
    return status == PARAPET_OK ? check_names(request, *kind) : status;
}

/* Rank 0. */
static parapet_status check_ends(const parapet_copy_request *request)
{
    char *source = NULL, *target = NULL;
    parapet_status status = pp_path_normalize(request->source_path, &source);
    if (status == PARAPET_OK && (status = pp_path_normalize(request->target_path, &target)) == PARAPET_OK &&
        (status = pp_announcement_refuse_above(request->source, source)) == PARAPET_OK)
        status = pp_announcement_refuse_above(request->target, target);
    pp_free(target);
    pp_free(source);
    return status;
}

/* [collective] In a group that an interrupted append has left, nobody can tell what belongs together. */
static parapet_status refuse_appended(const parapet_copy_request *request)
{
    pp_comm *comm = pp_store_comm(request->target);
    bool looks = pp_comm_rank(comm) == 0 && !pp_copy_is_given(request->append);
    return pp_comm_agree(comm, "preparing a copy", looks ? check_ends(request) : PARAPET_OK);
}

/* [collective] Ranks work for hours between two agreements: a deadline would only name whoever works longest. */
static parapet_status copy_without_deadline(const parapet_copy_request *request, parapet_node_kind kind,
                                            pp_copy_totals *totals)
{
    const parapet_store *stores[] = {request->target, request->source, request->temporary};
    pp_copy_progress progress = {0};
    pp_reconsolidate around = {0};
    parapet_status status;
    size_t i;
    for (i = 0; i < sizeof stores / sizeof stores[0]; i++)
        if (stores[i] != NULL)
            pp_store_suspend_deadline(stores[i]);
    if ((status = refuse_appended(request)) == PARAPET_OK &&
        (status = pp_reconsolidate_find(&around, request->target, request->target_path)) == PARAPET_OK) {
        status = pp_copy_is_given(request->append) ? pp_append_group(request, totals)
                 : kind == PARAPET_NODE_GROUP
                     ? pp_copy_group(request, &progress, totals)
                     : pp_copy_array(request, request->source_path, request->target_path, NULL, &progress, totals);
        status = pp_reconsolidate_restore(
            &around, request->target,
            pp_copy_is_given(request->append) ? "the source was appended" : "the copy is complete", status);
    }
    pp_reconsolidate_clear(&around);
    for (i = 0; i < sizeof stores / sizeof stores[0]; i++)
        if (stores[i] != NULL)
            pp_store_resume_deadline(stores[i]);
    return status;
}

_Static_assert(PP_RECHUNK_COUNTS <= 16, "more than pp_comm_agree_sums adds up at once");

/* [collective] From what each rank has done to what all have. */
static parapet_status add_up(const parapet_copy_request *request, parapet_status status, pp_copy_totals *totals)
{
    pp_comm *comm = pp_store_comm(request->target);
    int64_t sums[PP_RECHUNK_COUNTS], peak = -totals->memory_peak_bytes;
    memcpy(sums, &totals->done, sizeof sums);
    if (status != PARAPET_OK ||
        (status = pp_comm_agree_sums(comm, "copying", status, sums, PP_RECHUNK_COUNTS)) != PARAPET_OK ||
        (status = pp_comm_agree_min(comm, "copying", status, &peak)) != PARAPET_OK)
        return status;
    memcpy(&totals->done, sums, sizeof sums);
    totals->memory_peak_bytes = -peak;
    return status;
}

static void fill_result(const pp_copy_totals *totals, parapet_copy_result *result)
{
    const pp_rechunk_counts *done = &totals->done;
    *result = (parapet_copy_result){
        .arrays = totals->arrays,
        .groups = totals->groups,
        .passes = totals->passes,
        .array_bytes = totals->array_bytes,
        .read_requests = done->read_requests,
        .index_reads = done->index_reads,
        .decoded_bytes = done->decoded_bytes,
        .chunks_written = done->chunks_written,
        .shards_written = done->shards_written,
        .memory_peak_bytes = totals->memory_peak_bytes,
        .memory_planned_bytes = totals->memory_planned_bytes,
        .templates_resumed = done->templates_resumed,
        .planned_seconds = totals->planned_seconds,
        .seconds = totals->seconds,
        .verified_bytes = totals->verified_bytes,
        .extent_before = totals->extent_before,
        .extent_after = totals->extent_after,
        .repaired = (parapet_repair)totals->repaired,
    };
}

parapet_status parapet_copy(const parapet_copy_request *request, parapet_copy_result *result)
{
    pp_copy_totals totals = {0};
    parapet_node_kind kind;
    __attribute__((cleanup(end_turns))) copy_turns turns = {0};
    parapet_status status = begin(&turns, request, "copy", PARAPET_OK, &kind);
    if (status != PARAPET_OK)
        return pp_outcome(status);
    status = add_up(request, copy_without_deadline(request, kind, &totals), &totals);
    if (result != NULL)
        fill_result(&totals, result);
    return pp_outcome(status);
}

static parapet_status check_printing(int as_json, char **text)
{
    if (text == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_copy_request_plan_print needs a pointer for the text");
    return pp_boolean_check("as_json", as_json);
}

parapet_status parapet_copy_request_plan_print(const parapet_copy_request *request, int as_json, char **text,
                                               char **svg)
{
    pp_text words = {0};
    parapet_node_kind kind;
    __attribute__((cleanup(end_turns))) copy_turns turns = {0};
    parapet_status status = begin(&turns, request, "copy_explain", check_printing(as_json, text), &kind);
    if (text != NULL)
        *text = NULL;
    if (svg != NULL)
        *svg = NULL;
    if (status != PARAPET_OK)
        return pp_outcome(status);
    status = pp_copy_is_given(request->append) ? pp_append_explain(request, as_json, &words)
             : kind == PARAPET_NODE_GROUP      ? pp_copy_group_explain(request, as_json, &words, svg)
                                          : pp_copy_array_explain(request, request->source_path, request->target_path,
                                                                  false, as_json, &words, svg);
    if (status == PARAPET_OK)
        status = pp_comm_agree(pp_store_comm(request->target), "explaining", pp_text_finish(&words, text));
    pp_text_free(&words);
    return pp_outcome(status);
}
