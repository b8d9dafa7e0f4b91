#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/checked.h"
#include "store/internal.h"

/* It grows where it is, because nobody who reads arrays looks at it (invariant 1 of docs/design/change.md). */
typedef struct posix_log {
    pp_log log;
    char *key;
    int descriptor;
    bool is_durable;
    bool has_failed;
} posix_log;

void pp_posix_close_log(pp_log *log)
{
    posix_log *self = (posix_log *)log;
    if (self->descriptor >= 0)
        (void)close(self->descriptor);
    pp_free(self->key);
    pp_free(self);
}

/* The file of a log, and where its descriptor is wanted. */
typedef struct creation {
    const char *key;
    int *descriptor;
} creation;

static parapet_status create_in(void *context, int directory)
{
    const creation *wanted = context;
    pp_posix_place place;
    pp_posix_locate(&place, wanted->key);
    *wanted->descriptor =
        openat(directory, place.name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
    return *wanted->descriptor < 0 ? pp_posix_fail_write(errno, "open the log", wanted->key) : PARAPET_OK;
}

static parapet_status create_file(pp_posix_store *store, const char *key, int *descriptor)
{
    pp_posix_place place;
    pp_posix_locate(&place, key);
    return pp_posix_act_in_directory(store, place.parent, create_in, &(creation){key, descriptor});
}

static parapet_status open_file(pp_posix_store *store, const char *key, int *descriptor)
{
    *descriptor = pp_posix_open(store, key, O_WRONLY | O_NONBLOCK | O_NOCTTY);
    return *descriptor >= 0 ? PARAPET_OK : pp_posix_fail_read(errno, "open the log", key);
}

/* What a log says counts after a crash: it must not be lost with a directory that somebody made and never flushed. */
static parapet_status sync_way(pp_posix_store *store, const char *key)
{
    pp_posix_place place;
    char path[PP_MAX_KEY_BYTES];
    parapet_status status;
    pp_posix_locate(&place, key);
    while ((status = pp_posix_sync_dir(store, place.parent)) == PARAPET_OK && place.parent[0] != '\0') {
        (void)snprintf(path, sizeof path, "%s", place.parent);
        pp_posix_locate(&place, path);
    }
    return status;
}

/* The end of an older log must not come back with a power cut, once others build on its being gone. */
static parapet_status cut(posix_log *self, uint64_t keep_bytes)
{
    bool was_cut;
    parapet_status status = pp_posix_cut(self->descriptor, self->key, keep_bytes, &was_cut);
    if (status == PARAPET_OK && was_cut && self->is_durable && fsync(self->descriptor) != 0)
        return pp_posix_fail_write(errno, "flush the log", self->key);
    return status;
}

parapet_status pp_posix_open_log(pp_store *base, const char *key, uint64_t keep_bytes, pp_log **log)
{
    pp_posix_store *store = (pp_posix_store *)base;
    posix_log *self;
    parapet_status status = pp_posix_check_writable(store, key);
    if (status != PARAPET_OK || (status = pp_allocate(&self, sizeof *self)) != PARAPET_OK)
        return status;
    self->log.store = base;
    self->descriptor = -1;
    self->is_durable = !store->options.not_durable;
    if ((status = pp_text_duplicate(&self->key, key)) != PARAPET_OK ||
        (status = keep_bytes > 0 ? open_file(store, key, &self->descriptor)
                                 : create_file(store, key, &self->descriptor)) != PARAPET_OK ||
        (status = cut(self, keep_bytes)) != PARAPET_OK || (status = sync_way(store, key)) != PARAPET_OK) {
        pp_posix_close_log(&self->log);
        return status;
    }
    *log = &self->log;
    return PARAPET_OK;
}

static parapet_status write_all(posix_log *self, const unsigned char *data, size_t bytes)
{
    uint64_t offset = self->log.bytes;
    while (bytes > 0) {
        ssize_t done = pwrite(self->descriptor, data, pp_min_size(bytes, PP_MAX_TRANSFER_BYTES), (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return pp_posix_fail_write(done < 0 ? errno : EIO, "append to the log", self->key);
        data += done;
        offset += (uint64_t)done;
        bytes -= (size_t)done;
    }
    if (self->is_durable && fdatasync(self->descriptor) != 0)
        return pp_posix_fail_write(errno, "flush the log", self->key);
    return PARAPET_OK;
}

parapet_status pp_posix_append_log(pp_log *log, const void *data, size_t bytes)
{
    posix_log *self = (posix_log *)log;
    parapet_status status;
    if (self->has_failed)
        return pp_fail(PARAPET_ERR_IO, "an earlier write to the log %s failed; it must be opened again", self->key);
    status = write_all(self, data, bytes);
    self->has_failed = status != PARAPET_OK;
    return status;
}
