#include "foreign/format.h"

#include <string.h>

static const pp_format *const formats[] = {&pp_format_netcdf, &pp_format_npy, &pp_format_npz};

static bool has_signature(const pp_format *format, const unsigned char *signature, size_t bytes)
{
    size_t i;
    for (i = 0; i < sizeof format->signatures / sizeof format->signatures[0] && format->signatures[i] != NULL; i++)
        if (bytes >= format->signature_bytes &&
            memcmp(signature, format->signatures[i], format->signature_bytes) == 0)
            return true;
    return false;
}

const pp_format *pp_format_recognise(const unsigned char *signature, size_t bytes)
{
    size_t i;
    for (i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (has_signature(formats[i], signature, bytes))
            return formats[i];
    return NULL;
}
