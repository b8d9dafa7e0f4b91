#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "store/internal.h"

#define REFUSALS_MOST 20
#define PAUSE_NS 1000000 /* between them */

void pp_posix_locate(pp_posix_place *place, const char *key)
{
    const char *slash = strrchr(key, '/');
    size_t bytes = slash != NULL ? (size_t)(slash - key) : 0;
    memcpy(place->parent, key, bytes);
    place->parent[bytes] = '\0';
    place->name = slash != NULL ? slash + 1 : key;
}

bool pp_posix_may_repeat(int error_number, int *refusals)
{
    if (error_number == EINTR)
        return true;
    if (error_number != EAGAIN || ++*refusals >= REFUSALS_MOST)
        return false;
    pp_clock_pause_ns(PAUSE_NS);
    return true;
}

static int open_again(int directory, const char *name, int flags)
{
    int descriptor, refusals = 0;
    do
        descriptor = openat(directory, name, flags);
    while (descriptor < 0 && pp_posix_may_repeat(errno, &refusals));
    return descriptor;
}

/* O_DIRECTORY on a link says ENOTDIR, which would read as "no such key". A directory found there after all was a link
 * an instant before. */
int pp_posix_open_component(int directory, const char *name, int flags)
{
    struct stat found;
    int descriptor = open_again(directory, name, flags | O_NOFOLLOW | O_CLOEXEC);
    if (descriptor >= 0 || errno != ENOTDIR)
        return descriptor;
    if (fstatat(directory, name, &found, AT_SYMLINK_NOFOLLOW) == 0 &&
        (S_ISLNK(found.st_mode) || S_ISDIR(found.st_mode)))
        errno = ELOOP;
    else
        errno = ENOTDIR;
    return -1;
}

/* Copies the first component of a path; returns what follows its slash, or NULL after the last one. */
static const char *take_component(const char *path, char name[PP_MAX_KEY_BYTES])
{
    size_t bytes = strcspn(path, "/");
    memcpy(name, path, bytes);
    name[bytes] = '\0';
    return path[bytes] == '/' ? path + bytes + 1 : NULL;
}

void pp_posix_close_quietly(int descriptor, int kept_open)
{
    int error_number = errno;
    if (descriptor != kept_open)
        (void)close(descriptor);
    errno = error_number;
}

/* For kernels without openat2: one component at a time, none of them a link. */
static int walk(int root, const char *path, int flags)
{
    char name[PP_MAX_KEY_BYTES];
    int directory = root, next;
    do {
        path = take_component(path, name);
        next = pp_posix_open_component(directory, name, path != NULL ? O_PATH | O_DIRECTORY : flags);
        pp_posix_close_quietly(directory, root);
        directory = next;
    } while (path != NULL && next >= 0);
    return next;
}

int pp_posix_open(const pp_posix_store *store, const char *path, int flags)
{
    struct open_how how = {.flags = (uint64_t)(unsigned)(flags | O_CLOEXEC),
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    long descriptor;
    int refusals = 0;
    if (path[0] == '\0')
        path = ".";
    if (!store->has_openat2)
        return walk(store->root, path, flags);
    do
        descriptor = syscall(SYS_openat2, store->root, path, &how, sizeof how);
    while (descriptor < 0 && pp_posix_may_repeat(errno, &refusals));
    return (int)descriptor;
}

static parapet_status fail_link(const char *action, const char *key)
{
    return pp_fail(PARAPET_ERR_IO,
                   "cannot %s %s: there is a symbolic link in the path, and no link inside a store is followed",
                   action, key);
}

parapet_status pp_posix_fail_read(int error_number, const char *action, const char *key)
{
    if (error_number == ELOOP || error_number == EXDEV)
        return fail_link(action, key);
    if (error_number == ENOTDIR)
        error_number = ENOENT;
    return pp_fail_errno(error_number, "cannot %s %s", action, key);
}

parapet_status pp_posix_fail_write(int error_number, const char *action, const char *key)
{
    parapet_status status;
    if (error_number == ELOOP || error_number == EXDEV)
        return fail_link(action, key);
    status = pp_fail_errno(error_number, "cannot %s %s", action, key);
    return status == PARAPET_ERR_NOT_FOUND || status == PARAPET_ERR_EXISTS ? PARAPET_ERR_IO : status;
}

parapet_status pp_posix_check_writable(const pp_posix_store *store, const char *key)
{
    if (store->options.read_only)
        return pp_fail(PARAPET_ERR_ARGUMENT, "cannot change %s: the store is open for reading", key);
    return PARAPET_OK;
}

parapet_status pp_posix_check_plain(int descriptor, const char *key, struct stat *found)
{
    if (fstat(descriptor, found) != 0)
        return pp_posix_fail_write(errno, "examine", key);
    if (!S_ISREG(found->st_mode))
        return pp_fail(PARAPET_ERR_FORMAT, "%s is not a plain file but %s", key,
                       S_ISDIR(found->st_mode)    ? "a directory"
                       : S_ISFIFO(found->st_mode) ? "a named pipe"
                                                  : "a device or socket");
    return PARAPET_OK;
}

parapet_status pp_posix_cut(int descriptor, const char *key, uint64_t bytes, bool *was_cut)
{
    struct stat found;
    parapet_status status = pp_posix_check_plain(descriptor, key, &found);
    *was_cut = false;
    if (status != PARAPET_OK)
        return status;
    if (found.st_nlink > 1)
        return pp_fail(PARAPET_ERR_CORRUPT, "cannot continue %s: the same file has other names (hard links)", key);
    if ((uint64_t)found.st_size < bytes)
        return pp_fail(PARAPET_ERR_CORRUPT, "%s ends at byte %" PRIu64 ", but should have at least %" PRIu64, key,
                       (uint64_t)found.st_size, bytes);
    *was_cut = (uint64_t)found.st_size > bytes;
    if (*was_cut && ftruncate(descriptor, (off_t)bytes) != 0)
        return pp_posix_fail_write(errno, "cut", key);
    return PARAPET_OK;
}

bool pp_posix_is_in_memory(int descriptor)
{
    struct statfs found;
    return fstatfs(descriptor, &found) == 0 && (found.f_type == TMPFS_MAGIC || found.f_type == RAMFS_MAGIC);
}

/* A file system in memory takes O_DIRECT but gains nothing from it. */
bool pp_posix_may_go_direct(const pp_posix_store *store, int descriptor)
{
    if (store->options.direct_io != PP_DIRECT_IO_LARGE)
        return store->options.direct_io == PP_DIRECT_IO_ALWAYS;
    return !pp_posix_is_in_memory(descriptor);
}
