#include "base/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/status.h"

void pp_text_init_within(pp_text *text, pp_budget *budget, const char *purpose)
{
    *text = (pp_text){.budget = budget, .purpose = purpose};
}

static size_t capacity_for(size_t needed)
{
    size_t capacity = 64;
    while (capacity < needed)
        capacity *= 2;
    return capacity;
}

/* What a text of this capacity takes from its budget. */
static size_t counted_bytes(const pp_text *text, size_t capacity)
{
    return text->budget != NULL && capacity > PP_TEXT_SMALL_BYTES ? capacity : 0;
}

static void drop(pp_text *text)
{
    if (counted_bytes(text, text->capacity) > 0)
        pp_budget_release(text->budget, text->capacity);
    pp_free(text->data);
    text->data = NULL;
    text->capacity = 0;
}

static void grow(pp_text *text, size_t capacity)
{
    size_t more = counted_bytes(text, capacity) - counted_bytes(text, text->capacity);
    if (more > 0 && pp_budget_reserve(text->budget, more, text->purpose) != PARAPET_OK) {
        drop(text);
        text->is_only_counted = true;
        return;
    }
    text->status = pp_reallocate(&text->data, capacity);
    if (text->status == PARAPET_OK)
        text->capacity = capacity;
    else if (more > 0)
        pp_budget_release(text->budget, more);
}

static void make_room(pp_text *text, size_t bytes)
{
    size_t needed = text->bytes + bytes + 1;
    if (text->status != PARAPET_OK || text->is_only_counted || needed <= text->capacity)
        return;
    if (needed < bytes || needed > SIZE_MAX / 2) {
        text->status =
            pp_fail(PARAPET_ERR_MEMORY, "a text of %zu more bytes needs more memory than any machine has", bytes);
        return;
    }
    grow(text, capacity_for(needed));
}

parapet_status pp_text_check(pp_text *text)
{
    size_t capacity = capacity_for(text->bytes + 1);
    if (text->status != PARAPET_OK || !text->is_only_counted)
        return text->status;
    text->status = pp_budget_check(text->budget, capacity, text->purpose);
    if (text->status == PARAPET_OK)
        text->status = pp_refuse_memory(text->budget->limit_bytes + capacity,
                                        "%s need %zu bytes, which were in use for something else; set memory_bytes "
                                        "to at least %zu",
                                        text->purpose, capacity, text->budget->limit_bytes + capacity);
    return text->status;
}

void pp_text_add_bytes(pp_text *text, const void *data, size_t bytes)
{
    make_room(text, bytes);
    if (text->status != PARAPET_OK)
        return;
    if (bytes > 0 && !text->is_only_counted)
        memcpy(text->data + text->bytes, data, bytes);
    text->bytes += bytes;
    if (!text->is_only_counted)
        text->data[text->bytes] = '\0';
}

/* Into the room that there is; how long it is, whether it fits or not. */
static int __attribute__((format(printf, 2, 0))) print_piece(pp_text *text, const char *format, va_list arguments)
{
    size_t room = text->capacity > text->bytes ? text->capacity - text->bytes : 0;
    return vsnprintf(room > 0 ? text->data + text->bytes : NULL, room, format, arguments);
}

void pp_text_add(pp_text *text, const char *format, ...)
{
    va_list arguments;
    int length;
    make_room(text, 0);
    va_start(arguments, format);
    length = print_piece(text, format, arguments);
    va_end(arguments);
    if (length < 0)
        text->status = pp_fail(PARAPET_ERR_INTERNAL, "the text \"%s\" cannot be formatted", format);
    if (text->status != PARAPET_OK)
        return;
    if (text->bytes + (size_t)length >= text->capacity) {
        make_room(text, (size_t)length);
        if (text->status != PARAPET_OK)
            return;
        va_start(arguments, format);
        (void)print_piece(text, format, arguments);
        va_end(arguments);
    }
    text->bytes += (size_t)length;
}

parapet_status pp_text_finish(pp_text *text, char **result)
{
    parapet_status status;
    pp_text_add_bytes(text, "", 0);
    status = pp_text_check(text);
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
    drop(text);
    *text = (pp_text){0};
}
