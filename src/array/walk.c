#include <string.h>

#include "array/node.h"
#include "array/node_path.h"
#include "array/store_handle.h"
#include "array/walk.h"
#include "change/registry.h"

/* Deeper than any key of ours: 32 dimensions and a few components around them. */
#define WALK_DEPTH_MOST 40

typedef struct walk {
    parapet_store *store;
    const char *path; /* where the walk began */
    pp_walk_visitor visit;
    void *context;
    bool is_strict; /* fails where it is too deep */
    bool is_alone;  /* enters no other node */
} walk;

typedef struct walk_level {
    const walk *job;
    const char *prefix; /* relative to the path; "" at the top */
    int depth;
} walk_level;

static parapet_status walk_prefix(const walk *job, const char *prefix, int depth);

static parapet_status visit_listed(void *context, const pp_listed *listed)
{
    const walk_level *level = context;
    char *key = NULL;
    parapet_status status;
    if (level->depth == 0 && pp_own_is_folder(listed->name))
        return PARAPET_OK;
    if ((status = pp_path_join(level->prefix, listed->name, &key)) != PARAPET_OK)
        return status;
    if (listed->is_prefix)
        status = walk_prefix(level->job, key, level->depth + 1);
    else
        status = level->job->visit(level->job->context, key, listed->bytes);
    pp_free(key);
    return status;
}

static parapet_status list(const walk *job, const char *whole, walk_level *level)
{
    static const char *const documents[] = {"zarr.json", ".zarray", ".zgroup"};
    bool is_node = false;
    parapet_status status = PARAPET_OK;
    size_t i;
    for (i = 0; i < 3 && job->is_alone && level->depth > 0 && status == PARAPET_OK && !is_node; i++)
        status = pp_node_has_object(job->store, whole, documents[i], &is_node);
    return status != PARAPET_OK || is_node ? status : pp_store_list(job->store->backend, whole, visit_listed, level);
}

static parapet_status walk_prefix(const walk *job, const char *prefix, int depth)
{
    walk_level level = {.job = job, .prefix = prefix, .depth = depth};
    char *whole = NULL;
    parapet_status status;
    if (depth > WALK_DEPTH_MOST && job->is_strict)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "\"%s/%s\": directories are nested more than %d deep", job->path,
                       prefix, WALK_DEPTH_MOST);
    if (depth > WALK_DEPTH_MOST)
        return PARAPET_OK;
    status = prefix[0] != '\0' ? pp_path_join(job->path, prefix, &whole) : pp_text_duplicate(&whole, job->path);
    if (status == PARAPET_OK)
        status = list(job, whole, &level);
    pp_free(whole);
    return status;
}

parapet_status pp_walk_objects(parapet_store *store, const char *path, pp_walk_visitor visit, void *context)
{
    walk job = {.store = store, .path = path, .visit = visit, .context = context};
    return walk_prefix(&job, "", 0);
}

parapet_status pp_walk_every_object(parapet_store *store, const char *path, pp_walk_visitor visit, void *context)
{
    walk job = {.store = store, .path = path, .visit = visit, .context = context, .is_strict = true};
    return walk_prefix(&job, "", 0);
}

parapet_status pp_walk_shards(parapet_store *store, const char *path, const char *prefix, pp_walk_visitor visit,
                              void *context)
{
    walk job = {.store = store, .path = path, .visit = visit, .context = context, .is_alone = true};
    return walk_prefix(&job, prefix, prefix[0] != '\0');
}

parapet_status pp_walk_remove(parapet_store *store, const char *path, const char *key)
{
    char *whole = NULL;
    parapet_status status = pp_path_join(path, key, &whole);
    if (status == PARAPET_OK)
        status = pp_store_remove(store->backend, whole);
    pp_free(whole);
    return pp_accept_absence(status);
}
