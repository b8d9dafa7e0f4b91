/* replace.c - how a copy replaces an array: the old one stays until the new one is complete beside it.
 *
 *     <array>/__parapet/copy/replaces   the document of the old array, since the copy began
 *     <array>/__parapet/copy/new/       the shards of the new one
 *     <array>/__parapet/copy/switch     how far the change from one to the other is: one of the words below
 *
 * A crash leaves the old array, no array, or the new one, never a mixture; a copy that is resumed goes on from the
 * last word. All of it is done by rank 0. */
#include "copy/replace.h"

#include <string.h>

#include "array/array.h"
#include "array/create.h"
#include "array/node_path.h"
#include "array/remove_node.h"
#include "array/seal_objects.h"
#include "array/store_queries.h"
#include "array/walk.h"
#include "copy/job_state.h"
#include "copy/task.h"

/* What a zarr.json of ours never exceeds. */
#define DOCUMENT_BYTES_MOST ((size_t)16 << 20)

/* By pp_copy_replace_phase. */
static const char *const words[] = {"", "complete\n", "old document gone\n", "old shards gone\n"};

enum { WORDS = sizeof words / sizeof words[0] };

static parapet_status write_object(const pp_copy_task *task, pp_own own, const char *data, size_t bytes)
{
    char *key = NULL;
    parapet_status status = pp_own_key(pp_array_path(task->target), own, &key);
    if (status == PARAPET_OK)
        status = pp_copy_state_put(task, pp_store_backend(task->target_store), key, data, bytes);
    pp_free(key);
    return status;
}

/* *data stays NULL when there is none. */
static parapet_status read_key(const pp_copy_task *task, const char *key, char **data, size_t *bytes)
{
    parapet_status status =
        pp_store_read_all(pp_store_backend(task->target_store), key, DOCUMENT_BYTES_MOST, data, bytes);
    return pp_accept_absence(status);
}

static parapet_status read_object(const pp_copy_task *task, pp_own own, char **data, size_t *bytes)
{
    char *key = NULL;
    parapet_status status = pp_own_key(pp_array_path(task->target), own, &key);
    *data = NULL;
    if (status == PARAPET_OK)
        status = read_key(task, key, data, bytes);
    pp_free(key);
    return status;
}

static parapet_status read_document(const pp_copy_task *task, char **data, size_t *bytes)
{
    char *key = NULL;
    parapet_status status = pp_path_join(pp_array_path(task->target), "zarr.json", &key);
    *data = NULL;
    if (status == PARAPET_OK)
        status = read_key(task, key, data, bytes);
    pp_free(key);
    return status;
}

parapet_status pp_copy_replace_path(const pp_copy_task *task, char **path)
{
    return pp_own_key(pp_array_path(task->target), PP_OWN_COPY_NEW, path);
}

parapet_status pp_copy_replace_begin(pp_copy_task *task)
{
    pp_store *store = pp_store_backend(task->target_store);
    char *document = NULL;
    size_t bytes = 0;
    parapet_status status;
    if ((status = pp_store_remove_prefix(store, task->state)) != PARAPET_OK ||
        (status = read_document(task, &document, &bytes)) != PARAPET_OK)
        return status;
    if (document != NULL && (status = write_object(task, PP_OWN_COPY_REPLACES, document, bytes)) == PARAPET_OK)
        task->replaces = true;
    pp_free(document);
    return status;
}

static parapet_status read_phase(pp_copy_task *task)
{
    char *word = NULL;
    size_t bytes = 0;
    int phase = 0;
    parapet_status status = read_object(task, PP_OWN_COPY_SWITCH, &word, &bytes);
    if (status != PARAPET_OK || word == NULL)
        return status;
    while (phase < WORDS && strcmp(word, words[phase]) != 0)
        phase++;
    pp_free(word);
    if (phase == WORDS)
        return pp_fail(
            PARAPET_ERR_CORRUPT,
            "%s/switch cannot be understood: it is damaged, or was written by another version; nothing was removed",
            task->state);
    task->phase = (pp_copy_phase)phase;
    return PARAPET_OK;
}

static bool is_same(const char *one, size_t bytes, const char *other, size_t other_bytes)
{
    return one != NULL && other != NULL && bytes == other_bytes && memcmp(one, other, bytes) == 0;
}

parapet_status pp_copy_replace_read(pp_copy_task *task, bool *is_old)
{
    char *old = NULL, *found = NULL;
    size_t old_bytes = 0, found_bytes = 0;
    parapet_status status;
    *is_old = false;
    if ((status = read_object(task, PP_OWN_COPY_REPLACES, &old, &old_bytes)) == PARAPET_OK && old != NULL &&
        (status = read_phase(task)) == PARAPET_OK &&
        (status = read_document(task, &found, &found_bytes)) == PARAPET_OK) {
        task->replaces = true;
        *is_old = task->phase < PP_COPY_DOCUMENT_GONE && is_same(old, old_bytes, found, found_bytes);
    }
    pp_free(old);
    pp_free(found);
    return status;
}

/* ---- The change itself ---- */

static parapet_status enter(pp_copy_task *task, pp_copy_phase phase)
{
    parapet_status status = write_object(task, PP_OWN_COPY_SWITCH, words[phase], strlen(words[phase]));
    if (status == PARAPET_OK)
        task->phase = phase;
    return status;
}

/* By the old document: the new one may name shards in another way. The seal goes with them, since it does not accept
 * the new one. */
static parapet_status remove_old_shards(const pp_copy_task *task)
{
    const char *path = pp_array_path(task->target);
    char *text = NULL;
    size_t bytes = 0;
    parapet_status status = read_object(task, PP_OWN_COPY_REPLACES, &text, &bytes);
    if (status == PARAPET_OK && text != NULL)
        status = pp_remove_shards_of_text(task->target_store, path, text, bytes);
    pp_free(text);
    if (status == PARAPET_OK)
        status = pp_remove_shards(task->target_store, path, pp_array_document_of(task->target));
    if (status == PARAPET_OK)
        status = pp_seal_remove_objects(task->target);
    return status == PARAPET_OK ? pp_store_sync_dirs(pp_store_backend(task->target_store)) : status;
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
    if (task->phase < PP_COPY_COMPLETE)
        status = enter(task, PP_COPY_COMPLETE);
    if (status == PARAPET_OK && task->phase < PP_COPY_DOCUMENT_GONE &&
        (status = pp_array_remove_document(task->target)) == PARAPET_OK)
        status = enter(task, PP_COPY_DOCUMENT_GONE);
    if (status == PARAPET_OK && task->phase < PP_COPY_SHARDS_GONE && (status = remove_old_shards(task)) == PARAPET_OK)
        status = enter(task, PP_COPY_SHARDS_GONE);
    return status == PARAPET_OK ? move_shards(task) : status;
}
