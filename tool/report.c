#include "tool.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static bool is_silent;

/* The first error of this run, for those who asked for a document. */
static struct {
    const char *status; /* NULL: no call of the library failed */
    char *message;
} first_error;

void report_mute(bool is_muted)
{
    is_silent = is_muted;
}

void report_error(const char *what, const char *format, ...)
{
    va_list arguments;
    char *sentence = NULL;
    char *visible, *where;
    if (is_silent)
        return;
    where = text_visible(what);
    va_start(arguments, format);
    if (vasprintf(&sentence, format, arguments) < 0)
        sentence = NULL;
    va_end(arguments);
    visible = text_visible(sentence == NULL ? "out of memory" : sentence);
    (void)fflush(stdout);
    (void)fprintf(stderr, "parapet: %s: %s\n", where, visible);
    if (first_error.message == NULL)
        first_error.message = text_format("%s: %s", where, visible);
    free(visible);
    free(sentence);
    free(where);
}

void report_failure(const char *what)
{
    report_error(what, "%s", parapet_error_message());
}

void report_status(parapet_status status, const char *what)
{
    if (first_error.message == NULL)
        first_error.status = parapet_status_name(status);
    report_failure(what);
}

void report_add_error(tool_document *document)
{
    if (first_error.message == NULL)
        return;
    document_open_object(document, "error");
    document_text(document, "status", first_error.status);
    document_text(document, "message", first_error.message);
    document_close(document);
}

void report_document(void)
{
    tool_document document = {.out = stdout};
    if (first_error.message == NULL || screen_is_used())
        return;
    document_open_object(&document, NULL);
    report_add_error(&document);
    document_close(&document);
}

static _Noreturn void end_without_memory(void)
{
    (void)fputs("parapet: memory: the machine has no memory left\n", stderr);
    exit(TOOL_FAILED);
}

void *memory_get(size_t bytes)
{
    void *memory = calloc(1, bytes == 0 ? 1 : bytes);
    if (memory == NULL)
        end_without_memory();
    return memory;
}

void *memory_grow(void *entries, size_t count, size_t entry_bytes)
{
    bool is_full = (count & (count - 1)) == 0; /* 0, 1, 2, 4, 8, ...: the sizes it had room for */
    void *larger;
    if (!is_full)
        return entries;
    larger = reallocarray(entries, count == 0 ? 1 : 2 * count, entry_bytes);
    if (larger == NULL)
        end_without_memory();
    return larger;
}

char *text_format(const char *format, ...)
{
    va_list arguments;
    char *text = NULL;
    int length;
    va_start(arguments, format);
    length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        end_without_memory();
    return text;
}

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

bool file_write(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    bool is_written = file != NULL && fputs(text, file) >= 0;
    int problem = errno;
    if (file != NULL && fclose(file) != 0 && is_written) {
        is_written = false;
        problem = errno;
    }
    if (!is_written)
        report_error(path, "cannot be written: %s", strerror(problem));
    return is_written;
}

int64_t element_count(const parapet_array_info *info)
{
    int64_t count = 1;
    bool is_too_many = false;
    for (int d = 0; d < info->ndim; d++) {
        if (info->shape[d] == 0)
            return 0;
        if (__builtin_mul_overflow(count, info->shape[d], &count)) {
            is_too_many = true;
            count = INT64_MAX;
        }
    }
    return is_too_many ? INT64_MAX : count;
}

int64_t logical_bytes(const parapet_array_info *info)
{
    int64_t bytes;
    if (__builtin_mul_overflow(element_count(info), info->element_bytes, &bytes))
        return INT64_MAX;
    return bytes;
}
