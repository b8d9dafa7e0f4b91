#include <string.h>

#include "array/children.h"
#include "array/group.h"
#include "array/group_handle.h"
#include "array/node.h"
#include "array/path.h"
#include "array/rank0.h"

/* The children of a group that are nodes, and what they are. */
typedef struct listing {
    parapet_group *group;
    pp_children children;
    parapet_node_kind *kinds;
} listing;

/* Whether a node could not be loaded because of what its documents hold. */
static bool is_invalid(parapet_status status)
{
    return status == PARAPET_ERR_FORMAT || status == PARAPET_ERR_UNSUPPORTED || status == PARAPET_ERR_CORRUPT;
}

/* Directories that hold nothing of Zarr are left out. */
static parapet_status keep_if_node(listing *job, size_t from, size_t *kept)
{
    pp_children *list = &job->children;
    pp_node node = {0};
    char *path = NULL;
    parapet_status status = pp_path_join(job->group->path, list->names[from], &path);
    if (status == PARAPET_OK)
        status = pp_node_load_finished(job->group->store, path, &node);
    if (status == PARAPET_OK || is_invalid(status)) {
        char *name = list->names[from];
        list->names[from] = list->names[*kept];
        list->names[*kept] = name;
        job->kinds[(*kept)++] = status == PARAPET_OK ? node.kind : PARAPET_NODE_INVALID;
        status = PARAPET_OK;
    }
    pp_node_clear(&node);
    pp_free(path);
    return status == PARAPET_ERR_NOT_FOUND ? PARAPET_OK : status;
}

static parapet_status list_nodes(void *subject, const void *argument)
{
    listing *job = subject;
    pp_children *list = &job->children;
    size_t i, kept = 0;
    parapet_status status = pp_children_list(list, job->group->store, job->group->path);
    (void)argument;
    if (status == PARAPET_OK)
        status = pp_allocate_array(&job->kinds, list->count, sizeof job->kinds[0]);
    for (i = 0; i < list->count && status == PARAPET_OK; i++)
        status = keep_if_node(job, i, &kept);
    for (i = kept; i < list->count && status == PARAPET_OK; i++)
        pp_free(list->names[i]);
    if (status == PARAPET_OK)
        list->count = kept;
    return status;
}

static parapet_status print_listing(void *subject, pp_text *bytes)
{
    const listing *job = subject;
    size_t i;
    pp_bytes_add_u64(bytes, job->children.count);
    for (i = 0; i < job->children.count; i++) {
        pp_bytes_add_u64(bytes, (uint64_t)job->kinds[i]);
        pp_bytes_add_block(bytes, job->children.names[i], strlen(job->children.names[i]) + 1);
    }
    return PARAPET_OK;
}

static parapet_status adopt_listing(void *subject, pp_cursor *bytes)
{
    listing *job = subject;
    pp_children *list = &job->children;
    size_t length, count = (size_t)pp_cursor_u64(bytes);
    parapet_status status;
    if ((status = pp_allocate_array(&list->names, count, sizeof list->names[0])) != PARAPET_OK ||
        (status = pp_allocate_array(&job->kinds, count, sizeof job->kinds[0])) != PARAPET_OK)
        return status;
    while (list->count < count && status == PARAPET_OK) {
        const char *name;
        job->kinds[list->count] = (parapet_node_kind)pp_cursor_u64(bytes);
        name = pp_cursor_block(bytes, &length);
        if ((status = pp_cursor_finish(bytes)) == PARAPET_OK &&
            (status = pp_text_duplicate(&list->names[list->count], name)) == PARAPET_OK)
            list->count++;
    }
    return status;
}

parapet_status parapet_group_list(parapet_group *group, parapet_child_visitor child, void *context)
{
    listing job = {.group = group};
    pp_rank0_task task = {.subject = &job, .work = list_nodes, .print = print_listing, .adopt = adopt_listing};
    pp_call call;
    parapet_status status;
    size_t i;
    if (group == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_group_list needs a group and a visitor");
    pp_call_init(&call, "group_list(%s)", group->path);
    status = child != NULL ? pp_group_check_usable(group)
                           : pp_fail(PARAPET_ERR_ARGUMENT, "parapet_group_list needs a group and a visitor");
    if ((status = pp_comm_begin(group->store->comm, &call, status)) == PARAPET_OK)
        status = pp_rank0_do(group->store->comm, "listing", &task);
    for (i = 0; i < job.children.count && status == PARAPET_OK; i++)
        if (child(context, job.children.names[i], job.kinds[i]) != 0)
            break;
    pp_children_clear(&job.children);
    pp_free(job.kinds);
    return pp_outcome(status);
}
