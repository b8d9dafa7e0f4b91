/* kill_shim.c - loaded before the C library (LD_PRELOAD) into the ranks of a job: counts the calls that change what
 * lies below FOLDER/store, kills at one of them, or fails one; and watches that nothing is forgotten to be flushed.
 *
 *     PARAPET_SHIM_FOLDER    FOLDER; without it nothing happens
 *     PARAPET_SHIM_RANK      the rank that is meant
 *     PARAPET_SHIM_KILL      the number, from 0, of the call at which it dies, before the call is made
 *     PARAPET_SHIM_TORN      1: only writes are counted, and the half of one is made
 *     PARAPET_SHIM_VICTIM    self, all (FOLDER/pids) or launcher (its number is in FOLDER/launcher)
 *     PARAPET_SHIM_FLUSH     the number, from 0, of the flush that fails, once, with EIO
 *     PARAPET_SHIM_FAIL      the number, from 0, of the call that fails and does nothing
 *     PARAPET_SHIM_ERROR     with this number; else EIO
 *     PARAPET_SHIM_FOREVER   1: and so do all behind it
 *     PARAPET_SHIM_STORE     what is watched in place of FOLDER/store
 *
 * At its end a rank leaves FOLDER/report.<rank>: "calls N", "writes N", "flushes N"; and "unflushed PATH" for what
 * is there and was changed, by any rank, since one flushed it, or whose flush has failed; "early PATH" for what was
 * renamed into place before it was flushed, or committed before all else was. The ranks tell each other through
 * FOLDER/watched, which whoever starts them removes before. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { MOST_WATCHED = 16384, PATH_BYTES = 1024 };

/* A file or directory that was changed. */
typedef struct watched {
    dev_t device;
    ino_t number;
    bool is_dirty; /* something was added since the last flush that succeeded */
    bool is_new;   /* a directory whose name is not flushed: nothing that lasts may be in it */
    bool is_lost;  /* a flush failed while it was dirty: what the kernel dropped, no later flush brings back */
    long changed;  /* when it became dirty, and when new, by the clock of the board */
    long made;
    char path[PATH_BYTES];
} watched;

/* In FOLDER/watched, and so the same for all ranks: what one of them changes, another may flush. */
typedef struct board {
    int count;
    long clock; /* of changes and flushes */
    watched all[MOST_WATCHED];
} board;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static board *shared;
static int shared_file = -1;
static long calls, writes, flushes;
static char folder[PATH_BYTES], root[PATH_BYTES + 16], early[PATH_BYTES];
static long kill_at = -1, fail_flush_at = -1, fail_at = -1, fail_error = EIO;
static bool is_torn, is_on, fails_forever;
static const char *victim = "self", *own_rank = "0";

static long number_of(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text != NULL ? strtol(text, NULL, 10) : otherwise;
}

/* Every rank has the file open for itself, and one that dies lets go of it. */
static void share(void)
{
    char path[PATH_BYTES + 16];
    (void)snprintf(path, sizeof path, "%s/watched", folder);
    shared_file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (shared_file < 0 || truncate(path, (off_t)sizeof *shared) != 0)
        abort();
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, shared_file, 0);
    if (shared == MAP_FAILED)
        abort();
}

static void lock(void)
{
    (void)pthread_mutex_lock(&mutex);
    while (flock(shared_file, LOCK_EX) != 0 && errno == EINTR)
        ;
}

static void unlock(void)
{
    (void)flock(shared_file, LOCK_UN);
    (void)pthread_mutex_unlock(&mutex);
}

__attribute__((constructor)) static void read_settings(void)
{
    const char *text = getenv("PARAPET_SHIM_FOLDER"), *rank = getenv("PMI_RANK");
    if (rank == NULL)
        rank = getenv("OMPI_COMM_WORLD_RANK");
    if (text == NULL || rank == NULL)
        return;
    own_rank = rank;
    (void)snprintf(folder, sizeof folder, "%s", text);
    (void)snprintf(root, sizeof root, "%s/store", folder);
    if (getenv("PARAPET_SHIM_STORE") != NULL)
        (void)snprintf(root, sizeof root, "%s", getenv("PARAPET_SHIM_STORE"));
    share();
    is_on = true;
    if (strtol(rank, NULL, 10) != number_of("PARAPET_SHIM_RANK", 0))
        return;
    kill_at = number_of("PARAPET_SHIM_KILL", -1);
    fail_flush_at = number_of("PARAPET_SHIM_FLUSH", -1);
    fail_at = number_of("PARAPET_SHIM_FAIL", -1);
    fail_error = number_of("PARAPET_SHIM_ERROR", EIO);
    fails_forever = number_of("PARAPET_SHIM_FOREVER", 0) != 0;
    is_torn = number_of("PARAPET_SHIM_TORN", 0) != 0;
    if (getenv("PARAPET_SHIM_VICTIM") != NULL)
        victim = getenv("PARAPET_SHIM_VICTIM");
}

/* The C library's own function of that name. */
static void find(void *function, const char *name)
{
    *(void **)function = dlsym(RTLD_NEXT, name);
}

/* ---- Killing ---- */

static void kill_ranks(void)
{
    char path[PATH_BYTES + 16];
    struct dirent *entry;
    DIR *list;
    (void)snprintf(path, sizeof path, "%s/pids", folder);
    if ((list = opendir(path)) == NULL)
        return;
    while ((entry = readdir(list)) != NULL) {
        pid_t process = (pid_t)strtol(entry->d_name, NULL, 10);
        if (process > 1 && process != getpid())
            (void)kill(process, SIGKILL);
    }
    (void)closedir(list);
}

static void kill_launcher(void)
{
    char path[PATH_BYTES + 16];
    long process = 0;
    FILE *file;
    (void)snprintf(path, sizeof path, "%s/launcher", folder);
    if ((file = fopen(path, "r")) == NULL)
        return;
    if (fscanf(file, "%ld", &process) == 1 && process > 1)
        (void)kill((pid_t)process, SIGKILL);
    (void)fclose(file);
}

static void strike(void)
{
    if (strcmp(victim, "launcher") == 0) {
        kill_launcher();
        return;
    }
    if (strcmp(victim, "all") == 0)
        kill_ranks();
    (void)kill(getpid(), SIGKILL);
}

/* ---- Paths ---- */

static bool is_below(const char *path)
{
    size_t bytes = strlen(root);
    return strncmp(path, root, bytes) == 0 && (path[bytes] == '/' || path[bytes] == '\0');
}

/* What a descriptor is of; false: nothing below the store. */
static bool locate(int descriptor, char path[PATH_BYTES])
{
    char link[64];
    ssize_t bytes;
    if (!is_on)
        return false;
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    bytes = readlink(link, path, PATH_BYTES - 1);
    if (bytes < 0)
        return false;
    path[bytes] = '\0';
    return is_below(path);
}

/* ---- What is flushed ---- */

/* The entry of a file, with an empty path whatever it is called. */
static watched *watch(const struct stat *found, const char *path)
{
    int i;
    for (i = 0; i < shared->count; i++)
        if (shared->all[i].device == found->st_dev && shared->all[i].number == found->st_ino) {
            if (path[0] != '\0' && strcmp(path, shared->all[i].path) != 0) /* another file got the number */
                shared->all[i] = (watched){.device = found->st_dev, .number = found->st_ino};
            if (path[0] != '\0')
                (void)snprintf(shared->all[i].path, PATH_BYTES, "%s", path);
            return &shared->all[i];
        }
    if (shared->count == MOST_WATCHED)
        abort();
    shared->all[shared->count] = (watched){.device = found->st_dev, .number = found->st_ino};
    (void)snprintf(shared->all[shared->count].path, PATH_BYTES, "%s", path);
    return &shared->all[shared->count++];
}

static void mark_dirty(int descriptor, const char *path)
{
    struct stat found;
    lock();
    if (fstat(descriptor, &found) == 0) {
        watched *dirty = watch(&found, path);
        dirty->is_dirty = true;
        dirty->changed = shared->clock++;
    }
    unlock();
}

/* A directory, which may be for a lock alone, and then goes with it. */
static void mark_new(int directory, const char *name, const char *path)
{
    char whole[PATH_BYTES];
    struct stat found;
    lock();
    if (snprintf(whole, sizeof whole, "%s/%s", path, name) >= PATH_BYTES)
        abort();
    if (fstatat(directory, name, &found, AT_SYMLINK_NOFOLLOW) == 0) {
        watched *made = watch(&found, whole);
        made->is_new = true;
        made->made = shared->clock++;
    }
    unlock();
}

/* With a directory, the names in it. */
static void flush_names(const char *path, long since, bool is_good)
{
    size_t bytes = strlen(path);
    int i;
    for (i = 0; i < shared->count; i++)
        if (shared->all[i].is_new && strncmp(shared->all[i].path, path, bytes) == 0 &&
            strrchr(shared->all[i].path, '/') == shared->all[i].path + bytes) {
            shared->all[i].is_new = shared->all[i].made >= since;
            shared->all[i].is_lost = shared->all[i].is_lost || !is_good;
        }
}

/* A flush that began then is over: what was changed while it ran, it need not have seen. */
static void mark_flushed(int descriptor, const char *path, long since, bool is_good)
{
    struct stat found;
    lock();
    if (fstat(descriptor, &found) == 0) {
        watched *flushed = watch(&found, path);
        flushed->is_lost = flushed->is_lost || (flushed->is_dirty && !is_good);
        flushed->is_dirty = flushed->is_dirty && flushed->changed >= since;
        flush_names(path, since, is_good);
    }
    unlock();
}

static bool holds_something(const char *path);

/* Whether something lasts that is called so in a directory. */
static bool is_something(const char *path, const char *name)
{
    char whole[PATH_BYTES];
    struct stat found;
    if (name[0] == '.' || strncmp(name, "lock", 4) == 0 || strcmp(name, "tmp") == 0)
        return false;
    if (snprintf(whole, sizeof whole, "%s/%s", path, name) >= PATH_BYTES)
        abort();
    return lstat(whole, &found) == 0 && (!S_ISDIR(found.st_mode) || holds_something(whole));
}

/* Whether a directory, or one below it, holds more than temporary names and a lock. */
static bool holds_something(const char *path)
{
    DIR *list = opendir(path);
    const struct dirent *entry;
    bool has_any = false;
    if (list == NULL)
        return false;
    while (!has_any && (entry = readdir(list)) != NULL)
        has_any = is_something(path, entry->d_name);
    (void)closedir(list);
    return has_any;
}

static bool is_in_danger(const watched *one)
{
    struct stat found;
    size_t bytes = strlen(one->path);
    if (!one->is_dirty && !one->is_lost && !(one->is_new && holds_something(one->path)))
        return false;
    if (bytes > 5 && (strcmp(one->path + bytes - 4, "/tmp") == 0 || strcmp(one->path + bytes - 5, "/lock") == 0))
        return false; /* temporary names and locks need not outlive anything */
    return lstat(one->path, &found) == 0 && found.st_dev == one->device && found.st_ino == one->number;
}

/* A file goes to its place: by then it is flushed; and if it is a commit record, everything is. */
static void check_rename(int to, const char *name, const char *directory)
{
    bool is_commit = strstr(directory, "__parapet/commits") != NULL;
    struct stat found;
    int i;
    lock();
    if (fstatat(to, name, &found, AT_SYMLINK_NOFOLLOW) == 0) {
        watched *renamed = watch(&found, "");
        int fits = snprintf(renamed->path, PATH_BYTES, "%s/%s", directory, name);
        if (fits >= PATH_BYTES)
            abort();
        for (i = 0; i < shared->count; i++)
            if ((is_commit || &shared->all[i] == renamed) && early[0] == '\0' && is_in_danger(&shared->all[i]))
                (void)snprintf(early, sizeof early, "%s", shared->all[i].path);
    }
    unlock();
}

__attribute__((destructor)) static void report(void)
{
    char path[PATH_BYTES + 64];
    FILE *file;
    int i;
    if (!is_on)
        return;
    (void)snprintf(path, sizeof path, "%s/report.%s", folder, own_rank);
    if ((file = fopen(path, "w")) == NULL)
        return;
    fprintf(file, "calls %ld\nwrites %ld\nflushes %ld\n", calls, writes, flushes);
    if (early[0] != '\0')
        fprintf(file, "early %s\n", early);
    for (i = 0; i < shared->count; i++)
        if (is_in_danger(&shared->all[i]))
            fprintf(file, "unflushed %s\n", shared->all[i].path);
    (void)fclose(file);
}

/* ---- Counting ---- */

/* What becomes of a call. */
typedef enum fate { FATE_DONE, FATE_TORN, FATE_FAILED } fate;

/* One call that changes something. Torn: it must do half of it and die. Failed: errno is set. */
static fate count_call(bool is_write)
{
    long number;
    bool is_here, fails;
    lock();
    number = is_torn ? writes : calls;
    is_here = kill_at == number && (is_write || !is_torn);
    fails = fail_at >= 0 && (calls == fail_at || (fails_forever && calls > fail_at));
    calls++;
    writes += is_write;
    unlock();
    if (is_here && !is_torn)
        strike();
    if (fails)
        errno = (int)fail_error;
    return fails ? FATE_FAILED : is_here && is_torn ? FATE_TORN : FATE_DONE;
}

static ssize_t put(int descriptor, const void *data, size_t bytes, off_t offset)
{
    static ssize_t (*next)(int, const void *, size_t, off_t);
    char path[PATH_BYTES];
    find(&next, "pwrite64");
    if (locate(descriptor, path)) {
        fate becomes = count_call(true);
        if (becomes == FATE_FAILED)
            return -1;
        mark_dirty(descriptor, path);
        if (becomes == FATE_TORN) {
            (void)next(descriptor, data, bytes / 2, offset);
            strike();
        }
    }
    return next(descriptor, data, bytes, offset);
}

EXPORT ssize_t pwrite(int descriptor, const void *data, size_t bytes, off_t offset)
{
    return put(descriptor, data, bytes, offset);
}

EXPORT ssize_t pwrite64(int descriptor, const void *data, size_t bytes, off_t offset)
{
    return put(descriptor, data, bytes, offset);
}

EXPORT ssize_t write(int descriptor, const void *data, size_t bytes)
{
    static ssize_t (*next)(int, const void *, size_t);
    char path[PATH_BYTES];
    find(&next, "write");
    if (locate(descriptor, path)) {
        fate becomes = count_call(true);
        if (becomes == FATE_FAILED)
            return -1;
        mark_dirty(descriptor, path);
        if (becomes == FATE_TORN) {
            (void)!next(descriptor, data, bytes / 2);
            strike();
        }
    }
    return next(descriptor, data, bytes);
}

/* Each call by its own name, so that the right one of the C library is found. */
static int truncate_to(int descriptor, off_t bytes, const char *name)
{
    int (*next)(int, off_t);
    char path[PATH_BYTES];
    find(&next, name);
    if (locate(descriptor, path)) {
        if (count_call(false) == FATE_FAILED)
            return -1;
        mark_dirty(descriptor, path);
    }
    return next(descriptor, bytes);
}

EXPORT int ftruncate(int descriptor, off_t bytes)
{
    return truncate_to(descriptor, bytes, "ftruncate");
}

EXPORT int ftruncate64(int descriptor, off_t bytes)
{
    return truncate_to(descriptor, bytes, "ftruncate64");
}

static int flush(int descriptor, const char *name)
{
    int (*next)(int);
    char path[PATH_BYTES];
    int result, error_number;
    bool fails, is_failed;
    long since;
    find(&next, name);
    if (!locate(descriptor, path))
        return next(descriptor);
    is_failed = count_call(false) == FATE_FAILED;
    lock();
    fails = flushes++ == fail_flush_at;
    since = shared->clock++;
    unlock();
    result = fails || is_failed ? -1 : next(descriptor);
    error_number = fails ? EIO : is_failed ? (int)fail_error : errno;
    mark_flushed(descriptor, path, since, result == 0);
    errno = error_number;
    return result;
}

EXPORT int fsync(int descriptor)
{
    return flush(descriptor, "fsync");
}

EXPORT int fdatasync(int descriptor)
{
    return flush(descriptor, "fdatasync");
}

EXPORT int renameat2(int from, const char *old, int to, const char *new, unsigned flags)
{
    static int (*next)(int, const char *, int, const char *, unsigned);
    char path[PATH_BYTES];
    int result, error_number;
    bool is_ours = locate(to, path);
    find(&next, "renameat2");
    if (is_ours && count_call(false) == FATE_FAILED)
        return -1;
    result = next(from, old, to, new, flags);
    error_number = errno;
    if (is_ours && result == 0) {
        check_rename(to, new, path);
        mark_dirty(to, path);
    }
    errno = error_number;
    return result;
}

EXPORT int renameat(int from, const char *old, int to, const char *new)
{
    return renameat2(from, old, to, new, 0);
}

EXPORT int unlinkat(int directory, const char *name, int flags)
{
    static int (*next)(int, const char *, int);
    char path[PATH_BYTES];
    find(&next, "unlinkat");
    if (locate(directory, path) && count_call(false) == FATE_FAILED)
        return -1;
    return next(directory, name, flags);
}

EXPORT int mkdirat(int directory, const char *name, mode_t mode)
{
    static int (*next)(int, const char *, mode_t);
    char path[PATH_BYTES];
    bool is_ours = locate(directory, path);
    int result, error_number;
    find(&next, "mkdirat");
    if (is_ours && count_call(false) == FATE_FAILED)
        return -1;
    result = next(directory, name, mode);
    error_number = errno;
    if (is_ours && result == 0)
        mark_new(directory, name, path);
    errno = error_number;
    return result;
}
