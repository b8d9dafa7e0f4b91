/* store_remove.c - removes an array, or a group with everything below it: rank 0 finds all nodes, and proves them to
 * be ours, before it removes the first (remove_tree.h).
 *
 * A node is gone from the moment its document is: what was kept beside a group, such as the commit records of a
 * checkpoint, goes before the nodes below it, and an array goes as when it is overwritten. So a crash leaves nothing
 * that looks whole and is not, and removing again finishes.
 *
 * Meanwhile rank 0 holds the node where the removal begins alone, and shares the groups around it: nobody makes a
 * series, a checkpoint or a copy of any of them. The same goes for each node below, with the groups in between, while
 * it is removed. */
#include <string.h>

#include "array/ancestors.h"
#include "array/membership.h"
#include "array/node_path.h"
#include "array/rank0.h"
#include "array/reconsolidate.h"
#include "array/remove_tree.h"
#include "array/store_queries.h"
#include "array/walk.h"
#include "base/checked.h"
#include "base/choice.h"
#include "base/status.h"
#include "change/registry.h"

static const char *const kind_words[PP_REMOVE_TREE_KINDS] = {
    [PP_REMOVE_TREE_ARRAY] = "array",
    [PP_REMOVE_TREE_REMAINS] = "remains",
    [PP_REMOVE_TREE_GROUP] = "group",
    [PP_REMOVE_TREE_DIRECTORY] = "directory",
};

typedef struct removing {
    pp_remove_tree found;
    size_t gone;        /* so many of them, from the first on; of a dry one, those that would go */
    pp_edit above;      /* on rank 0, as all that follows: the groups around it, shared */
    pp_node_lock hold;  /* of the node where it begins */
    bool has_begun;     /* something may be gone */
    pp_failure failure; /* of the removal itself, told after what is gone */
} removing;

static parapet_status fail_changed(const char *path)
{
    return pp_fail(PARAPET_ERR_BUSY, "another job has changed \"%s\" meanwhile; remove it again", path);
}

/* ---- One node, held alone ---- */

typedef struct place {
    parapet_store *store;
    const char *path;
} place;

/* Nodes below are gone, unless another job has made one since. A directory can stay because of a link in it. */
static parapet_status check_gone(const place *at, const char *name)
{
    pp_node node = {0};
    char *child = NULL;
    parapet_status status;
    if ((status = pp_path_join(at->path, name, &child)) == PARAPET_OK &&
        (status = pp_node_load(at->store, child, &node)) == PARAPET_OK && (!node.is_implicit || node.is_unfinished))
        status = fail_changed(at->path);
    pp_node_clear(&node);
    pp_free(child);
    return pp_accept_absence(status);
}

/* Temporary objects are nobody's, because whoever publishes here would hold the group. */
static parapet_status clear_entry(void *context, const pp_listed *listed)
{
    const place *at = context;
    if (!listed->is_prefix)
        return pp_store_is_temporary_name(listed->name) ? pp_walk_remove(at->store, at->path, listed->name)
                                                        : PARAPET_OK;
    if (pp_node_is_probe(at->path, listed->name))
        return pp_store_remove_prefix(pp_store_backend(at->store), listed->name);
    return pp_path_check(listed->name) == PARAPET_OK ? check_gone(at, listed->name) : PARAPET_OK;
}

static parapet_status remove_group_document(parapet_store *store, const char *path, const pp_edit *edit)
{
    parapet_status status;
    if ((status = pp_store_list(pp_store_backend(store), path, clear_entry,
                                &(place){.store = store, .path = path})) != PARAPET_OK ||
        (status = pp_ancestors_drop_consolidated(store, path)) != PARAPET_OK ||
        (status = pp_edit_prove(edit)) != PARAPET_OK ||
        (status = pp_walk_remove(store, path, "zarr.json")) != PARAPET_OK)
        return status;
    return pp_store_sync_dirs(pp_store_backend(store));
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

/* Something else than was found; remains are what is left when a group without a document has nothing below it. */
static bool is_another(pp_remove_tree_kind found, pp_remove_tree_kind now)
{
    if (now == PP_REMOVE_TREE_REMAINS)
        return false;
    return found == PP_REMOVE_TREE_REMAINS || pp_remove_tree_is_group(found) != pp_remove_tree_is_group(now);
}

static parapet_status remove_held(parapet_store *store, const char *path, pp_remove_tree_kind found)
{
    pp_remove_tree_view view = {0};
    parapet_status status = pp_remove_tree_look(store, path, &view);
    if (status == PARAPET_OK && is_another(found, view.kind))
        status = fail_changed(path);
    else if (status == PARAPET_OK)
        status = pp_remove_tree_is_group(view.kind) ? remove_group(store, path)
                                                    : pp_remove_tree_remove_array(store, path, &view);
    pp_remove_tree_view_clear(&view);
    return pp_accept_absence(status);
}

/* ---- Locks ---- */

/* A node that is held, and the groups between it and the node where the removal begins. */
typedef struct taken {
    pp_edit between;
    pp_node_lock own;
    pp_node_lock *hold;
} taken;

static void let_go(taken *node)
{
    pp_node_locks_release(&node->own, 1);
    pp_edit_end(&node->between);
}

static parapet_status hold_below(removing *self, const char *path, taken *node)
{
    const pp_remove_tree *found = &self->found;
    parapet_status status = pp_edit_share_above(&node->between, found->store, found->path, path, "removing");
    node->hold = &node->own;
    if (status == PARAPET_OK && (status = pp_remove_tree_lock(found->store, path, &node->own)) != PARAPET_OK)
        pp_edit_end(&node->between);
    return status;
}

static parapet_status prove(const removing *self)
{
    parapet_status status = pp_edit_prove(&self->above);
    return status == PARAPET_OK ? pp_node_lock_prove(&self->hold) : status;
}

/* Let it go if this succeeds. */
static parapet_status take(removing *self, const char *path, taken *node)
{
    parapet_status status = PARAPET_OK;
    *node = (taken){.hold = &self->hold};
    if (strcmp(path, self->found.path) != 0)
        status = hold_below(self, path, node);
    if (status == PARAPET_OK && (status = prove(self)) != PARAPET_OK)
        let_go(node);
    return status;
}

static void unlock(removing *self)
{
    pp_node_locks_release(&self->hold, 1);
    pp_edit_end(&self->above);
}

/* Whoever changes a node now will still do so when its turn comes: it is better to know that before anything goes. */
static parapet_status check_free(removing *self)
{
    parapet_status status = PARAPET_OK;
    size_t i;
    for (i = 0; i < pp_remove_tree_count(&self->found) && status == PARAPET_OK; i++) {
        taken node;
        if ((status = take(self, pp_remove_tree_path(&self->found, i), &node)) == PARAPET_OK)
            let_go(&node);
    }
    return status;
}

/* Another job may have removed all of it while this one waited. Then the lock that this one has made goes, too. */
static parapet_status check_there(removing *self)
{
    const pp_remove_tree *found = &self->found;
    bool is_gone = false;
    parapet_status status = PARAPET_OK;
    if (pp_remove_tree_kind_of(found, pp_remove_tree_count(found) - 1) != PP_REMOVE_TREE_REMAINS)
        status = pp_remove_tree_is_gone(found->store, found->path, &is_gone);
    if (status != PARAPET_OK || !is_gone)
        return status;
    self->hold.is_kept = false;
    unlock(self);
    if (found->path[0] != '\0' &&
        (status = pp_store_remove_empty(pp_store_backend(found->store), found->path)) != PARAPET_OK)
        return status;
    return pp_fail(PARAPET_ERR_NOT_FOUND, "another job has removed \"%s\" meanwhile", found->path);
}

/* A checkpoint may have been committed since it was looked at. */
static parapet_status lock(void *subject, const void *argument)
{
    removing *self = subject;
    const pp_remove_tree *found = &self->found;
    parapet_status status;
    (void)argument;
    if ((status = pp_edit_share_above(&self->above, found->store, NULL, found->path, "removing")) != PARAPET_OK)
        return status;
    if ((status = pp_remove_tree_lock(found->store, found->path, &self->hold)) != PARAPET_OK ||
        (status = check_there(self)) != PARAPET_OK ||
        (status = pp_membership_check(found->store, found->path)) != PARAPET_OK ||
        (status = check_free(self)) != PARAPET_OK)
        unlock(self);
    return status;
}

/* ---- All nodes ---- */

static parapet_status remove_empty(void *context, const pp_listed *listed)
{
    const place *at = context;
    char *child = NULL;
    parapet_status status;
    if (!listed->is_prefix || pp_own_is_folder(listed->name))
        return PARAPET_OK;
    if ((status = pp_path_join(at->path, listed->name, &child)) == PARAPET_OK)
        status = pp_store_remove_empty(pp_store_backend(at->store), child);
    pp_free(child);
    return status;
}

static parapet_status remove_empty_below(parapet_store *store, const char *path)
{
    parapet_status status =
        pp_store_list(pp_store_backend(store), path, remove_empty, &(place){.store = store, .path = path});
    return pp_accept_absence(status);
}

/* The lock goes with the node, and then its directory, which stays as long as anything is in it. */
static parapet_status remove_node(removing *self, const char *path, pp_remove_tree_kind found)
{
    parapet_store *store = self->found.store;
    taken node;
    parapet_status status = take(self, path, &node);
    if (status != PARAPET_OK)
        return status;
    self->has_begun = true;
    if ((status = remove_held(store, path, found)) == PARAPET_OK &&
        (status = remove_empty_below(store, path)) == PARAPET_OK)
        node.hold->is_kept = false;
    pp_node_locks_release(node.hold, 1);
    if (status == PARAPET_OK && path[0] != '\0')
        status = pp_store_remove_empty(pp_store_backend(store), path);
    let_go(&node);
    return status;
}

static parapet_status forget_own(removing *self, const char *path)
{
    parapet_store *store = self->found.store;
    taken node;
    parapet_status status = take(self, path, &node);
    if (status != PARAPET_OK)
        return status;
    self->has_begun = true;
    if ((status = pp_node_forget_own(store, path)) == PARAPET_OK)
        status = pp_store_sync_dirs(pp_store_backend(store));
    let_go(&node);
    return status;
}

/* From the top down. */
static parapet_status forget_own_of_groups(removing *self)
{
    parapet_status status = PARAPET_OK;
    size_t i;
    for (i = pp_remove_tree_count(&self->found); i-- > 0 && status == PARAPET_OK;)
        if (pp_remove_tree_is_group(pp_remove_tree_kind_of(&self->found, i)))
            status = forget_own(self, pp_remove_tree_path(&self->found, i));
    return status;
}

static parapet_status remove_each(removing *self)
{
    const pp_remove_tree *found = &self->found;
    parapet_status status = forget_own_of_groups(self);
    while (self->gone < pp_remove_tree_count(found) && status == PARAPET_OK) {
        const char *path = pp_remove_tree_path(found, self->gone);
        if ((status = remove_node(self, path, pp_remove_tree_kind_of(found, self->gone))) != PARAPET_OK)
            return pp_fail_within(status, "cannot remove \"%s\"", path);
        self->gone++;
    }
    return status == PARAPET_OK ? pp_store_sync_dirs(pp_store_backend(found->store)) : status;
}

static parapet_status remove_nodes(void *subject, const void *argument)
{
    removing *self = subject;
    parapet_status status = remove_each(self);
    (void)argument;
    if (status != PARAPET_OK && self->has_begun && pp_remove_tree_count(&self->found) > 1)
        status = pp_fail_within(status, "a part of \"%s\" may be removed; remove it again",
                                pp_path_shown(self->found.path));
    pp_failure_take(&self->failure, status);
    return PARAPET_OK;
}

/* ---- What the other ranks learn ---- */

static parapet_status print_nodes(void *subject, pp_text *bytes)
{
    pp_word_list_print(&((const removing *)subject)->found.nodes, bytes);
    return PARAPET_OK;
}

static parapet_status adopt_nodes(void *subject, pp_cursor *bytes)
{
    return pp_word_list_adopt(&((removing *)subject)->found.nodes, bytes);
}

static parapet_status print_gone(void *subject, pp_text *bytes)
{
    pp_bytes_add_u64(bytes, ((const removing *)subject)->gone);
    return PARAPET_OK;
}

static parapet_status adopt_gone(void *subject, pp_cursor *bytes)
{
    removing *self = subject;
    self->gone = (size_t)pp_min_u64(pp_cursor_u64(bytes), pp_remove_tree_count(&self->found));
    return PARAPET_OK;
}

/* Also before a failure is returned, whose sentence the visitor must not change. */
static parapet_status tell(const removing *self, parapet_status status, parapet_removal_visitor visitor,
                           void *context)
{
    pp_failure failure = {0};
    bool has_ended = visitor == NULL;
    size_t i;
    pp_failure_take(&failure, status);
    for (i = 0; i < self->gone && !has_ended; i++) {
        const char *kind = kind_words[pp_remove_tree_kind_of(&self->found, i)];
        pp_callback_begin();
        has_ended = visitor(context, pp_remove_tree_path(&self->found, i), kind) != 0;
        pp_callback_end();
    }
    return pp_failure_put(&failure);
}

/* ---- The call ---- */

static parapet_status find(void *subject, const void *argument)
{
    (void)argument;
    return pp_remove_tree_find(&((removing *)subject)->found);
}

/* [collective] What the removal itself failed with is told by all, as soon as they know what is gone. */
static parapet_status remove_locked(removing *self)
{
    parapet_store *store = self->found.store;
    pp_rank0_task task = {.subject = self, .work = remove_nodes, .print = print_gone, .adopt = adopt_gone};
    pp_reconsolidate around = {0};
    parapet_status status = pp_reconsolidate_find(&around, store, self->found.path);
    bool is_marked = status == PARAPET_OK;
    if (is_marked && (status = pp_rank0_do(pp_store_comm(store), "removing", &task)) == PARAPET_OK)
        status = pp_comm_agree(pp_store_comm(store), "removing", pp_failure_put(&self->failure));
    unlock(self);
    if (is_marked)
        status = pp_reconsolidate_restore(&around, store, "it is removed", status);
    pp_reconsolidate_clear(&around);
    return status;
}

/* [collective] */
static parapet_status remove_found(removing *self)
{
    pp_rank0_task task = {.subject = self, .work = lock};
    parapet_status status = pp_rank0_do(pp_store_comm(self->found.store), "locking what is to be removed", &task);
    if (status == PARAPET_OK)
        return remove_locked(self);
    unlock(self);
    return status;
}

/* [collective] There is nothing to remove, perhaps because a removal was killed at its very end: then the metadata
 * around it waits to be renewed. Returns the status of the search unless that fails. */
static parapet_status renew_above(removing *self, parapet_status found)
{
    pp_failure failure = {0};
    pp_reconsolidate around = {0};
    parapet_status status;
    pp_failure_take(&failure, found);
    if ((status = pp_reconsolidate_find_marked(&around, self->found.store, self->found.path)) == PARAPET_OK)
        status = pp_reconsolidate_restore(&around, self->found.store, "it is removed", PARAPET_OK);
    pp_reconsolidate_clear(&around);
    return status != PARAPET_OK ? status : pp_failure_put(&failure);
}

/* [collective] Part of a call that has begun. */
static parapet_status find_and_remove(removing *self)
{
    pp_rank0_task task = {.subject = self, .work = find, .print = print_nodes, .adopt = adopt_nodes};
    parapet_status status;
    pp_store_suspend_deadline(self->found.store);
    status = pp_rank0_do(pp_store_comm(self->found.store), "looking at what is to be removed", &task);
    if (status == PARAPET_OK && self->found.is_dry)
        self->gone = pp_remove_tree_count(&self->found);
    else if (status == PARAPET_OK)
        status = remove_found(self);
    else if (status == PARAPET_ERR_NOT_FOUND && !self->found.is_dry)
        status = renew_above(self, status);
    pp_store_resume_deadline(self->found.store);
    return status;
}

static parapet_status check_call(const parapet_store *store, int recursive, int dry_run)
{
    parapet_status status;
    if ((status = pp_boolean_check("recursive", recursive)) != PARAPET_OK ||
        (status = pp_boolean_check("dry_run", dry_run)) != PARAPET_OK)
        return status;
    if (pp_store_is_foreign(store))
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "a file of another format can only be read");
    return dry_run ? PARAPET_OK : pp_store_check_writable(store);
}

parapet_status parapet_store_remove(parapet_store *store, const char *path, int recursive, int dry_run,
                                    parapet_removal_visitor visitor, void *context)
{
    removing self = {0};
    PP_TURN turn = {0};
    parapet_status status, checked;
    pp_call call;
    if (store == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_store_remove needs a store");
    if ((status = pp_turn_take(&turn, pp_store_comm(store), PP_TURN_COLLECTIVE)) != PARAPET_OK)
        return status;
    pp_call_init(&call, "remove(%s)", path != NULL ? path : "");
    pp_call_add_integer(&call, "recursive", recursive);
    pp_call_add_integer(&call, "dry_run", dry_run);
    status = pp_remove_tree_init(&self.found, store, path);
    self.found.is_recursive = recursive != 0;
    self.found.is_dry = dry_run != 0;
    if ((checked = check_call(store, recursive, dry_run)) != PARAPET_OK)
        status = checked;
    if ((status = pp_comm_begin(pp_store_comm(store), &call, status)) == PARAPET_OK)
        status = tell(&self, find_and_remove(&self), visitor, context);
    pp_remove_tree_clear(&self.found);
    return pp_outcome(status);
}
