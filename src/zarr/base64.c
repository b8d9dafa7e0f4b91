#include "zarr/base64.h"

#include <stdint.h>
#include <string.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void pp_base64_print(const unsigned char *data, size_t bytes, pp_text *text)
{
    size_t i;
    for (i = 0; i < bytes; i += 3) {
        size_t left = bytes - i;
        uint32_t group = (uint32_t)data[i] << 16 | (left > 1 ? (uint32_t)data[i + 1] << 8 : 0) |
                         (left > 2 ? (uint32_t)data[i + 2] : 0);
        char four[4] = {alphabet[group >> 18], alphabet[group >> 12 & 63], left > 1 ? alphabet[group >> 6 & 63] : '=',
                        left > 2 ? alphabet[group & 63] : '='};
        pp_text_add_bytes(text, four, sizeof four);
    }
}

static int digit_of(char letter)
{
    const char *found = letter != '\0' ? strchr(alphabet, letter) : NULL;
    return found != NULL ? (int)(found - alphabet) : -1;
}

/* One group of four; returns how many bytes it stands for, 0 when it is not one. */
static size_t parse_group(const char *four, bool is_last, unsigned char three[3])
{
    size_t padding = is_last && four[3] == '=' ? (four[2] == '=' ? 2 : 1) : 0;
    uint32_t group = 0;
    size_t i;
    for (i = 0; i < 4; i++) {
        int digit = i < 4 - padding ? digit_of(four[i]) : 0;
        if (digit < 0)
            return 0;
        group = group << 6 | (uint32_t)digit;
    }
    for (i = 0; i < 3; i++)
        three[i] = (unsigned char)(group >> (16 - 8 * i));
    return 3 - padding;
}

bool pp_base64_parse(const char *text, size_t text_bytes, unsigned char *data, size_t capacity, size_t *bytes)
{
    size_t i;
    *bytes = 0;
    if (text_bytes % 4 != 0)
        return false;
    for (i = 0; i < text_bytes; i += 4) {
        unsigned char three[3];
        size_t count = parse_group(text + i, i + 4 == text_bytes, three);
        if (count == 0 || count > capacity - *bytes)
            return false;
        memcpy(data + *bytes, three, count);
        *bytes += count;
    }
    return true;
}
