/* lazy.c - preloaded before a job, it makes flushes succeed and do nothing. What was acknowledged is then lost in
 * power cuts, and the tests that cut the power must see it.
 *
 *     POWER_LAZY=files|directories|all     which flushes */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static bool is_left_out(int descriptor)
{
    const char *which = getenv("POWER_LAZY");
    struct stat found;
    if (which == NULL || fstat(descriptor, &found) != 0)
        return false;
    return strcmp(which, "all") == 0 || strcmp(which, S_ISDIR(found.st_mode) ? "directories" : "files") == 0;
}

static int flush(int descriptor, const char *name)
{
    int (*next)(int);
    if (is_left_out(descriptor))
        return 0;
    *(void **)&next = dlsym(RTLD_NEXT, name);
    return next(descriptor);
}

EXPORT int fsync(int descriptor)
{
    return flush(descriptor, "fsync");
}

EXPORT int fdatasync(int descriptor)
{
    return flush(descriptor, "fdatasync");
}
