#include "array/node_path.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"
#include "zarr/document.h"

parapet_status pp_path_normalize(const char *path, char **normal)
{
    size_t length;
    parapet_status status;
    *normal = NULL;
    if (path == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "the path is NULL; the root is \"\"");
    while (path[0] == '/')
        path++;
    if ((status = pp_text_duplicate(normal, path)) != PARAPET_OK)
        return status;
    length = strlen(*normal);
    while (length > 0 && (*normal)[length - 1] == '/')
        (*normal)[--length] = '\0';
    if ((status = pp_path_check(*normal)) != PARAPET_OK) {
        pp_free(*normal);
        *normal = NULL;
    }
    return status;
}

parapet_status pp_path_join(const char *path, const char *name, char **joined)
{
    pp_text text = {0};
    pp_text_add_bytes(&text, path, strlen(path));
    pp_text_add_bytes(&text, "/", path[0] != '\0');
    pp_text_add_bytes(&text, name, strlen(name));
    return pp_text_finish(&text, joined);
}

const char *pp_path_shown(const char *path)
{
    return path[0] != '\0' ? path : "/";
}

void pp_paths_free(char **paths, size_t count)
{
    size_t i;
    for (i = 0; paths != NULL && i < count; i++)
        pp_free(paths[i]);
    pp_free(paths);
}

bool pp_path_is_within(const char *inner, const char *outer)
{
    size_t bytes = strlen(outer);
    return strncmp(inner, outer, bytes) == 0 && (bytes == 0 || inner[bytes] == '\0' || inner[bytes] == '/');
}
