#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/checked.h"
#include "store/internal.h"

typedef struct posix_reader {
    pp_reader reader;
    int descriptor;
    char *key;
} posix_reader;

static parapet_status check_regular(int descriptor, const char *key, uint64_t *bytes)
{
    struct stat found;
    if (fstat(descriptor, &found) != 0)
        return pp_posix_fail_write(errno, "examine", key);
    if (!S_ISREG(found.st_mode))
        return pp_fail(PARAPET_ERR_FORMAT, "%s is not a plain file but %s", key,
                       S_ISDIR(found.st_mode)    ? "a directory"
                       : S_ISFIFO(found.st_mode) ? "a named pipe"
                                                 : "a device or socket");
    *bytes = (uint64_t)found.st_size;
    return PARAPET_OK;
}

/* O_NONBLOCK: a named pipe put in the place of an object must not stop us. */
parapet_status pp_posix_open_reader(pp_store *base, const char *key, pp_reader **reader)
{
    pp_posix_store *store = (pp_posix_store *)base;
    posix_reader *self = NULL;
    uint64_t bytes = 0;
    parapet_status status;
    int descriptor = pp_posix_open(store, key, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0)
        return pp_posix_fail_read(errno, "open", key);
    if ((status = check_regular(descriptor, key, &bytes)) != PARAPET_OK ||
        (status = pp_allocate(&self, sizeof *self)) != PARAPET_OK ||
        (status = pp_copy_text(&self->key, key)) != PARAPET_OK)
        goto done;
    self->reader = (pp_reader){.store = base, .bytes = bytes};
    self->descriptor = descriptor;
    *reader = &self->reader;
    return PARAPET_OK;
done:
    pp_free(self);
    (void)close(descriptor);
    return status;
}

/* Through the page cache. Measured on ext4, cold pieces of 1 to 16 MiB at odd offsets: direct I/O into an aligned
 * buffer and a copy is slower in sequence and a quarter faster at random, but needs a buffer that nobody budgets for;
 * advice to the kernel gains nothing that is certain. */
parapet_status pp_posix_read(pp_reader *reader, uint64_t offset, size_t bytes, void *target)
{
    posix_reader *self = (posix_reader *)reader;
    unsigned char *next = target;
    while (bytes > 0) {
        ssize_t got = pread(self->descriptor, next, pp_min_size(bytes, PP_MAX_TRANSFER_BYTES), (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return pp_posix_fail_write(errno, "read", self->key);
        if (got == 0)
            return pp_fail(PARAPET_ERR_CORRUPT, "%s ends at byte %" PRIu64 ", but had %" PRIu64 " when it was opened",
                           self->key, offset, reader->bytes);
        next += got;
        offset += (uint64_t)got;
        bytes -= (size_t)got;
    }
    return PARAPET_OK;
}

void pp_posix_close_reader(pp_reader *reader)
{
    posix_reader *self = (posix_reader *)reader;
    (void)close(self->descriptor);
    pp_free(self->key);
    pp_free(self);
}
