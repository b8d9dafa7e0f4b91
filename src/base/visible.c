/* Text from outside as it may be shown to people. A name or an attribute of a store may hold what moves the cursor,
 * turns around the order in which text is read, or cannot be seen at all. All sentences (base/status.c), and all that
 * the tool prints, go through here. */
#include <parapet_status.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

enum { REPLACEMENT = 0xFFFD, ESCAPE_BYTES = 13 /* of two surrogates, and NUL */ };

typedef struct code_range {
    uint32_t first, last;
} code_range;

/* Controls, line separators, annotations, and the property Default_Ignorable_Code_Point of Unicode 15. */
static const code_range hidden[] = {
    {0x0000, 0x001F}, {0x007F, 0x009F},   {0x00AD, 0x00AD},   {0x034F, 0x034F},   {0x061C, 0x061C},
    {0x115F, 0x1160}, {0x17B4, 0x17B5},   {0x180B, 0x180F},   {0x200B, 0x200F},   {0x2028, 0x202E},
    {0x2060, 0x206F}, {0x3164, 0x3164},   {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},
    {0xFFF0, 0xFFFB}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
};

static bool is_hidden(uint32_t code)
{
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0] && hidden[i].first <= code; i++)
        if (code <= hidden[i].last)
            return true;
    return false;
}

static size_t escape(char text[ESCAPE_BYTES], uint32_t code)
{
    if (code <= 0xFFFF)
        return (size_t)snprintf(text, ESCAPE_BYTES, "\\u%04x", (unsigned)code);
    return (size_t)snprintf(text, ESCAPE_BYTES, "\\u%04x\\u%04x", (unsigned)(0xD800 + ((code - 0x10000) >> 10)),
                            (unsigned)(0xDC00 + ((code - 0x10000) & 0x3FF)));
}

/* What is shown of the character at text, at most ESCAPE_BYTES: itself, or what stands for it. Returns the bytes
 * taken. */
static size_t show_character(const unsigned char *text, size_t available, char shown[ESCAPE_BYTES], size_t *bytes)
{
    size_t length = pp_utf8_character_bytes(text, available);
    uint32_t code = length == 0 ? REPLACEMENT : pp_utf8_code(text, length);
    *bytes = length;
    if (length == 0 || is_hidden(code))
        *bytes = escape(shown, code);
    else
        memcpy(shown, text, length);
    return length == 0 ? 1 : length;
}

size_t parapet_text_visible(char *visible, size_t room, const char *text)
{
    const unsigned char *at = (const unsigned char *)(text == NULL ? "" : text);
    size_t left = strlen((const char *)at), whole = 0, used = 0;
    while (left > 0) {
        char shown[ESCAPE_BYTES];
        size_t bytes, taken = show_character(at, left, shown, &bytes);
        if (used == whole && bytes < room - used) {
            memcpy(visible + used, shown, bytes);
            used += bytes;
        }
        whole += bytes;
        at += taken;
        left -= taken;
    }
    if (room > 0)
        visible[used] = '\0';
    return whole;
}
