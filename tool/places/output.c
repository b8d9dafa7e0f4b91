#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "places.h"

#define MOST_LINE_BYTES 4096
#define CASTAGNOLI UINT32_C(0x82f63b78)

static uint32_t checksum = UINT32_MAX;

static void count(const void *data, size_t bytes)
{
    static uint32_t table[256];
    const unsigned char *next = data;
    uint32_t i, k;
    for (i = 0; table[255] == 0 && i < 256; i++)
        for (table[i] = i, k = 0; k < 8; k++)
            table[i] = table[i] >> 1 ^ ((table[i] & 1) != 0 ? CASTAGNOLI : 0);
    while (bytes-- > 0)
        checksum = checksum >> 8 ^ table[(checksum ^ *next++) & 0xff];
}

static void put_bytes(const void *data, size_t bytes)
{
    limits_note_step();
    count(data, bytes);
    if (fwrite(data, 1, bytes, stdout) != bytes)
        exit(2); /* nobody reads it any more */
}

void put(const char *format, ...)
{
    char line[MOST_LINE_BYTES];
    va_list arguments;
    int bytes;
    va_start(arguments, format);
    bytes = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (bytes < 0 || (size_t)bytes >= sizeof line)
        die("a name in the file is too long");
    put_bytes(line, (size_t)bytes);
}

/* Bytes of a character of UTF-8; 0: it is none. */
static size_t character_bytes(const unsigned char *text, size_t left)
{
    size_t bytes = text[0] < 0x80 ? 1 : text[0] < 0xc2 ? 0 : text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4, i;
    if (bytes == 0 || bytes > left || text[0] > 0xf4)
        return 0;
    for (i = 1; i < bytes; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    if (bytes > 2 && ((text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f) ||
                      (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f)))
        return 0;
    return bytes;
}

bool is_utf8(const unsigned char *text, size_t bytes)
{
    size_t next = 0, step;
    for (; next < bytes; next += step)
        if ((step = character_bytes(text + next, bytes - next)) == 0)
            return false;
    return true;
}

/* What is not UTF-8 is taken as Latin-1. */
static void put_character(unsigned char character, bool is_latin)
{
    unsigned char two[2] = {(unsigned char)(0xc0 | character >> 6), (unsigned char)(0x80 | (character & 0x3f))};
    if (character == '"' || character == '\\')
        put("\\%c", character);
    else if (character < 0x20)
        put("\\u%04x", character);
    else if (character < 0x80 || !is_latin)
        put_bytes(&character, 1);
    else
        put_bytes(two, 2);
}

void put_string(const char *text, size_t bytes)
{
    bool is_latin = !is_utf8((const unsigned char *)text, bytes);
    size_t i;
    put("\"");
    for (i = 0; i < bytes; i++)
        if (text[i] != '\0')
            put_character((unsigned char)text[i], is_latin);
    put("\"");
}

void put_double(double value)
{
    char text[40];
    int digits;
    if (isnan(value) || isinf(value)) {
        put("\"%s\"", isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
        return;
    }
    for (digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    put("%s%s", text, strpbrk(text, ".e") == NULL ? ".0" : "");
}

void put_base64(const unsigned char *data, size_t bytes)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t i, k;
    for (i = 0; i < bytes; i += 3) {
        uint32_t group = 0;
        char four[4];
        for (k = 0; k < 3; k++)
            group = group << 8 | (i + k < bytes ? data[i + k] : 0);
        for (k = 0; k < 4; k++)
            four[k] = i + k <= bytes ? letters[group >> (18 - 6 * k) & 63] : '=';
        put_bytes(four, 4);
    }
}

void put_end(void)
{
    put("end %08x\n", ~checksum);
    if (fflush(stdout) != 0)
        exit(2);
}

void die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)fputs("\nerror ", stdout);
    (void)vfprintf(stdout, format, arguments);
    (void)fputs("\n", stdout);
    (void)fflush(stdout);
    va_end(arguments);
    va_start(arguments, format);
    (void)fputs("parapet-places: ", stderr);
    (void)vfprintf(stderr, format, arguments);
    (void)fputs("\n", stderr);
    va_end(arguments);
    _Exit(1);
}

void *take_memory(size_t number, size_t bytes)
{
    void *memory = calloc(number > 0 ? number : 1, bytes > 0 ? bytes : 1);
    if (memory == NULL)
        die("there is not enough memory to read what is in the file");
    return memory;
}
