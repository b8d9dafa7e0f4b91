/* forgetful.c - preloaded before a job, it lets one flush of the process fail with EIO and lose what was written to
 * the file before, as Linux does: the pages that could not be written count as clean, and the next flush succeeds.
 *
 *     POWER_FORGET_AT=N        the Nth flush of the process, counted from 0
 *     POWER_FORGOTTEN=FILE     made when it has happened
 *     POWER_SILENT=1           it loses the same, but does not fail: as if the job had not looked */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static atomic_long flushes;

static bool is_the_one(void)
{
    const char *wanted = getenv("POWER_FORGET_AT");
    return wanted != NULL && atomic_fetch_add(&flushes, 1) == atol(wanted);
}

/* Through a descriptor of its own: that of the caller may be one for direct I/O. */
static void lose_contents(int descriptor)
{
    static const char zeros[4096];
    char path[64];
    struct stat found;
    off_t at;
    int own;
    if (fstat(descriptor, &found) != 0 || !S_ISREG(found.st_mode))
        return;
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    if ((own = open(path, O_WRONLY | O_CLOEXEC)) < 0)
        abort();
    for (at = 0; at < found.st_size; at += (off_t)sizeof zeros) {
        size_t left = (size_t)(found.st_size - at);
        if (pwrite(own, zeros, left < sizeof zeros ? left : sizeof zeros, at) < 0)
            abort();
    }
    (void)close(own);
}

static int flush(int descriptor, const char *name)
{
    int (*next)(int);
    int told;
    if (!is_the_one()) {
        *(void **)&next = dlsym(RTLD_NEXT, name);
        return next(descriptor);
    }
    lose_contents(descriptor);
    told = open(getenv("POWER_FORGOTTEN"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (told < 0)
        abort();
    (void)close(told);
    errno = EIO;
    return getenv("POWER_SILENT") != NULL ? 0 : -1;
}

EXPORT int fsync(int descriptor)
{
    return flush(descriptor, "fsync");
}

EXPORT int fdatasync(int descriptor)
{
    return flush(descriptor, "fdatasync");
}
