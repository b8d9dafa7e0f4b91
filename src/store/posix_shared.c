/* posix_shared.c - a temporary file that several processes write, each at its offsets, before one of them publishes
 * it. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/checked.h"
#include "store/internal.h"

struct pp_shared {
    char *key;
    int descriptor;
    bool is_durable;
};

/* ---- Space for all of it ---- */

static parapet_status fail_space(int descriptor, const char *key, uint64_t bytes)
{
    struct statvfs found;
    if (fstatvfs(descriptor, &found) != 0)
        return pp_posix_fail_write(ENOSPC, "reserve space for", key);
    return pp_fail(PARAPET_ERR_NO_SPACE,
                   "there is too little space for %s: it takes %" PRIu64 " bytes, and %" PRIu64 " are free", key,
                   bytes, (uint64_t)found.f_bavail * (uint64_t)found.f_frsize);
}

/* Before anything is written: so it neither runs out in the middle, nor lies in pieces. Some file systems can only be
 * told a length. */
parapet_status pp_posix_reserve(int descriptor, const char *key, uint64_t bytes)
{
    int refusals = 0, result;
    do
        result = bytes > 0 ? fallocate(descriptor, 0, 0, (off_t)bytes) : 0;
    while (result != 0 && pp_posix_may_repeat(errno, &refusals));
    if (result != 0 && (errno == EOPNOTSUPP || errno == ENOSYS))
        result = ftruncate(descriptor, (off_t)bytes);
    if (result != 0 && errno == ENOSPC)
        return fail_space(descriptor, key, bytes);
    return result == 0 ? PARAPET_OK : pp_posix_fail_write(errno, "reserve space for", key);
}

/* ---- One of several writers ---- */

static parapet_status fail_open(const char *key)
{
    if (errno == ENOENT)
        return pp_fail(
            PARAPET_ERR_IO,
            "the file %s, which another rank has begun, is not there: do all ranks see the same directory?", key);
    return pp_posix_fail_write(errno, "open", key);
}

parapet_status pp_shared_open(pp_store *store, const char *key, pp_shared **shared)
{
    const pp_posix_store *directory = (const pp_posix_store *)store;
    pp_shared *self;
    parapet_status status = pp_allocate(&self, sizeof *self);
    if (status != PARAPET_OK)
        return status;
    self->descriptor = -1;
    self->is_durable = !directory->options.not_durable;
    if ((status = pp_text_duplicate(&self->key, key)) == PARAPET_OK &&
        (self->descriptor = pp_posix_open(directory, key, O_RDWR | O_NONBLOCK)) < 0)
        status = fail_open(key);
    if (status == PARAPET_OK)
        *shared = self;
    else
        pp_shared_free(self);
    return status;
}

static parapet_status check_progress(const pp_shared *shared, ssize_t done, const char *action, int *refusals)
{
    if (done > 0 || (done < 0 && pp_posix_may_repeat(errno, refusals)))
        return PARAPET_OK;
    return pp_posix_fail_write(done == 0 ? EIO : errno, action, shared->key);
}

parapet_status pp_shared_write(pp_shared *shared, uint64_t offset, const void *data, size_t bytes)
{
    const unsigned char *next = data;
    parapet_status status = PARAPET_OK;
    int refusals = 0;
    while (bytes > 0 && status == PARAPET_OK) {
        ssize_t done = pwrite(shared->descriptor, next, pp_min_size(bytes, PP_MAX_TRANSFER_BYTES), (off_t)offset);
        status = check_progress(shared, done, "write", &refusals);
        next += done > 0 ? done : 0;
        offset += done > 0 ? (uint64_t)done : 0;
        bytes -= done > 0 ? (size_t)done : 0;
    }
    return status;
}

parapet_status pp_shared_read(pp_shared *shared, uint64_t offset, void *data, size_t bytes)
{
    unsigned char *next = data;
    parapet_status status = PARAPET_OK;
    int refusals = 0;
    while (bytes > 0 && status == PARAPET_OK) {
        ssize_t done = pread(shared->descriptor, next, pp_min_size(bytes, PP_MAX_TRANSFER_BYTES), (off_t)offset);
        status = check_progress(shared, done, "read", &refusals);
        next += done > 0 ? done : 0;
        offset += done > 0 ? (uint64_t)done : 0;
        bytes -= done > 0 ? (size_t)done : 0;
    }
    return status;
}

parapet_status pp_shared_finish(pp_shared *shared)
{
    int descriptor = shared->descriptor;
    parapet_status status = PARAPET_OK;
    if (shared->is_durable && fdatasync(descriptor) != 0)
        status = pp_posix_fail_write(errno, "flush", shared->key);
    shared->descriptor = -1;
    if (close(descriptor) != 0 && status == PARAPET_OK)
        status = pp_posix_fail_write(errno, "close", shared->key);
    return status;
}

void pp_shared_free(pp_shared *shared)
{
    if (shared == NULL)
        return;
    if (shared->descriptor >= 0)
        (void)close(shared->descriptor);
    pp_free(shared->key);
    pp_free(shared);
}
