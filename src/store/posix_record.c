/* posix_record.c - what is held where locks of the file system do not hold on every node: owner records, which
 * are files next to the text of the lock.
 *
 *     __parapet/lock.long               who has LONG; lock.short likewise. Made exclusively, so there is one
 *     __parapet/lock.long.<id>          who comes after the record <id>, which lies at lock.long and is past
 *     __parapet/lock.delegates.<id>     <id> is a delegate; lock.publishing.<id> likewise. There may be many
 *     __parapet/lock.new.<id>           <id>, not put in its place yet
 *
 * A record is past when its process is proved to be gone, or when the user has said that it is (takeover). It
 * cannot just be removed: between looking at it and removing it, another job may have done so, and hold what is
 * there now. So a job that takes over makes the one file that can follow that very record, and is the only one
 * to succeed; sees that the record still lies where it was; and puts its own in its place:
 *
 *     lock.long: A, past                       find_last: what follows A is free
 *     lock.long: A, past; lock.long.A: B       put, exclusively: no second job can follow A
 *     lock.long: B                             take_place: A still lies there, so B is renamed over it
 *
 * A job that looks at the wrong instant finds that its own record follows nothing, takes it back and looks
 * again.
 *
 * Invariants:
 *
 *  1. LONG and SHORT are held by the last record of the chain that begins at lock.long or lock.short, and by no
 *     other (find_last, is_in_place). LONG is never shared: a job that writes holds it alone.
 *  2. Only what is exactly a record, is past, and could not be anything else by its name is removed; and a new
 *     one that is still empty (is_left).
 *  3. Whether a record was put is decided by what lies there, not by what the system call returned: over a
 *     network the answer may be lost (put).
 *  4. A process that is seen to live is never overtaken. Of a process that cannot be seen from here, a record
 *     is past only if it was made before this store was opened and the user says so (is_past).
 *
 * The options locks and takeover: docs/guide/jobs.md, "Where locks cannot be trusted". */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "store/internal.h"
#include "store/record.h"

/* How often a directory may vanish, or another job come first, in one attempt. */
#define ATTEMPTS_MOST 1000

/* Each was killed while it took over from the one before. */
#define CHAIN_MOST 100

#define NAME_BYTES 64
#define ID_DIGITS (PP_RECORD_ID_BYTES - 1)

static const char *const words[PP_LOCK_BYTES] = {[PP_LOCK_LONG] = "long",
                                                 [PP_LOCK_SHORT] = "short",
                                                 [PP_LOCK_DELEGATES] = "delegates",
                                                 [PP_LOCK_PUBLISHING] = "publishing"};

typedef struct record_lock {
    pp_lock lock;
    const char *key;
    char *own_key;                    /* the same, to be freed */
    int64_t process;                  /* that has opened it */
    bool has_made_node;               /* the directory above that of the lock */
    bool holds[PP_LOCK_BYTES];        /* or has begun to */
    pp_record records[PP_LOCK_BYTES]; /* of what it holds */
} record_lock;

static pp_posix_store *store_of(const record_lock *self)
{
    return (pp_posix_store *)self->lock.store;
}

/* One holder of LONG or SHORT at a time; of the others there may be many. */
static bool is_single(pp_lock_byte byte)
{
    return byte == PP_LOCK_LONG || byte == PP_LOCK_SHORT;
}

static void name_first(char name[NAME_BYTES], pp_lock_byte byte)
{
    (void)snprintf(name, NAME_BYTES, "lock.%s", words[byte]);
}

static void name_with(char name[NAME_BYTES], const char *word, const char *id)
{
    (void)snprintf(name, NAME_BYTES, "lock.%s.%s", word, id);
}

/* ---- Looking at one ---- */

typedef enum finding { FOUND_NOTHING, FOUND_RECORD, FOUND_EMPTY, FOUND_OTHER } finding;

static finding read_open(int descriptor, pp_record *record)
{
    char text[PP_RECORD_BYTES + 1] = "";
    struct stat found;
    ssize_t bytes;
    int refusals = 0;
    if (fstat(descriptor, &found) != 0 || !S_ISREG(found.st_mode) || found.st_size > PP_RECORD_BYTES)
        return FOUND_OTHER;
    if (found.st_size == 0)
        return FOUND_EMPTY;
    do
        bytes = pread(descriptor, text, PP_RECORD_BYTES, 0);
    while (bytes < 0 && pp_posix_may_repeat(errno, &refusals));
    return bytes > 0 && strlen(text) == (size_t)bytes && pp_record_parse(record, text) ? FOUND_RECORD : FOUND_OTHER;
}

/* A file that cannot be read may be the record of a job that lives. */
static finding look(int directory, const char *name, pp_record *record)
{
    int descriptor = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    finding found;
    *record = (pp_record){0};
    if (descriptor < 0)
        return errno == ENOENT || errno == ESTALE ? FOUND_NOTHING : FOUND_OTHER;
    found = read_open(descriptor, record);
    (void)close(descriptor);
    return found;
}

/* Whether the process that made it is gone, or is said to be gone by the user (4). */
static bool is_past(const pp_posix_store *store, const pp_record *record)
{
    pp_process_life life = pp_process_judge(&record->process);
    if (life == PP_PROCESS_UNKNOWN)
        return store->takes_over && record->since < store->opened;
    return life == PP_PROCESS_GONE;
}

/* ---- Who holds LONG or SHORT ---- */

/* Where the records of a byte end: at the first that is not past, or where the next one would be. */
typedef struct last {
    char name[NAME_BYTES];
    finding found;
    pp_record record;
} last;

static bool is_own(const record_lock *self, pp_lock_byte byte, const last *end)
{
    return end->found == FOUND_RECORD && self->holds[byte] && strcmp(end->record.id, self->records[byte].id) == 0;
}

static parapet_status find_last(const record_lock *self, int directory, pp_lock_byte byte, last *end)
{
    int i;
    name_first(end->name, byte);
    for (i = 0; i < CHAIN_MOST; i++) {
        end->found = look(directory, end->name, &end->record);
        if (end->found != FOUND_RECORD || is_own(self, byte, end) || !is_past(store_of(self), &end->record))
            return PARAPET_OK;
        name_with(end->name, words[byte], end->record.id);
    }
    return pp_fail(PARAPET_ERR_CORRUPT,
                   "%s is held by more than %d records of jobs that are gone; look at them, and remove them if no "
                   "job is using the store",
                   self->key, CHAIN_MOST);
}

/* Whether the record of this lock is the one at the first place, and none follows it. */
static bool is_in_place(const record_lock *self, int directory, pp_lock_byte byte)
{
    const char *id = self->records[byte].id;
    char name[NAME_BYTES], next[NAME_BYTES];
    pp_record found;
    if (is_single(byte))
        name_first(name, byte);
    else
        name_with(name, words[byte], id);
    if (look(directory, name, &found) != FOUND_RECORD || strcmp(found.id, id) != 0)
        return false;
    name_with(next, words[byte], id);
    return !is_single(byte) || faccessat(directory, next, F_OK, AT_SYMLINK_NOFOLLOW) != 0;
}

/* ---- Making one ---- */

static parapet_status fail_make(const record_lock *self, int error_number)
{
    return pp_posix_fail_write(error_number, "make an owner record beside", self->key);
}

static bool write_new(int descriptor, const pp_record *record)
{
    char text[PP_RECORD_BYTES];
    ssize_t written;
    bool is_written;
    pp_record_print(record, text);
    written = write(descriptor, text, strlen(text));
    is_written = written == (ssize_t)strlen(text) && fchmod(descriptor, 0444) == 0;
    if (written >= 0 && written < (ssize_t)strlen(text))
        errno = ENOSPC;                          /* the next write would say so */
    return close(descriptor) == 0 && is_written; /* a network file system may tell only now */
}

/* Puts a record where nothing is; false: errno says why not, EEXIST that something is. An answer may get lost on its
 * way, so what is there decides. */
static bool put(int directory, const char *name, const pp_record *record)
{
    char new[NAME_BYTES];
    pp_record found;
    int descriptor, error_number;
    name_with(new, "new", record->id);
    descriptor = openat(directory, new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (descriptor < 0)
        return false;
    if (write_new(descriptor, record) && pp_posix_rename_exclusive(directory, new, directory, name) == 0)
        return true;
    error_number = errno;
    (void)unlinkat(directory, new, 0);
    errno = error_number;
    return look(directory, name, &found) == FOUND_RECORD && strcmp(found.id, record->id) == 0;
}

/* What follows a record that is past counts if that still is where it was; then it takes its place. */
static parapet_status take_place(record_lock *self, int directory, pp_lock_byte byte, const last *before,
                                 bool *is_taken)
{
    char first[NAME_BYTES];
    last end;
    parapet_status status;
    name_first(first, byte);
    *is_taken = true;
    if (strcmp(before->name, first) == 0)
        return PARAPET_OK;
    /* The record that ours follows may have gone between our look and our put. Then ours is at the end of no chain,
     * and holds nothing, although it lies there. */
    status = find_last(self, directory, byte, &end);
    *is_taken = status == PARAPET_OK && is_own(self, byte, &end);
    if (*is_taken && renameat(directory, before->name, directory, first) != 0) {
        status = fail_make(self, errno);
        *is_taken = false;
    }
    if (!*is_taken)
        (void)unlinkat(directory, before->name, 0);
    return status;
}

static parapet_status fail_busy(const record_lock *self)
{
    return pp_fail(PARAPET_ERR_BUSY, "another job holds the lock %s", self->key);
}

/* One attempt; neither taken nor failed: another job was faster, or has removed the directory. */
static parapet_status try_single(record_lock *self, int directory, pp_lock_byte byte, bool *is_taken)
{
    last end;
    parapet_status status = find_last(self, directory, byte, &end);
    if (status != PARAPET_OK)
        return status;
    if (end.found != FOUND_NOTHING)
        return fail_busy(self);
    if (put(directory, end.name, &self->records[byte]))
        return take_place(self, directory, byte, &end, is_taken);
    return errno == EEXIST || errno == ENOENT ? PARAPET_OK : fail_make(self, errno);
}

static parapet_status try_shared(record_lock *self, int directory, pp_lock_byte byte, bool *is_taken)
{
    char name[NAME_BYTES];
    name_with(name, words[byte], self->records[byte].id);
    *is_taken = put(directory, name, &self->records[byte]);
    return *is_taken || errno == ENOENT ? PARAPET_OK : fail_make(self, errno);
}

static parapet_status try_take(record_lock *self, pp_lock_byte byte, bool *is_taken)
{
    pp_posix_place place;
    int directory;
    parapet_status status;
    pp_posix_locate(&place, self->key);
    status = pp_posix_provide_lock_directory(store_of(self), place.parent, &self->has_made_node, &directory);
    if (status != PARAPET_OK)
        return status;
    status =
        is_single(byte) ? try_single(self, directory, byte, is_taken) : try_shared(self, directory, byte, is_taken);
    (void)close(directory);
    return status;
}

static parapet_status take(record_lock *self, pp_lock_byte byte)
{
    bool is_taken = false;
    parapet_status status = pp_record_init(&self->records[byte]);
    int attempt;
    self->holds[byte] = true;
    for (attempt = 0; attempt < ATTEMPTS_MOST && status == PARAPET_OK && !is_taken; attempt++)
        status = try_take(self, byte, &is_taken);
    self->holds[byte] = is_taken;
    if (status != PARAPET_OK || !is_taken)
        return status == PARAPET_OK ? fail_busy(self) : status;
    return pp_posix_keep_lock_directory(store_of(self), self->key, byte);
}

/* ---- Letting go ---- */

static int open_directory(const pp_posix_store *store, const char *key)
{
    pp_posix_place place;
    pp_posix_locate(&place, key);
    return pp_posix_open(store, place.parent, O_PATH | O_DIRECTORY);
}

/* A record that another job has taken over is not ours to remove. */
static void let_go(record_lock *self, pp_lock_byte byte)
{
    char name[NAME_BYTES];
    int directory;
    if (!self->holds[byte])
        return;
    self->holds[byte] = false;
    if ((directory = open_directory(store_of(self), self->key)) < 0)
        return;
    if (is_single(byte))
        name_first(name, byte);
    else
        name_with(name, words[byte], self->records[byte].id);
    /* POSIX cannot compare and remove in one step. Another job can come in between only if its user has said that
     * this process, which lives, was gone. */
    if (is_in_place(self, directory, byte))
        (void)unlinkat(directory, name, 0);
    (void)close(directory);
}

/* ---- All that lie there ---- */

/* "lock.delegates.0123456789abcdef" is "delegates" and the digits; NULL: it is no such name. */
static const char *id_in(const char *name, const char *word)
{
    size_t bytes = strlen(word);
    const char *id;
    if (strncmp(name, "lock.", 5) != 0 || strncmp(name + 5, word, bytes) != 0 || name[5 + bytes] != '.')
        return NULL;
    id = name + 5 + bytes + 1;
    return strlen(id) == ID_DIGITS && strspn(id, "0123456789abcdef") == ID_DIGITS ? id : NULL;
}

typedef struct survey {
    const record_lock *self;
    int directory;
    pp_lock_byte byte; /* that is asked for */
    bool may_remove;
    bool is_held;          /* by another job */
    char name[NAME_BYTES]; /* of one of them */
    finding found;
    pp_record record;
} survey;

/* What was left by jobs that are gone: a name that only that record can have, or one that follows a record which
 * cannot be there, because we hold its place. */
static bool is_left_record(const survey *all, const char *name, const pp_record *record)
{
    int byte;
    const char *id = id_in(name, "new");
    if (!is_past(store_of(all->self), record))
        return false;
    if (id != NULL)
        return strcmp(id, record->id) == 0;
    for (byte = 0; byte < PP_LOCK_BYTES; byte++)
        if ((id = id_in(name, words[byte])) != NULL)
            return is_single((pp_lock_byte)byte)
                       ? all->self->holds[byte] && strcmp(id, all->self->records[byte].id) != 0
                       : strcmp(id, record->id) == 0;
    return false;
}

/* A new one that is empty is of a job that was killed before it wrote, or of one that is about to write. That
 * one finds its file gone when it renames it, and makes another. */
static bool is_left(const survey *all, const char *name, finding found, const pp_record *record)
{
    if (found == FOUND_EMPTY)
        return id_in(name, "new") != NULL;
    return found == FOUND_RECORD && is_left_record(all, name, record);
}

static parapet_status survey_one(void *context, const pp_listed *listed)
{
    survey *all = context;
    const record_lock *self = all->self;
    const char *id = id_in(listed->name, words[all->byte]);
    pp_record record;
    finding found;
    bool is_past_one;
    if (listed->is_prefix || strncmp(listed->name, "lock.", 5) != 0 || strlen(listed->name) >= NAME_BYTES ||
        (found = look(all->directory, listed->name, &record)) == FOUND_NOTHING)
        return PARAPET_OK;
    is_past_one = found == FOUND_RECORD && is_past(store_of(self), &record);
    if (all->may_remove && is_left(all, listed->name, found, &record))
        (void)unlinkat(all->directory, listed->name, 0);
    if (is_past_one || id == NULL || (self->holds[all->byte] && strcmp(id, self->records[all->byte].id) == 0))
        return PARAPET_OK;
    all->is_held = true;
    all->found = found;
    all->record = record;
    (void)snprintf(all->name, sizeof all->name, "%s", listed->name);
    return PARAPET_OK;
}

static parapet_status survey_all(survey *all)
{
    pp_posix_place place;
    parapet_status status;
    pp_posix_locate(&place, all->self->key);
    if (is_single(all->byte)) {
        last end;
        status = find_last(all->self, all->directory, all->byte, &end);
        all->is_held = status == PARAPET_OK && end.found != FOUND_NOTHING && !is_own(all->self, all->byte, &end);
        all->found = end.found;
        all->record = end.record;
        (void)snprintf(all->name, sizeof all->name, "%s", end.name);
        return status;
    }
    status = pp_posix_list(&store_of(all->self)->store, place.parent, survey_one, all);
    return pp_accept_absence(status);
}

/* ---- The operations ---- */

static parapet_status check_process(const record_lock *self)
{
    if (self->process != (int64_t)getpid())
        return pp_fail(PARAPET_ERR_STALE, "the lock %s belongs to the process that this one was forked from",
                       self->key);
    return PARAPET_OK;
}

parapet_status pp_record_open_lock(pp_store *base, const char *key, pp_lock **lock)
{
    record_lock *self;
    parapet_status status = pp_posix_check_writable((pp_posix_store *)base, key);
    if (status != PARAPET_OK || (status = pp_allocate(&self, sizeof *self)) != PARAPET_OK)
        return status;
    self->lock.store = base;
    self->process = (int64_t)getpid();
    if ((status = pp_text_duplicate(&self->own_key, key)) != PARAPET_OK) {
        pp_free(self);
        return status;
    }
    self->key = self->own_key;
    *lock = &self->lock;
    return PARAPET_OK;
}

static parapet_status fail_lost(const record_lock *self)
{
    return pp_fail(PARAPET_ERR_STALE,
                   "the owner record of the lock %s was removed or taken over while it was held; what another job "
                   "has done since is not known",
                   self->key);
}

static bool holds_any(const record_lock *self)
{
    int byte;
    for (byte = 0; byte < PP_LOCK_BYTES; byte++)
        if (self->holds[byte])
            return true;
    return false;
}

parapet_status pp_record_prove_lock(pp_lock *lock)
{
    const record_lock *self = (const record_lock *)lock;
    parapet_status status = check_process(self);
    int byte, directory;
    if (status != PARAPET_OK || !holds_any(self))
        return status;
    if ((directory = open_directory(store_of(self), self->key)) < 0)
        return fail_lost(self);
    for (byte = 0; byte < PP_LOCK_BYTES && status == PARAPET_OK; byte++)
        if (self->holds[byte] && !is_in_place(self, directory, (pp_lock_byte)byte))
            status = fail_lost(self);
    (void)close(directory);
    return status;
}

parapet_status pp_record_set_lock(pp_lock *lock, pp_lock_byte byte, pp_lock_mode mode)
{
    record_lock *self = (record_lock *)lock;
    parapet_status status = mode == PP_LOCK_FREE ? check_process(self) : pp_record_prove_lock(lock);
    if (status == PARAPET_OK && mode == PP_LOCK_FREE)
        let_go(self, byte);
    if (status != PARAPET_OK || mode == PP_LOCK_FREE || self->holds[byte])
        return status;
    return take(self, byte);
}

parapet_status pp_record_test_lock(pp_lock *lock, pp_lock_byte byte, bool *is_held)
{
    survey all = {.self = (const record_lock *)lock, .byte = byte, .may_remove = true};
    parapet_status status = check_process(all.self);
    *is_held = false;
    if (status != PARAPET_OK || (all.directory = open_directory(store_of(all.self), all.self->key)) < 0)
        return status;
    status = survey_all(&all);
    *is_held = all.is_held;
    (void)close(all.directory);
    return status;
}

static parapet_status write_text(record_lock *self, int directory, const char *name, const char *text)
{
    int descriptor;
    parapet_status status;
    if (text[0] == '\0')
        return unlinkat(directory, name, 0) == 0 || errno == ENOENT ? PARAPET_OK
                                                                    : pp_posix_fail_write(errno, "remove", self->key);
    if ((descriptor = pp_posix_open_lock_file(directory, name)) < 0)
        return pp_posix_fail_write(errno, "open", self->key);
    status = pp_posix_write_lock_text(descriptor, self->key, text);
    if (close(descriptor) != 0 && status == PARAPET_OK)
        status = pp_posix_fail_write(errno, "write", self->key);
    return status;
}

/* A holder that was overtaken must not write into the text of the lock, which is another holder's by now. */
parapet_status pp_record_write_lock(pp_lock *lock, const char *text)
{
    record_lock *self = (record_lock *)lock;
    pp_posix_place place;
    parapet_status status;
    int directory;
    pp_posix_locate(&place, self->key);
    if ((status = pp_record_prove_lock(lock)) != PARAPET_OK ||
        (status = pp_posix_provide_directory(store_of(self), place.parent, &directory)) != PARAPET_OK)
        return status;
    status = write_text(self, directory, place.name, text);
    (void)close(directory);
    return status;
}

static void advise(const survey *all, const char *parent, pp_lock_view *view)
{
    if (all->found == FOUND_RECORD) {
        pp_record_name(&all->record, view->holder);
        if (pp_process_judge(&all->record.process) == PP_PROCESS_UNKNOWN)
            (void)snprintf(view->advice, sizeof view->advice,
                           "whether that job still runs cannot be seen from here; if it does not, take over: parapet "
                           "--takeover, or the option takeover");
        return;
    }
    (void)snprintf(view->advice, sizeof view->advice,
                   "%.300s/%s is not an owner record; look at it, and remove it if no job is using the store", parent,
                   all->name);
}

parapet_status pp_record_view_lock(pp_store *base, const char *key, pp_lock_view *view)
{
    record_lock self = {.lock.store = base, .key = key};
    survey all = {.self = &self};
    pp_posix_place place;
    parapet_status status = pp_posix_read_lock_text(base, key, view);
    int byte;
    pp_posix_locate(&place, key);
    if (status != PARAPET_OK || (all.directory = open_directory((pp_posix_store *)base, key)) < 0)
        return status;
    for (byte = 0; byte < PP_LOCK_BYTES && status == PARAPET_OK && !all.is_held; byte++) {
        all.byte = (pp_lock_byte)byte;
        status = survey_all(&all);
        view->is_long = byte == PP_LOCK_LONG && all.is_held;
    }
    (void)close(all.directory);
    view->is_held = all.is_held;
    if (all.is_held)
        advise(&all, place.parent, view);
    return status;
}

/* A child that was forked holds nothing, and lets go of nothing. */
void pp_record_close_lock(pp_lock *lock)
{
    record_lock *self = (record_lock *)lock;
    int byte;
    if (self->process == (int64_t)getpid()) {
        for (byte = PP_LOCK_BYTES - 1; byte >= 0; byte--)
            let_go(self, (pp_lock_byte)byte);
        pp_posix_leave_directories(store_of(self), self->key, self->has_made_node);
    }
    pp_free(self->own_key);
    pp_free(self);
}
