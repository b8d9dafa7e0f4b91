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

parapet_status pp_posix_mark_dirty(pp_posix_store *store, char *path)
{
    parapet_status status = PARAPET_OK;
    if (store->options.not_durable) {
        pp_free(path);
        return PARAPET_OK;
    }
    (void)pthread_mutex_lock(&store->mutex);
    if (is_marked(store, path)) {
        pp_free(path);
    } else {
        if (store->dirty_count == PP_DIRTY_LIMIT)
            status = flush_all(store);
        store->dirty[store->dirty_count++] = path;
    }
    (void)pthread_mutex_unlock(&store->mutex);
    return status;
}

/* The directory that holds it is what has to be flushed. */
static parapet_status mark_holder(pp_posix_store *store, char *path)
{
    char *slash = strrchr(path, '/');
    *(slash != NULL ? slash : path) = '\0';
    return pp_posix_mark_dirty(store, path);
}

/* The place in the list of the passing directory that is at path or above it, or their number. */
static size_t find_passing(const pp_posix_store *store, const char *path)
{
    size_t i, bytes;
    for (i = 0; i < store->passing_count; i++) {
        bytes = strlen(store->passing[i]);
        if (strncmp(store->passing[i], path, bytes) == 0 && (path[bytes] == '\0' || path[bytes] == '/'))
            break;
    }
    return i;
}

/* NULL if none is at path or above it. */
static char *take_passing(pp_posix_store *store, const char *path)
{
    char *found = NULL;
    size_t place;
    (void)pthread_mutex_lock(&store->mutex);
    place = find_passing(store, path);
    if (place < store->passing_count) {
        found = store->passing[place];
        store->passing[place] = store->passing[--store->passing_count];
    }
    (void)pthread_mutex_unlock(&store->mutex);
    return found;
}

void pp_posix_forget_passing(pp_posix_store *store, const char *path)
{
    pp_free(take_passing(store, path));
}

parapet_status pp_posix_mark_passing(pp_posix_store *store, char *path)
{
    bool has_room;
    pp_posix_forget_passing(store, path); /* if another job removed it */
    (void)pthread_mutex_lock(&store->mutex);
    has_room = store->passing_count < PP_PASSING_LIMIT;
    if (has_room)
        store->passing[store->passing_count++] = path;
    (void)pthread_mutex_unlock(&store->mutex);
    return has_room ? PARAPET_OK : mark_holder(store, path);
}

parapet_status pp_posix_keep_passing(pp_posix_store *store, const char *path)
{
    char *found = take_passing(store, path);
    return found != NULL ? mark_holder(store, found) : PARAPET_OK;
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
