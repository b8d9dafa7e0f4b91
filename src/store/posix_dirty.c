#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "store/internal.h"

/* A directory that is gone needs no flush: the one that held it changed, and is on the list. */
static parapet_status flush_directory(const pp_posix_store *store, const char *path)
{
    const char *shown = path[0] != '\0' ? path : "(the root of the store)";
    int descriptor = pp_posix_open(store, path, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
    parapet_status status = PARAPET_OK;
    if (descriptor < 0)
        return errno == ENOENT ? PARAPET_OK : pp_posix_fail_write(errno, "open for flushing directory", shown);
    if (fsync(descriptor) != 0 && errno != EINVAL) /* EINVAL: a file system that has nothing to flush there */
        status = pp_posix_fail_write(errno, "flush directory", shown);
    if (close(descriptor) != 0 && errno != EINTR && status == PARAPET_OK)
        status = pp_posix_fail_write(errno, "close directory", shown);
    return status;
}

static parapet_status flush_all(pp_posix_store *store)
{
    while (store->dirty_count > 0) {
        char *path = store->dirty[--store->dirty_count];
        if (store->failed_flush.status == PARAPET_OK)
            pp_failure_take(&store->failed_flush, flush_directory(store, path));
        pp_free(path);
    }
    return pp_failure_put(&store->failed_flush);
}

static bool is_marked(const pp_posix_store *store, const char *path)
{
    size_t i;
    for (i = 0; i < store->dirty_count; i++)
        if (strcmp(store->dirty[i], path) == 0)
            return true;
    return false;
}

static parapet_status mark(pp_posix_store *store, char *path)
{
    parapet_status status = PARAPET_OK;
    if (is_marked(store, path)) {
        pp_free(path);
        return PARAPET_OK;
    }
    if (store->dirty_count == PP_DIRTY_LIMIT)
        status = flush_all(store);
    store->dirty[store->dirty_count++] = path;
    return status;
}

/* ---- Directories that were made ----
 *
 * An empty directory says nothing: one that was made for a lock, and goes with it, costs no flush. It has to outlive
 * a crash once something is in it, and so have those above it that were made too. */

static bool is_within(const char *path, const char *directory)
{
    size_t bytes = strlen(directory);
    return strncmp(path, directory, bytes) == 0 && (path[bytes] == '\0' || path[bytes] == '/');
}

/* From a directory that was made to the one that has it. */
static char *cut_to_parent(char *path)
{
    char *slash = strrchr(path, '/');
    *(slash != NULL ? slash : path) = '\0';
    return path;
}

static parapet_status mark_holders(pp_posix_store *store, const char *changed)
{
    parapet_status status = PARAPET_OK, marked;
    size_t i;
    for (i = store->made_count; i > 0; i--)
        if (is_within(changed, store->made[i - 1])) {
            char *made = store->made[i - 1];
            store->made[i - 1] = store->made[--store->made_count];
            marked = mark(store, cut_to_parent(made));
            status = status == PARAPET_OK ? marked : status;
        }
    return status;
}

static bool is_noted(const pp_posix_store *store, const char *path)
{
    size_t i;
    for (i = 0; i < store->made_count; i++)
        if (strcmp(store->made[i], path) == 0)
            return true;
    return false;
}

parapet_status pp_posix_note_made(pp_posix_store *store, char *path)
{
    parapet_status status = PARAPET_OK;
    (void)pthread_mutex_lock(&store->mutex);
    if (store->options.not_durable || is_noted(store, path))
        pp_free(path);
    else if (store->made_count < PP_DIRTY_LIMIT)
        store->made[store->made_count++] = path;
    else
        status = mark(store, cut_to_parent(path));
    (void)pthread_mutex_unlock(&store->mutex);
    return status;
}

parapet_status pp_posix_mark_dirty(pp_posix_store *store, char *path)
{
    parapet_status status, marked;
    if (store->options.not_durable) {
        pp_free(path);
        return PARAPET_OK;
    }
    (void)pthread_mutex_lock(&store->mutex);
    marked = mark_holders(store, path);
    status = mark(store, path);
    (void)pthread_mutex_unlock(&store->mutex);
    return status == PARAPET_OK ? marked : status;
}

parapet_status pp_posix_settle_directory(pp_posix_store *store, const char *path)
{
    char *changed;
    parapet_status status;
    if (store->options.not_durable)
        return PARAPET_OK;
    if ((status = pp_text_duplicate(&changed, path)) != PARAPET_OK ||
        (status = pp_posix_mark_dirty(store, changed)) != PARAPET_OK)
        return status;
    return pp_posix_settle(&store->store);
}

parapet_status pp_posix_settle(pp_store *base)
{
    pp_posix_store *store = (pp_posix_store *)base;
    parapet_status status;
    (void)pthread_mutex_lock(&store->mutex);
    status = flush_all(store);
    (void)pthread_mutex_unlock(&store->mutex);
    return status;
}
