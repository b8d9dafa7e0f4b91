#include "place.h"
#include "hierarchy.h"
#include "memory.h"
#include "ranks.h"
#include "report.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_there(const char *directory, const char *name)
{
    char *path = text_format("%s/%s", directory, name);
    bool answer = access(path, F_OK) == 0;
    free(path);
    return answer;
}

static bool is_zarr(const char *directory)
{
    return is_there(directory, "zarr.json") || is_there(directory, ".zgroup") || is_there(directory, ".zarray");
}

bool place_has_metadata(const char *directory)
{
    return is_zarr(directory) || is_there(directory, "__parapet");
}

/* The path with all links followed, as far as it exists; the rest is kept as it is. Free with free(). */
static char *resolve(const char *path)
{
    char *head = text_format("%s%s", path[0] == '/' ? "" : "./", path), *tail = text_format("%s", "");
    char *real, *whole;
    while ((real = realpath(head, NULL)) == NULL && strrchr(head, '/') != NULL) {
        char *slash = strrchr(head, '/');
        char *longer = text_format("%s%s%s", slash + 1, tail[0] == '\0' || slash[1] == '\0' ? "" : "/", tail);
        free(tail);
        tail = longer;
        *slash = '\0';
        if (head[0] == '\0')
            break;
    }
    whole = text_format("%s%s%s",
                        real == NULL             ? ""
                        : strcmp(real, "/") == 0 ? ""
                                                 : real,
                        tail[0] == '\0' ? "" : "/", tail);
    free(real);
    free(head);
    free(tail);
    return whole;
}

/* Whether inner is outer or lies below it. */
static bool is_within(const char *inner, const char *outer)
{
    size_t length = strlen(outer);
    return strncmp(inner, outer, length) == 0 && (inner[length] == '\0' || inner[length] == '/');
}

bool place_refuse_overlap(const char *source, const char *target)
{
    char *from = resolve(source), *to = resolve(target);
    const char *problem = strcmp(from, to) == 0 ? "it is the source itself"
                          : is_within(to, from) ? "it is inside the source"
                          : is_within(from, to) ? "it contains the source"
                                                : NULL;
    if (problem != NULL)
        report_error(target, "%s; choose another target", problem);
    free(from);
    free(to);
    return problem != NULL;
}

/* How much of the path is the innermost hierarchy, and from there the outermost around it; 0: there is none. */
static size_t find_hierarchy(const char *path)
{
    char *prefix = text_format("%s", path);
    size_t found = 0;
    for (char *end = prefix + strlen(prefix); end != NULL && end != prefix; end = strrchr(prefix, '/')) {
        *end = '\0';
        if (is_zarr(prefix))
            found = strlen(prefix);
        else if (found > 0)
            break;
    }
    free(prefix);
    return found;
}

bool place_is_in_hierarchy(const char *path)
{
    char *whole = resolve(path);
    bool is_inside = find_hierarchy(whole) > 0;
    free(whole);
    return is_inside;
}

/* How much of the path ends with the first component that is named like a store; 0: none is. */
static size_t find_name(const char *path)
{
    static const char suffix[] = ".zarr";
    for (const char *at = strstr(path, suffix); at != NULL; at = strstr(at + 1, suffix)) {
        const char *end = at + strlen(suffix);
        if (*end == '\0' || *end == '/')
            return (size_t)(end - path);
    }
    return 0;
}

/* An ordinary directory full of other things must not become a store by mistake. */
static bool is_foreign(const char *directory)
{
    DIR *listing = opendir(directory);
    const struct dirent *entry;
    int count = 0;
    if (listing == NULL)
        return false;
    while ((entry = readdir(listing)) != NULL)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    (void)closedir(listing);
    return count > 0 && !place_has_metadata(directory);
}

/* How much of the path is a file, of which the rest names a part; 0: none is. */
static size_t find_file(const char *path)
{
    struct stat status;
    char *prefix = text_format("%s", path), *end;
    size_t found = 0;
    while ((end = strrchr(prefix, '/')) != NULL && end != prefix && stat(prefix, &status) != 0)
        *end = '\0';
    if (strlen(prefix) < strlen(path) && stat(prefix, &status) == 0 && S_ISREG(status.st_mode))
        found = strlen(prefix);
    free(prefix);
    return found;
}

static bool find_place(tool_place *place, const char *target)
{
    char *path = resolve(target);
    size_t length = find_hierarchy(path);
    bool is_short = strlen(path) < TOOL_PLACE_BYTES;
    if (length == 0)
        length = find_file(path);
    if (length == 0)
        length = find_name(path);
    if (length == 0)
        length = strlen(path);
    if (is_short) {
        (void)snprintf(place->store, sizeof place->store, "%.*s", (int)length, path);
        (void)snprintf(place->path, sizeof place->path, "%s", path[length] == '/' ? path + length + 1 : "");
    } else {
        report_error(target, "the path is longer than %d bytes", TOOL_PLACE_BYTES - 1);
    }
    free(path);
    return is_short;
}

static bool look_at_place(tool_place *place, const char *target)
{
    struct stat status;
    char *node = tree_label(place->store, place->path);
    place->is_node = stat(node, &status) == 0;
    free(node);
    place->exists = stat(place->store, &status) == 0;
    place->is_zarr = is_zarr(place->store);
    if (place->exists && is_foreign(place->store)) {
        report_error(target,
                     "it is a directory that contains other files and no Zarr store; name a new store inside it");
        return false;
    }
    return true;
}

/* Whatever rank 0 found is what all go on with. */
static bool share_place(tool_place *place, const tool_request *request, bool is_fine)
{
    ranks_share(request, &is_fine, sizeof is_fine);
    ranks_share(request, place, sizeof *place);
    return is_fine;
}

bool place_init_source(tool_place *place, const tool_request *request, const char *source)
{
    bool is_fine = true;
    *place = (tool_place){.exists = false};
    if (request->rank == 0 && (is_fine = find_place(place, source)) && place->path[0] == '\0')
        (void)snprintf(place->store, sizeof place->store, "%s", source);
    return share_place(place, request, is_fine);
}

bool place_init(tool_place *place, const tool_request *request, const char *source, const char *target)
{
    bool is_fine = true;
    *place = (tool_place){.exists = false};
    if (request->rank == 0)
        is_fine = !place_refuse_overlap(source, target) && find_place(place, target) && look_at_place(place, target);
    return share_place(place, request, is_fine);
}

/* Tells paths of the same name apart. */
static unsigned long long digest_of(const char *path)
{
    unsigned long long digest = 14695981039346656037ULL;
    for (; *path != '\0'; path++)
        digest = (digest ^ (unsigned char)*path) * 1099511628211ULL;
    return digest;
}

bool place_init_temporary(tool_place *place, const tool_request *request, const char *directory, const char *target)
{
    bool is_fine = true;
    *place = (tool_place){.exists = false};
    if (request->rank == 0) {
        char *path = resolve(target);
        const char *slash = strrchr(path, '/');
        int length = snprintf(place->store, sizeof place->store, "%s/%s-%016llx.parapet-temporary", directory,
                              slash == NULL ? path : slash + 1, digest_of(path));
        is_fine = length < TOOL_PLACE_BYTES && look_at_place(place, directory);
        free(path);
    }
    return share_place(place, request, is_fine);
}

/* An array that is all of its store needs a directory with nothing in it, not one with a group. */
static bool make_directory(tool_place *place, const tool_request *request)
{
    bool is_there_now = true;
    if (request->rank == 0 && mkdir(place->store, 0777) != 0 && errno != EEXIST) {
        report_error(place->store, "cannot create this directory: %s", strerror(errno));
        is_there_now = false;
    }
    ranks_share(request, &is_there_now, sizeof is_there_now);
    return is_there_now;
}

parapet_store *place_open(tool_place *place, const tool_request *request, const parapet_store_options *options,
                          bool is_array)
{
    parapet_store *store = NULL;
    bool is_root_array = is_array && place->path[0] == '\0';
    parapet_mode mode = place->is_zarr || is_root_array ? PARAPET_UPDATE : PARAPET_CREATE;
    parapet_status status;
    if (!place->exists && is_root_array && !make_directory(place, request))
        return NULL;
    place->is_made = !place->exists;
    status = ranks_open_store(request, &store, place->store, mode, options);
    if (status != PARAPET_OK)
        report_status(status, place->store);
    return store;
}

/* Whether there is nothing but the metadata of a root group. */
static bool is_bare(const char *directory)
{
    DIR *listing = opendir(directory);
    const struct dirent *entry;
    int count = 0;
    if (listing == NULL)
        return false;
    while ((entry = readdir(listing)) != NULL)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
                 strcmp(entry->d_name, "zarr.json") != 0;
    (void)closedir(listing);
    return count == 0;
}

/* Only what is empty goes: rmdir refuses everything else. */
static int remove_empty(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status;
    (void)walk;
    if (kind == FTW_DP)
        (void)rmdir(path);
    return 0;
}

void place_remove_bare(const tool_place *place, const tool_request *request)
{
    char *path;
    if (request->rank != 0 || (place->exists && place->is_node))
        return;
    path = tree_label(place->store, place->path);
    (void)nftw(path, remove_empty, 16, FTW_DEPTH | FTW_PHYS);
    free(path);
    if (!place->is_made || !is_bare(place->store))
        return;
    path = text_format("%s/zarr.json", place->store);
    (void)unlink(path);
    (void)rmdir(place->store);
    free(path);
}
