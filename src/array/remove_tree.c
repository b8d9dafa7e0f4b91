#include "array/remove_tree.h"

#include <stdio.h>
#include <string.h>

#include "array/announcement.h"
#include "array/array_handle.h"
#include "array/create.h"
#include "array/lock_text.h"
#include "array/membership.h"
#include "array/node_path.h"
#include "array/remove_node.h"
#include "array/walk.h"
#include "change/registry.h"

/* As deep as consolidated metadata can be. */
#define DEPTH_MOST PP_JSON_MAX_DEPTH

/* So many foreign things are named. */
enum { NAMED_MOST = 3 };

typedef struct search {
    pp_remove_tree *removal;
    pp_text named; /* the first foreign things */
    int64_t foreign_count;
    char *unreadable; /* the first array that they lie in and whose document cannot be read; NULL: there is none */
} search;

bool pp_remove_tree_is_group(pp_remove_tree_kind kind)
{
    return kind == PP_REMOVE_TREE_GROUP || kind == PP_REMOVE_TREE_DIRECTORY;
}

/* ---- The list ---- */

parapet_status pp_remove_tree_init(pp_remove_tree *removal, parapet_store *store, const char *path)
{
    *removal = (pp_remove_tree){.store = store};
    pp_word_list_init(&removal->nodes, &store->budget, "the list of nodes that are removed");
    return pp_path_normalize(path, &removal->path);
}

parapet_status pp_remove_tree_add(pp_remove_tree *removal, const char *path, pp_remove_tree_kind kind)
{
    return pp_word_list_add(&removal->nodes, path, (int)kind);
}

size_t pp_remove_tree_count(const pp_remove_tree *removal)
{
    return pp_word_list_count(&removal->nodes);
}

const char *pp_remove_tree_path(const pp_remove_tree *removal, size_t index)
{
    return pp_word_list_text(&removal->nodes, index);
}

pp_remove_tree_kind pp_remove_tree_kind_of(const pp_remove_tree *removal, size_t index)
{
    return (pp_remove_tree_kind)pp_word_list_number(&removal->nodes, index);
}

void pp_remove_tree_clear(pp_remove_tree *removal)
{
    pp_word_list_clear(&removal->nodes);
    pp_free(removal->path);
    *removal = (pp_remove_tree){0};
}

/* ---- One node ---- */

static bool is_unreadable(parapet_status status)
{
    return status == PARAPET_ERR_FORMAT || status == PARAPET_ERR_UNSUPPORTED || status == PARAPET_ERR_CORRUPT;
}

static parapet_status take_document(pp_remove_tree_view *view)
{
    parapet_status status = pp_array_document_parse(&view->document, view->node.json);
    view->has_document = status == PARAPET_OK;
    return is_unreadable(status) ? PARAPET_OK : status;
}

/* What has no document: remains, if they are marked as such. */
static parapet_status look_without_document(parapet_store *store, const char *path, pp_remove_tree_view *view)
{
    parapet_array array = {.store = store, .path = (char *)(uintptr_t)path};
    bool is_marked = false;
    parapet_status status = pp_array_has_remains(&array, &is_marked);
    if (status != PARAPET_OK || !is_marked)
        return status;
    view->kind = PP_REMOVE_TREE_REMAINS;
    return pp_array_old_document(&array, &view->document, &view->has_document);
}

static parapet_status note_own(void *context, const pp_listed *listed)
{
    *(bool *)context = *(bool *)context || pp_own_is_folder(listed->name);
    return PARAPET_OK;
}

/* A directory that holds only what we keep for ourselves, such as a lock. One that does not even hold that may be
 * anybody's, also if somebody has put something there since it was looked at. */
static parapet_status look_at_nothing(parapet_store *store, const char *path, pp_remove_tree_view *view)
{
    bool has_own = false;
    parapet_status status = pp_store_list(store->backend, path, note_own, &has_own);
    view->kind = PP_REMOVE_TREE_REMAINS;
    if (status == PARAPET_ERR_NOT_FOUND || (status == PARAPET_OK && !has_own))
        return pp_fail(PARAPET_ERR_NOT_FOUND, "there is no array or group at \"%s\"", path);
    return status == PARAPET_OK ? look_without_document(store, path, view) : status;
}

/* A group is rewritten when something below it goes: that must not fail when a part of it is gone. */
static parapet_status look_at_group(const char *path, pp_remove_tree_view *view)
{
    pp_group_document document = {0};
    parapet_status status = pp_group_document_parse(&document, view->node.json);
    view->kind = PP_REMOVE_TREE_GROUP;
    pp_group_document_clear(&document);
    if (status == PARAPET_OK)
        return status;
    return pp_fail_within(status, "the document of the group \"%s\" cannot be read, so it is not removed",
                          pp_path_shown(path));
}

/* Text that is no JSON is the damaged document of an array. A format or a kind of node that we do not know is not
 * ours. */
static parapet_status look_at_failure(const char *path, const pp_remove_tree_view *view, parapet_status status)
{
    if (!is_unreadable(status) || view->node.json == NULL)
        return is_unreadable(status) ? PARAPET_OK : status;
    return pp_fail_within(status, "\"%s\" is not removed, because nobody can tell what it is", pp_path_shown(path));
}

parapet_status pp_remove_tree_look(parapet_store *store, const char *path, pp_remove_tree_view *view)
{
    parapet_status status;
    *view = (pp_remove_tree_view){.kind = PP_REMOVE_TREE_ARRAY};
    status = pp_node_load(store, path, &view->node);
    if (status == PARAPET_ERR_NOT_FOUND)
        return look_at_nothing(store, path, view);
    if (view->node.zarr_format == 2 && (status == PARAPET_OK || is_unreadable(status)))
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "\"%s\" is Zarr v2, which is never removed", path);
    if (status != PARAPET_OK)
        return look_at_failure(path, view, status);
    if (view->node.kind == PARAPET_NODE_ARRAY)
        return take_document(view);
    if (!view->node.is_implicit)
        return look_at_group(path, view);
    view->kind = PP_REMOVE_TREE_DIRECTORY;
    return look_without_document(store, path, view);
}

void pp_remove_tree_view_clear(pp_remove_tree_view *view)
{
    pp_array_document_clear(&view->document);
    pp_node_clear(&view->node);
}

parapet_status pp_remove_tree_is_gone(parapet_store *store, const char *path, bool *is_gone)
{
    parapet_array array = {.store = store, .path = (char *)(uintptr_t)path};
    pp_node node = {0};
    bool is_marked = false;
    parapet_status status = pp_node_load(store, path, &node);
    pp_node_clear(&node);
    *is_gone = status == PARAPET_ERR_NOT_FOUND;
    if (!*is_gone) /* what cannot be read is there */
        return is_unreadable(status) ? PARAPET_OK : status;
    status = pp_array_has_remains(&array, &is_marked);
    *is_gone = !is_marked;
    return status;
}

parapet_status pp_remove_tree_lock(parapet_store *store, const char *path, pp_node_lock *hold)
{
    return pp_node_locks_take(
        hold, &(pp_node_lock_wish){
                  .store = store, .paths = &path, .count = 1, .mode = PP_LOCK_EXCLUSIVE, .purpose = "removing"});
}

parapet_status pp_remove_tree_remove_array(parapet_store *store, const char *path, const pp_remove_tree_view *view)
{
    parapet_array array = {.store = store, .path = (char *)(uintptr_t)path};
    const pp_array_document *document = view->has_document ? &view->document : NULL;
    return view->kind == PP_REMOVE_TREE_ARRAY ? pp_array_remove(&array, document)
                                              : pp_array_remove_remains(&array, document);
}

/* ---- What is foreign ---- */

static parapet_status note_foreign(search *self, const char *path, const char *key)
{
    if (self->foreign_count++ < NAMED_MOST)
        pp_text_add(&self->named, "%s\"%s%s%s\"", self->named.bytes > 0 ? ", " : "", path, path[0] != '\0' ? "/" : "",
                    key);
    return self->named.status;
}

/* Below a path that holds nothing of ours, or an array's own directory. */
typedef struct examined {
    search *self;
    const char *path;
    const pp_remove_tree_view *view; /* NULL: nothing is ours */
} examined;

static parapet_status examine_object(void *context, const char *key, uint64_t bytes)
{
    const examined *at = context;
    const pp_remove_tree_view *view = at->view;
    bool is_ours = view != NULL && (strcmp(key, "zarr.json") == 0 ||
                                    pp_remove_is_shard(view->has_document ? &view->document : NULL, key));
    parapet_status status = PARAPET_OK;
    (void)bytes;
    if (is_ours)
        return status;
    if (view != NULL && view->kind == PP_REMOVE_TREE_ARRAY && !view->has_document && at->self->unreadable == NULL)
        status = pp_text_duplicate(&at->self->unreadable, at->path);
    return status == PARAPET_OK ? note_foreign(at->self, at->path, key) : status;
}

static parapet_status examine_array(search *self, const char *path, const pp_remove_tree_view *view)
{
    examined at = {.self = self, .path = path, .view = view};
    return pp_walk_every_object(self->removal->store, path, examine_object, &at);
}

/* ---- Groups ---- */

static parapet_status find_node(search *self, const char *path, int depth);

typedef struct level {
    search *self;
    const char *path;
    int depth;
} level;

/* What lies below a name that no node can have is foreign. */
static parapet_status find_below(const level *above, const char *name)
{
    char *path = NULL;
    parapet_status status;
    if (pp_own_is_folder(name) || pp_node_is_probe(above->path, name))
        return PARAPET_OK;
    if ((status = pp_path_join(above->path, name, &path)) == PARAPET_OK)
        status = pp_path_check(name) == PARAPET_OK ? find_node(above->self, path, above->depth + 1)
                                                   : examine_array(above->self, path, NULL);
    pp_free(path);
    return pp_accept_absence(status);
}

/* The store tells the names after it has listed them all. */
static parapet_status examine_entry(void *context, const pp_listed *listed)
{
    const level *above = context;
    if (listed->is_prefix)
        return find_below(above, listed->name);
    if (strcmp(listed->name, "zarr.json") == 0 || pp_store_is_temporary_name(listed->name))
        return PARAPET_OK;
    return note_foreign(above->self, above->path, listed->name);
}

static parapet_status examine_group(search *self, const char *path, int depth)
{
    level here = {.self = self, .path = path, .depth = depth};
    if (depth > DEPTH_MOST)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "\"%s\": groups are nested more than %d deep", path, DEPTH_MOST);
    return pp_store_list(self->removal->store->backend, path, examine_entry, &here);
}

/* The documents of groups are let go before those below are looked at. */
static parapet_status find_node(search *self, const char *path, int depth)
{
    pp_remove_tree_view view = {0};
    parapet_status status = pp_remove_tree_look(self->removal->store, path, &view);
    pp_remove_tree_kind kind = view.kind;
    if (status == PARAPET_OK && !pp_remove_tree_is_group(kind))
        status = examine_array(self, path, &view);
    pp_remove_tree_view_clear(&view);
    if (status == PARAPET_OK && pp_remove_tree_is_group(kind))
        status = examine_group(self, path, depth);
    return status == PARAPET_OK ? pp_remove_tree_add(self->removal, path, kind) : status;
}

/* ---- What was found ---- */

/* Nothing goes as long as one thing is not known for ours (invariant 10 of docs/design/change.md). */
static parapet_status refuse_foreign(const search *self)
{
    int64_t more = self->foreign_count - NAMED_MOST;
    bool is_one = self->foreign_count == 1;
    char rest[48] = "";
    if (more > 0)
        (void)snprintf(rest, sizeof rest, " and %lld more", (long long)more);
    if (self->unreadable != NULL)
        return pp_fail(PARAPET_ERR_EXISTS,
                       "the document of \"%s\" cannot be read, so nobody can tell what %s%s %s, and nothing is "
                       "removed",
                       self->unreadable, self->named.data, rest, is_one ? "is" : "are");
    return pp_fail(PARAPET_ERR_EXISTS,
                   "%s%s: Parapet did not make %s and removes nothing as long as %s there; move %s elsewhere first",
                   self->named.data, rest, is_one ? "this" : "these", is_one ? "it is" : "they are",
                   is_one ? "it" : "them");
}

static bool has_node(const pp_remove_tree *removal)
{
    size_t i;
    for (i = 0; i < pp_remove_tree_count(removal); i++)
        if (pp_remove_tree_kind_of(removal, i) != PP_REMOVE_TREE_DIRECTORY)
            return true;
    return false;
}

/* A blank name is no reason to remove a store, whatever is at its root. */
static parapet_status check_asked_for(const pp_remove_tree *removal)
{
    size_t last = pp_remove_tree_count(removal) - 1;
    bool is_single = !pp_remove_tree_is_group(pp_remove_tree_kind_of(removal, last)) && removal->path[0] != '\0';
    if (removal->is_recursive || is_single)
        return PARAPET_OK;
    return pp_fail(PARAPET_ERR_ARGUMENT,
                   "\"%s\" is a group, with %zu arrays and groups below it; to remove all of them: parapet rm "
                   "--recursive, or recursive",
                   pp_path_shown(removal->path), last);
}

/* Without taking any. */
static parapet_status look_at_locks(const pp_remove_tree *removal)
{
    parapet_status status = PARAPET_OK;
    size_t i;
    for (i = 0; i < pp_remove_tree_count(removal) && status == PARAPET_OK; i++) {
        pp_lock_view view;
        if ((status = pp_lock_text_view(removal->store, pp_remove_tree_path(removal, i), &view)) == PARAPET_OK &&
            view.is_held)
            status = pp_lock_text_fail_busy(removal->store, pp_remove_tree_path(removal, i));
    }
    return status;
}

static parapet_status check_found(const search *self)
{
    const pp_remove_tree *removal = self->removal;
    parapet_status status;
    if (self->foreign_count > 0)
        return refuse_foreign(self);
    if (!has_node(removal))
        return pp_fail(PARAPET_ERR_NOT_FOUND, "there is no array or group at \"%s\"", removal->path);
    if ((status = check_asked_for(removal)) != PARAPET_OK || !removal->is_dry)
        return status;
    return look_at_locks(removal);
}

parapet_status pp_remove_tree_find(pp_remove_tree *removal)
{
    search self = {.removal = removal};
    parapet_status status = pp_membership_check(removal->store, removal->path);
    if (status == PARAPET_OK &&
        (status = pp_announcement_refuse_around(removal->store, removal->path)) == PARAPET_OK &&
        (status = find_node(&self, removal->path, 0)) == PARAPET_OK)
        status = check_found(&self);
    pp_text_free(&self.named);
    pp_free(self.unreadable);
    return status;
}
