/* outline_formats.c - the formats that can be written. */
#include <string.h>

#include "foreign/outline.h"

static const pp_outline_format *const formats[] = {&pp_outline_npy, &pp_outline_netcdf, &pp_outline_raw};

static bool ends_with(const char *text, const char *end)
{
    size_t bytes = strlen(text), end_bytes = strlen(end);
    return bytes > end_bytes && strcmp(text + bytes - end_bytes, end) == 0;
}

const pp_outline_format *pp_outline_format_find(const char *file, const char **path)
{
    size_t i;
    for (i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        size_t bytes = strlen(formats[i]->word);
        if (strncmp(file, formats[i]->word, bytes) == 0 && file[bytes] == ':') {
            *path = file + bytes + 1;
            return formats[i];
        }
    }
    *path = file;
    for (i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (formats[i]->suffix != NULL && ends_with(file, formats[i]->suffix))
            return formats[i];
    return NULL;
}
