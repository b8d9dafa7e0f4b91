#include "base/word_list.h"

#include <string.h>

#include "base/checked.h"

typedef struct row {
    size_t place; /* where its text begins */
    int number;
} row;

void pp_word_list_init(pp_word_list *list, pp_budget *budget, const char *purpose)
{
    pp_list_init(&list->rows, sizeof(row), budget, purpose);
    pp_list_init(&list->letters, 1, budget, purpose);
}

void pp_word_list_clear(pp_word_list *list)
{
    pp_list_clear(&list->rows);
    pp_list_clear(&list->letters);
}

size_t pp_word_list_count(const pp_word_list *list)
{
    return list->rows.count;
}

static row *row_at(const pp_word_list *list, size_t index)
{
    return pp_list_at(&list->rows, index);
}

const char *pp_word_list_text(const pp_word_list *list, size_t index)
{
    return pp_list_at(&list->letters, row_at(list, index)->place);
}

int pp_word_list_number(const pp_word_list *list, size_t index)
{
    return row_at(list, index)->number;
}

void pp_word_list_set_number(pp_word_list *list, size_t index, int number)
{
    row_at(list, index)->number = number;
}

/* Room for so many rows. A list grows by half; near the limit by half of what is left, and at last by what is needed,
 * so that a word is refused only if there is no room for it. */
static parapet_status provide(pp_list *list, size_t needed)
{
    size_t most = pp_budget_available(list->budget) / list->row_bytes / 2;
    if (list->capacity - list->count >= needed)
        return PARAPET_OK;
    return pp_list_reserve(list, pp_max_size(needed, pp_min_size(list->capacity / 2 + 1, most)));
}

parapet_status pp_word_list_add(pp_word_list *list, const char *text, int number)
{
    row next = {.place = list->letters.count, .number = number};
    size_t i, bytes = strlen(text) + 1;
    parapet_status status = provide(&list->letters, bytes);
    for (i = 0; i < bytes && status == PARAPET_OK; i++)
        status = pp_list_add(&list->letters, &text[i]);
    if (status == PARAPET_OK && (status = provide(&list->rows, 1)) == PARAPET_OK)
        status = pp_list_add(&list->rows, &next);
    if (status != PARAPET_OK)
        list->letters.count = next.place;
    return status;
}

void pp_word_list_drop_last(pp_word_list *list)
{
    list->letters.count = row_at(list, --list->rows.count)->place;
}

void pp_word_list_print(const pp_word_list *list, pp_text *bytes)
{
    size_t i;
    pp_bytes_add_u64(bytes, list->rows.count);
    for (i = 0; i < list->rows.count; i++) {
        const char *text = pp_word_list_text(list, i);
        pp_bytes_add_u64(bytes, (uint64_t)pp_word_list_number(list, i));
        pp_bytes_add_block(bytes, text, strlen(text) + 1);
    }
}

parapet_status pp_word_list_adopt(pp_word_list *list, pp_cursor *bytes)
{
    uint64_t count = pp_cursor_u64(bytes);
    parapet_status status = PARAPET_OK;
    while (list->rows.count < count && status == PARAPET_OK) {
        int number = (int)pp_cursor_u64(bytes);
        size_t length;
        const char *text = pp_cursor_block(bytes, &length);
        if ((status = pp_cursor_finish(bytes)) == PARAPET_OK)
            status = pp_word_list_add(list, text, number);
    }
    return status;
}
