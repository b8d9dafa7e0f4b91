/* foreign_open.c - which file a url means. */
#include <string.h>

#include "base/status.h"
#include "foreign/foreign.h"

#define RAW_SCHEME "raw:"
#define TABLE_SCHEME "places:"

/* The parts of a url: "raw:words:PATH", "places:TABLE:PATH" or "PATH", the last two perhaps with "/NAME". */
typedef struct foreign_url {
    char *path;  /* owned */
    char *table; /* owned */
    const char *raw, *name;
} foreign_url;

static bool is_raw(const char *url)
{
    return strncmp(url, RAW_SCHEME, strlen(RAW_SCHEME)) == 0;
}

static bool has_table(const char *url)
{
    return strncmp(url, TABLE_SCHEME, strlen(TABLE_SCHEME)) == 0;
}

/* Cuts the path where the file ends; false: there is none. */
static bool find_file(foreign_url *parts)
{
    size_t bytes = strlen(parts->path);
    char *slash;
    while (bytes > 1 && parts->path[bytes - 1] == '/')
        parts->path[--bytes] = '\0';
    while (!pp_posix_is_file(parts->path)) {
        slash = pp_posix_is_directory(parts->path) ? NULL : strrchr(parts->path, '/');
        if (parts->name != NULL)
            parts->path[parts->name - parts->path - 1] = '/';
        parts->name = NULL;
        if (slash == NULL || slash == parts->path)
            return false;
        *slash = '\0';
        parts->name = slash + 1;
    }
    return true;
}

static parapet_status split_table(const char *url, foreign_url *parts)
{
    const char *table = url + strlen(TABLE_SCHEME), *colon = strchr(table, ':');
    parapet_status status;
    if (colon == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "name the file after its table of places: places:TABLE:FILE");
    if ((status = pp_allocate(&parts->table, (size_t)(colon - table) + 1)) != PARAPET_OK)
        return status;
    memcpy(parts->table, table, (size_t)(colon - table));
    if ((status = pp_text_duplicate(&parts->path, colon + 1)) != PARAPET_OK)
        pp_free(parts->table);
    return status;
}

static parapet_status split_url(const char *url, foreign_url *parts)
{
    const char *colon;
    *parts = (foreign_url){0};
    if (has_table(url))
        return split_table(url, parts);
    if (!is_raw(url))
        return pp_text_duplicate(&parts->path, url);
    parts->raw = url + strlen(RAW_SCHEME);
    if ((colon = strchr(parts->raw, ':')) == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "name the file after the words: raw:type=float32,shape=100x200:FILE");
    return pp_text_duplicate(&parts->path, colon + 1);
}

bool pp_foreign_is(const char *url)
{
    foreign_url parts;
    bool is_file;
    if (is_raw(url) || has_table(url))
        return true;
    is_file = split_url(url, &parts) == PARAPET_OK && find_file(&parts);
    pp_free(parts.path);
    return is_file;
}

static parapet_status build_file_store(pp_store **store, const foreign_url *parts, pp_direct_io direct_io)
{
    const pp_posix_options options = {.read_only = true, .direct_io = direct_io};
    pp_foreign_source source = {.raw = parts->raw, .name = parts->name, .table = parts->table, .path = parts->path};
    char *key = NULL;
    parapet_status status = pp_store_posix_build_around(&source.files, parts->path, &options, &key);
    if (status != PARAPET_OK)
        return status;
    source.key = key;
    if ((status = pp_foreign_build_over(store, &source)) != PARAPET_OK)
        pp_store_free(source.files);
    else
        pp_foreign_own_files(*store);
    pp_free(key);
    return status;
}

parapet_status pp_foreign_build(pp_store **store, const char *url, pp_direct_io direct_io)
{
    foreign_url parts;
    parapet_status status = split_url(url, &parts);
    if (status != PARAPET_OK)
        return status;
    if (parts.raw == NULL)
        (void)find_file(&parts);
    status = build_file_store(store, &parts, direct_io);
    pp_free(parts.path);
    pp_free(parts.table);
    return status;
}
