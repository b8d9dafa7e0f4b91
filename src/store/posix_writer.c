#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/internal.h"

#define RANDOM_BYTES 16

/* A staged writer is only names: a collective write may hold very many of them. */
typedef struct posix_writer {
    pp_writer writer;
    char *key;
    char *staging;           /* the directory of the temporary file */
    pp_posix_stream *stream; /* NULL once staged */
    char name[sizeof ".parapet-.tmp" + 2 * RANDOM_BYTES];
    bool has_temporary; /* which freeing removes */
    bool has_failed;
} posix_writer;

/* Unpredictable, so that nobody can put something in its way. */
static parapet_status choose_name(posix_writer *self)
{
    unsigned char random[RANDOM_BYTES];
    char hex[2 * RANDOM_BYTES + 1];
    size_t i;
    while (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        if (errno != EINTR)
            return pp_posix_fail_write(errno, "choose a temporary name for", self->key);
    for (i = 0; i < RANDOM_BYTES; i++)
        (void)snprintf(hex + 2 * i, 3, "%02x", random[i]);
    (void)snprintf(self->name, sizeof self->name, ".parapet-%s.tmp", hex);
    return PARAPET_OK;
}

static parapet_status create_temporary(posix_writer *self, int *descriptor)
{
    pp_posix_store *store = (pp_posix_store *)self->writer.store;
    int directory;
    parapet_status status = pp_posix_provide_directory(store, self->staging, &directory);
    if (status != PARAPET_OK)
        return status;
    *descriptor = openat(directory, self->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (*descriptor < 0)
        status = pp_posix_fail_write(errno, "create a temporary file for", self->key);
    self->has_temporary = *descriptor >= 0;
    (void)close(directory);
    return status;
}

static parapet_status open_stream(posix_writer *self, const pp_write_request *request)
{
    pp_write_request own = *request;
    int descriptor = -1;
    parapet_status status = create_temporary(self, &descriptor);
    own.key = self->key;
    if (status != PARAPET_OK)
        return status;
    return pp_posix_stream_build(&self->stream, (pp_posix_store *)self->writer.store, descriptor, &own);
}

parapet_status pp_posix_begin(pp_store *base, const pp_write_request *request, pp_writer **writer)
{
    posix_writer *self = NULL;
    parapet_status status = pp_posix_check_writable((pp_posix_store *)base, request->key);
    if (status != PARAPET_OK || (status = pp_allocate(&self, sizeof *self)) != PARAPET_OK)
        return status;
    self->writer.store = base;
    if ((status = pp_copy_text(&self->key, request->key)) != PARAPET_OK ||
        (status = pp_copy_text(&self->staging, request->staging)) != PARAPET_OK ||
        (status = choose_name(self)) != PARAPET_OK || (status = open_stream(self, request)) != PARAPET_OK) {
        pp_posix_free_writer(&self->writer);
        return status;
    }
    *writer = &self->writer;
    return PARAPET_OK;
}

static parapet_status check_sound(const posix_writer *self)
{
    if (self->has_failed)
        return pp_fail(PARAPET_ERR_IO, "%s failed to be written before; it must be begun anew", self->key);
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

parapet_status pp_posix_stage(pp_writer *writer)
{
    posix_writer *self = (posix_writer *)writer;
    parapet_status status = check_sound(self), closed;
    if (status != PARAPET_OK || self->stream == NULL)
        return status;
    status = pp_posix_stream_finish(self->stream, writer->bytes);
    closed = pp_posix_stream_close(self->stream);
    self->stream = NULL;
    if (status == PARAPET_OK)
        status = closed;
    self->has_failed = status != PARAPET_OK;
    return status;
}

/* Not every file system can rename without replacing; a second name can never replace. */
static int rename_exclusive(int from, const char *temporary, int to, const char *name)
{
    if (renameat2(from, temporary, to, name, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    if (linkat(from, temporary, to, name, 0) != 0)
        return -1;
    (void)unlinkat(from, temporary, 0);
    return 0;
}

static parapet_status rename_between(posix_writer *self, int from, int to, pp_publish_mode mode)
{
    pp_posix_place place;
    int result;
    pp_posix_locate(&place, self->key);
    result = mode == PP_PUBLISH_EXCLUSIVE ? rename_exclusive(from, self->name, to, place.name)
                                          : renameat(from, self->name, to, place.name);
    if (result == 0) {
        self->has_temporary = false;
        return PARAPET_OK;
    }
    if (errno == EEXIST && mode == PP_PUBLISH_EXCLUSIVE)
        return pp_fail(PARAPET_ERR_EXISTS, "%s exists already", self->key);
    if (errno == EXDEV)
        return pp_fail(PARAPET_ERR_IO, "cannot publish %s: %s lies on another file system", self->key, self->staging);
    return pp_posix_fail_write(errno, "publish", self->key);
}

/* Renames between two directories that were opened without following any link. */
static parapet_status rename_into_place(posix_writer *self, const char *parent, pp_publish_mode mode)
{
    pp_posix_store *store = (pp_posix_store *)self->writer.store;
    int from, to;
    parapet_status status = pp_posix_provide_directory(store, parent, &to);
    if (status != PARAPET_OK)
        return status;
    from = pp_posix_open(store, self->staging, O_PATH | O_DIRECTORY);
    if (from < 0) {
        status = pp_posix_fail_write(errno, "open the staging directory of", self->key);
    } else {
        status = rename_between(self, from, to, mode);
        (void)close(from);
    }
    (void)close(to);
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
    if ((status = pp_copy_text(&parent, place.parent)) != PARAPET_OK ||
        (status = pp_copy_text(&staging, self->staging)) != PARAPET_OK ||
        (status = rename_into_place(self, place.parent, mode)) != PARAPET_OK)
        goto done;
    status = pp_posix_mark_dirty(store, parent);
    marked = pp_posix_mark_dirty(store, staging);
    return status != PARAPET_OK ? status : marked;
done:
    pp_free(parent);
    pp_free(staging);
    return status;
}

static void remove_temporary(posix_writer *self)
{
    int directory = pp_posix_open((pp_posix_store *)self->writer.store, self->staging, O_PATH | O_DIRECTORY);
    if (directory < 0)
        return;
    (void)unlinkat(directory, self->name, 0);
    (void)close(directory);
}

void pp_posix_free_writer(pp_writer *writer)
{
    posix_writer *self = (posix_writer *)writer;
    (void)pp_posix_stream_close(self->stream);
    if (self->has_temporary)
        remove_temporary(self);
    pp_free(self->key);
    pp_free(self->staging);
    pp_free(self);
}
