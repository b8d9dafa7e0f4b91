#include "base/shape_text.h"

#include <inttypes.h>
#include <stdio.h>

void pp_shape_print(int ndim, const int64_t *shape, pp_text *text)
{
    int d;
    if (ndim == 0)
        pp_text_add(text, "one element");
    for (d = 0; d < ndim; d++)
        pp_text_add(text, "%s%" PRId64, d > 0 ? " x " : "", shape[d]);
}

void pp_bytes_format(double bytes, char text[32])
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    int unit = 0;
    while (bytes >= 1023.95 && unit < 6) {
        bytes /= 1024;
        unit++;
    }
    (void)snprintf(text, 32, "%.4g %s", bytes, units[unit]);
}

void pp_bytes_print(double bytes, pp_text *text)
{
    char words[32];
    pp_bytes_format(bytes, words);
    pp_text_add(text, "%s", words);
}

void pp_list_print_json(const char *key, int count, const int64_t *values, pp_text *text)
{
    int i;
    pp_text_add(text, "\"%s\": [", key);
    for (i = 0; i < count; i++)
        pp_text_add(text, "%s%" PRId64, i > 0 ? ", " : "", values[i]);
    pp_text_add(text, "]");
}
