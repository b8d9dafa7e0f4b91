#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "store/internal.h"

/* A staged writer is only names: a collective write may hold very many of them. */
typedef struct posix_writer {
    pp_writer writer;
    char *key;
    pp_posix_temporary temporary;
    pp_posix_stream *stream; /* NULL once staged */
    bool has_temporary;      /* which freeing removes */
    bool is_findable;        /* after a crash: the entry of a named temporary file is durable */
    bool has_failed;
} posix_writer;

static void free_memory(posix_writer *self)
{
    (void)pp_posix_stream_close(self->stream);
    pp_posix_temporary_free(&self->temporary);
    pp_free(self->key);
    pp_free(self);
}

static parapet_status build_writer(posix_writer **writer, pp_store *base, const pp_write_request *request)
{
    pp_posix_store *store = (pp_posix_store *)base;
    pp_write_request own = *request;
    posix_writer *self;
    parapet_status status = pp_posix_check_writable(store, request->key);
    if (status != PARAPET_OK || (status = pp_allocate(&self, sizeof *self)) != PARAPET_OK)
        return status;
    self->writer.store = base;
    if ((status = pp_text_duplicate(&self->key, request->key)) == PARAPET_OK) {
        own.key = self->key;
        status = pp_posix_temporary_init(&self->temporary, store, &own);
    }
    if (status != PARAPET_OK) {
        free_memory(self);
        return status;
    }
    *writer = self;
    return PARAPET_OK;
}

static parapet_status open_stream(posix_writer *self, const pp_write_request *request, int descriptor, uint64_t bytes)
{
    pp_write_request own = *request;
    own.key = self->key;
    return pp_posix_stream_build(&self->stream, self->temporary.store, descriptor, &own, bytes);
}

parapet_status pp_posix_begin(pp_store *base, const pp_write_request *request, pp_writer **writer)
{
    posix_writer *self;
    int descriptor;
    parapet_status status = build_writer(&self, base, request);
    if (status != PARAPET_OK)
        return status;
    if ((status = pp_posix_temporary_create(&self->temporary, &descriptor)) == PARAPET_OK) {
        self->has_temporary = true;
        status = open_stream(self, request, descriptor, 0);
    }
    if (status != PARAPET_OK) {
        pp_posix_free_writer(&self->writer);
        return status;
    }
    *writer = &self->writer;
    return PARAPET_OK;
}

/* A failure leaves the temporary file: the next attempt may have more luck. */
parapet_status pp_posix_resume(pp_store *base, const pp_write_request *request, uint64_t bytes, pp_writer **writer)
{
    posix_writer *self;
    int descriptor;
    parapet_status status = build_writer(&self, base, request);
    if (status != PARAPET_OK)
        return status;
    if ((status = pp_posix_temporary_open(&self->temporary, bytes, &descriptor)) != PARAPET_OK ||
        (status = open_stream(self, request, descriptor, bytes)) != PARAPET_OK) {
        free_memory(self);
        return status;
    }
    self->has_temporary = true;
    *writer = &self->writer;
    return PARAPET_OK;
}

static parapet_status check_sound(const posix_writer *self)
{
    if (self->has_failed)
        return pp_fail(PARAPET_ERR_IO, "an earlier write to %s failed; it must be begun again, or resumed",
                       self->key);
    return PARAPET_OK;
}

parapet_status pp_posix_append(pp_writer *writer, const void *data, size_t bytes)
{
    posix_writer *self = (posix_writer *)writer;
    parapet_status status = check_sound(self);
    if (status != PARAPET_OK)
        return status;
    if (self->stream == NULL)
        return pp_fail(PARAPET_ERR_INTERNAL, "%s is staged; nothing can be appended to it", self->key);
    status = pp_posix_stream_append(self->stream, data, bytes);
    self->has_failed = status != PARAPET_OK;
    return status;
}

static parapet_status sync_stream(posix_writer *self)
{
    parapet_status status;
    if (self->stream == NULL)
        return PARAPET_OK; /* staging did that */
    status = pp_posix_stream_sync(self->stream, self->writer.bytes);
    self->has_failed = status != PARAPET_OK;
    return status;
}

/* Others may have made the staging directory, and not for files that are found again. */
static parapet_status mark_holder(posix_writer *self)
{
    pp_posix_place place;
    char *holder;
    parapet_status status;
    if (self->temporary.staging[0] == '\0')
        return PARAPET_OK;
    pp_posix_locate(&place, self->temporary.staging);
    if ((status = pp_text_duplicate(&holder, place.parent)) != PARAPET_OK)
        return status;
    return pp_posix_mark_dirty(self->temporary.store, holder);
}

parapet_status pp_posix_sync(pp_writer *writer)
{
    posix_writer *self = (posix_writer *)writer;
    parapet_status status = check_sound(self);
    if (status != PARAPET_OK || (status = sync_stream(self)) != PARAPET_OK)
        return status;
    if (self->is_findable || !self->has_temporary || !self->temporary.is_named)
        return PARAPET_OK;
    if ((status = mark_holder(self)) == PARAPET_OK)
        status = pp_posix_sync_dir(self->temporary.store, self->temporary.staging);
    self->is_findable = status == PARAPET_OK;
    return status;
}

parapet_status pp_posix_stage(pp_writer *writer)
{
    posix_writer *self = (posix_writer *)writer;
    parapet_status status = check_sound(self), closed;
    if (status != PARAPET_OK || self->stream == NULL)
        return status;
    status = pp_posix_stream_finish(self->stream, writer->bytes);
    writer->version = self->stream->version;
    closed = pp_posix_stream_close(self->stream);
    self->stream = NULL;
    if (status == PARAPET_OK)
        status = closed;
    self->has_failed = status != PARAPET_OK;
    return status;
}

/* Not every file system can rename without replacing; a second name can never replace. One that is behind a protocol,
 * such as that of sshfs, may only say that it failed: then what is there says why. */
int pp_posix_rename_exclusive(int from, const char *temporary, int to, const char *name)
{
    struct stat there;
    if (renameat2(from, temporary, to, name, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    if (linkat(from, temporary, to, name, 0) != 0) {
        int error = errno;
        errno = fstatat(to, name, &there, AT_SYMLINK_NOFOLLOW) == 0 ? EEXIST : error;
        return -1;
    }
    (void)unlinkat(from, temporary, 0);
    return 0;
}

/* A name for what was written: from the directory of temporary files to that of the key. Readers of what had the name
 * keep that (invariant 1 of docs/design/change.md). */
typedef struct publication {
    posix_writer *writer;
    int from;
    pp_publish_mode mode;
} publication;

static parapet_status rename_between(void *context, int to)
{
    const publication *wanted = context;
    posix_writer *self = wanted->writer;
    pp_publish_mode mode = wanted->mode;
    int from = wanted->from, result;
    pp_posix_place place;
    pp_posix_locate(&place, self->key);
    result = mode == PP_PUBLISH_EXCLUSIVE ? pp_posix_rename_exclusive(from, self->temporary.name, to, place.name)
                                          : renameat(from, self->temporary.name, to, place.name);
    if (result == 0) {
        self->has_temporary = false;
        return PARAPET_OK;
    }
    if (errno == EEXIST && mode == PP_PUBLISH_EXCLUSIVE)
        return pp_fail(PARAPET_ERR_EXISTS, "%s already exists", self->key);
    if (errno == EXDEV)
        return pp_fail(PARAPET_ERR_IO, "cannot publish %s: %s is on another file system", self->key,
                       self->temporary.staging);
    return pp_posix_fail_write(errno, "publish", self->key);
}

/* The name under which a file was staged need not be gone for good: what a crash brings back is a second name of a
 * file that nobody changes, in a place for temporary ones. A staged file with a name of its own would be continued.
 */
static parapet_status mark_staging(posix_writer *self, char *staging)
{
    if (self->temporary.is_named)
        return pp_posix_mark_dirty(self->temporary.store, staging);
    pp_free(staging);
    return PARAPET_OK;
}

/* Renames between two directories that were opened without following any link. */
static parapet_status rename_into_place(posix_writer *self, const char *parent, pp_publish_mode mode)
{
    pp_posix_store *store = (pp_posix_store *)self->writer.store;
    publication wanted = {.writer = self, .mode = mode};
    parapet_status status;
    wanted.from = pp_posix_open(store, self->temporary.staging, O_PATH | O_DIRECTORY);
    if (wanted.from < 0)
        return pp_posix_fail_write(errno, "open the staging directory of", self->key);
    status = pp_posix_act_in_directory(store, parent, rename_between, &wanted);
    (void)close(wanted.from);
    return status;
}

parapet_status pp_posix_publish(pp_writer *writer, pp_publish_mode mode)
{
    posix_writer *self = (posix_writer *)writer;
    pp_posix_store *store = (pp_posix_store *)writer->store;
    pp_posix_place place;
    char *parent = NULL, *staging = NULL;
    parapet_status status = pp_posix_stage(writer), marked;
    if (status != PARAPET_OK)
        return status;
    if (!self->has_temporary)
        return pp_fail(PARAPET_ERR_INTERNAL, "%s was published before", self->key);
    pp_posix_locate(&place, self->key);
    if ((status = pp_text_duplicate(&parent, place.parent)) != PARAPET_OK ||
        (status = pp_text_duplicate(&staging, self->temporary.staging)) != PARAPET_OK ||
        (status = rename_into_place(self, place.parent, mode)) != PARAPET_OK)
        goto done;
    status = pp_posix_mark_dirty(store, parent);
    marked = mark_staging(self, staging);
    return status != PARAPET_OK ? status : marked;
done:
    pp_free(parent);
    pp_free(staging);
    return status;
}

parapet_status pp_store_posix_share(pp_writer *writer, uint64_t bytes, char **key)
{
    posix_writer *self = (posix_writer *)writer;
    pp_text text = {0};
    parapet_status status = check_sound(self);
    if (status != PARAPET_OK || (status = pp_posix_reserve(self->stream->descriptor, self->key, bytes)) != PARAPET_OK)
        return status;
    self->stream->written = writer->bytes = bytes;
    pp_text_add(&text, "%s%s%s", self->temporary.staging, self->temporary.staging[0] != '\0' ? "/" : "",
                self->temporary.name);
    return pp_text_finish(&text, key);
}

void pp_posix_suspend(pp_writer *writer)
{
    posix_writer *self = (posix_writer *)writer;
    if (self->temporary.is_named)
        free_memory(self);
    else
        pp_posix_free_writer(writer);
}

void pp_posix_free_writer(pp_writer *writer)
{
    posix_writer *self = (posix_writer *)writer;
    if (self->has_temporary)
        pp_posix_temporary_remove(&self->temporary);
    free_memory(self);
}

/* A crash between the two steps of pp_posix_rename_exclusive leaves both names: then only the old one has to go, when
 * the move is made again (invariant 9 of docs/design/change.md). */
static bool is_same_file(int from, const char *name, int to, const char *new_name)
{
    struct stat one, other;
    return fstatat(from, name, &one, AT_SYMLINK_NOFOLLOW) == 0 &&
           fstatat(to, new_name, &other, AT_SYMLINK_NOFOLLOW) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* A key whose directory is open, and what it is to become. */
typedef struct moving {
    int from;
    const char *key, *new_key;
} moving;

static parapet_status move_between(void *context, int to)
{
    const moving *wanted = context;
    pp_posix_place old, new;
    pp_posix_locate(&old, wanted->key);
    pp_posix_locate(&new, wanted->new_key);
    if (pp_posix_rename_exclusive(wanted->from, old.name, to, new.name) == 0)
        return PARAPET_OK;
    if (errno != EEXIST)
        return pp_posix_fail_read(errno, "move", wanted->key);
    if (is_same_file(wanted->from, old.name, to, new.name) && unlinkat(wanted->from, old.name, 0) == 0)
        return PARAPET_OK;
    return pp_fail(PARAPET_ERR_EXISTS, "%s already exists", wanted->new_key);
}

static parapet_status move_from(pp_posix_store *store, int from, const char *key, const char *new_key)
{
    pp_posix_place old, new;
    char *parents[2] = {NULL, NULL};
    parapet_status status, marked;
    pp_posix_locate(&old, key);
    pp_posix_locate(&new, new_key);
    if ((status = pp_text_duplicate(&parents[0], old.parent)) == PARAPET_OK &&
        (status = pp_text_duplicate(&parents[1], new.parent)) == PARAPET_OK)
        status = pp_posix_act_in_directory(store, new.parent, move_between, &(moving){from, key, new_key});
    if (status != PARAPET_OK) {
        pp_free(parents[0]);
        pp_free(parents[1]);
        return status;
    }
    status = pp_posix_mark_dirty(store, parents[0]);
    marked = pp_posix_mark_dirty(store, parents[1]);
    return status != PARAPET_OK ? status : marked;
}

parapet_status pp_posix_move(pp_store *base, const char *key, const char *new_key)
{
    pp_posix_store *store = (pp_posix_store *)base;
    pp_posix_place place;
    parapet_status status = pp_posix_check_writable(store, key);
    int from;
    if (status != PARAPET_OK)
        return status;
    pp_posix_locate(&place, key);
    if ((from = pp_posix_open(store, place.parent, O_PATH | O_DIRECTORY)) < 0)
        return pp_posix_fail_read(errno, "move", key);
    status = move_from(store, from, key, new_key);
    (void)close(from);
    return status;
}
