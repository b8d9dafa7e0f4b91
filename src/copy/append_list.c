/* append_list.c - which arrays an append is about: those of the source that are taken, and their counterparts. */
#include "copy/append_list.h"

#include <string.h>

#include "array/announcement.h"
#include "array/array.h"
#include "array/node_path.h"
#include "array/store_queries.h"
#include "base/status.h"
#include "copy/append_ranks.h"
#include "copy/append_task.h"
#include "copy/child_listing.h"

/* An array that is open, and its path below the group: whoever takes them leaves NULL. */
typedef struct array_found {
    char *name;
    parapet_array *array;
} array_found;

/* Looks at every array below a group. */
typedef struct array_walk {
    pp_append *append;
    parapet_store *store;
    size_t root_bytes;       /* of paths, before what is below the group */
    pp_selection *selection; /* NULL: all are taken */
    parapet_status (*visit)(pp_append *append, array_found *found);
} array_walk;

static bool has_dimension(const pp_append *append, const parapet_array *array)
{
    const pp_array_document *document = pp_array_document_of(array);
    int d;
    for (d = 0; d < document->ndim; d++)
        if (document->dimension_names[d] != NULL && strcmp(document->dimension_names[d], append->dimension) == 0)
            return true;
    return false;
}

/* For one more. */
static parapet_status make_room(pp_append_pairs *pairs)
{
    size_t next = (size_t)pairs->count + 1;
    parapet_status status;
    if ((status = pp_reallocate(&pairs->names, next * sizeof pairs->names[0])) != PARAPET_OK ||
        (status = pp_reallocate(&pairs->sources, next * sizeof pairs->sources[0])) != PARAPET_OK)
        return status;
    return pp_reallocate(&pairs->targets, next * sizeof pairs->targets[0]);
}

static parapet_status prepare_visit(const array_walk *walk, const char *path, array_found *found)
{
    parapet_status status;
    if ((status = make_room(&walk->append->growing)) != PARAPET_OK ||
        (status = make_room(&walk->append->fixed)) != PARAPET_OK)
        return status;
    return pp_text_duplicate(&found->name, path + walk->root_bytes);
}

/* [collective] Everything that takes memory comes before the array is open: whether it is kept, and closed, must be
 * the same on all ranks. */
static parapet_status visit_array(const array_walk *walk, const char *path)
{
    array_found found = {0};
    parapet_status status =
        pp_comm_agree(pp_append_comm(walk->append), "looking at arrays", prepare_visit(walk, path, &found));
    if (status == PARAPET_OK && (status = parapet_array_open(&found.array, walk->store, path)) == PARAPET_OK)
        status = walk->visit(walk->append, &found);
    (void)parapet_array_close(&found.array);
    pp_free(found.name);
    return status;
}

/* Where another append was interrupted, nobody can tell how long arrays are. */
static parapet_status check_group(const array_walk *walk, const char *path)
{
    if (!pp_append_leads(walk->append) || pp_store_is_foreign(walk->store))
        return PARAPET_OK;
    return pp_announcement_refuse_above(walk->store, path);
}

static parapet_status walk_group(const array_walk *walk, const char *path, bool is_whole);

/* [collective] A group stands for everything below it, and what is not named may have something below that is. */
static parapet_status walk_child(const array_walk *walk, const char *path, parapet_node_kind kind, bool is_whole)
{
    pp_taken taken =
        walk->selection != NULL ? pp_selection_take(walk->selection, path + walk->root_bytes) : PP_TAKEN_SOME;
    if (taken == PP_TAKEN_NOT)
        return PARAPET_OK;
    is_whole = is_whole || taken == PP_TAKEN_WHOLE;
    if (kind == PARAPET_NODE_GROUP)
        return walk_group(walk, path, is_whole);
    return is_whole ? visit_array(walk, path) : PARAPET_OK;
}

static parapet_status walk_group(const array_walk *walk, const char *path, bool is_whole)
{
    pp_comm *comm = pp_append_comm(walk->append);
    pp_listing children = {0};
    parapet_group *group = NULL;
    parapet_status status = parapet_group_open(&group, walk->store, path);
    size_t i;
    if (status != PARAPET_OK)
        return status;
    if ((status = pp_comm_agree(comm, "looking at arrays", check_group(walk, path))) == PARAPET_OK)
        status = pp_listing_init(&children, group, comm);
    (void)parapet_group_close(&group);
    for (i = 0; i < children.count && status == PARAPET_OK; i++) {
        char *child = NULL;
        status = pp_comm_agree(comm, "looking at arrays", pp_path_join(path, children.names[i], &child));
        if (status == PARAPET_OK)
            status = walk_child(walk, child, children.kinds[i], is_whole);
        pp_free(child);
    }
    pp_listing_clear(&children);
    return status;
}

static size_t below(const char *root)
{
    return root[0] != '\0' ? strlen(root) + 1 : 0;
}

/* ---- Pairs ---- */

static int find_pair(const pp_append_pairs *pairs, const char *name)
{
    int i = 0;
    while (i < pairs->count && strcmp(pairs->names[i], name) != 0)
        i++;
    return i < pairs->count ? i : -1;
}

void pp_append_pairs_clear(pp_append_pairs *pairs)
{
    int i;
    for (i = 0; i < pairs->count; i++) {
        (void)parapet_array_close(&pairs->sources[i]);
        (void)parapet_array_close(&pairs->targets[i]);
        pp_free(pairs->names[i]);
    }
    pp_free(pairs->names);
    pp_free(pairs->sources);
    pp_free(pairs->targets);
    *pairs = (pp_append_pairs){0};
}

static parapet_status take_source(pp_append *append, array_found *found)
{
    pp_append_pairs *pairs = has_dimension(append, found->array) ? &append->growing : &append->fixed;
    pairs->names[pairs->count] = found->name;
    pairs->sources[pairs->count] = found->array;
    pairs->targets[pairs->count++] = NULL;
    *found = (array_found){0};
    return PARAPET_OK;
}

static parapet_status take_target(pp_append *append, array_found *found)
{
    bool grows = has_dimension(append, found->array);
    pp_append_pairs *pairs = grows ? &append->growing : &append->fixed;
    int i = find_pair(pairs, found->name);
    if (i >= 0) {
        pairs->targets[i] = found->array;
        found->array = NULL;
    }
    if (i >= 0 || !grows)
        return PARAPET_OK;
    return pp_fail(PARAPET_ERR_ARGUMENT,
                   "the target has \"%s\" along %s, and the source, or what is taken of it, has not: it would stay "
                   "shorter than the others; nothing was changed",
                   found->name, append->dimension);
}

/* The coordinate is published last. */
static parapet_status put_coordinate_last(pp_append *append)
{
    pp_append_pairs *pairs = &append->growing;
    int last = pairs->count - 1, i = find_pair(pairs, append->dimension);
    char *name;
    parapet_array *source;
    if (pairs->count == 0)
        return pp_fail(PARAPET_ERR_ARGUMENT, "no array of the source has the dimension \"%s\"", append->dimension);
    if (i < 0 || pp_array_document_of(pairs->sources[i])->ndim != 1)
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "the source has no coordinate \"%s\", an array of that dimension alone: without one, nobody "
                       "can tell what is already in the target",
                       append->dimension);
    name = pairs->names[i];
    source = pairs->sources[i];
    pairs->names[i] = pairs->names[last];
    pairs->sources[i] = pairs->sources[last];
    pairs->names[last] = name;
    pairs->sources[last] = source;
    return PARAPET_OK;
}

static parapet_status check_found(const pp_append *append, const pp_append_pairs *pairs)
{
    int i;
    for (i = 0; i < pairs->count; i++)
        if (pairs->targets[i] == NULL)
            return pp_fail(PARAPET_ERR_ARGUMENT,
                           "the target has no array \"%s\" %s the dimension %s, as the source has; exclude it, if it "
                           "is to be left out; nothing was changed",
                           pairs->names[i], pairs == &append->growing ? "with" : "without", append->dimension);
    return PARAPET_OK;
}

parapet_status pp_append_list(pp_append *append, pp_selection *selection)
{
    array_walk sources = {.append = append,
                          .store = append->request->source,
                          .root_bytes = below(append->source_root),
                          .selection = selection,
                          .visit = take_source};
    array_walk targets = {.append = append,
                          .store = append->request->target,
                          .root_bytes = below(append->target_root),
                          .selection = pp_append_may_change(append) ? NULL : selection,
                          .visit = take_target};
    parapet_status status = walk_group(&sources, append->source_root, selection->included.count == 0);
    if (status == PARAPET_OK && (status = pp_selection_check_found(selection)) == PARAPET_OK &&
        (status = put_coordinate_last(append)) == PARAPET_OK &&
        (status = walk_group(&targets, append->target_root,
                             targets.selection == NULL || selection->included.count == 0)) == PARAPET_OK &&
        (status = check_found(append, &append->growing)) == PARAPET_OK)
        status = check_found(append, &append->fixed);
    return status;
}

/* ---- The arrays of the target ---- */

static parapet_status list_paths(const pp_append *append, char ***paths)
{
    size_t count = (size_t)append->growing.count, i;
    parapet_status status = pp_allocate_array(paths, count, sizeof(*paths)[0]);
    for (i = 0; i < count && status == PARAPET_OK; i++)
        status = pp_path_join(append->target_root, append->growing.names[i], &(*paths)[i]);
    return status;
}

/* [collective] */
static parapet_status hold_paths(pp_append *append, const char *const *paths)
{
    int count = append->growing.count;
    pp_node_lock_wish wish = {.store = append->request->target,
                              .paths = paths,
                              .count = count,
                              .mode = PP_LOCK_EXCLUSIVE,
                              .purpose = "appending",
                              .is_for_all = true};
    parapet_status status = pp_comm_agree(pp_append_comm(append), "locking",
                                          pp_allocate_array(&append->holds, (size_t)count, sizeof append->holds[0]));
    if (status != PARAPET_OK)
        return status;
    append->hold_count = count;
    return pp_node_locks_take_collectively(append->holds, &wish);
}

parapet_status pp_append_hold_group(pp_append *append)
{
    pp_node_lock_wish wish = {.store = append->request->target,
                              .paths = (const char *const *)&append->target_root,
                              .count = 1,
                              .mode = PP_LOCK_EXCLUSIVE,
                              .purpose = "appending",
                              .is_for_all = true};
    return pp_node_locks_take_collectively(&append->group_hold, &wish);
}

/* What was listed may have changed since: the arrays are opened anew when nobody else can change them. */
parapet_status pp_append_hold(pp_append *append)
{
    pp_append_pairs *pairs = &append->growing;
    char **paths = NULL;
    parapet_status status = parapet_arrays_close(pairs->targets, pairs->count);
    if (status == PARAPET_OK)
        status = pp_comm_agree(pp_append_comm(append), "locking", list_paths(append, &paths));
    if (status == PARAPET_OK && (status = hold_paths(append, (const char *const *)paths)) == PARAPET_OK)
        status =
            pp_arrays_open(pairs->targets, append->request->target, (const char *const *)paths, pairs->count, true);
    pp_paths_free(paths, (size_t)pairs->count);
    return status;
}
