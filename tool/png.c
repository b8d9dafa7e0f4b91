#include "png.h"
#include "memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { STORED_MOST = 65535, ADLER = 65521 };

typedef struct tool_bytes {
    unsigned char *data;
    size_t count;
} tool_bytes;

static void add(tool_bytes *bytes, const void *data, size_t count)
{
    memcpy(bytes->data + bytes->count, data, count);
    bytes->count += count;
}

static void add_number(tool_bytes *bytes, uint32_t number)
{
    const unsigned char big_endian[4] = {(unsigned char)(number >> 24), (unsigned char)(number >> 16),
                                         (unsigned char)(number >> 8), (unsigned char)number};
    add(bytes, big_endian, sizeof big_endian);
}

static uint32_t crc_of(const unsigned char *data, size_t count)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

/* A part of the file: its length, its name, what is in it, and a checksum of both. */
static void add_part(tool_bytes *file, const char name[4], const tool_bytes *content)
{
    size_t start;
    add_number(file, (uint32_t)content->count);
    start = file->count;
    add(file, name, 4);
    add(file, content->data, content->count);
    add_number(file, crc_of(file->data + start, file->count - start));
}

/* A stream of zlib with blocks that are stored as they are. */
static void add_stored(tool_bytes *stream, const tool_bytes *rows)
{
    uint32_t a = 1, b = 0;
    add(stream, "\x78\x01", 2);
    for (size_t at = 0; at < rows->count; at += STORED_MOST) {
        size_t count = rows->count - at < STORED_MOST ? rows->count - at : STORED_MOST;
        const unsigned char head[5] = {at + count == rows->count, (unsigned char)count, (unsigned char)(count >> 8),
                                       (unsigned char)~count, (unsigned char)(~count >> 8)};
        add(stream, head, sizeof head);
        add(stream, rows->data + at, count);
    }
    for (size_t i = 0; i < rows->count; i++) {
        a = (a + rows->data[i]) % ADLER;
        b = (b + a) % ADLER;
    }
    add_number(stream, b << 16 | a);
}

static char *base64_of(const tool_bytes *bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *text = memory_get(bytes->count / 3 * 4 + 5), *to = text;
    for (size_t i = 0; i < bytes->count; i += 3) {
        size_t left = bytes->count - i;
        uint32_t three = (uint32_t)bytes->data[i] << 16 | (left > 1 ? (uint32_t)bytes->data[i + 1] << 8 : 0) |
                         (left > 2 ? bytes->data[i + 2] : 0);
        *to++ = digits[three >> 18];
        *to++ = digits[three >> 12 & 63];
        *to++ = left > 1 ? digits[three >> 6 & 63] : '=';
        *to++ = left > 2 ? digits[three & 63] : '=';
    }
    *to = '\0';
    return text;
}

char *text_of_png(const unsigned char *colours, size_t width, size_t height)
{
    size_t row = 3 * width, total = height * (row + 1), stored = total + 5 * (total / STORED_MOST + 1) + 6;
    tool_bytes rows = {memory_get(total), 0}, stream = {memory_get(stored), 0};
    tool_bytes head = {memory_get(13), 0}, file = {memory_get(stored + 100), 0}, none;
    char *text;
    for (size_t y = 0; y < height; y++) {
        add(&rows, "", 1); /* no filter */
        add(&rows, colours + y * row, row);
    }
    none = (tool_bytes){head.data, 0};
    add_stored(&stream, &rows);
    add_number(&head, (uint32_t)width);
    add_number(&head, (uint32_t)height);
    add(&head, "\x08\x02\0\0\0", 5);
    add(&file, "\211PNG\r\n\032\n", 8);
    add_part(&file, "IHDR", &head);
    add_part(&file, "IDAT", &stream);
    add_part(&file, "IEND", &none);
    text = base64_of(&file);
    free(rows.data);
    free(stream.data);
    free(head.data);
    free(file.data);
    return text;
}
