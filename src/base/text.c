#include "base/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"

static void make_room(pp_text *text, size_t bytes)
{
    size_t needed = text->bytes + bytes + 1;
    size_t capacity = pp_max_size(64, text->capacity);
    if (text->status != PARAPET_OK || needed <= text->capacity)
        return;
    if (needed < bytes || needed > SIZE_MAX / 2) {
        text->status =
            pp_fail(PARAPET_ERR_MEMORY, "a text of %zu more bytes needs more memory than any machine has", bytes);
        return;
    }
    while (capacity < needed)
        capacity *= 2;
    text->status = pp_reallocate(&text->data, capacity);
    if (text->status == PARAPET_OK)
        text->capacity = capacity;
}

void pp_text_add_bytes(pp_text *text, const void *data, size_t bytes)
{
    make_room(text, bytes);
    if (text->status != PARAPET_OK)
        return;
    if (bytes > 0)
        memcpy(text->data + text->bytes, data, bytes);
    text->bytes += bytes;
    text->data[text->bytes] = '\0';
}

void pp_text_add(pp_text *text, const char *format, ...)
{
    va_list arguments;
    int length;
    va_start(arguments, format);
    length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0)
        text->status = pp_fail(PARAPET_ERR_INTERNAL, "the text \"%s\" cannot be formatted", format);
    make_room(text, length > 0 ? (size_t)length : 0);
    if (text->status != PARAPET_OK)
        return;
    va_start(arguments, format);
    (void)vsnprintf(text->data + text->bytes, (size_t)length + 1, format, arguments);
    va_end(arguments);
    text->bytes += (size_t)length;
}

parapet_status pp_text_finish(pp_text *text, char **result)
{
    parapet_status status;
    pp_text_add_bytes(text, "", 0);
    status = text->status;
    *result = NULL;
    if (status == PARAPET_OK) {
        *result = text->data;
        text->data = NULL;
    }
    pp_text_free(text);
    return status;
}

void pp_text_free(pp_text *text)
{
    pp_free(text->data);
    *text = (pp_text){0};
}
