/* replace.c - how a copy replaces an array: the old one stays until the new one is complete beside it.
 *
 *     making    <array>/__parapet/copy/replaces   the document of the old array, since the copy began
 *               <array>/__parapet/copy/new/       the shards of the new one
 *     complete  <array>/__parapet/copy/complete   all of them are durable
 *     decided   <array>/__parapet/old.json        the old document: there is no array now (pp_array_take_away)
 *     cleared   old shards, then old.json and copy/replaces are gone: shards of the new one get their keys
 *
 * Each is durable before the next begins (invariants 2 and 5 of docs/design/change.md). So names alone tell how far a
 * change has come: as long as copy/replaces is there, what is visible is the old array; without it, the new one, also
 * if their documents are equal. A crash leaves the old array, no array, or the new one, never a mixture, and a copy
 * that is resumed goes on from there. All of it is done by rank 0. */
#include "copy/replace.h"

#include <string.h>

#include "array/array.h"
#include "array/create.h"
#include "array/node.h"
#include "array/node_path.h"
#include "array/own_object.h"
#include "array/remove_node.h"
#include "array/seal_objects.h"
#include "array/store_queries.h"
#include "array/walk.h"
#include "base/status.h"
#include "copy/job_state.h"
#include "copy/task.h"

/* What a zarr.json of ours never exceeds. */
#define DOCUMENT_BYTES_MOST ((size_t)16 << 20)

static pp_own_object object_of(const pp_copy_task *task, pp_own own)
{
    return (pp_own_object){
        .store = task->target_store, .node = pp_array_path(task->target), .own = own, .is_of_array = true};
}

/* *data stays NULL when there is none. */
static parapet_status read_document(const pp_copy_task *task, char **data, size_t *bytes)
{
    char *key = NULL;
    parapet_status status = pp_path_join(pp_array_path(task->target), "zarr.json", &key);
    *data = NULL;
    if (status == PARAPET_OK)
        status = pp_store_read_all(pp_store_backend(task->target_store), key, DOCUMENT_BYTES_MOST, data, bytes);
    pp_free(key);
    return pp_accept_absence(status);
}

parapet_status pp_copy_replace_path(const pp_copy_task *task, char **path)
{
    return pp_own_key(pp_array_path(task->target), PP_OWN_COPY_NEW, path);
}

parapet_status pp_copy_replace_begin(pp_copy_task *task)
{
    pp_own_object replaces = object_of(task, PP_OWN_COPY_REPLACES);
    char *document = NULL;
    size_t bytes = 0;
    parapet_status status;
    if ((status = pp_store_remove_prefix(pp_store_backend(task->target_store), task->state)) != PARAPET_OK ||
        (status = read_document(task, &document, &bytes)) != PARAPET_OK)
        return status;
    if (document != NULL &&
        (status = pp_own_object_write(&replaces, document, bytes, PP_PUBLISH_REPLACE)) == PARAPET_OK)
        task->replaces = true;
    pp_free(document);
    return status;
}

static bool is_same(const char *one, size_t bytes, const char *other, size_t other_bytes)
{
    return one != NULL && other != NULL && bytes == other_bytes && memcmp(one, other, bytes) == 0;
}

/* How far it has come, from the names that are there. */
static pp_copy_phase phase_of(bool is_complete, bool has_old, bool has_document)
{
    if (!is_complete)
        return PP_COPY_MAKING;
    if (!has_old)
        return PP_COPY_CLEARED;
    return has_document ? PP_COPY_COMPLETE : PP_COPY_DECIDED;
}

/* Before a copy that is resumed changes anything (invariant 4 of docs/design/change.md). */
parapet_status pp_copy_replace_read(pp_copy_task *task, bool *is_old)
{
    pp_own_object replaces = object_of(task, PP_OWN_COPY_REPLACES);
    const char *path = pp_array_path(task->target);
    char *old = NULL, *found = NULL;
    size_t old_bytes = 0, found_bytes = 0;
    bool is_complete = false;
    parapet_status status;
    *is_old = false;
    if ((status = pp_node_has_own(task->target_store, path, PP_OWN_COPY_COMPLETE, &is_complete)) == PARAPET_OK &&
        (status = pp_own_object_read(&replaces, DOCUMENT_BYTES_MOST, &old, &old_bytes)) == PARAPET_OK &&
        (status = read_document(task, &found, &found_bytes)) == PARAPET_OK) {
        task->replaces = is_complete || old != NULL;
        task->phase = phase_of(is_complete, old != NULL, found != NULL);
        *is_old = is_same(old, old_bytes, found, found_bytes);
    }
    pp_free(old);
    pp_free(found);
    return status;
}

/* ---- The change itself ---- */

static parapet_status state_completeness(const pp_copy_task *task)
{
    pp_own_object complete = object_of(task, PP_OWN_COPY_COMPLETE);
    return pp_own_object_write(&complete, "", 0, PP_PUBLISH_REPLACE);
}

static parapet_status remove_own(const pp_copy_task *task, pp_own own)
{
    pp_own_object object = object_of(task, own);
    return pp_own_object_remove(&object);
}

/* By the old document: the new one may name shards in another way. The seal goes with them, since it does not accept
 * the new one. Then the old document goes, so that nobody takes new shards for old ones. */
static parapet_status clear_old(const pp_copy_task *task)
{
    pp_store *backend = pp_store_backend(task->target_store);
    const char *path = pp_array_path(task->target);
    parapet_status status;
    if ((status = pp_array_remove_old_shards(task->target)) != PARAPET_OK ||
        (status = pp_remove_shards(task->target_store, path, pp_array_document_of(task->target))) != PARAPET_OK ||
        (status = pp_seal_remove_objects(task->target)) != PARAPET_OK ||
        (status = pp_store_sync_dirs(backend)) != PARAPET_OK ||
        (status = remove_own(task, PP_OWN_OLD_DOCUMENT)) != PARAPET_OK)
        return status;
    return remove_own(task, PP_OWN_COPY_REPLACES);
}

static parapet_status move_shard(void *context, const char *key, uint64_t bytes)
{
    const pp_copy_task *task = context;
    char *staged = NULL, *from = NULL, *to = NULL;
    parapet_status status;
    (void)bytes;
    if ((status = pp_copy_replace_path(task, &staged)) == PARAPET_OK &&
        (status = pp_path_join(staged, key, &from)) == PARAPET_OK &&
        (status = pp_path_join(pp_array_path(task->target), key, &to)) == PARAPET_OK)
        status = pp_store_move(pp_store_backend(task->target_store), from, to);
    pp_free(staged);
    pp_free(from);
    pp_free(to);
    return status;
}

static parapet_status move_shards(pp_copy_task *task)
{
    char *staged = NULL;
    parapet_status status = pp_copy_replace_path(task, &staged);
    if (status == PARAPET_OK)
        status = pp_walk_objects(task->target_store, staged, move_shard, task);
    pp_free(staged);
    if (status == PARAPET_ERR_NOT_FOUND)
        status = PARAPET_OK;
    return status == PARAPET_OK ? pp_store_sync_dirs(pp_store_backend(task->target_store)) : status;
}

parapet_status pp_copy_replace_run(pp_copy_task *task)
{
    parapet_status status = PARAPET_OK;
    if (task->phase < PP_COPY_COMPLETE && (status = state_completeness(task)) == PARAPET_OK)
        task->phase = PP_COPY_COMPLETE;
    if (status == PARAPET_OK && task->phase < PP_COPY_DECIDED &&
        (status = pp_array_take_away(task->target)) == PARAPET_OK)
        task->phase = PP_COPY_DECIDED;
    if (status == PARAPET_OK && task->phase < PP_COPY_CLEARED && (status = clear_old(task)) == PARAPET_OK)
        task->phase = PP_COPY_CLEARED;
    return status == PARAPET_OK ? move_shards(task) : status;
}
