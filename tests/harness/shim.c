#include "shim.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static shim_plan *armed;

EXPORT void shim_arm(shim_plan *plan)
{
    (void)pthread_mutex_lock(&mutex);
    armed = plan;
    (void)pthread_mutex_unlock(&mutex);
}

EXPORT const char *shim_call_name(shim_call call)
{
    static const char *const names[SHIM_CALLS] = {"open",   "read",  "write", "flush", "examine", "list", "rename",
                                                  "unlink", "mkdir", "close", "fcntl", "cut",     "chmod"};
    return names[call];
}

/* Whether this call fails; sets errno. */
static bool strikes(shim_call call, bool *is_short)
{
    bool fails = false;
    (void)pthread_mutex_lock(&mutex);
    if (armed != NULL) {
        long number = armed->counts[call]++;
        fails = armed->call == call && armed->fail_at >= 0 &&
                (number == armed->fail_at || (armed->forever && number > armed->fail_at));
        armed->failures += fails ? 1 : 0;
        armed->failures_beside += fails && armed->is_beside ? 1 : 0;
        *is_short = fails && armed->is_short;
        if (fails)
            errno = armed->error_number;
    }
    (void)pthread_mutex_unlock(&mutex);
    return fails && !*is_short;
}

/* The C library's own function of that name. */
static void find(void *function, const char *name)
{
    *(void **)function = dlsym(RTLD_NEXT, name);
}

EXPORT int open(const char *path, int flags, ...)
{
    static int (*next)(const char *, int, ...);
    bool is_short = false;
    va_list rest;
    mode_t mode;
    va_start(rest, flags);
    mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    find(&next, "open");
    return strikes(SHIM_OPEN, &is_short) ? -1 : next(path, flags, mode);
}

EXPORT int openat(int directory, const char *path, int flags, ...)
{
    static int (*next)(int, const char *, int, ...);
    bool is_short = false;
    va_list rest;
    mode_t mode;
    va_start(rest, flags);
    mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    find(&next, "openat");
    return strikes(SHIM_OPEN, &is_short) ? -1 : next(directory, path, flags, mode);
}

/* openat2 has no function of its own in the C library. */
EXPORT long syscall(long number, ...)
{
    static long (*next)(long, ...);
    bool is_short = false;
    long arguments[6];
    va_list rest;
    int i;
    va_start(rest, number);
    for (i = 0; i < 6; i++)
        arguments[i] = va_arg(rest, long);
    va_end(rest);
    find(&next, "syscall");
    if (number == SYS_openat2 && strikes(SHIM_OPEN, &is_short))
        return -1;
    return next(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
}

EXPORT ssize_t pread(int descriptor, void *target, size_t bytes, off_t offset)
{
    static ssize_t (*next)(int, void *, size_t, off_t);
    bool is_short = false;
    find(&next, "pread");
    if (strikes(SHIM_READ, &is_short))
        return -1;
    return next(descriptor, target, is_short && bytes > 1 ? bytes / 2 : bytes, offset);
}

EXPORT ssize_t read(int descriptor, void *target, size_t bytes)
{
    static ssize_t (*next)(int, void *, size_t);
    bool is_short = false;
    find(&next, "read");
    if (strikes(SHIM_READ, &is_short))
        return -1;
    return next(descriptor, target, is_short && bytes > 1 ? bytes / 2 : bytes);
}

EXPORT ssize_t pwrite(int descriptor, const void *source, size_t bytes, off_t offset)
{
    static ssize_t (*next)(int, const void *, size_t, off_t);
    bool is_short = false;
    find(&next, "pwrite");
    if (strikes(SHIM_WRITE, &is_short))
        return -1;
    return next(descriptor, source, is_short && bytes > 1 ? bytes / 2 : bytes, offset);
}

EXPORT ssize_t write(int descriptor, const void *source, size_t bytes)
{
    static ssize_t (*next)(int, const void *, size_t);
    bool is_short = false;
    find(&next, "write");
    if (strikes(SHIM_WRITE, &is_short))
        return -1;
    return next(descriptor, source, is_short && bytes > 1 ? bytes / 2 : bytes);
}

/* Counted, but not carried out: no power is cut here, and thousands of runs would wait for the device. */
EXPORT int fsync(int descriptor)
{
    bool is_short = false;
    (void)descriptor;
    return strikes(SHIM_FLUSH, &is_short) ? -1 : 0;
}

EXPORT int fdatasync(int descriptor)
{
    return fsync(descriptor);
}

EXPORT int fstat(int descriptor, struct stat *found)
{
    static int (*next)(int, struct stat *);
    bool is_short = false;
    find(&next, "fstat");
    return strikes(SHIM_EXAMINE, &is_short) ? -1 : next(descriptor, found);
}

EXPORT int fstatat(int directory, const char *path, struct stat *found, int flags)
{
    static int (*next)(int, const char *, struct stat *, int);
    bool is_short = false;
    find(&next, "fstatat");
    return strikes(SHIM_EXAMINE, &is_short) ? -1 : next(directory, path, found, flags);
}

EXPORT DIR *fdopendir(int descriptor)
{
    static DIR *(*next)(int);
    bool is_short = false;
    find(&next, "fdopendir");
    return strikes(SHIM_LIST, &is_short) ? NULL : next(descriptor);
}

EXPORT struct dirent *readdir(DIR *stream)
{
    static struct dirent *(*next)(DIR *);
    bool is_short = false;
    find(&next, "readdir");
    return strikes(SHIM_LIST, &is_short) ? NULL : next(stream);
}

EXPORT int renameat(int from, const char *old, int to, const char *new)
{
    static int (*next)(int, const char *, int, const char *);
    bool is_short = false;
    find(&next, "renameat");
    return strikes(SHIM_RENAME, &is_short) ? -1 : next(from, old, to, new);
}

EXPORT int renameat2(int from, const char *old, int to, const char *new, unsigned flags)
{
    static int (*next)(int, const char *, int, const char *, unsigned);
    bool is_short = false;
    find(&next, "renameat2");
    return strikes(SHIM_RENAME, &is_short) ? -1 : next(from, old, to, new, flags);
}

EXPORT int linkat(int from, const char *old, int to, const char *new, int flags)
{
    static int (*next)(int, const char *, int, const char *, int);
    bool is_short = false;
    find(&next, "linkat");
    return strikes(SHIM_RENAME, &is_short) ? -1 : next(from, old, to, new, flags);
}

EXPORT int unlinkat(int directory, const char *path, int flags)
{
    static int (*next)(int, const char *, int);
    bool is_short = false;
    find(&next, "unlinkat");
    return strikes(SHIM_UNLINK, &is_short) ? -1 : next(directory, path, flags);
}

EXPORT int mkdirat(int directory, const char *path, mode_t mode)
{
    static int (*next)(int, const char *, mode_t);
    bool is_short = false;
    find(&next, "mkdirat");
    return strikes(SHIM_MAKE_DIRECTORY, &is_short) ? -1 : next(directory, path, mode);
}

/* As Linux does it: the descriptor is closed whatever is reported. */
EXPORT int close(int descriptor)
{
    static int (*next)(int);
    bool is_short = false;
    bool fails = strikes(SHIM_CLOSE, &is_short);
    int error_number = errno;
    int result;
    find(&next, "close");
    result = next(descriptor);
    if (!fails)
        return result;
    errno = error_number;
    return -1;
}

/* Its argument is a number or a pointer, or there is none; either fits into a long. */
EXPORT int fcntl(int descriptor, int command, ...)
{
    static int (*next)(int, int, ...);
    bool is_short = false;
    long argument;
    va_list rest;
    va_start(rest, command);
    argument = va_arg(rest, long);
    va_end(rest);
    find(&next, "fcntl");
    return strikes(SHIM_CONTROL, &is_short) ? -1 : next(descriptor, command, argument);
}

EXPORT int ftruncate(int descriptor, off_t bytes)
{
    static int (*next)(int, off_t);
    bool is_short = false;
    find(&next, "ftruncate");
    return strikes(SHIM_CUT, &is_short) ? -1 : next(descriptor, bytes);
}

EXPORT int fallocate(int descriptor, int mode, off_t offset, off_t bytes)
{
    static int (*next)(int, int, off_t, off_t);
    bool is_short = false;
    find(&next, "fallocate");
    return strikes(SHIM_CUT, &is_short) ? -1 : next(descriptor, mode, offset, bytes);
}

EXPORT int fchmod(int descriptor, mode_t mode)
{
    static int (*next)(int, mode_t);
    bool is_short = false;
    find(&next, "fchmod");
    return strikes(SHIM_PERMIT, &is_short) ? -1 : next(descriptor, mode);
}
