/* posix_directory.c - directories that a key needs, made on the way to it. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "store/internal.h"

/* How often another job may remove a directory, which is empty, between its being made and being entered. */
#define ATTEMPTS_MOST 1000

/* What becomes of a directory that is made. Those above it stay, whatever it is itself. */
typedef enum kind { STAYS, PASSES, HOLDS_TEMPORARIES } kind;

static parapet_status mark_made(pp_posix_store *store, char *path, kind is)
{
    if (is == STAYS)
        return pp_posix_mark_dirty(store, path);
    if (is == PASSES)
        return pp_posix_mark_passing(store, path);
    pp_free(path);
    return PARAPET_OK;
}

/* Makes one directory unless it is there, and has it marked: as passing, or the one that holds it as changed. */
static parapet_status make_directory(pp_posix_store *store, int parent, const char *path, kind is, bool *has_vanished)
{
    pp_posix_place place;
    char *marked;
    parapet_status status;
    pp_posix_locate(&place, path);
    if ((status = pp_text_duplicate(&marked, is == PASSES ? path : place.parent)) != PARAPET_OK)
        return status;
    if (mkdirat(parent, place.name, 0777) == 0)
        return mark_made(store, marked, is);
    *has_vanished = errno == ENOENT;
    status = errno == EEXIST ? PARAPET_OK : pp_posix_fail_write(errno, "make directory", path);
    pp_free(marked);
    return status;
}

/* Goes from the parent of path, open in *directory, to path itself. */
static parapet_status enter_directory(pp_posix_store *store, const char *path, int *directory, kind is,
                                      bool *has_vanished)
{
    parapet_status status = make_directory(store, *directory, path, is, has_vanished);
    pp_posix_place place;
    int next = -1;
    pp_posix_locate(&place, path);
    if (status == PARAPET_OK && (next = pp_posix_open_component(*directory, place.name, O_PATH | O_DIRECTORY)) < 0) {
        *has_vanished = errno == ENOENT;
        status = pp_posix_fail_write(errno, "open directory", path);
    }
    pp_posix_close_quietly(*directory, store->root);
    *directory = next;
    return status;
}

/* Opens the nearest directory above path that is there; *bytes: how much of path leads to it. */
static parapet_status open_nearest(const pp_posix_store *store, const char *path, size_t *bytes, int *directory)
{
    char above[PP_MAX_KEY_BYTES];
    *bytes = strlen(path);
    memcpy(above, path, *bytes + 1);
    do {
        const char *slash = strrchr(above, '/');
        *bytes = slash != NULL ? (size_t)(slash - above) : 0;
        above[*bytes] = '\0';
        *directory = *bytes > 0 ? pp_posix_open(store, above, O_PATH | O_DIRECTORY) : store->root;
    } while (*directory < 0 && errno == ENOENT);
    return *directory >= 0 ? PARAPET_OK : pp_posix_fail_write(errno, "open directory", above);
}

static parapet_status make_directories(pp_posix_store *store, const char *path, int *directory, kind is,
                                       bool *has_vanished)
{
    char so_far[PP_MAX_KEY_BYTES];
    size_t bytes;
    parapet_status status = open_nearest(store, path, &bytes, directory);
    while (status == PARAPET_OK && path[bytes] != '\0') {
        bytes += path[bytes] == '/' ? 1 : 0;
        bytes += strcspn(path + bytes, "/");
        memcpy(so_far, path, bytes);
        so_far[bytes] = '\0';
        status = enter_directory(store, so_far, directory, path[bytes] == '\0' ? is : STAYS, has_vanished);
    }
    return status;
}

static parapet_status provide(pp_posix_store *store, const char *path, int *directory, kind is)
{
    parapet_status status;
    bool has_vanished;
    int attempt = 0;
    *directory = pp_posix_open(store, path, O_PATH | O_DIRECTORY);
    if (*directory >= 0)
        return PARAPET_OK;
    if (errno != ENOENT || path[0] == '\0')
        return pp_posix_fail_write(errno, "open directory", path);
    do {
        has_vanished = false;
        status = make_directories(store, path, directory, is, &has_vanished);
    } while (has_vanished && ++attempt < ATTEMPTS_MOST);
    return status;
}

parapet_status pp_posix_provide_passing_directory(pp_posix_store *store, const char *path, int *directory)
{
    return provide(store, path, directory, PASSES);
}

static parapet_status provide_kept(pp_posix_store *store, const char *path, int *directory, kind is)
{
    parapet_status status = provide(store, path, directory, is), kept;
    if (status != PARAPET_OK || (kept = pp_posix_keep_passing(store, path)) == PARAPET_OK)
        return status;
    pp_posix_close_quietly(*directory, store->root);
    return kept;
}

parapet_status pp_posix_provide_directory(pp_posix_store *store, const char *path, int *directory)
{
    return provide_kept(store, path, directory, STAYS);
}

/* A directory that was removed while it is open has no name left, or, on a file system of the network, is not known
 * any more. */
static bool is_gone(int directory)
{
    struct stat found;
    return fstat(directory, &found) == 0 ? found.st_nlink == 0 : errno == ESTALE;
}

/* What is done in a directory. */
typedef struct deed {
    pp_posix_act act;
    void *context;
} deed;

static parapet_status act_in(pp_posix_store *store, const char *path, kind is, deed wanted)
{
    parapet_status status;
    bool has_vanished;
    int directory, attempt = 0;
    do {
        if ((status = provide_kept(store, path, &directory, is)) != PARAPET_OK)
            return status;
        status = wanted.act(wanted.context, directory);
        has_vanished = status != PARAPET_OK && is_gone(directory);
        pp_posix_close_quietly(directory, store->root);
    } while (has_vanished && ++attempt < ATTEMPTS_MOST);
    return status;
}

parapet_status pp_posix_act_in_directory(pp_posix_store *store, const char *path, pp_posix_act act, void *context)
{
    return act_in(store, path, STAYS, (deed){act, context});
}

parapet_status pp_posix_act_in_staging(pp_posix_store *store, const char *path, pp_posix_act act, void *context)
{
    return act_in(store, path, HOLDS_TEMPORARIES, (deed){act, context});
}
