/* tree.c - the copy of a group with everything below it.
 *
 * Groups are made on the way down, each array becomes visible when it is complete. A log beside the target's root
 * says which arrays are complete and what their sources were, so that a copy that is resumed passes over them. */
#include "copy/tree.h"

#include <string.h>

#include "array/ancestors.h"
#include "array/announcement.h"
#include "array/children.h"
#include "array/group.h"
#include "array/node.h"
#include "array/node_lock.h"
#include "array/node_path.h"
#include "array/reconsolidate.h"
#include "array/store_queries.h"
#include "base/list.h"
#include "base/status.h"
#include "change/registry.h"
#include "codec/crc32c.h"
#include "copy/array_copy.h"
#include "copy/child_listing.h"
#include "copy/consolidated.h"
#include "copy/copy_request.h"
#include "copy/progress.h"
#include "copy/selection.h"
#include "copy/tree_log.h"

/* ---- Groups ---- */

typedef enum tree_purpose {
    COPYING,
    SURVEYING,  /* only looks, at what there is and whether the changes concern any of it */
    EXPLAINING, /* tells what would be done */
    SEARCHING   /* only looks whether anything is taken */
} tree_purpose;

/* What is done to every array on the way. */
typedef struct tree_walk {
    const parapet_copy_request *request;
    tree_purpose purpose;
    pp_selection *selection;
    size_t root_bytes; /* of paths in the source, before what is below the group that is copied */
    bool is_whole;     /* a group on the way was named, or none is */
    bool is_found;     /* searching */
    pp_copy_tree_log tree;
    pp_copy_progress *progress;
    pp_copy_totals *totals;
    pp_failure unconsolidated; /* a group of which everything is copied */
    bool notes_old;            /* surveying: which arrays of the target are going to be replaced */
    bool is_touched;
    int64_t bytes;
    pp_list shapes; /* of surveyed arrays, in their order */
    size_t next;    /* of them: copying */
    int as_json;    /* explaining */
    pp_text *text;
    char **svg;
} tree_walk;

static parapet_status copy_node(tree_walk *walk, const char *source, const char *target, parapet_node_kind kind);

/* Rank 0: the group of the target, with the source's attributes. One that exists is only taken when told so, or when
 * it is the empty root that every new store has. */
static parapet_status write_group(parapet_store *store, const char *target, const pp_group_document *document)
{
    pp_edit edit;
    parapet_status status = pp_edit_begin(&edit, store, target);
    if (status != PARAPET_OK)
        return status;
    if ((status = pp_ancestors_prepare(store, target)) == PARAPET_OK)
        status = pp_node_write_group(store, target, document, PP_PUBLISH_REPLACE);
    pp_edit_end(&edit);
    return status;
}

static parapet_status make_group(const tree_walk *walk, const parapet_group *source, const char *target)
{
    parapet_store *store = walk->request->target;
    const pp_group_document *stored = pp_group_document_of(source);
    pp_group_document document = {
        .zarr_format = 3, .attributes = stored->attributes, .extra = stored->zarr_format == 3 ? stored->extra : NULL};
    pp_children children = {0};
    pp_node node = {0};
    parapet_status status = pp_node_load(store, target, &node);
    bool is_there = status == PARAPET_OK && !node.is_implicit;
    if (status == PARAPET_OK && is_there && node.kind == PARAPET_NODE_ARRAY)
        status = pp_fail(PARAPET_ERR_EXISTS, "there is an array at \"%s\"; a group cannot replace it", target);
    else if (status == PARAPET_ERR_NOT_FOUND)
        status = PARAPET_OK;
    if (status == PARAPET_OK && is_there && !walk->request->overwrite && !walk->request->resume &&
        (status = pp_children_list(&children, store, target)) == PARAPET_OK && children.count > 0)
        status = pp_fail(PARAPET_ERR_EXISTS,
                         "the group \"%s\" exists and is not empty; set overwrite to copy into it", target);
    pp_children_clear(&children);
    pp_node_clear(&node);
    return status == PARAPET_OK ? write_group(store, target, &document) : status;
}

/* [collective] Whether anything below a group is taken. */
static parapet_status search(const tree_walk *walk, const char *group, bool *is_found)
{
    tree_walk searching = {
        .request = walk->request, .purpose = SEARCHING, .selection = walk->selection, .root_bytes = walk->root_bytes};
    parapet_status status = copy_node(&searching, group, "", PARAPET_NODE_GROUP);
    *is_found = searching.is_found;
    return status;
}

/* [collective] Copies what is taken of a child. */
static parapet_status copy_child(tree_walk *walk, const char *source, const char *target, parapet_node_kind kind)
{
    pp_taken taken = pp_selection_take(walk->selection, source + walk->root_bytes);
    bool was_whole = walk->is_whole;
    bool is_taken = taken == PP_TAKEN_WHOLE || (was_whole && taken != PP_TAKEN_NOT);
    parapet_status status = PARAPET_OK;
    if (taken == PP_TAKEN_NOT || walk->is_found)
        return PARAPET_OK;
    walk->is_whole = is_taken;
    if (!is_taken && kind == PARAPET_NODE_GROUP)
        status = search(walk, source, &is_taken);
    if (walk->purpose == SEARCHING)
        walk->is_found = is_taken;
    else if (status == PARAPET_OK && is_taken)
        status = copy_node(walk, source, target, kind);
    walk->is_whole = was_whole;
    return status;
}

static parapet_status copy_children(tree_walk *walk, parapet_group *group, const char *source, const char *target)
{
    pp_listing children = {0};
    parapet_status status = pp_listing_init(&children, group, pp_store_comm(walk->request->target));
    size_t i;
    for (i = 0; i < children.count && status == PARAPET_OK; i++) {
        char *from = NULL, *to = NULL;
        if ((status = pp_path_join(source, children.names[i], &from)) == PARAPET_OK)
            status = pp_path_join(target, children.names[i], &to);
        status = pp_comm_agree(pp_store_comm(walk->request->target), "copying a group", status);
        if (status == PARAPET_OK)
            status = copy_child(walk, from, to, children.kinds[i]);
        pp_free(from);
        pp_free(to);
    }
    pp_listing_clear(&children);
    return status;
}

/* [collective] The copy of a consolidated group is one, too, whatever the changes are. What keeps it from being one,
 * such as a node that was there before, does not end the copy, and is told at its end. */
static parapet_status keep_consolidated(tree_walk *walk, const parapet_group *group, const char *source,
                                        const char *target)
{
    parapet_store *store = walk->request->target;
    pp_comm *comm = pp_store_comm(store);
    bool is_there = false;
    int64_t is_absent;
    parapet_status status = PARAPET_OK;
    if (pp_comm_rank(comm) == 0)
        status = pp_copy_consolidated_is_there(walk->request->source, group, source, &is_there);
    is_absent = pp_comm_rank(comm) == 0 && is_there ? 0 : 1;
    if ((status = pp_comm_agree_min(comm, "copying a group", status, &is_absent)) != PARAPET_OK || is_absent)
        return status;
    if ((status = pp_group_consolidate_at(store, target)) == PARAPET_OK || pp_comm_is_lost(comm))
        return status;
    pp_failure_take(&walk->unconsolidated, pp_reconsolidate_fail(status, "the copy is complete", target));
    return PARAPET_OK;
}

/* [collective] Arrays of different lengths would stay so: the copy has nothing that says how to make them equal. */
static parapet_status check_source(const tree_walk *walk, const char *source)
{
    pp_comm *comm = pp_store_comm(walk->request->target);
    return pp_comm_agree(comm, "looking at a group",
                         pp_comm_rank(comm) == 0 ? pp_announcement_refuse_above(walk->request->source, source)
                                                 : PARAPET_OK);
}

static parapet_status copy_group(tree_walk *walk, const char *source, const char *target)
{
    pp_comm *comm = pp_store_comm(walk->request->target);
    parapet_group *group = NULL;
    bool is_copying = walk->purpose == COPYING,
         is_looking = walk->purpose == SURVEYING || walk->purpose == EXPLAINING;
    parapet_status status = parapet_group_open(&group, walk->request->source, source), closed;
    if (status != PARAPET_OK)
        return status;
    if (is_looking)
        status = check_source(walk, source);
    if (is_copying)
        status = pp_comm_agree(comm, "making a group",
                               pp_comm_rank(comm) == 0 ? make_group(walk, group, target) : PARAPET_OK);
    if (status == PARAPET_OK)
        status = copy_children(walk, group, source, target);
    /* An append that began after the look above has left its mark, or has changed all its arrays: those that were
     * surveyed before are found to have changed when they are copied (check_shape). */
    if (status == PARAPET_OK && is_looking)
        status = check_source(walk, source);
    if (status == PARAPET_OK && is_copying)
        status = keep_consolidated(walk, group, source, target);
    if (walk->totals != NULL)
        walk->totals->groups += 1;
    closed = parapet_group_close(&group);
    return status != PARAPET_OK ? status : closed;
}

/* [collective] */
static parapet_status note_old(tree_walk *walk, const char *target)
{
    parapet_store *store = walk->request->target;
    pp_comm *comm = pp_store_comm(store);
    return pp_comm_agree(comm, "preparing a copy",
                         pp_comm_rank(comm) == 0 ? pp_copy_tree_log_add_old(&walk->tree, store, target) : PARAPET_OK);
}

#define SHAPES_FIRST 64

/* Stands for the path and the lengths of an array. */
typedef struct array_shape {
    uint32_t path, shape;
} array_shape;

static array_shape shape_of(const char *path, uint32_t shape)
{
    return (array_shape){.path = pp_crc32c(0, path, strlen(path)), .shape = shape};
}

/* [collective] The list grows on all ranks at once, or on none. */
static parapet_status note_shape(tree_walk *walk, const char *path, uint32_t shape)
{
    pp_list *list = &walk->shapes;
    const array_shape row = shape_of(path, shape);
    parapet_status status = PARAPET_OK;
    if (list->count == list->capacity)
        status = pp_comm_agree(pp_store_comm(walk->request->target), "looking at a group",
                               pp_list_reserve(list, list->count + SHAPES_FIRST));
    return status == PARAPET_OK ? pp_list_add(list, &row) : status;
}

/* Equal on all ranks, as the documents are. What has come since the survey belongs to nothing. */
static parapet_status check_shape(tree_walk *walk, const char *path, uint32_t shape)
{
    array_shape now = shape_of(path, shape);
    size_t i;
    for (i = walk->next; i < walk->shapes.count; i++) {
        const array_shape *before = pp_list_at(&walk->shapes, i);
        if (before->path != now.path)
            continue;
        walk->next = i + 1;
        if (before->shape == now.shape)
            return PARAPET_OK;
        return pp_fail(PARAPET_ERR_STALE,
                       "another job changed the shape of \"%s\" while its group was being copied, and the copies do "
                       "not belong together; copy again, with overwrite",
                       pp_path_shown(path));
    }
    return PARAPET_OK;
}

static parapet_status copy_array(tree_walk *walk, const char *source, const char *target)
{
    parapet_status status = pp_copy_array(walk->request, source, target, &walk->tree, walk->progress, walk->totals);
    return status == PARAPET_OK ? check_shape(walk, source, walk->totals->shape) : status;
}

static parapet_status survey_array(tree_walk *walk, const char *source, const char *target)
{
    pp_copy_surveyed found;
    parapet_status status = pp_copy_array_survey(walk->request, source, target, &found);
    walk->is_touched = walk->is_touched || found.is_touched;
    walk->bytes += found.bytes;
    if (status == PARAPET_OK)
        status = note_shape(walk, source, found.shape);
    return status == PARAPET_OK && walk->notes_old ? note_old(walk, target) : status;
}

static parapet_status copy_node(tree_walk *walk, const char *source, const char *target, parapet_node_kind kind)
{
    if (kind == PARAPET_NODE_GROUP)
        return copy_group(walk, source, target);
    if (walk->purpose == SURVEYING)
        return survey_array(walk, source, target);
    if (walk->purpose == COPYING)
        return copy_array(walk, source, target);
    if (!walk->as_json)
        pp_text_add(walk->text, "%s\n", source);
    return pp_copy_array_explain(walk->request, source, target, true, walk->as_json, walk->text, walk->svg);
}

/* ---- The whole ---- */

/* The ends of a copy, as paths of nodes. */
typedef struct tree_ends {
    char *source, *target;
} tree_ends;

/* [collective] A misspelt dimension, or an array that cannot be copied, must not be found out after hours. */
static parapet_status survey(tree_walk *copying, const tree_ends *ends)
{
    const parapet_copy_request *request = copying->request;
    const parapet_copy_changes *changes = &request->changes;
    tree_walk walk = {.request = request,
                      .purpose = SURVEYING,
                      .selection = copying->selection,
                      .root_bytes = copying->root_bytes,
                      .is_whole = copying->is_whole,
                      .notes_old = request->overwrite && !request->resume};
    parapet_status status;
    pp_list_init(&walk.shapes, sizeof(array_shape), pp_store_budget(request->target), "the shapes of arrays");
    status = copy_group(&walk, ends->source, ends->target);
    copying->progress->total_bytes = walk.bytes;
    copying->tree.old = walk.tree.old;
    copying->shapes = walk.shapes;
    if (status == PARAPET_OK)
        status = pp_selection_check_found(copying->selection);
    if (status == PARAPET_OK && !walk.is_touched &&
        (pp_copy_is_given(changes->chunks) || pp_copy_is_given(changes->shards) || pp_copy_is_given(changes->order) ||
         pp_copy_is_given(changes->region)))
        status = pp_fail(PARAPET_ERR_ARGUMENT,
                         "no array below \"%s\" has the dimensions that chunks, shards, order or region name",
                         ends->source);
    return status;
}

static parapet_status begin_tree(tree_walk *walk, const char *target)
{
    const parapet_copy_request *request = walk->request;
    parapet_status status = pp_store_check_writable(request->target);
    walk->tree.store = pp_store_backend(request->target);
    if (status != PARAPET_OK || (status = pp_own_key(target, PP_OWN_COPY_TREE_LOG, &walk->tree.key)) != PARAPET_OK)
        return status;
    return pp_comm_rank(pp_store_comm(request->target)) == 0 ? pp_copy_tree_log_open(&walk->tree, request, target)
                                                             : PARAPET_OK;
}

static parapet_status end_tree(const tree_walk *walk, const char *target)
{
    parapet_status status = pp_node_remove_own(walk->request->target, target);
    return status == PARAPET_OK ? pp_store_sync_dirs(walk->tree.store) : status;
}

static parapet_status find_ends(const parapet_copy_request *request, tree_ends *ends)
{
    parapet_status status;
    if ((status = pp_path_normalize(request->source_path, &ends->source)) != PARAPET_OK ||
        (status = pp_path_normalize(request->target_path, &ends->target)) != PARAPET_OK)
        return status;
    /* The copy would be found among what is to be copied, again and again. */
    if (pp_store_is_same(pp_store_backend(request->source), pp_store_backend(request->target)) &&
        pp_path_is_within(ends->target, ends->source))
        return pp_fail(PARAPET_ERR_ARGUMENT, "group \"%s\" cannot be copied to \"%s\", which is inside it",
                       ends->source, ends->target);
    return PARAPET_OK;
}

/* Whether a copy that has failed leaves nothing that could be resumed: it was begun by this run; or an earlier one
 * was killed before it came to the first array, and that one is not of this copy. */
static bool has_come_to_nothing(const tree_walk *walk, parapet_status status)
{
    return status != PARAPET_ERR_CANCELLED &&
           (walk->tree.is_new || (walk->tree.is_empty && status == PARAPET_ERR_EXISTS));
}

/* [collective] */
static parapet_status copy_held(tree_walk *walk, const tree_ends *ends)
{
    pp_comm *comm = pp_store_comm(walk->request->target);
    parapet_status status = survey(walk, ends);
    if (status != PARAPET_OK)
        return status;
    if ((status = pp_comm_agree(comm, "preparing a copy", begin_tree(walk, ends->target))) == PARAPET_OK &&
        (status = copy_group(walk, ends->source, ends->target)) == PARAPET_OK)
        return pp_comm_agree(comm, "ending a copy",
                             pp_comm_rank(comm) == 0 ? end_tree(walk, ends->target) : PARAPET_OK);
    if (has_come_to_nothing(walk, status)) {
        pp_failure failure = {0};
        pp_failure_take(&failure, status);
        (void)end_tree(walk, ends->target);
        (void)pp_failure_put(&failure);
    }
    return status;
}

/* [collective] A copy that is resumed while its first run still works is refused. */
static parapet_status copy_tree(tree_walk *walk, const tree_ends *ends)
{
    parapet_store *store = walk->request->target;
    pp_node_lock hold = {0};
    pp_node_lock_wish wish = {.store = store,
                              .paths = (const char *const *)&ends->target,
                              .count = 1,
                              .mode = PP_LOCK_EXCLUSIVE,
                              .purpose = "copying",
                              .is_for_all = true};
    parapet_status status = pp_comm_agree(pp_store_comm(store), "preparing a copy", pp_store_check_writable(store));
    if (status == PARAPET_OK && (status = pp_node_locks_take_collectively(&hold, &wish)) == PARAPET_OK)
        status = copy_held(walk, ends);
    pp_node_locks_release(&hold, 1);
    return status;
}

/* The ends of the walk, and what is taken on its way. */
static parapet_status prepare(tree_walk *walk, tree_ends *ends)
{
    const parapet_copy_request *request = walk->request;
    parapet_status status = find_ends(request, ends);
    if (status != PARAPET_OK ||
        (status = pp_selection_init(walk->selection, request->include, request->exclude)) != PARAPET_OK)
        return status;
    walk->root_bytes = ends->source[0] != '\0' ? strlen(ends->source) + 1 : 0;
    walk->is_whole = walk->selection->included.count == 0;
    return PARAPET_OK;
}

/* [collective] */
static parapet_status explain_tree(tree_walk *walk, const tree_ends *ends)
{
    parapet_status status = copy_group(walk, ends->source, ends->target);
    return status == PARAPET_OK ? pp_selection_check_found(walk->selection) : status;
}

/* [collective] */
static parapet_status walk_tree(tree_walk *walk)
{
    pp_selection selection = {0};
    tree_ends ends = {0};
    parapet_status status;
    walk->selection = &selection;
    status = pp_comm_agree(pp_store_comm(walk->request->target), "preparing a copy", prepare(walk, &ends));
    if (status == PARAPET_OK)
        status = walk->purpose == COPYING ? copy_tree(walk, &ends) : explain_tree(walk, &ends);
    if (status == PARAPET_OK)
        status = pp_failure_put(&walk->unconsolidated);
    pp_list_clear(&walk->shapes);
    pp_copy_tree_log_clear(&walk->tree);
    pp_selection_clear(&selection);
    pp_free(ends.source);
    pp_free(ends.target);
    return status;
}

parapet_status pp_copy_group(const parapet_copy_request *request, pp_copy_progress *progress, pp_copy_totals *totals)
{
    return walk_tree(&(tree_walk){.request = request, .progress = progress, .totals = totals});
}

parapet_status pp_copy_group_explain(const parapet_copy_request *request, int as_json, pp_text *text, char **svg)
{
    return walk_tree(
        &(tree_walk){.request = request, .purpose = EXPLAINING, .as_json = as_json, .text = text, .svg = svg});
}
