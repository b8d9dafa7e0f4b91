#include "table.h"
#include "memory.h"
#include "screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    GAP = 2,          /* between columns */
    CONTINUATION = 4, /* how far the further lines of a row are indented */
    FLOW_LEAST = 24   /* in so much room the last column rather takes several lines than one of its own */
};

void table_add(tool_table *table, char *cell)
{
    table->cells = memory_grow(table->cells, table->count, sizeof *table->cells);
    table->cells[table->count++] = cell;
}

/* Characters, not bytes: UTF-8 continuation bytes take no room. */
static size_t width_of_bytes(const char *text, size_t bytes)
{
    size_t width = 0;
    for (size_t i = 0; i < bytes; i++)
        width += ((unsigned char)text[i] & 0xc0) != 0x80;
    return width;
}

static size_t width_of(const char *text)
{
    return width_of_bytes(text, strlen(text));
}

static size_t width_of_column(const tool_table *table, size_t column)
{
    size_t widest = 0;
    for (size_t cell = column; cell < table->count; cell += table->columns) {
        size_t width = width_of(table->cells[cell]);
        widest = width > widest ? width : widest;
    }
    return widest;
}

/* Words as many as fit until limit, the rest on lines that begin at column first. Returns the column it ends at. */
static size_t print_flowing(const char *text, size_t first, size_t limit)
{
    size_t at = first;
    while (*text != '\0') {
        size_t blanks = strspn(text, " "), word = strcspn(text + blanks, " ");
        size_t width = blanks + width_of_bytes(text + blanks, word);
        if (at > first && at + width > limit && word > 0) {
            printf("\n%*s", (int)first, "");
            at = first;
            text += blanks;
            continue;
        }
        printf("%.*s", (int)(blanks + word), text);
        at += width;
        text += blanks + word;
    }
    return at;
}

/* ---- Which columns are shown, and where lines break ---- */

typedef struct tool_shape {
    size_t indent, limit; /* the first column, and the one after the last */
    size_t *widths;
    bool *is_hidden;
    bool *is_on_new_line;
} tool_shape;

static bool fits(const tool_table *table, const tool_shape *shape)
{
    size_t end = shape->indent;
    for (size_t column = 0; column < table->columns; column++)
        if (!shape->is_hidden[column])
            end += shape->widths[column] + GAP;
    return end <= shape->limit + GAP;
}

static void hide_columns(const tool_table *table, tool_shape *shape)
{
    for (size_t i = 0; i < table->spare_count && !fits(table, shape); i++)
        shape->is_hidden[table->spare[i]] = true;
    if (!fits(table, shape))
        memset(shape->is_hidden, 0, table->columns * sizeof *shape->is_hidden);
}

static void break_lines(const tool_table *table, tool_shape *shape)
{
    size_t at = shape->indent;
    for (size_t column = 0; column < table->columns; column++) {
        bool is_last = column + 1 == table->columns;
        bool is_first = at <= shape->indent + CONTINUATION;
        bool is_flowing = is_last && at + FLOW_LEAST <= shape->limit;
        if (shape->is_hidden[column])
            continue;
        if (!is_first && at + shape->widths[column] > shape->limit && !is_flowing) {
            shape->is_on_new_line[column] = true;
            at = shape->indent + CONTINUATION;
        }
        at += shape->widths[column] + GAP;
    }
}

static void shape_init(tool_shape *shape, const tool_table *table, size_t indent)
{
    *shape = (tool_shape){.indent = indent, .limit = screen_columns()};
    shape->widths = memory_get(table->columns * sizeof *shape->widths);
    shape->is_hidden = memory_get(table->columns * sizeof *shape->is_hidden);
    shape->is_on_new_line = memory_get(table->columns * sizeof *shape->is_on_new_line);
    for (size_t column = 0; column < table->columns; column++)
        shape->widths[column] = width_of_column(table, column);
    hide_columns(table, shape);
    break_lines(table, shape);
}

static void shape_free(tool_shape *shape)
{
    free(shape->widths);
    free(shape->is_hidden);
    free(shape->is_on_new_line);
}

/* Blanks and line breaks go out only before text, so that no line ends in them, and none is empty. */
static void print_row(const tool_table *table, size_t first, const tool_shape *shape)
{
    size_t at = 0, start = shape->indent; /* where the cursor is, and where the next cell begins */
    for (size_t column = 0; column < table->columns; column++) {
        const char *text = table->cells[first + column];
        if (shape->is_hidden[column])
            continue;
        if (shape->is_on_new_line[column]) {
            fputs(at > 0 ? "\n" : "", stdout);
            at = 0;
            start = shape->indent + CONTINUATION;
        }
        if (text[0] != '\0') {
            printf("%*s", (int)(start - at), "");
            at = print_flowing(text, start, shape->limit);
        }
        start += shape->widths[column] + GAP;
    }
    fputs(at > 0 ? "\n" : "", stdout);
}

void table_print(const tool_table *table, const char *indent)
{
    tool_shape shape;
    shape_init(&shape, table, strlen(indent));
    for (size_t first = 0; first + table->columns <= table->count; first += table->columns)
        print_row(table, first, &shape);
    shape_free(&shape);
}

void table_free(tool_table *table)
{
    for (size_t cell = 0; cell < table->count; cell++)
        free(table->cells[cell]);
    free(table->cells);
    table->cells = NULL;
    table->count = 0;
}

/* ---- Lines that somebody else has laid out ---- */

/* Where the further lines of this one begin: under its last column, if that leaves them half of the screen. */
static size_t hanging_of(const char *line, size_t limit)
{
    size_t leading = strspn(line, " "), hanging = leading + CONTINUATION;
    for (size_t i = leading; line[i] != '\0' && i < limit / 2; i++)
        if (i > leading + 1 && line[i] != ' ' && line[i - 1] == ' ' && line[i - 2] == ' ')
            hanging = i;
    return hanging;
}

static void print_folded_line(const char *line, size_t limit)
{
    size_t hanging = hanging_of(line, limit);
    if (width_of(line) <= limit || strlen(line) <= hanging) {
        printf("%s\n", line);
        return;
    }
    printf("%.*s", (int)hanging, line);
    (void)print_flowing(line + hanging, hanging, limit);
    putchar('\n');
}

void text_print_folded(const char *text)
{
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        char *line = text_format("%.*s", (int)length, text);
        print_folded_line(line, screen_columns());
        free(line);
        text += length + (text[length] == '\n');
    }
}
