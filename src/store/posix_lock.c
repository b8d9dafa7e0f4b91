/* posix_lock.c - locks as locks of the bytes of a file, of the kind that belongs to the open file and not to the
 * process (F_OFD_SETLK): it goes when the process dies, whatever killed it, and two handles of one process exclude
 * each other too.
 *
 * The file may be removed by whoever holds all of it: so what was locked is only held if the file is still the one
 * at the key. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "store/internal.h"

/* How often a lock may vanish between being found and being locked. */
#define ATTEMPTS_MOST 1000

#define LOCK_FLAGS (O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

typedef struct posix_lock {
    pp_lock lock;
    char *key;
    pp_posix_own_descriptor file;
    dev_t device; /* of the open file */
    ino_t inode;
    bool holds[PP_LOCK_BYTES];
    bool has_made_node; /* the directory above that of the lock */
} posix_lock;

static pp_posix_store *store_of(const posix_lock *self)
{
    return (pp_posix_store *)self->lock.store;
}

static parapet_status fail_lock(const posix_lock *self, int error_number, const char *action)
{
    if (error_number == EACCES)
        return pp_fail(PARAPET_ERR_IO,
                       "cannot %s the lock %s: %s: this user may not write it; its mode should be that of the "
                       "directory it protects",
                       action, self->key, strerror(error_number));
    if (error_number == EMFILE)
        return pp_fail(PARAPET_ERR_IO,
                       "cannot %s the lock %s: %s in this process; raise ulimit -n, or change fewer arrays in one "
                       "call",
                       action, self->key, strerror(error_number));
    if (error_number == ENOLCK || error_number == EINVAL || error_number == ENOSYS || error_number == EOPNOTSUPP)
        return pp_fail(PARAPET_ERR_UNSUPPORTED,
                       "cannot %s the lock %s: the file system has no locks; set locks=record for every job on it",
                       action, self->key);
    return pp_posix_fail_write(error_number, action, self->key);
}

/* Whoever may write the directory may write the lock, and nobody else, where the file system has modes. -1: errno
 * says why the file is of no use; it is closed. */
static int set_permissions(int directory, int descriptor)
{
    struct stat found;
    mode_t writers;
    if (fstat(directory, &found) != 0) {
        int error_number = errno;
        (void)close(descriptor);
        errno = error_number;
        return -1;
    }
    writers = found.st_mode & 0222;
    (void)fchmod(descriptor, writers | writers << 1);
    return descriptor;
}

int pp_posix_open_lock_file(int directory, const char *name)
{
    static const int flags = LOCK_FLAGS;
    int descriptor = openat(directory, name, flags);
    if (descriptor >= 0 || errno != ENOENT)
        return descriptor;
    descriptor = openat(directory, name, flags | O_CREAT | O_EXCL, 0600);
    if (descriptor >= 0)
        return set_permissions(directory, descriptor);
    if (errno == EEXIST)
        errno = ENOENT; /* made by another job meanwhile: look again */
    return descriptor;
}

static parapet_status look_for_node(const pp_posix_store *store, const char *path, bool *lacks_node)
{
    pp_posix_place place;
    int node;
    pp_posix_locate(&place, path);
    node = pp_posix_open(store, place.parent, O_PATH | O_DIRECTORY);
    if (node >= 0)
        return close(node) == 0 ? PARAPET_OK : pp_posix_fail_write(errno, "close", place.parent);
    if (errno != ENOENT)
        return pp_posix_fail_write(errno, "open", place.parent);
    *lacks_node = true;
    return PARAPET_OK;
}

parapet_status pp_posix_provide_lock_directory(pp_posix_store *store, const char *path, bool *has_made_node,
                                               int *directory)
{
    parapet_status status = look_for_node(store, path, has_made_node);
    return status == PARAPET_OK ? pp_posix_provide_passing_directory(store, path, directory) : status;
}

static parapet_status fail_open(const posix_lock *self, int error_number)
{
    return error_number == ELOOP ? pp_posix_fail_write(error_number, "open", self->key)
                                 : fail_lock(self, error_number, "open");
}

/* -1 and ENOENT: another job has removed what was there a moment ago. */
static parapet_status try_open(posix_lock *self, int *descriptor)
{
    pp_posix_place place;
    int directory;
    parapet_status status;
    *descriptor = -1;
    pp_posix_locate(&place, self->key);
    status = pp_posix_provide_lock_directory(store_of(self), place.parent, &self->has_made_node, &directory);
    if (status != PARAPET_OK)
        return status;
    *descriptor = pp_posix_open_lock_file(directory, place.name);
    if (*descriptor < 0 && errno != ENOENT)
        status = fail_open(self, errno);
    (void)close(directory);
    return status;
}

static parapet_status own_file(posix_lock *self, int descriptor)
{
    struct stat found;
    parapet_status status = pp_posix_check_plain(descriptor, self->key, &found);
    if (status != PARAPET_OK) {
        (void)close(descriptor);
        return status;
    }
    self->device = found.st_dev;
    self->inode = found.st_ino;
    pp_posix_own(&self->file, descriptor);
    return PARAPET_OK;
}

/* As a rule the file is there: then this is one call of the system, and the directories need not be looked at. */
static parapet_status open_file(posix_lock *self)
{
    parapet_status status = PARAPET_OK;
    int attempt, descriptor = pp_posix_open(store_of(self), self->key, LOCK_FLAGS);
    if (descriptor < 0 && errno != ENOENT)
        return fail_open(self, errno);
    for (attempt = 0; attempt < ATTEMPTS_MOST && descriptor < 0; attempt++)
        if ((status = try_open(self, &descriptor)) != PARAPET_OK)
            return status;
    if (descriptor < 0)
        return pp_fail(PARAPET_ERR_IO, "cannot open the lock %s: something keeps removing it", self->key);
    return own_file(self, descriptor);
}

static void free_lock(posix_lock *self)
{
    pp_free(self->key);
    pp_free(self);
}

parapet_status pp_posix_open_lock(pp_store *base, const char *key, pp_lock **lock)
{
    posix_lock *self;
    parapet_status status = pp_posix_check_writable((pp_posix_store *)base, key);
    if (status != PARAPET_OK || (status = pp_allocate(&self, sizeof *self)) != PARAPET_OK)
        return status;
    self->lock.store = base;
    if ((status = pp_text_duplicate(&self->key, key)) != PARAPET_OK || (status = open_file(self)) != PARAPET_OK) {
        free_lock(self);
        return status;
    }
    *lock = &self->lock;
    return PARAPET_OK;
}

static int lock_range(int descriptor, int command, short type, int byte, int count)
{
    struct flock range = {.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = count};
    int result;
    do
        result = fcntl(descriptor, command, &range);
    while (result != 0 && errno == EINTR);
    if (result != 0)
        return -1;
    return command == F_OFD_GETLK ? range.l_type != F_UNLCK : 0;
}

/* Whether the open file is the one at the key. Only compares: a link on the way, which this follows, keeps everybody
 * from opening what lies behind it. */
static parapet_status look_in_place(const posix_lock *self, bool *is_in_place)
{
    struct stat named;
    int result, refusals = 0;
    do
        result = fstatat(store_of(self)->root, self->key, &named, AT_SYMLINK_NOFOLLOW);
    while (result != 0 && pp_posix_may_repeat(errno, &refusals));
    *is_in_place = result == 0 && named.st_dev == self->device && named.st_ino == self->inode;
    if (result != 0 && errno != ENOENT && errno != ENOTDIR && errno != ESTALE)
        return fail_lock(self, errno, "look at");
    return PARAPET_OK;
}

static bool holds_any(const posix_lock *self)
{
    int byte;
    for (byte = 0; byte < PP_LOCK_BYTES; byte++)
        if (self->holds[byte])
            return true;
    return false;
}

static parapet_status fail_removed(const posix_lock *self)
{
    return pp_fail(PARAPET_ERR_STALE,
                   "the lock %s was removed or lost while it was held; what another job has done since is not known",
                   self->key);
}

/* A lock that nothing is held of yet can be exchanged for the one that lies at the key now. */
static parapet_status exchange(posix_lock *self)
{
    if (holds_any(self))
        return fail_removed(self);
    pp_posix_disown(&self->file);
    return open_file(self);
}

static parapet_status check_process(const posix_lock *self)
{
    if (self->file.number < 0)
        return pp_fail(PARAPET_ERR_STALE, "the lock %s belongs to the process that this one was forked from",
                       self->key);
    return PARAPET_OK;
}

static parapet_status try_set(posix_lock *self, pp_lock_byte byte, pp_lock_mode mode)
{
    static const short types[] = {
        [PP_LOCK_FREE] = F_UNLCK, [PP_LOCK_SHARED] = F_RDLCK, [PP_LOCK_EXCLUSIVE] = F_WRLCK};
    if (lock_range(self->file.number, F_OFD_SETLK, types[mode], (int)byte, 1) == 0)
        return PARAPET_OK;
    if (errno == EAGAIN || errno == EACCES)
        return pp_fail(PARAPET_ERR_BUSY, "another job holds the lock %s", self->key);
    return fail_lock(self, errno, "take");
}

/* One attempt, which counts if the file is still the one at the key. */
static parapet_status set_once(posix_lock *self, pp_lock_byte byte, pp_lock_mode mode, bool *counts)
{
    parapet_status answer = try_set(self, byte, mode), status;
    *counts = true;
    if (answer != PARAPET_OK && answer != PARAPET_ERR_BUSY)
        return answer;
    if (mode != PP_LOCK_FREE && !self->holds[byte] && (status = look_in_place(self, counts)) != PARAPET_OK) {
        *counts = true;
        return status;
    }
    if (*counts && answer == PARAPET_OK)
        self->holds[byte] = mode != PP_LOCK_FREE;
    return answer;
}

parapet_status pp_posix_keep_lock_directory(pp_posix_store *store, const char *key, pp_lock_byte byte)
{
    pp_posix_place place;
    if (byte == PP_LOCK_SHORT)
        return PARAPET_OK;
    pp_posix_locate(&place, key);
    return pp_posix_keep_passing(store, place.parent);
}

parapet_status pp_posix_set_lock(pp_lock *lock, pp_lock_byte byte, pp_lock_mode mode)
{
    posix_lock *self = (posix_lock *)lock;
    parapet_status status = check_process(self), answer;
    bool counts;
    int attempt;
    for (attempt = 0; attempt < ATTEMPTS_MOST && status == PARAPET_OK; attempt++) {
        answer = set_once(self, byte, mode, &counts);
        if (counts && answer == PARAPET_OK && mode != PP_LOCK_FREE)
            return pp_posix_keep_lock_directory(store_of(self), self->key, byte);
        if (counts)
            return answer;
        if (answer == PARAPET_OK)
            (void)try_set(self, byte, PP_LOCK_FREE);
        status = exchange(self);
    }
    return status != PARAPET_OK ? status : fail_removed(self);
}

parapet_status pp_posix_test_lock(pp_lock *lock, pp_lock_byte byte, bool *is_held)
{
    const posix_lock *self = (const posix_lock *)lock;
    parapet_status status = check_process(self);
    int result;
    if (status != PARAPET_OK)
        return status;
    if ((result = lock_range(self->file.number, F_OFD_GETLK, F_WRLCK, (int)byte, 1)) < 0)
        return fail_lock(self, errno, "look at");
    *is_held = result == 1;
    return PARAPET_OK;
}

/* Reads the first byte of the text, if there is one, and writes it again. */
static parapet_status write_again(const posix_lock *self)
{
    char first;
    ssize_t bytes;
    int refusals = 0;
    do
        if ((bytes = pread(self->file.number, &first, 1, 0)) == 1)
            bytes = pwrite(self->file.number, &first, 1, 0);
    while (bytes < 0 && pp_posix_may_repeat(errno, &refusals));
    return bytes >= 0 ? PARAPET_OK : fail_lock(self, errno, "make sure of");
}

/* A client of a network file system that has lost a lock fails what is read or written through its file. */
parapet_status pp_posix_prove_lock(pp_lock *lock)
{
    const posix_lock *self = (const posix_lock *)lock;
    parapet_status status = check_process(self);
    bool is_in_place;
    if (status != PARAPET_OK || (status = look_in_place(self, &is_in_place)) != PARAPET_OK)
        return status;
    return is_in_place ? write_again(self) : fail_removed(self);
}

/* At its full length, so that a shorter text leaves nothing of a longer one. */
parapet_status pp_posix_write_lock_text(int descriptor, const char *key, const char *text)
{
    char padded[PP_LOCK_TEXT_BYTES];
    size_t done = 0;
    int refusals = 0;
    memset(padded, '\n', sizeof padded);
    memcpy(padded, text, strlen(text)); /* NOLINT(bugprone-not-null-terminated-result): lines end it */
    while (done < sizeof padded) {
        ssize_t bytes = pwrite(descriptor, padded + done, sizeof padded - done, (off_t)done);
        if (bytes == 0)
            errno = EIO;
        if (bytes <= 0 && !pp_posix_may_repeat(errno, &refusals))
            return pp_posix_fail_write(errno, "write", key);
        done += bytes > 0 ? (size_t)bytes : 0;
    }
    return PARAPET_OK;
}

parapet_status pp_posix_write_lock(pp_lock *lock, const char *text)
{
    const posix_lock *self = (const posix_lock *)lock;
    parapet_status status = check_process(self);
    if (status != PARAPET_OK)
        return status;
    if (text[0] == '\0')
        return ftruncate(self->file.number, 0) == 0 ? PARAPET_OK : pp_posix_fail_write(errno, "empty", self->key);
    return pp_posix_write_lock_text(self->file.number, self->key, text);
}

/* Whoever may read the store but not write it does not get to hold locks, and so cannot look at them either: -1. */
static parapet_status open_to_view(const pp_store *base, const char *key, int *descriptor)
{
    *descriptor = pp_posix_open((const pp_posix_store *)base, key, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (*descriptor >= 0 || errno == ENOENT || errno == ENOTDIR || errno == EACCES)
        return PARAPET_OK;
    return pp_posix_fail_write(errno, "read", key);
}

static parapet_status read_open_text(int descriptor, const char *key, char *text)
{
    ssize_t bytes;
    int refusals = 0;
    do
        bytes = pread(descriptor, text, PP_LOCK_TEXT_BYTES, 0);
    while (bytes < 0 && pp_posix_may_repeat(errno, &refusals));
    text[bytes > 0 ? bytes : 0] = '\0';
    return bytes >= 0 ? PARAPET_OK : pp_posix_fail_write(errno, "read", key);
}

parapet_status pp_posix_read_lock(pp_lock *lock, char *text)
{
    const posix_lock *self = (const posix_lock *)lock;
    parapet_status status = check_process(self);
    return status == PARAPET_OK ? read_open_text(self->file.number, self->key, text) : status;
}

parapet_status pp_posix_read_lock_text(pp_store *base, const char *key, pp_lock_view *view)
{
    int descriptor;
    parapet_status status = open_to_view(base, key, &descriptor);
    if (status != PARAPET_OK || descriptor < 0)
        return status;
    status = read_open_text(descriptor, key, view->text);
    (void)close(descriptor);
    return status;
}

parapet_status pp_posix_view_lock(pp_store *base, const char *key, pp_lock_view *view)
{
    int descriptor;
    parapet_status status = open_to_view(base, key, &descriptor);
    if (status != PARAPET_OK || descriptor < 0)
        return status;
    status = read_open_text(descriptor, key, view->text);
    view->is_held = lock_range(descriptor, F_OFD_GETLK, F_WRLCK, 0, PP_LOCK_BYTES) == 1;
    view->is_long = view->is_held && lock_range(descriptor, F_OFD_GETLK, F_WRLCK, PP_LOCK_LONG, 1) == 1;
    (void)close(descriptor);
    return status;
}

static bool remove_entry(const pp_posix_store *store, const char *key, int flags)
{
    pp_posix_place place;
    bool is_gone;
    int directory;
    pp_posix_locate(&place, key);
    if ((directory = pp_posix_open(store, place.parent, O_PATH | O_DIRECTORY)) < 0)
        return false;
    is_gone = unlinkat(directory, place.name, flags) == 0;
    (void)close(directory);
    return is_gone;
}

void pp_posix_leave_directories(pp_posix_store *store, const char *key, bool has_made_node)
{
    pp_posix_place own, node;
    pp_posix_locate(&own, key);
    if (remove_entry(store, own.parent, AT_REMOVEDIR))
        pp_posix_forget_passing(store, own.parent);
    else
        (void)pp_posix_keep_passing(store, own.parent); /* a flush that failed fails the next call */
    pp_posix_locate(&node, own.parent);
    if (has_made_node && node.parent[0] != '\0')
        (void)remove_entry(store, node.parent, AT_REMOVEDIR);
}

static bool is_empty(const posix_lock *self)
{
    struct stat found;
    return fstat(self->file.number, &found) == 0 && found.st_size == 0;
}

static bool take_all(const posix_lock *self)
{
    return lock_range(self->file.number, F_OFD_SETLK, F_WRLCK, 0, PP_LOCK_BYTES) == 0;
}

/* Of several that close at once the last must find itself alone, or each would leave the file to another: so whoever
 * is in the way lets go before it tries again. */
static bool is_last(const posix_lock *self)
{
    if (take_all(self))
        return true;
    (void)lock_range(self->file.number, F_OFD_SETLK, F_UNLCK, 0, PP_LOCK_BYTES);
    return take_all(self);
}

void pp_posix_close_lock(pp_lock *lock)
{
    posix_lock *self = (posix_lock *)lock;
    bool is_in_place;
    if (self->file.number >= 0 && is_empty(self) && is_last(self) && is_empty(self) &&
        look_in_place(self, &is_in_place) == PARAPET_OK && is_in_place) {
        (void)remove_entry(store_of(self), self->key, 0);
        pp_posix_leave_directories(store_of(self), self->key, self->has_made_node);
    }
    pp_posix_disown(&self->file);
    free_lock(self);
}
