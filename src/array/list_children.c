#include <string.h>

#include "array/group.h"
#include "array/group_handle.h"
#include "array/node.h"
#include "array/node_path.h"

/* The children of a group that are nodes: a letter for the kind of each, then its name, which ends in NUL. */
typedef struct listing {
    parapet_group *group;
    pp_text entries;
} listing;

/* Whether a node could not be loaded because of what its documents hold. */
static bool is_invalid(parapet_status status)
{
    return status == PARAPET_ERR_FORMAT || status == PARAPET_ERR_UNSUPPORTED || status == PARAPET_ERR_CORRUPT;
}

/* Directories that hold nothing of Zarr are left out. */
static parapet_status add_if_node(void *context, const pp_listed *listed)
{
    listing *job = context;
    pp_node node = {0};
    char *path = NULL;
    parapet_status status;
    if (!listed->is_prefix || pp_path_check(listed->name) != PARAPET_OK)
        return PARAPET_OK;
    if ((status = pp_path_join(job->group->path, listed->name, &path)) == PARAPET_OK)
        status = pp_node_load_finished(job->group->store, path, &node);
    if (status == PARAPET_OK || is_invalid(status)) {
        char kind = (char)('0' + (status == PARAPET_OK ? node.kind : PARAPET_NODE_INVALID));
        pp_text_add_bytes(&job->entries, &kind, 1);
        pp_text_add_bytes(&job->entries, listed->name, strlen(listed->name) + 1);
        status = job->entries.status;
    }
    pp_node_clear(&node);
    pp_free(path);
    return pp_accept_absence(status);
}

static parapet_status list_nodes(listing *job)
{
    parapet_store *store = job->group->store;
    parapet_status status;
    pp_text_init_within(&job->entries, &store->budget, "the names of children");
    status = pp_store_list(store->backend, job->group->path, add_if_node, job);
    pp_counters_plan(&store->counters, pp_budget_peak(&store->budget));
    return status == PARAPET_OK ? pp_text_check(&job->entries) : status;
}

/* [collective] The entries of rank 0, on every rank. */
static parapet_status share_nodes(listing *job)
{
    parapet_store *store = job->group->store;
    pp_comm *comm = store->comm;
    parapet_status status = PARAPET_OK;
    void *data;
    size_t bytes;
    if (pp_comm_rank(comm) == 0)
        status = list_nodes(job);
    if (pp_comm_size(comm) == 1)
        return status;
    data = job->entries.data;
    bytes = job->entries.bytes;
    if ((status = pp_comm_share(comm, "listing", status, &data, &bytes)) != PARAPET_OK)
        return status;
    if (pp_comm_rank(comm) != 0) {
        pp_text_init_within(&job->entries, &store->budget, "the names of children");
        pp_text_add_bytes(&job->entries, data, bytes);
        pp_free(data);
        pp_counters_plan(&store->counters, pp_budget_peak(&store->budget));
    }
    return pp_comm_agree(comm, "listing", pp_text_check(&job->entries));
}

static int tell_node(const char *entry, parapet_child_visitor child, void *context)
{
    int answer;
    pp_callback_begin();
    answer = child(context, entry + 1, (parapet_node_kind)(entry[0] - '0'));
    pp_callback_end();
    return answer;
}

static void tell_nodes(const listing *job, parapet_child_visitor child, void *context)
{
    const char *entry = job->entries.data, *end = entry + job->entries.bytes;
    for (; entry < end; entry += strlen(entry) + 1)
        if (tell_node(entry, child, context) != 0)
            return;
}

parapet_status parapet_group_list(parapet_group *group, parapet_child_visitor child, void *context)
{
    listing job = {.group = group};
    PP_TURN turn = {0};
    pp_call call;
    parapet_status status;
    if (group == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_group_list needs a group and a visitor");
    if ((status = pp_turn_take(&turn, group->store->comm, PP_TURN_COLLECTIVE)) != PARAPET_OK)
        return status;
    pp_call_init(&call, "group_list(%s)", group->path);
    status = child != NULL ? pp_group_check_usable(group)
                           : pp_fail(PARAPET_ERR_ARGUMENT, "parapet_group_list needs a group and a visitor");
    if ((status = pp_comm_begin(group->store->comm, &call, status)) == PARAPET_OK &&
        (status = share_nodes(&job)) == PARAPET_OK && job.entries.bytes > 0)
        tell_nodes(&job, child, context);
    pp_text_free(&job.entries);
    return pp_outcome(status);
}
