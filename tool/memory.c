#include "memory.h"
#include "tool.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

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
