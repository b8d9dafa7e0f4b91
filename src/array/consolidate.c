#include <string.h>

#include "array/children.h"
#include "array/consolidate.h"
#include "array/group.h"
#include "array/group_handle.h"
#include "array/node.h"
#include "array/path.h"
#include "array/state.h"

/* Gathers the documents of everything below a group. */
typedef struct consolidation {
    parapet_store *store;
    size_t base_bytes; /* of the path of the group, with its slash */
    pp_json *metadata;
    bool is_flat; /* only the arrays of the group itself; what is not Zarr is not looked at */
} consolidation;

static parapet_status consolidate_below(consolidation *job, const char *path, int depth);

static parapet_status add_document(consolidation *job, const char *path, int depth)
{
    pp_node node = {0};
    parapet_status status = pp_node_load_finished(job->store, path, &node);
    if (status == PARAPET_OK && job->is_flat && (node.kind == PARAPET_NODE_GROUP || node.zarr_format == 2)) {
        pp_node_clear(&node);
        return PARAPET_OK;
    }
    if (status == PARAPET_OK && node.zarr_format == 2)
        status = pp_fail(PARAPET_ERR_UNSUPPORTED, "\"%s\" is Zarr v2; only Zarr v3 can be consolidated", path);
    if (status == PARAPET_OK && node.is_implicit)
        status = pp_fail(PARAPET_ERR_FORMAT, "the group \"%s\" has no zarr.json; it cannot be consolidated", path);
    if (status == PARAPET_OK && node.kind == PARAPET_NODE_GROUP)
        pp_json_remove(node.json, "consolidated_metadata");
    if (status == PARAPET_OK)
        status = pp_json_set(job->metadata, path + job->base_bytes, pp_json_share(node.json));
    if (status == PARAPET_OK && node.kind == PARAPET_NODE_GROUP)
        status = consolidate_below(job, path, depth + 1);
    pp_node_clear(&node);
    return status;
}

static parapet_status consolidate_below(consolidation *job, const char *path, int depth)
{
    pp_children list = {0};
    parapet_status status;
    size_t i;
    if (depth > PP_JSON_MAX_DEPTH)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "\"%s\": groups are nested more than %d deep", path,
                       PP_JSON_MAX_DEPTH);
    status = pp_children_list(&list, job->store, path);
    for (i = 0; i < list.count && status == PARAPET_OK; i++) {
        char *child = NULL;
        if ((status = pp_path_join(path, list.names[i], &child)) == PARAPET_OK)
            status = add_document(job, child, depth);
        if (status == PARAPET_ERR_NOT_FOUND)
            status = PARAPET_OK;
        pp_free(child);
    }
    pp_children_clear(&list);
    return status;
}

parapet_status pp_metadata_gather(parapet_store *store, const char *path, bool is_flat, pp_json **consolidated)
{
    static const char frame[] = "{\"kind\":\"inline\",\"must_understand\":false}";
    size_t base = path[0] != '\0' ? strlen(path) + 1 : 0;
    consolidation job = {.store = store, .base_bytes = base, .is_flat = is_flat};
    parapet_status status;
    if ((status = pp_json_parse(consolidated, frame, strlen(frame))) != PARAPET_OK ||
        (status = pp_json_object_build(&job.metadata)) != PARAPET_OK)
        return status;
    status = consolidate_below(&job, path, 0);
    if (status == PARAPET_OK)
        return pp_json_set(*consolidated, "metadata", job.metadata);
    pp_json_free(job.metadata);
    return status;
}

static parapet_status gather(parapet_group *group, pp_group_document *changed, const void *argument)
{
    (void)argument;
    return pp_metadata_gather(group->store, group->path, false, &changed->consolidated_metadata);
}

/* While the group is held, nobody below it can change a document that was gathered. */
static parapet_status consolidate(void *group, const void *argument)
{
    return pp_group_edit(group, gather, argument);
}

parapet_status parapet_group_consolidate(parapet_group *group)
{
    pp_call call;
    parapet_status status;
    if (group == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_group_consolidate needs a group");
    pp_call_init(&call, "consolidate(%s)", group->path);
    if ((status = pp_comm_begin(group->store->comm, &call, pp_group_check_changeable(group))) != PARAPET_OK)
        return pp_outcome(status);
    return pp_outcome(pp_group_rank0_do(group, "consolidating", consolidate, NULL));
}
