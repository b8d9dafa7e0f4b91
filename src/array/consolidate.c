#include <string.h>

#include "array/announcement.h"
#include "array/consolidate.h"
#include "array/group.h"
#include "array/group_handle.h"
#include "array/node.h"
#include "array/node_path.h"
#include "array/state.h"

/* Gathers the documents of everything below a group. */
typedef struct consolidation {
    parapet_store *store;
    const char *path;
    size_t base_bytes; /* of the path of the group, with its slash */
    pp_documents *documents;
    int64_t document_count;
    const pp_gathered *gathered; /* or NULL */
    bool is_flat;                /* only the arrays of the group itself; what is not Zarr is not looked at */
} consolidation;

/* A group below the one that is consolidated, or that one. */
typedef struct level {
    consolidation *job;
    const char *path;
    int depth;
} level;

static parapet_status consolidate_below(consolidation *job, const char *path, int depth);

/* A directory without a document is a group that is lost if there are nodes below it. Otherwise it is nothing:
 * readers do not see it, and a job that was killed while it removed a generation, or made one, may have left it. */
static parapet_status pass_implicit(consolidation *job, const char *path, int depth)
{
    int64_t before = job->document_count;
    parapet_status status = consolidate_below(job, path, depth + 1);
    if (status == PARAPET_OK && job->document_count > before)
        return pp_fail(PARAPET_ERR_FORMAT, "the group \"%s\" has no zarr.json; it cannot be consolidated", path);
    return status;
}

static parapet_status add_document(consolidation *job, const char *path, int depth)
{
    pp_node node = {0};
    parapet_status status = pp_node_load_finished(job->store, path, &node);
    bool is_group = node.kind == PARAPET_NODE_GROUP;
    if (status == PARAPET_OK && job->is_flat && (is_group || node.zarr_format == 2)) {
        pp_node_clear(&node);
        return PARAPET_OK;
    }
    if (status == PARAPET_OK && node.zarr_format == 2)
        status = pp_fail(PARAPET_ERR_UNSUPPORTED, "\"%s\" is Zarr v2; only Zarr v3 can be consolidated", path);
    if (status == PARAPET_OK && node.is_implicit) {
        pp_node_clear(&node);
        return pass_implicit(job, path, depth);
    }
    if (status == PARAPET_OK && is_group && (status = pp_announcement_refuse(job->store, path)) == PARAPET_OK)
        pp_json_remove(node.json, "consolidated_metadata");
    if (status == PARAPET_OK && job->gathered != NULL)
        status = job->gathered->visit(job->gathered->context, path + job->base_bytes, node.digest);
    if (status == PARAPET_OK)
        status = pp_documents_add(job->documents, path + job->base_bytes, node.json);
    job->document_count += status == PARAPET_OK;
    pp_node_clear(&node);
    return status == PARAPET_OK && is_group ? consolidate_below(job, path, depth + 1) : status;
}

/* The store tells the names after it has listed them all. */
static parapet_status visit_child(void *context, const pp_listed *listed)
{
    const level *above = context;
    char *child = NULL;
    parapet_status status;
    if (!listed->is_prefix || pp_path_check(listed->name) != PARAPET_OK)
        return PARAPET_OK;
    if ((status = pp_path_join(above->path, listed->name, &child)) == PARAPET_OK)
        status = add_document(above->job, child, above->depth);
    pp_free(child);
    return pp_accept_absence(status);
}

static parapet_status consolidate_below(consolidation *job, const char *path, int depth)
{
    level here = {.job = job, .path = path, .depth = depth};
    if (depth > PP_JSON_MAX_DEPTH)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "\"%s\": groups are nested more than %d deep", path,
                       PP_JSON_MAX_DEPTH);
    return pp_store_list(job->store->backend, path, visit_child, &here);
}

static parapet_status gather(void *context, pp_documents *documents)
{
    consolidation *job = context;
    job->documents = documents;
    return consolidate_below(job, job->path, 0);
}

parapet_status pp_metadata_print(parapet_store *store, const char *path, bool is_flat,
                                 const pp_group_document *document, const pp_gathered *gathered, pp_text *text)
{
    size_t base = path[0] != '\0' ? strlen(path) + 1 : 0;
    consolidation job = {.store = store, .path = path, .base_bytes = base, .gathered = gathered, .is_flat = is_flat};
    parapet_status status;
    pp_text_init_within(text, &store->budget, "consolidated metadata");
    status = pp_group_document_print_with(document, gather, &job, text);
    pp_counters_plan(&store->counters, pp_budget_peak(&store->budget));
    return status;
}

static parapet_status print_with_metadata(parapet_group *group, pp_group_document *changed, const void *argument,
                                          pp_text *text)
{
    (void)argument;
    return pp_metadata_print(group->store, group->path, false, changed, NULL, text);
}

/* While the group is held, nobody below it can change a document that was gathered. */
static parapet_status consolidate(void *group, const void *argument)
{
    return pp_group_edit(group, print_with_metadata, argument);
}

/* Where an append was interrupted, arrays may have different lengths, and the metadata would say so for good. */
static parapet_status consolidate_checked(void *node, const void *argument)
{
    const parapet_group *group = node;
    parapet_status status = pp_announcement_refuse_above(group->store, group->path);
    return status == PARAPET_OK ? consolidate(node, argument) : status;
}

static parapet_status consolidate_by(parapet_group *group, pp_rank0_work work)
{
    PP_TURN turn = {0};
    pp_call call;
    parapet_status status;
    if (group == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_group_consolidate needs a group");
    if ((status = pp_turn_take(&turn, group->store->comm, PP_TURN_COLLECTIVE)) != PARAPET_OK)
        return status;
    pp_call_init(&call, "consolidate(%s)", group->path);
    if ((status = pp_comm_begin(group->store->comm, &call, pp_group_check_changeable(group))) != PARAPET_OK)
        return pp_outcome(status);
    return pp_outcome(pp_group_rank0_do(group, "consolidating", work, NULL));
}

parapet_status parapet_group_consolidate(parapet_group *group)
{
    return consolidate_by(group, consolidate_checked);
}

parapet_status pp_group_consolidate_appended(parapet_group *group)
{
    return consolidate_by(group, consolidate);
}
