#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "store/internal.h"

#define RANDOM_BYTES ((size_t)16)

/* Unpredictable, so that nobody can put something in its way. */
static parapet_status choose_name(pp_posix_temporary *temporary)
{
    unsigned char random[RANDOM_BYTES];
    char name[sizeof ".parapet-.tmp" + 2 * RANDOM_BYTES], hex[2 * RANDOM_BYTES + 1];
    size_t i;
    while (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        if (errno != EINTR)
            return pp_posix_fail_write(errno, "choose a temporary name for", temporary->key);
    for (i = 0; i < RANDOM_BYTES; i++)
        (void)snprintf(hex + 2 * i, 3, "%02x", random[i]);
    (void)snprintf(name, sizeof name, ".parapet-%s.tmp", hex);
    return pp_text_duplicate(&temporary->name, name);
}

bool pp_store_is_temporary_name(const char *name)
{
    static const char before[] = ".parapet-", behind[] = ".tmp";
    const char *random = name + sizeof before - 1;
    return strncmp(name, before, sizeof before - 1) == 0 && strspn(random, "0123456789abcdef") == 2 * RANDOM_BYTES &&
           strcmp(random + 2 * RANDOM_BYTES, behind) == 0;
}

parapet_status pp_posix_temporary_init(pp_posix_temporary *temporary, pp_posix_store *store,
                                       const pp_write_request *request)
{
    parapet_status status = pp_text_duplicate(&temporary->staging, request->staging);
    temporary->store = store;
    temporary->key = request->key;
    temporary->is_named = request->name != NULL;
    if (status != PARAPET_OK)
        return status;
    return temporary->is_named ? pp_text_duplicate(&temporary->name, request->name) : choose_name(temporary);
}

/* Not emptied but removed: after a crash while publishing, it may be the object itself under a second name. What is
 * no plain file was not left by us, and stays in the way. */
static void remove_leftover(int directory, const char *name)
{
    struct stat found;
    if (fstatat(directory, name, &found, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(found.st_mode))
        (void)unlinkat(directory, name, 0);
}

static parapet_status fail_create(const pp_posix_temporary *temporary)
{
    if (errno == EEXIST)
        return pp_fail(PARAPET_ERR_IO,
                       "cannot create a temporary file for %s: there is something else at %s/%s; remove it",
                       temporary->key, temporary->staging, temporary->name);
    return pp_posix_fail_write(errno, "create a temporary file for", temporary->key);
}

/* Whether the directory has nothing else: what is staged goes to another place, and nobody looks for it in this one.
 */
static bool is_for_temporaries(const pp_posix_temporary *temporary)
{
    size_t bytes = strlen(temporary->staging);
    bool is_above =
        bytes == 0 || (strncmp(temporary->key, temporary->staging, bytes) == 0 && temporary->key[bytes] == '/');
    return !temporary->is_named && !is_above;
}

/* A temporary file, and where its descriptor is wanted. */
typedef struct creation {
    const pp_posix_temporary *temporary;
    int *descriptor;
} creation;

static parapet_status create_in(void *context, int directory)
{
    const creation *wanted = context;
    const pp_posix_temporary *temporary = wanted->temporary;
    if (temporary->is_named)
        remove_leftover(directory, temporary->name);
    *wanted->descriptor =
        openat(directory, temporary->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    return *wanted->descriptor < 0 ? fail_create(temporary) : PARAPET_OK;
}

parapet_status pp_posix_temporary_create(const pp_posix_temporary *temporary, int *descriptor)
{
    creation wanted = {temporary, descriptor};
    if (is_for_temporaries(temporary))
        return pp_posix_act_in_staging(temporary->store, temporary->staging, create_in, &wanted);
    return pp_posix_act_in_directory(temporary->store, temporary->staging, create_in, &wanted);
}

/* O_NONBLOCK: a named pipe put in its place must not stop us. */
parapet_status pp_posix_temporary_open(const pp_posix_temporary *temporary, uint64_t bytes, int *descriptor)
{
    char key[2 * PP_MAX_KEY_BYTES];
    bool was_cut;
    parapet_status status;
    (void)snprintf(key, sizeof key, "%s%s%s", temporary->staging, temporary->staging[0] != '\0' ? "/" : "",
                   temporary->name);
    *descriptor = pp_posix_open(temporary->store, key, O_RDWR | O_NONBLOCK | O_NOCTTY);
    if (*descriptor < 0)
        return pp_posix_fail_read(errno, "resume", key);
    if ((status = pp_posix_cut(*descriptor, key, bytes, &was_cut)) != PARAPET_OK) {
        (void)close(*descriptor);
        *descriptor = -1;
    }
    return status;
}

void pp_posix_temporary_remove(const pp_posix_temporary *temporary)
{
    int directory = pp_posix_open(temporary->store, temporary->staging, O_PATH | O_DIRECTORY);
    if (directory < 0)
        return;
    (void)unlinkat(directory, temporary->name, 0);
    (void)close(directory);
}

void pp_posix_temporary_free(pp_posix_temporary *temporary)
{
    pp_free(temporary->staging);
    pp_free(temporary->name);
}
