/* parapet_status.h - whether a call succeeded, and which library it was that answered. A part of parapet.h, which
 * programs include. */
#ifndef PARAPET_STATUS_H
#define PARAPET_STATUS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PARAPET_VERSION_MAJOR 0
#define PARAPET_VERSION_MINOR 1
#define PARAPET_VERSION_PATCH 0
/* The version of this header as one number that grows: 10203 for 1.2.3. See also parapet_version_number. */
#define PARAPET_VERSION_NUMBER (10000 * PARAPET_VERSION_MAJOR + 100 * PARAPET_VERSION_MINOR + PARAPET_VERSION_PATCH)

#if defined(__GNUC__)
#define PARAPET_API __attribute__((visibility("default")))
#else
#define PARAPET_API
#endif

/* ---- Status ------------------------------------------------------------------------------------------- */

typedef enum parapet_status {
    PARAPET_OK = 0,
    PARAPET_ERR_ARGUMENT = 1,    /* the call itself is wrong: a NULL, a box outside the array, a bad option */
    PARAPET_ERR_NOT_FOUND = 2,   /* no such store, group, array or attribute */
    PARAPET_ERR_EXISTS = 3,      /* would overwrite something without having been told to */
    PARAPET_ERR_IO = 4,          /* the storage failed */
    PARAPET_ERR_NO_SPACE = 5,    /* the storage or the quota is full */
    PARAPET_ERR_MEMORY = 6,      /* the memory limit or the machine's memory is too small */
    PARAPET_ERR_FORMAT = 7,      /* the stored metadata or data is not valid Zarr, or contradicts itself */
    PARAPET_ERR_UNSUPPORTED = 8, /* valid Zarr, but not implemented here; the sentence names the field */
    PARAPET_ERR_CORRUPT = 9,     /* a checksum, length or digest does not match: the stored bytes changed */
    PARAPET_ERR_MISSING = 10,    /* a sealed array lacks a shard that its seal lists */
    PARAPET_ERR_CANCELLED = 11,  /* a callback asked to stop */
    PARAPET_ERR_MPI = 12,        /* MPI reported an error, is finalised, or did not start this process */
    PARAPET_ERR_INTERNAL = 13,   /* a bug in Parapet; please report it */
    PARAPET_ERR_TIMEOUT = 14,    /* a rank did not arrive within deadline_seconds; the store can now only be closed */
    PARAPET_ERR_BUSY = 15,       /* another job is changing it; the sentence says who, where and since when */
    PARAPET_ERR_STALE = 16       /* another job changed it after this one read it; reopen it, or repeat the call */
} parapet_status;

/* [local] Returns the name of a status, such as "PARAPET_ERR_IO"; never NULL. */
PARAPET_API const char *parapet_status_name(parapet_status status);

/* [local] Returns the sentence of the last call on this thread if that call failed, or "" if it succeeded. It is
 * valid until the next call. A close or abort that succeeds leaves it unchanged, so a program may clean up before it
 * prints. */
PARAPET_API const char *parapet_error_message(void);

/* [local] Makes text from a store safe to show on a terminal. Writes it into room bytes, with \uXXXX, as in JSON, in
 * place of characters that move the cursor, reverse the reading order or are invisible, and of bytes that are not
 * UTF-8 (\ufffd). Error sentences have already been treated so; names and attributes are returned as they are stored.
 * Truncates text that does not fit and returns the bytes of the whole text without its NUL, as snprintf does. */
PARAPET_API size_t parapet_text_visible(char *visible, size_t room, const char *text);

/* [local] Returns one line per component: this library, the MPI it was built with, every codec library. */
PARAPET_API const char *parapet_version(void);

/* [local] Returns the PARAPET_VERSION_NUMBER of the running library, which may be newer than the header. */
PARAPET_API int parapet_version_number(void);

/* What an MPI launcher (mpiexec, srun) says about this process in the environment variables that it sets. */
typedef struct parapet_launch {
    int rank;            /* -1: there is no launcher */
    int count;           /* at least this many processes were started; 0: the launcher does not say */
    int is_inherited;    /* 1: a rank started this process, which inherited the rank's variables */
    const char *flavour; /* the MPI that the launcher belongs to, "mpich" or "openmpi"; "": either, or no launcher */
    int64_t reserved[4];
} parapet_launch;

/* [local] Finds out which launcher started this process. MPI need not have been initialised. */
PARAPET_API parapet_status parapet_launch_get(parapet_launch *launch);

/* [local] Frees text that a function of this library returned through a pointer. NULL is allowed. */
PARAPET_API void parapet_free(void *text);

#ifdef __cplusplus
}
#endif
#endif
