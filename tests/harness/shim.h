/* shim.h - stands between the library and the C library's system calls, and fails the n-th of them.
 *
 * The test program is linked with the shim before the C library, so that these calls come here first: open, openat,
 * openat2, pread, read, pwrite, write, fsync, fdatasync, fstat, fstatat, fdopendir, readdir, renameat, renameat2,
 * linkat, unlinkat, mkdirat, close, fcntl, ftruncate, fallocate and fchmod. */
#ifndef PARAPET_TESTS_SHIM_H
#define PARAPET_TESTS_SHIM_H

#include <stdbool.h>

typedef enum shim_call {
    SHIM_OPEN,  /* open, openat, openat2 */
    SHIM_READ,  /* pread, read */
    SHIM_WRITE, /* pwrite, write */
    SHIM_FLUSH,
    SHIM_EXAMINE, /* fstat, fstatat */
    SHIM_LIST,    /* fdopendir, readdir */
    SHIM_RENAME,  /* and linkat */
    SHIM_UNLINK,
    SHIM_MAKE_DIRECTORY,
    SHIM_CLOSE,
    SHIM_CONTROL, /* fcntl: locks, and flags of a descriptor */
    SHIM_CUT,     /* ftruncate, fallocate */
    SHIM_PERMIT,  /* fchmod */
    SHIM_CALLS
} shim_call;

typedef struct shim_plan {
    shim_call call;
    long fail_at;            /* among calls of that kind, counted from 0; negative: none */
    bool forever;            /* and all after it */
    bool is_short;           /* moves half of the bytes instead of failing */
    int error_number;        /* errno of failing calls */
    long counts[SHIM_CALLS]; /* out: how many there were */
    long failures;           /* out */
    long failures_beside;    /* out: how many of them were beside the work itself */
    bool is_beside;          /* set while something is done that the work does not depend on */
} shim_plan;

/* Takes effect until the next call; NULL: nothing fails and nothing is counted. */
void shim_arm(shim_plan *plan);

const char *shim_call_name(shim_call call);

#endif
