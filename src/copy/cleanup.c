/* cleanup.c - what is left of a copy: tidied up when it is complete, and forgotten when it failed. */
#include "copy/cleanup.h"

#include <string.h>

#include "array/array.h"
#include "array/create.h"
#include "array/node.h"
#include "array/node_path.h"
#include "array/store_queries.h"
#include "base/status.h"
#include "copy/task.h"

/* What a zarr.json of ours never exceeds. */
#define DOCUMENT_BYTES_MOST ((size_t)16 << 20)

static parapet_status remove_unless_job(void *context, const pp_listed *listed)
{
    const pp_copy_task *task = context;
    char *path = NULL;
    parapet_status status;
    if (pp_own_find_in(PP_OWN_COPY, listed->name) == PP_OWN_COPY_JOB)
        return PARAPET_OK;
    if ((status = pp_path_join(task->state, listed->name, &path)) == PARAPET_OK)
        status = listed->is_prefix ? pp_store_remove_prefix(pp_store_backend(task->target_store), path)
                                   : pp_store_remove(pp_store_backend(task->target_store), path);
    pp_free(path);
    return status;
}

/* The store for what lies between passes may hold arrays of its own: theirs are seals beside it. */
parapet_status pp_copy_cleanup_clear_between(const pp_copy_task *task)
{
    pp_store *store = pp_store_backend(task->temporary_store);
    parapet_status status;
    if (task->temporary_store == task->target_store)
        return PARAPET_OK;
    status = pp_store_remove_prefix(store, task->state);
    return status == PARAPET_OK ? pp_store_sync_dirs(store) : status;
}

/* What says that there is something to tidy up goes last. */
parapet_status pp_copy_cleanup_tidy(const pp_copy_task *task)
{
    parapet_status status =
        pp_store_list(pp_store_backend(task->target_store), task->state, remove_unless_job, (void *)(uintptr_t)task);
    if (status != PARAPET_OK && status != PARAPET_ERR_NOT_FOUND)
        return status;
    if ((status = pp_copy_cleanup_clear_between(task)) == PARAPET_OK &&
        (status = pp_node_remove_own(task->target_store, pp_array_path(task->target))) == PARAPET_OK)
        status = pp_store_sync_dirs(pp_store_backend(task->target_store));
    return status;
}

/* It may not be there. */
static parapet_status remove_document(const pp_copy_task *task)
{
    pp_store *store = pp_store_backend(task->target_store);
    char *key = NULL;
    parapet_status status = pp_path_join(pp_array_path(task->target), "zarr.json", &key);
    if (status == PARAPET_OK && (status = pp_store_remove(store, key)) == PARAPET_OK)
        status = pp_store_sync_dirs(store);
    pp_free(key);
    return pp_accept_absence(status);
}

/* Whether an array that is not this copy has appeared at its place. */
bool pp_copy_cleanup_is_foreign(const pp_copy_task *task)
{
    pp_text own = {0};
    char *key = NULL, *data = NULL;
    size_t bytes = 0;
    bool is_taken = false;
    if (pp_copy_task_document(task, &own) == PARAPET_OK &&
        pp_path_join(pp_array_path(task->target), "zarr.json", &key) == PARAPET_OK &&
        pp_store_read_all(pp_store_backend(task->target_store), key, DOCUMENT_BYTES_MOST, &data, &bytes) ==
            PARAPET_OK)
        is_taken = bytes != own.bytes || memcmp(data, own.data, bytes) != 0;
    pp_free(key);
    pp_free(data);
    pp_text_free(&own);
    return is_taken;
}

/* Of a copy that was to replace an array: that one is there, or resuming goes on with the change. */
static void forget_replacing(const pp_copy_task *task)
{
    if (task->phase >= PP_COPY_COMPLETE ||
        pp_node_drop_copy(task->target_store, pp_array_path(task->target)) != PARAPET_OK)
        return;
    (void)pp_store_remove_prefix(pp_store_backend(task->target_store), task->state);
    (void)pp_copy_cleanup_clear_between(task);
}

/* What cannot be removed keeps what depends on it: a document its shards, and a copy that can be resumed all that it
 * has made. */
static void forget_new(const pp_copy_task *task)
{
    const char *path = pp_array_path(task->target);
    if (pp_copy_cleanup_is_foreign(task) || remove_document(task) != PARAPET_OK ||
        pp_array_remove_remains(task->target, pp_array_document_of(task->target)) != PARAPET_OK)
        return;
    (void)pp_copy_cleanup_clear_between(task);
    if (path[0] != '\0')
        (void)pp_store_remove_empty(pp_store_backend(task->target_store), path);
}

/* Rank 0, after a failure that is not an interruption: as if nothing had been begun. Where another array has appeared
 * meanwhile, nobody can tell any more what belongs to whom, and all of it stays. What was there before stays too. */
void pp_copy_cleanup_forget(pp_copy_task *task)
{
    pp_failure failure = {0};
    pp_failure_take(&failure, PARAPET_ERR_INTERNAL);
    if (task->replaces)
        forget_replacing(task);
    else
        forget_new(task);
    (void)pp_store_sync_dirs(pp_store_backend(task->target_store));
    (void)pp_failure_put(&failure);
}
