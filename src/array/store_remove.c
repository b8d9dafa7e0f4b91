/* store_remove.c - removes an array, or a group with everything below it: rank 0 finds all nodes, and proves them to
 * be ours, before it removes the first (removal.h).
 *
 * A node is gone from the moment its document is: what was kept beside a group, such as the commit records of a
 * checkpoint, goes before the nodes below it, and an array goes as when it is overwritten. So a crash leaves nothing
 * that looks whole and is not, and removing again finishes. */
#include <string.h>

#include "array/around.h"
#include "array/array_handle.h"
#include "array/create.h"
#include "array/path.h"
#include "array/rank0.h"
#include "array/removal.h"
#include "array/store.h"
#include "array/walk.h"
#include "base/choice.h"

static const char *const kind_words[PP_REMOVAL_KINDS] = {
    [PP_REMOVAL_ARRAY] = "array",
    [PP_REMOVAL_REMAINS] = "remains",
    [PP_REMOVAL_GROUP] = "group",
    [PP_REMOVAL_DIRECTORY] = "directory",
};

static bool is_group(pp_removal_kind kind)
{
    return kind == PP_REMOVAL_GROUP || kind == PP_REMOVAL_DIRECTORY;
}

static parapet_status fail_changed(const char *path)
{
    return pp_fail(PARAPET_ERR_BUSY, "another job has changed \"%s\" meanwhile; remove it again", path);
}

/* ---- One node, held alone ---- */

static parapet_status remove_array(parapet_store *store, const char *path, pp_removal_view *view)
{
    parapet_array array = {.store = store, .path = (char *)(uintptr_t)path};
    const pp_array_document *document = view->has_document ? &view->document : NULL;
    return view->kind == PP_REMOVAL_ARRAY ? pp_array_remove(&array, view->node.json, document)
                                          : pp_array_remove_remains(&array, document);
}

typedef struct place {
    parapet_store *store;
    const char *path;
} place;

/* Nodes below are gone, unless another job has made one since; temporary objects are nobody's, because whoever
 * publishes here would hold the group. */
static parapet_status clear_entry(void *context, const pp_listed *listed)
{
    const place *at = context;
    pp_node node = {0};
    char *child = NULL;
    parapet_status status;
    if (!listed->is_prefix)
        return pp_store_is_temporary_name(listed->name) ? pp_walk_remove(at->store, at->path, listed->name)
                                                        : PARAPET_OK;
    if (pp_path_check(listed->name) != PARAPET_OK)
        return PARAPET_OK;
    if ((status = pp_path_join(at->path, listed->name, &child)) == PARAPET_OK &&
        (status = pp_node_load(at->store, child, &node)) == PARAPET_OK)
        status = fail_changed(at->path);
    pp_node_clear(&node);
    pp_free(child);
    return status == PARAPET_ERR_NOT_FOUND ? PARAPET_OK : status;
}

static parapet_status remove_group_document(parapet_store *store, const char *path, const pp_edit *edit)
{
    parapet_status status;
    if ((status = pp_store_list(store->backend, path, clear_entry, &(place){.store = store, .path = path})) !=
            PARAPET_OK ||
        (status = pp_node_drop_consolidated(store, path)) != PARAPET_OK ||
        (status = pp_edit_prove(edit)) != PARAPET_OK ||
        (status = pp_walk_remove(store, path, "zarr.json")) != PARAPET_OK)
        return status;
    return pp_store_settle(store->backend);
}

static parapet_status remove_group(parapet_store *store, const char *path)
{
    pp_edit edit;
    parapet_status status = pp_edit_begin(&edit, store, path);
    if (status != PARAPET_OK)
        return status;
    status = remove_group_document(store, path, &edit);
    pp_edit_end(&edit);
    return status == PARAPET_OK ? pp_node_remove_own(store, path) : status;
}

static parapet_status remove_held(parapet_store *store, const pp_removal_node *found)
{
    pp_removal_view view = {0};
    parapet_status status = pp_removal_look(store, found->path, &view);
    if (status == PARAPET_OK && is_group(view.kind) != is_group(found->kind))
        status = fail_changed(found->path);
    else if (status == PARAPET_OK)
        status = is_group(view.kind) ? remove_group(store, found->path) : remove_array(store, found->path, &view);
    pp_removal_view_clear(&view);
    return status == PARAPET_ERR_NOT_FOUND ? PARAPET_OK : status;
}

/* The lock goes with the node; a directory stays as long as anything is in it. */
static parapet_status remove_node(parapet_store *store, const pp_removal_node *found)
{
    pp_hold hold = {0};
    parapet_status status = pp_removal_hold(store, found->path, &hold);
    if (status != PARAPET_OK)
        return status;
    status = remove_held(store, found);
    if (status == PARAPET_OK)
        hold.is_kept = false;
    pp_holds_release(&hold, 1);
    return status == PARAPET_OK && found->path[0] != '\0' ? pp_store_remove_empty(store->backend, found->path)
                                                          : status;
}

/* ---- All of them ---- */

static parapet_status forget_own(parapet_store *store, const char *path)
{
    pp_hold hold = {0};
    parapet_status status = pp_removal_hold(store, path, &hold);
    if (status == PARAPET_OK && (status = pp_node_remove_own(store, path)) == PARAPET_OK)
        status = pp_store_settle(store->backend);
    pp_holds_release(&hold, 1);
    return status;
}

/* From the top down. */
static parapet_status forget_own_of_groups(const pp_removal *removal)
{
    parapet_status status = PARAPET_OK;
    size_t i;
    for (i = removal->count; i-- > 0 && status == PARAPET_OK;)
        if (is_group(removal->nodes[i].kind))
            status = forget_own(removal->store, removal->nodes[i].path);
    return status;
}

static parapet_status remove_nodes(void *subject, const void *argument)
{
    const pp_removal *removal = subject;
    parapet_status status = forget_own_of_groups(removal);
    size_t i;
    (void)argument;
    for (i = 0; i < removal->count && status == PARAPET_OK; i++)
        if ((status = remove_node(removal->store, &removal->nodes[i])) != PARAPET_OK)
            status = pp_fail_within(status, "cannot remove \"%s\"", removal->nodes[i].path);
    return status == PARAPET_OK ? pp_store_settle(removal->store->backend) : status;
}

/* Nobody makes a series, a checkpoint or a copy of the groups around meanwhile. */
static parapet_status remove_below_groups(void *subject, const void *argument)
{
    const pp_removal *removal = subject;
    pp_edit above;
    parapet_status status = pp_edit_share_above(&above, removal->store, removal->path, "removing");
    if (status != PARAPET_OK)
        return status;
    status = remove_nodes(subject, argument);
    pp_edit_end(&above);
    return status;
}

/* ---- The call ---- */

static parapet_status find(void *subject, const void *argument)
{
    (void)argument;
    return pp_removal_find(subject);
}

static parapet_status print_nodes(void *subject, pp_text *bytes)
{
    const pp_removal *removal = subject;
    size_t i;
    pp_bytes_add_u64(bytes, removal->count);
    for (i = 0; i < removal->count; i++) {
        pp_bytes_add_u64(bytes, (uint64_t)removal->nodes[i].kind);
        pp_bytes_add_block(bytes, removal->nodes[i].path, strlen(removal->nodes[i].path) + 1);
    }
    return PARAPET_OK;
}

static parapet_status adopt_nodes(void *subject, pp_cursor *bytes)
{
    pp_removal *removal = subject;
    uint64_t count = pp_cursor_u64(bytes);
    parapet_status status = PARAPET_OK;
    while (removal->count < count && status == PARAPET_OK) {
        pp_removal_kind kind = (pp_removal_kind)pp_cursor_u64(bytes);
        size_t length;
        const char *path = pp_cursor_block(bytes, &length);
        if ((status = pp_cursor_finish(bytes)) == PARAPET_OK)
            status = pp_removal_add(removal, path, kind);
    }
    return status;
}

static void tell(const pp_removal *removal, parapet_removal_visitor visitor, void *context)
{
    size_t i;
    for (i = 0; visitor != NULL && i < removal->count; i++)
        if (visitor(context, removal->nodes[i].path, kind_words[removal->nodes[i].kind]) != 0)
            return;
}

/* [collective] */
static parapet_status remove_found(pp_removal *removal)
{
    parapet_store *store = removal->store;
    pp_rank0_task task = {.subject = removal, .work = remove_below_groups};
    pp_around around = {0};
    parapet_status status = pp_around_find(&around, store, removal->path);
    if (status == PARAPET_OK)
        status = pp_around_restore(&around, store, "it is removed", pp_rank0_do(store->comm, "removing", &task));
    pp_around_clear(&around);
    return status;
}

/* [collective] Part of a call that has begun. */
static parapet_status find_and_remove(pp_removal *removal)
{
    pp_rank0_task task = {.subject = removal, .work = find, .print = print_nodes, .adopt = adopt_nodes};
    parapet_status status;
    pp_store_suspend_deadline(removal->store);
    status = pp_rank0_do(removal->store->comm, "looking at what is to be removed", &task);
    if (status == PARAPET_OK && !removal->is_dry)
        status = remove_found(removal);
    pp_store_resume_deadline(removal->store);
    return status;
}

parapet_status parapet_store_remove(parapet_store *store, const char *path, int recursive, int dry_run,
                                    parapet_removal_visitor visitor, void *context)
{
    pp_removal removal = {.store = store, .is_recursive = recursive, .is_dry = dry_run};
    parapet_status status;
    pp_call call;
    if (store == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_store_remove needs a store");
    pp_call_init(&call, "remove(%s)", path != NULL ? path : "");
    pp_call_add_integer(&call, "recursive", recursive);
    pp_call_add_integer(&call, "dry_run", dry_run);
    if ((status = pp_boolean_check("recursive", recursive)) == PARAPET_OK &&
        (status = pp_boolean_check("dry_run", dry_run)) == PARAPET_OK &&
        (status = pp_path_normalize(path, &removal.path)) == PARAPET_OK && !dry_run)
        status = pp_store_check_writable(store);
    if ((status = pp_comm_begin(store->comm, &call, status)) == PARAPET_OK &&
        (status = find_and_remove(&removal)) == PARAPET_OK)
        tell(&removal, visitor, context);
    pp_removal_clear(&removal);
    return pp_outcome(status);
}
