#include "base/utf8.h"

#include <stdbool.h>

static bool is_continuation(unsigned char byte)
{
    return (byte & 0xC0) == 0x80;
}

static size_t length_of_lead(unsigned char lead)
{
    if (lead < 0x80)
        return 1;
    if (lead >= 0xC2 && lead < 0xE0)
        return 2;
    if (lead >= 0xE0 && lead < 0xF0)
        return 3;
    return lead >= 0xF0 && lead < 0xF5 ? 4 : 0;
}

/* Overlong forms, surrogates and what is beyond U+10FFFF show in the second byte. */
static bool is_second_in_range(unsigned char lead, unsigned char second)
{
    switch (lead) {
    case 0xE0:
        return second >= 0xA0;
    case 0xED:
        return second < 0xA0;
    case 0xF0:
        return second >= 0x90;
    case 0xF4:
        return second < 0x90;
    default:
        return true;
    }
}

size_t pp_utf8_character_bytes(const unsigned char *text, size_t available)
{
    size_t length, i;
    if (available == 0)
        return 0;
    length = length_of_lead(text[0]);
    if (length == 0 || length > available)
        return 0;
    for (i = 1; i < length; i++)
        if (!is_continuation(text[i]))
            return 0;
    return length == 1 || is_second_in_range(text[0], text[1]) ? length : 0;
}

uint32_t pp_utf8_code(const unsigned char *text, size_t bytes)
{
    static const unsigned char lead_bits[] = {0x7F, 0x1F, 0x0F, 0x07};
    uint32_t code = text[0] & lead_bits[bytes - 1];
    for (size_t i = 1; i < bytes; i++)
        code = code << 6 | (text[i] & 0x3F);
    return code;
}
