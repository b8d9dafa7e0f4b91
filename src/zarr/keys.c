#include <inttypes.h>
#include <string.h>

#include "zarr/document.h"

void pp_key_print(const pp_key_encoding *keys, int ndim, const int64_t *cell, pp_text *text)
{
    int i;
    if (!keys->is_v2)
        pp_text_add_bytes(text, "c", 1);
    else if (ndim == 0)
        pp_text_add_bytes(text, "0", 1);
    for (i = 0; i < ndim; i++) {
        if (i > 0 || !keys->is_v2)
            pp_text_add_bytes(text, &keys->separator, 1);
        pp_text_add(text, "%" PRId64, cell[i]);
    }
}

/* A decimal number without leading zeros; moves *key behind it. */
static bool parse_index(const char **key, int64_t *index)
{
    const char *at = *key;
    int64_t value = 0;
    if (*at < '0' || *at > '9' || (*at == '0' && at[1] >= '0' && at[1] <= '9'))
        return false;
    for (; *at >= '0' && *at <= '9'; at++) {
        int digit = *at - '0';
        if (value > (INT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *key = at;
    *index = value;
    return true;
}

bool pp_key_parse(const pp_key_encoding *keys, int ndim, const char *key, int64_t *cell)
{
    int i;
    if (keys->is_v2 && ndim == 0)
        return strcmp(key, "0") == 0;
    if (!keys->is_v2 && *key++ != 'c')
        return false;
    for (i = 0; i < ndim; i++) {
        if ((i > 0 || !keys->is_v2) && *key++ != keys->separator)
            return false;
        if (!parse_index(&key, &cell[i]))
            return false;
    }
    return *key == '\0';
}
