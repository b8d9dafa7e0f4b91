#include "array/removal.h"

#include <stdio.h>
#include <string.h>

#include "array/array_handle.h"
#include "array/create.h"
#include "array/path.h"
#include "array/remove.h"
#include "array/walk.h"

/* As deep as consolidated metadata can be. */
#define DEPTH_MOST PP_JSON_MAX_DEPTH

/* So many foreign things are named. */
enum { NAMED_MOST = 3 };

typedef struct search {
    pp_removal *removal;
    pp_text named; /* the first foreign things */
    int64_t foreign_count;
} search;

/* ---- The list ---- */

parapet_status pp_removal_add(pp_removal *removal, const char *path, pp_removal_kind kind)
{
    parapet_status status;
    if (removal->count == removal->capacity) {
        size_t capacity = removal->capacity > 0 ? 2 * removal->capacity : 16;
        if ((status = pp_reallocate(&removal->nodes, capacity * sizeof removal->nodes[0])) != PARAPET_OK)
            return status;
        removal->capacity = capacity;
    }
    removal->nodes[removal->count].kind = kind;
    if ((status = pp_text_duplicate(&removal->nodes[removal->count].path, path)) == PARAPET_OK)
        removal->count++;
    return status;
}

void pp_removal_clear(pp_removal *removal)
{
    size_t i;
    for (i = 0; i < removal->count; i++)
        pp_free(removal->nodes[i].path);
    pp_free(removal->nodes);
    pp_free(removal->path);
    *removal = (pp_removal){0};
}

/* ---- One node ---- */

static bool is_unreadable(parapet_status status)
{
    return status == PARAPET_ERR_FORMAT || status == PARAPET_ERR_UNSUPPORTED || status == PARAPET_ERR_CORRUPT;
}

static parapet_status take_document(pp_removal_view *view)
{
    parapet_status status = pp_array_document_parse(&view->document, view->node.json);
    view->has_document = status == PARAPET_OK;
    return is_unreadable(status) ? PARAPET_OK : status;
}

/* What has no document: remains if they are marked as such, or if there is nothing but what we keep for ourselves. */
static parapet_status look_without_document(parapet_store *store, const char *path, pp_removal_view *view)
{
    parapet_array array = {.store = store, .path = (char *)(uintptr_t)path};
    bool is_marked = false;
    parapet_status status = pp_array_is_marked(&array, &is_marked);
    if (status != PARAPET_OK || !is_marked)
        return status;
    view->kind = PP_REMOVAL_REMAINS;
    return pp_array_marked_document(&array, &view->document, &view->has_document);
}

static parapet_status pass_entry(void *context, const pp_listed *listed)
{
    (void)context;
    (void)listed;
    return PARAPET_OK;
}

/* A directory that holds nothing, or only a lock. */
static parapet_status look_at_nothing(parapet_store *store, const char *path, pp_removal_view *view)
{
    parapet_status status = pp_store_list(store->backend, path, pass_entry, NULL);
    view->kind = PP_REMOVAL_REMAINS;
    if (status == PARAPET_ERR_NOT_FOUND)
        return pp_fail(status, "there is no array or group at \"%s\"", path);
    return status == PARAPET_OK ? look_without_document(store, path, view) : status;
}

parapet_status pp_removal_look(parapet_store *store, const char *path, pp_removal_view *view)
{
    parapet_status status;
    *view = (pp_removal_view){.kind = PP_REMOVAL_ARRAY};
    status = pp_node_load(store, path, &view->node);
    if (status == PARAPET_ERR_NOT_FOUND)
        return look_at_nothing(store, path, view);
    if (is_unreadable(status))
        return PARAPET_OK;
    if (status != PARAPET_OK)
        return status;
    if (view->node.zarr_format == 2)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "\"%s\" is Zarr v2, which is never removed", path);
    if (view->node.kind == PARAPET_NODE_ARRAY)
        return take_document(view);
    view->kind = view->node.is_implicit ? PP_REMOVAL_DIRECTORY : PP_REMOVAL_GROUP;
    return view->node.is_implicit ? look_without_document(store, path, view) : PARAPET_OK;
}

void pp_removal_view_clear(pp_removal_view *view)
{
    pp_array_document_clear(&view->document);
    pp_node_clear(&view->node);
}

parapet_status pp_removal_hold(parapet_store *store, const char *path, pp_hold *hold)
{
    return pp_holds_take(
        hold, &(pp_hold_wish){
                  .store = store, .paths = &path, .count = 1, .mode = PP_LOCK_EXCLUSIVE, .purpose = "removing"});
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
    const pp_removal_view *view; /* NULL: nothing is ours */
} examined;

static parapet_status examine_object(void *context, const char *key, uint64_t bytes)
{
    const examined *at = context;
    (void)bytes;
    if (at->view != NULL && (strcmp(key, "zarr.json") == 0 ||
                             pp_remove_is_shard(at->view->has_document ? &at->view->document : NULL, key)))
        return PARAPET_OK;
    return note_foreign(at->self, at->path, key);
}

static parapet_status examine_array(search *self, const char *path, const pp_removal_view *view)
{
    examined at = {.self = self, .path = path, .view = view};
    return pp_walk_objects(self->removal->store, path, examine_object, &at);
}

/* ---- Groups ---- */

static parapet_status find_node(search *self, const char *path, int depth);

typedef struct level {
    search *self;
    const char *path;
    int depth;
} level;

/* A name that no node can have is not looked into any further than for what it holds. */
static parapet_status find_below(const level *above, const char *name)
{
    char *path = NULL;
    parapet_status status;
    if (strcmp(name, "__parapet") == 0)
        return PARAPET_OK;
    if ((status = pp_path_join(above->path, name, &path)) == PARAPET_OK)
        status = pp_path_check(name) == PARAPET_OK ? find_node(above->self, path, above->depth + 1)
                                                   : examine_array(above->self, path, NULL);
    pp_free(path);
    return status;
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

/* Whoever changes a node now will still do so when its turn comes: it is better to know that before anything goes. */
static parapet_status check_free(const search *self, const char *path)
{
    pp_hold hold = {0};
    parapet_status status = self->removal->is_dry ? PARAPET_OK : pp_removal_hold(self->removal->store, path, &hold);
    pp_holds_release(&hold, 1);
    return status;
}

static parapet_status find_node(search *self, const char *path, int depth)
{
    pp_removal_view view = {0};
    parapet_status status = pp_removal_look(self->removal->store, path, &view);
    pp_removal_kind kind = view.kind;
    if (status == PARAPET_OK)
        status = check_free(self, path);
    if (status == PARAPET_OK)
        status = kind == PP_REMOVAL_GROUP || kind == PP_REMOVAL_DIRECTORY ? examine_group(self, path, depth)
                                                                          : examine_array(self, path, &view);
    pp_removal_view_clear(&view);
    return status == PARAPET_OK ? pp_removal_add(self->removal, path, kind) : status;
}

static parapet_status refuse_foreign(const search *self)
{
    int64_t more = self->foreign_count - NAMED_MOST;
    char rest[48] = "";
    if (more > 0)
        (void)snprintf(rest, sizeof rest, " and %lld more", (long long)more);
    return pp_fail(PARAPET_ERR_EXISTS,
                   "%s%s: Parapet did not make %s and removes nothing as long as %s there; move %s elsewhere first",
                   self->named.data, rest, self->foreign_count == 1 ? "this" : "these",
                   self->foreign_count == 1 ? "it is" : "they are", self->foreign_count == 1 ? "it" : "them");
}

/* The node at the path itself comes last. A blank name is no reason to remove a store, whatever is at its root. */
static parapet_status check_asked_for(const pp_removal *removal)
{
    pp_removal_kind kind = removal->nodes[removal->count - 1].kind;
    bool is_single = (kind == PP_REMOVAL_ARRAY || kind == PP_REMOVAL_REMAINS) && removal->path[0] != '\0';
    if (removal->is_recursive || is_single)
        return PARAPET_OK;
    return pp_fail(PARAPET_ERR_ARGUMENT,
                   "\"%s\" is a group, with %zu arrays and groups below it; to remove all of them: parapet rm "
                   "--recursive, or recursive",
                   removal->path[0] != '\0' ? removal->path : "/", removal->count - 1);
}

static parapet_status check_found(const search *self)
{
    const pp_removal *removal = self->removal;
    if (self->foreign_count > 0)
        return refuse_foreign(self);
    if (removal->count == 1 && removal->nodes[0].kind == PP_REMOVAL_DIRECTORY)
        return pp_fail(PARAPET_ERR_NOT_FOUND, "there is no array or group at \"%s\"", removal->path);
    return check_asked_for(removal);
}

parapet_status pp_removal_find(pp_removal *removal)
{
    search self = {.removal = removal};
    parapet_status status = find_node(&self, removal->path, 0);
    if (status == PARAPET_OK)
        status = check_found(&self);
    pp_text_free(&self.named);
    return status;
}
