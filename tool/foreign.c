#include "foreign.h"
#include "memory.h"
#include "place.h"
#include "report.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A wrong path may name a whole disk: so many entries are looked at. */
enum { ENTRIES_MOST = 10000 };

static bool is_metadata(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
    return strcmp(name, "zarr.json") == 0 || strcmp(name, ".zarray") == 0 || strcmp(name, ".zgroup") == 0;
}

bool foreign_refuse_url(const char *operand)
{
    static const char *const schemes[] = {"s3://", "gs://", "az://", "abfs://", "http://", "https://", "ftp://"};
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++)
        if (strncmp(operand, schemes[i], strlen(schemes[i])) == 0) {
            report_error(operand,
                         "Parapet works on directories of this machine and its file systems; fetch it first, "
                         "with the tools of that service, and name the directory");
            return true;
        }
    return false;
}

bool foreign_report_file(const char *path)
{
    struct stat status;
    if (!is_metadata(path) || stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return false;
    report_error(path, "it is a file that describes a group or an array: name the directory that it is in");
    return true;
}

/* Directories to be looked at, the outer before the inner. */
typedef struct tool_search {
    char **directories;
    size_t count, next;
    int entries; /* seen so far */
} tool_search;

static void add_directory(tool_search *search, char *path)
{
    search->directories = memory_grow(search->directories, search->count, sizeof *search->directories);
    search->directories[search->count++] = path;
}

static void add_subdirectories(tool_search *search, const char *path)
{
    DIR *listing = opendir(path);
    const struct dirent *entry;
    while (listing != NULL && search->entries < ENTRIES_MOST && (entry = readdir(listing)) != NULL) {
        bool is_self = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        search->entries++;
        if (!is_self && entry->d_type != DT_REG)
            add_directory(search, text_format("%s/%s", path, entry->d_name));
    }
    if (listing != NULL)
        (void)closedir(listing);
}

/* Whether there is metadata here or below. */
static bool search_metadata(tool_search *search, const char *path)
{
    bool is_found = false;
    add_directory(search, text_format("%s", path));
    while (!is_found && search->next < search->count) {
        const char *directory = search->directories[search->next++];
        is_found = place_has_metadata(directory);
        if (!is_found)
            add_subdirectories(search, directory);
    }
    for (size_t i = 0; i < search->count; i++)
        free(search->directories[i]);
    free(search->directories);
    return is_found;
}

bool foreign_refuse_directory(const char *path)
{
    tool_search search = {0};
    struct stat status;
    char *bound;
    if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode))
        return false;
    if (place_is_in_hierarchy(path) || search_metadata(&search, path))
        return false;
    bound = search.entries < ENTRIES_MOST ? text_format("%s", "")
                                          : text_format(" (in the first %d entries)", ENTRIES_MOST);
    report_error(path, "it is not a Zarr store: there is no zarr.json, .zgroup or .zarray here or below%s", bound);
    free(bound);
    return true;
}
