/* posix_file.c - a file that the user names, as an object of the directory that it is in. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "store/internal.h"

bool pp_posix_is_file(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && S_ISREG(found.st_mode);
}

bool pp_posix_is_directory(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

bool pp_posix_is_link(const char *path)
{
    struct stat found;
    return lstat(path, &found) == 0 && S_ISLNK(found.st_mode);
}

/* One directory, without a slash at its end. */
static parapet_status find_in(const char *directory, const char *const *names, size_t count, char **found)
{
    parapet_status status = PARAPET_OK;
    struct stat there;
    size_t i;
    for (i = 0; i < count && *found == NULL && status == PARAPET_OK; i++) {
        pp_text path = {0};
        pp_text_add(&path, "%s/%s", directory, names[i]);
        if ((status = pp_text_check(&path)) == PARAPET_OK && lstat(path.data, &there) == 0)
            status = pp_text_duplicate(found, path.data);
        pp_text_free(&path);
    }
    return status;
}

parapet_status pp_posix_find_above(const char *directory, const char *const *names, size_t count, char **found)
{
    char *whole = realpath(directory, NULL), *end;
    parapet_status status = PARAPET_OK;
    *found = NULL;
    if (whole == NULL)
        return pp_fail_errno(errno, "cannot open the directory %s", directory);
    for (end = whole + strlen(whole); end != NULL && *found == NULL && status == PARAPET_OK;
         end = strrchr(whole, '/')) {
        *end = '\0';
        status = find_in(whole, names, count, found);
    }
    free(whole);
    return status;
}

/* The file may be reached through links, as the root of a store may: that is the user's choice. */
parapet_status pp_store_posix_build_around(pp_store **store, const char *path, const pp_posix_options *options,
                                           char **key)
{
    char *whole = realpath(path, NULL), *name;
    parapet_status status;
    *store = NULL;
    *key = NULL;
    if (whole == NULL)
        return pp_fail_errno(errno, "cannot open the file %s", path);
    name = strrchr(whole, '/');
    *name++ = '\0';
    if ((status = pp_text_duplicate(key, name)) == PARAPET_OK)
        status = pp_store_posix_build(store, whole[0] != '\0' ? whole : "/", options);
    free(whole);
    if (status != PARAPET_OK) {
        pp_free(*key);
        *key = NULL;
    }
    return status;
}
