#include "screen.h"
#include "display.h"
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include <unistd.h>

enum { CHARACTER_BYTES = 4 };

/* The beginning of a character whose rest comes with the next piece. */
static struct {
    char bytes[CHARACTER_BYTES];
    size_t count;
} held;

static bool is_used;

/* DEL is the only control that may stand in JSON text as it is. */
static bool is_plain(char byte)
{
    return (unsigned char)byte < 0x7f;
}

/* How many bytes at the end may be the beginning of a character. */
static size_t begun_bytes(const char *text, size_t bytes)
{
    for (size_t back = 1; back < CHARACTER_BYTES && back <= bytes; back++) {
        unsigned char byte = (unsigned char)text[bytes - back];
        if (byte >= 0xc0)
            return back;
        if (byte < 0x80)
            break;
    }
    return 0;
}

static bool write_all(const char *text, size_t bytes)
{
    while (bytes > 0) {
        ssize_t written = write(STDOUT_FILENO, text, bytes);
        if (written <= 0)
            return false;
        text += written;
        bytes -= (size_t)written;
    }
    return true;
}

/* Runs of plain ASCII as they are, runs of anything else made visible. */
static bool write_visible(char *text)
{
    bool is_written = true;
    while (is_written && *text != '\0') {
        size_t plain = 0, other;
        while (text[plain] != '\0' && is_plain(text[plain]))
            plain++;
        is_written = write_all(text, plain);
        text += plain;
        for (other = 0; text[other] != '\0' && !is_plain(text[other]);)
            other++;
        char *run = text_format("%.*s", (int)other, text), *visible = text_visible(run);
        is_written = is_written && write_all(visible, strlen(visible));
        text += other;
        free(visible);
        free(run);
    }
    return is_written;
}

static ssize_t pass(void *cookie, const char *piece, size_t bytes)
{
    char *text = memory_get(held.count + bytes + 1);
    size_t whole = held.count + bytes, kept;
    bool is_written;
    (void)cookie;
    is_used = is_used || bytes > 0;
    memcpy(text, held.bytes, held.count);
    memcpy(text + held.count, piece, bytes);
    kept = begun_bytes(text, whole);
    memcpy(held.bytes, text + whole - kept, kept);
    held.count = kept;
    text[whole - kept] = '\0';
    is_written = write_visible(text);
    free(text);
    return is_written ? (ssize_t)bytes : 0;
}

bool screen_is_used(void)
{
    (void)fflush(stdout);
    return is_used;
}

size_t screen_columns(void)
{
    enum { USUAL = 80, LEAST = 40 };
    struct winsize size = {0};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return USUAL;
    return size.ws_col < LEAST ? LEAST : size.ws_col;
}

void screen_standard_output(void)
{
    FILE *screen = fopencookie(NULL, "w", (cookie_io_functions_t){.write = pass});
    if (screen == NULL)
        return;
    (void)setvbuf(screen, NULL, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, BUFSIZ);
    stdout = screen;
}
