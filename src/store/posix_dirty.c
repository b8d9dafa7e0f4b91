/* posix_dirty.c - which directories were changed and are not flushed yet.
 *
 *     flushed --pp_posix_mark_dirty--> dirty --pp_posix_sync_dirs, or when the list is full--> flushed, or failed
 *     of a lock: made --pp_posix_mark_passing--> passing --pp_posix_forget_passing--> gone
 *                                                passing --pp_posix_keep_passing--> its holder is dirty
 *
 * Invariants:
 *
 *  1. A change is noted after it was made, with memory that was taken before it (pp_posix_mark_dirty takes the
 *     path over). So no change is left out for lack of memory.
 *  2. A failed flush is final. Linux may have marked the lost pages clean, so that a second fsync would report
 *     a success that is none: after the first failure no directory of this store is flushed again, and every
 *     sync reports it (flush_all; invariant 14 of docs/design/change.md).
 *  3. `dirty` is what this process has changed, `taken` what it flushes for others. dirty is kept until all
 *     ranks have agreed that everything is durable (pp_posix_forget_unsynced_dirs), so that after a failure the
 *     next call flushes it.
 *  4. The directory of a lock that nothing stayed in is not flushed: whether it is there after a crash does not
 *     matter.
 *
 * durability=leave turns all of it off. docs/design/durability.md, "A flush fails", and "The protocol" for who
 * flushes a directory into which several ranks have renamed. */
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

static parapet_status flush_all(pp_posix_store *store, pp_posix_dirty *list)
{
    while (list->count > 0) {
        char *path = list->paths[--list->count];
        if (store->failed_flush.status == PARAPET_OK)
            pp_failure_take(&store->failed_flush, flush_directory(store, path));
        pp_free(path);
    }
    return pp_failure_put(&store->failed_flush);
}

void pp_posix_clear_dirty(pp_posix_dirty *list)
{
    while (list->count > 0)
        pp_free(list->paths[--list->count]);
}

/* Where a path is in the list, or belongs: paths ascend. */
static size_t find_place(const pp_posix_dirty *list, const char *path, bool *is_there)
{
    size_t first = 0, end = list->count;
    *is_there = false;
    while (first < end && !*is_there) {
        size_t middle = first + (end - first) / 2;
        int order = strcmp(list->paths[middle], path);
        *is_there = order == 0;
        if (order < 0)
            first = middle + 1;
        else
            end = middle;
    }
    return end;
}

static void insert(pp_posix_dirty *list, size_t place, char *path)
{
    memmove(&list->paths[place + 1], &list->paths[place], (list->count - place) * sizeof list->paths[0]);
    list->paths[place] = path;
    list->count++;
}

/* Takes over the path. */
static parapet_status mark(pp_posix_store *store, pp_posix_dirty *list, char *path)
{
    parapet_status status = PARAPET_OK;
    bool is_marked;
    size_t place;
    (void)pthread_mutex_lock(&store->mutex);
    place = find_place(list, path, &is_marked);
    if (is_marked) {
        pp_free(path);
    } else {
        if (list->count == PP_DIRTY_LIMIT) {
            status = flush_all(store, list);
            place = 0;
        }
        insert(list, place, path);
    }
    (void)pthread_mutex_unlock(&store->mutex);
    return status;
}

parapet_status pp_posix_mark_dirty(pp_posix_store *store, char *path)
{
    if (!store->options.not_durable)
        return mark(store, &store->dirty, path);
    pp_free(path);
    return PARAPET_OK;
}

/* To keep a directory, the one that holds it has to be flushed. */
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

parapet_status pp_posix_sync_dir(pp_posix_store *store, const char *path)
{
    char *changed;
    parapet_status status;
    if (store->options.not_durable)
        return PARAPET_OK;
    if ((status = pp_text_duplicate(&changed, path)) != PARAPET_OK ||
        (status = pp_posix_mark_dirty(store, changed)) != PARAPET_OK)
        return status;
    return pp_posix_sync_dirs(&store->store);
}

static parapet_status sync_dirs(pp_posix_store *store, pp_posix_dirty *list)
{
    parapet_status status;
    (void)pthread_mutex_lock(&store->mutex);
    status = flush_all(store, list);
    (void)pthread_mutex_unlock(&store->mutex);
    return status;
}

parapet_status pp_posix_sync_dirs(pp_store *base)
{
    pp_posix_store *store = (pp_posix_store *)base;
    return sync_dirs(store, &store->dirty);
}

/* ---- Dealt out ---- */

void pp_posix_list_unsynced_dirs(pp_store *base, pp_text *prefixes)
{
    pp_posix_store *store = (pp_posix_store *)base;
    size_t i;
    (void)pthread_mutex_lock(&store->mutex);
    for (i = 0; i < store->dirty.count; i++)
        pp_text_add_bytes(prefixes, store->dirty.paths[i], strlen(store->dirty.paths[i]) + 1);
    (void)pthread_mutex_unlock(&store->mutex);
}

parapet_status pp_posix_take_unsynced_dirs(pp_store *base, const char *prefix)
{
    pp_posix_store *store = (pp_posix_store *)base;
    char *path;
    parapet_status status = pp_text_duplicate(&path, prefix);
    return status == PARAPET_OK ? mark(store, &store->taken, path) : status;
}

parapet_status pp_posix_sync_taken_dirs(pp_store *base)
{
    pp_posix_store *store = (pp_posix_store *)base;
    return sync_dirs(store, &store->taken);
}

void pp_posix_forget_unsynced_dirs(pp_store *base)
{
    pp_posix_store *store = (pp_posix_store *)base;
    (void)pthread_mutex_lock(&store->mutex);
    pp_posix_clear_dirty(&store->dirty);
    (void)pthread_mutex_unlock(&store->mutex);
}

bool pp_posix_has_failed_sync(pp_store *base)
{
    pp_posix_store *store = (pp_posix_store *)base;
    bool has_failed;
    (void)pthread_mutex_lock(&store->mutex);
    has_failed = store->failed_flush.status != PARAPET_OK;
    (void)pthread_mutex_unlock(&store->mutex);
    return has_failed;
}

void pp_posix_fail_unsynced_dirs(pp_store *base, parapet_status status)
{
    pp_posix_store *store = (pp_posix_store *)base;
    (void)pthread_mutex_lock(&store->mutex);
    if (store->dirty.count > 0)
        pp_failure_take(&store->failed_flush, status);
    (void)pthread_mutex_unlock(&store->mutex);
}
