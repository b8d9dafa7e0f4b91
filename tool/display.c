#include "display.h"
#include "memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

char *text_visible(const char *text)
{
    size_t bytes = parapet_text_visible(NULL, 0, text) + 1;
    char *visible = memory_get(bytes);
    (void)parapet_text_visible(visible, bytes, text);
    return visible;
}

/* The nearest beginning of a character at or before this byte. */
static size_t character_at(const char *text, size_t at)
{
    while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80)
        at--;
    return at;
}

char *text_shortened(const char *text, size_t first, size_t columns)
{
    size_t bytes = strlen(text), begin = 0, end;
    char *size, *whole;
    if (bytes <= columns)
        return text_format("%s", text);
    size = text_format(" (%zu bytes)", bytes);
    columns = columns > strlen(size) + 2 * strlen("...") + 4 ? columns - strlen(size) - 2 * strlen("...") : 4;
    if (first > columns / 2)
        begin = character_at(text, first + columns > bytes ? bytes - columns : first - columns / 2);
    end = begin + columns < bytes ? character_at(text, begin + columns) : bytes;
    whole = text_format("%s%.*s%s%s", begin > 0 ? "..." : "", (int)(end - begin), text + begin,
                        end < bytes ? "..." : "", size);
    free(size);
    return whole;
}

char *text_quoted(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
    char *text = text_format("%s", ""), *whole;
    if (word[0] != '\0' && strspn(word, plain) == strlen(word)) {
        free(text);
        return text_format("%s", word);
    }
    for (const char *at = word; *at != '\0';) {
        size_t length = strcspn(at, "'");
        char *longer = text_format("%s%.*s%s", text, (int)length, at, at[length] == '\'' ? "'\\''" : "");
        free(text);
        text = longer;
        at += length + (at[length] == '\'');
    }
    whole = text_format("'%s'", text);
    free(text);
    return whole;
}

char *text_of_size(int64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes / 1024;
    size_t unit = 0;
    if (bytes < 1024)
        return text_format("%" PRId64 " bytes", bytes);
    /* 1023.95 would be printed as "1024.0" of the smaller unit. */
    while (value >= 1023.95 && unit + 1 < sizeof units / sizeof units[0]) {
        value /= 1024;
        unit++;
    }
    return text_format("%.1f %s", value, units[unit]);
}

/* Joins numbers with a separator between two brackets. */
static char *join_numbers(const int64_t *numbers, int count, const char *const marks[3])
{
    char *text = text_format("%s", marks[0]);
    for (int d = 0; d < count; d++) {
        char *longer = text_format("%s%s%" PRId64, text, d == 0 ? "" : marks[1], numbers[d]);
        free(text);
        text = longer;
    }
    char *whole = text_format("%s%s", text, marks[2]);
    free(text);
    return whole;
}

char *text_of_shape(const int64_t *extents, int ndim)
{
    static const char *const marks[3] = {"", " x ", ""};
    return ndim == 0 ? text_format("scalar") : join_numbers(extents, ndim, marks);
}

char *text_of_index(const int64_t *index, int ndim)
{
    static const char *const marks[3] = {"[", ", ", "]"};
    return join_numbers(index, ndim, marks);
}

char *text_of_names(const parapet_array_info *info)
{
    char *text = text_format("%s", "");
    if (info->dimension_names == NULL || info->ndim == 0) {
        free(text);
        return text_format("none");
    }
    for (int d = 0; d < info->ndim; d++) {
        const char *name = info->dimension_names[d];
        char *visible = text_visible(name == NULL ? "-" : name);
        char *longer = text_format("%s%s%s", text, d == 0 ? "" : ", ", visible);
        free(visible);
        free(text);
        text = longer;
    }
    return text;
}

char *text_join_path(const char *parent, const char *name)
{
    return text_format("%s%s%s", parent, parent[0] == '\0' ? "" : "/", name);
}
