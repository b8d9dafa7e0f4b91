#include <string.h>

#include "base/status.h"
#include "base/utf8.h"
#include "zarr/document.h"
#include "zarr/fields.h"

#define MAX_PATH_BYTES 1024
#define MAX_PATH_NAMES 64

/* Control characters are those below space, DEL, and U+0080 to U+009F, which terminals obey too. */
static const char *text_problem(const unsigned char *name, size_t bytes)
{
    size_t i = 0;
    while (i < bytes) {
        size_t length = pp_utf8_character_bytes(name + i, bytes - i);
        if (length == 0)
            return "is not UTF-8";
        if (name[i] < 0x20 || name[i] == 0x7F || (name[i] == 0xC2 && name[i + 1] < 0xA0))
            return "contains a control character";
        i += length;
    }
    return NULL;
}

static const char *name_problem(const char *name, size_t bytes)
{
    if (bytes == 0)
        return "is empty";
    if (bytes > PP_MAX_NAME_BYTES)
        return "has more than 255 bytes";
    if (strspn(name, ".") >= bytes)
        return "has only dots";
    if (strncmp(name, "__", 2) == 0)
        return "starts with \"__\", which Zarr reserves";
    if (bytes == 9 && memcmp(name, "zarr.json", 9) == 0)
        return "is the name of Zarr's metadata";
    return text_problem((const unsigned char *)name, bytes);
}

/* The name as it may stand in a sentence: control characters and broken UTF-8 replaced. */
static void show(const char *name, size_t bytes, char shown[72])
{
    size_t i;
    for (i = 0; i < bytes && i < 64; i++)
        shown[i] = name[i] >= 0x20 && name[i] < 0x7F ? name[i] : '?';
    shown[i] = '\0';
    if (i < bytes)
        memcpy(shown + i, "...", 4);
}

parapet_status pp_path_check(const char *path)
{
    size_t count = 0;
    if (path[0] == '\0' || strcmp(path, "/") == 0)
        return PARAPET_OK;
    if (strnlen(path, MAX_PATH_BYTES + 1) > MAX_PATH_BYTES)
        return pp_fail(PARAPET_ERR_ARGUMENT, "a path has more than %d bytes", MAX_PATH_BYTES);
    for (;;) {
        size_t bytes = strcspn(path, "/");
        const char *problem = name_problem(path, bytes);
        char shown[72];
        show(path, bytes, shown);
        if (problem != NULL)
            return pp_fail(PARAPET_ERR_ARGUMENT, "name %zu of the path, \"%s\", %s", count + 1, shown, problem);
        if (++count > MAX_PATH_NAMES)
            return pp_fail(PARAPET_ERR_ARGUMENT, "a path has more than %d names", MAX_PATH_NAMES);
        if (path[bytes] == '\0')
            return PARAPET_OK;
        path += bytes + 1;
    }
}
