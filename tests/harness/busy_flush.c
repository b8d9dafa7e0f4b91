/* busy_flush.c - loaded behind kill_shim.c (LD_PRELOAD): while a directory is flushed that has a name "moving", that
 * is renamed to "moved" in it. */
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int fsync(int descriptor)
{
    int (*next)(int), result;
    *(void **)&next = dlsym(RTLD_NEXT, "fsync");
    result = next(descriptor);
    (void)renameat(descriptor, "moving", descriptor, "moved");
    return result;
}
