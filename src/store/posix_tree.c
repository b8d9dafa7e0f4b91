#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/internal.h"

#define MAX_DEPTH 64

/* What a directory entry is, looked at without following it. S_IFMT bits; 0: gone meanwhile. */
static parapet_status examine(int directory, const char *name, mode_t *type, uint64_t *bytes)
{
    struct stat found;
    *type = 0;
    *bytes = 0;
    if (fstatat(directory, name, &found, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? PARAPET_OK : pp_posix_fail_write(errno, "examine", name);
    *type = found.st_mode & S_IFMT;
    *bytes = (uint64_t)found.st_size;
    return PARAPET_OK;
}

/* Only plain files and directories are objects and prefixes; a name that no key can have is neither. */
static parapet_status list_entry(pp_listing *listing, int directory, const struct dirent *entry)
{
    mode_t type = S_IFDIR;
    uint64_t bytes = 0;
    parapet_status status = PARAPET_OK;
    if (pp_key_check(entry->d_name) != PARAPET_OK)
        return PARAPET_OK;
    if (entry->d_type != DT_DIR)
        status = examine(directory, entry->d_name, &type, &bytes);
    if (status != PARAPET_OK || (type != S_IFDIR && type != S_IFREG))
        return status;
    return pp_listing_add(listing, entry->d_name, type == S_IFDIR, type == S_IFREG ? bytes : 0);
}

static parapet_status gather_entry(pp_listing *listing, int directory, const struct dirent *entry)
{
    (void)directory;
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
        return PARAPET_OK;
    return pp_listing_add(listing, entry->d_name, false, 0);
}

typedef parapet_status (*entry_visitor)(pp_listing *listing, int directory, const struct dirent *entry);

/* Reads a directory to its end into a listing. Takes the descriptor. */
static parapet_status gather(pp_listing *listing, int descriptor, entry_visitor add, const char *shown)
{
    DIR *stream = fdopendir(descriptor);
    parapet_status status = PARAPET_OK;
    if (stream == NULL) {
        status = pp_posix_fail_write(errno, "list", shown);
        (void)close(descriptor);
        return status;
    }
    while (status == PARAPET_OK) {
        struct dirent *entry;
        errno = 0;
        if ((entry = readdir(stream)) == NULL) {
            if (errno != 0)
                status = pp_posix_fail_write(errno, "list", shown);
            break;
        }
        status = add(listing, descriptor, entry);
    }
    (void)closedir(stream);
    return status;
}

parapet_status pp_posix_list(pp_store *base, const char *prefix, pp_list_visitor visit, void *context)
{
    pp_posix_store *store = (pp_posix_store *)base;
    pp_listing listing = {0};
    parapet_status status;
    int directory = pp_posix_open(store, prefix, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
    if (directory < 0)
        return pp_posix_fail_read(errno, "list", prefix[0] != '\0' ? prefix : "the root of the store");
    if ((status = gather(&listing, directory, list_entry, prefix)) == PARAPET_OK)
        status = pp_listing_tell(&listing, visit, context);
    pp_listing_free(&listing);
    return status;
}

/* Opens the directory that holds a key, for changing it; *changed is its path for the list of dirty directories. */
static parapet_status open_parent(pp_posix_store *store, const char *key, int *parent, char **changed)
{
    pp_posix_place place;
    parapet_status status = pp_posix_check_writable(store, key);
    pp_posix_locate(&place, key);
    *changed = NULL;
    if (status != PARAPET_OK)
        return status;
    if ((*parent = pp_posix_open(store, place.parent, O_PATH | O_DIRECTORY)) < 0)
        return pp_posix_fail_read(errno, "remove", key);
    if ((status = pp_text_duplicate(changed, place.parent)) != PARAPET_OK)
        (void)close(*parent);
    return status;
}

parapet_status pp_posix_remove(pp_store *base, const char *key)
{
    pp_posix_store *store = (pp_posix_store *)base;
    pp_posix_place place;
    char *changed;
    int parent;
    parapet_status status = open_parent(store, key, &parent, &changed);
    if (status != PARAPET_OK)
        return status;
    pp_posix_locate(&place, key);
    if (unlinkat(parent, place.name, 0) != 0) {
        status = pp_posix_fail_read(errno, "remove", key);
        pp_free(changed);
    } else {
        status = pp_posix_mark_dirty(store, changed);
    }
    (void)close(parent);
    return status;
}

static parapet_status empty_directory(int directory, int depth, const char *shown);

/* Removes an entry and, for a directory, everything in it; links are removed, not followed. */
static parapet_status remove_entry(int parent, const char *name, int depth, const char *shown)
{
    parapet_status status;
    int directory;
    if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
        return PARAPET_OK;
    if (errno != EISDIR && errno != EPERM) /* EPERM: how POSIX says "is a directory" */
        return pp_posix_fail_write(errno, "remove below", shown);
    if ((directory = pp_posix_open_component(parent, name, O_RDONLY | O_DIRECTORY | O_NONBLOCK)) < 0)
        return errno == ENOENT ? PARAPET_OK : pp_posix_fail_write(errno, "remove below", shown);
    if ((status = empty_directory(directory, depth + 1, shown)) != PARAPET_OK)
        return status;
    if (unlinkat(parent, name, AT_REMOVEDIR) != 0 && errno != ENOENT)
        return pp_posix_fail_write(errno, "remove below", shown);
    return PARAPET_OK;
}

/* Takes the descriptor. Names are gathered first, as removing while reading may skip some. */
static parapet_status empty_directory(int directory, int depth, const char *shown)
{
    pp_listing listing = {0};
    parapet_status status = PARAPET_OK;
    size_t i;
    int reading = -1;
    if (depth > MAX_DEPTH)
        status = pp_fail(PARAPET_ERR_IO, "directories below %s are nested more than %d deep", shown, MAX_DEPTH);
    else if ((reading = fcntl(directory, F_DUPFD_CLOEXEC, 0)) < 0)
        status = pp_posix_fail_write(errno, "list", shown);
    else
        status = gather(&listing, reading, gather_entry, shown);
    for (i = 0; i < listing.count && status == PARAPET_OK; i++)
        status = remove_entry(directory, listing.children[i].name, depth, shown);
    pp_listing_free(&listing);
    (void)close(directory);
    return status;
}

/* The root stays; what is in it goes. */
static parapet_status empty_root(pp_posix_store *store)
{
    char *changed;
    parapet_status status = pp_posix_check_writable(store, "the root of the store");
    int directory;
    if (status != PARAPET_OK || (status = pp_text_duplicate(&changed, "")) != PARAPET_OK)
        return status;
    if ((directory = pp_posix_open(store, "", O_RDONLY | O_DIRECTORY)) < 0)
        status = pp_posix_fail_write(errno, "list", "the root of the store");
    else
        status = empty_directory(directory, 0, "the root of the store");
    if (status == PARAPET_OK)
        return pp_posix_mark_dirty(store, changed);
    pp_free(changed);
    return status;
}

/* A plain file of that name is an object, not a prefix: it stays. */
static parapet_status remove_named(int parent, const char *name, const char *prefix)
{
    mode_t type;
    uint64_t bytes;
    parapet_status status = examine(parent, name, &type, &bytes);
    if (status != PARAPET_OK || (type != S_IFDIR && type != S_IFLNK))
        return status;
    return remove_entry(parent, name, 0, prefix);
}

parapet_status pp_posix_remove_prefix(pp_store *base, const char *prefix)
{
    pp_posix_store *store = (pp_posix_store *)base;
    pp_posix_place place;
    char *changed;
    int parent;
    parapet_status status, marked;
    if (prefix[0] == '\0')
        return empty_root(store);
    if ((status = open_parent(store, prefix, &parent, &changed)) != PARAPET_OK)
        return pp_accept_absence(status);
    pp_posix_locate(&place, prefix);
    status = remove_named(parent, place.name, prefix);
    (void)close(parent);
    marked = pp_posix_mark_dirty(store, changed);
    return status != PARAPET_OK ? status : marked;
}

static parapet_status remove_empty_named(int parent, const char *name, int depth, const char *shown);

/* Takes the descriptor. What is no key or no directory is not looked at: it keeps its directory. */
static parapet_status remove_empty_below(int directory, int depth, const char *shown)
{
    pp_listing listing = {0};
    parapet_status status = PARAPET_OK;
    size_t i;
    int reading = -1;
    if (depth < MAX_DEPTH && (reading = fcntl(directory, F_DUPFD_CLOEXEC, 0)) < 0)
        status = pp_posix_fail_write(errno, "list", shown);
    else if (depth < MAX_DEPTH)
        status = gather(&listing, reading, list_entry, shown);
    for (i = 0; i < listing.count && status == PARAPET_OK; i++)
        if (listing.children[i].is_prefix)
            status = remove_empty_named(directory, listing.children[i].name, depth + 1, shown);
    pp_listing_free(&listing);
    (void)close(directory);
    return status;
}

static bool is_absent_or_kept(int error_number)
{
    return error_number == ENOENT || error_number == ENOTEMPTY || error_number == EEXIST || error_number == EBUSY;
}

static parapet_status remove_empty_named(int parent, const char *name, int depth, const char *shown)
{
    int directory = pp_posix_open_component(parent, name, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
    parapet_status status;
    if (directory < 0)
        return errno == ENOENT || errno == ENOTDIR || errno == ELOOP
                   ? PARAPET_OK
                   : pp_posix_fail_write(errno, "remove empty directories below", shown);
    if ((status = remove_empty_below(directory, depth, shown)) != PARAPET_OK)
        return status;
    if (unlinkat(parent, name, AT_REMOVEDIR) != 0 && !is_absent_or_kept(errno))
        return pp_posix_fail_write(errno, "remove the empty directory", shown);
    return PARAPET_OK;
}

parapet_status pp_posix_remove_empty(pp_store *base, const char *prefix)
{
    pp_posix_store *store = (pp_posix_store *)base;
    pp_posix_place place;
    char *changed;
    int parent;
    parapet_status status = open_parent(store, prefix, &parent, &changed), marked;
    if (status != PARAPET_OK)
        return pp_accept_absence(status);
    pp_posix_locate(&place, prefix);
    status = remove_empty_named(parent, place.name, 0, prefix);
    (void)close(parent);
    marked = pp_posix_mark_dirty(store, changed);
    return status != PARAPET_OK ? status : marked;
}
