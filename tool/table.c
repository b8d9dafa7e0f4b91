#include "tool.h"

#include <stdlib.h>

void table_add(tool_table *table, char *cell)
{
    table->cells = memory_grow(table->cells, table->count, sizeof *table->cells);
    table->cells[table->count++] = cell;
}

/* Characters, not bytes: UTF-8 continuation bytes take no room. */
static size_t width_of(const char *text)
{
    size_t width = 0;
    for (; *text != '\0'; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
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

/* Prints one row; blanks go out only before text, so that no line ends in them. */
static void print_row(const tool_table *table, size_t first, const size_t *widths)
{
    size_t blanks = 0;
    for (size_t column = 0; column < table->columns; column++) {
        const char *text = table->cells[first + column];
        if (text[0] != '\0')
            printf("%*s%s", (int)blanks, "", text);
        blanks = (text[0] != '\0' ? 0 : blanks) + widths[column] - width_of(text) + 2;
    }
    putchar('\n');
}

void table_print(const tool_table *table, const char *indent)
{
    size_t *widths = memory_get(table->columns * sizeof *widths);
    for (size_t column = 0; column < table->columns; column++)
        widths[column] = width_of_column(table, column);
    for (size_t first = 0; first + table->columns <= table->count; first += table->columns) {
        fputs(indent, stdout);
        print_row(table, first, widths);
    }
    free(widths);
}

void table_free(tool_table *table)
{
    for (size_t cell = 0; cell < table->count; cell++)
        free(table->cells[cell]);
    free(table->cells);
    table->cells = NULL;
    table->count = 0;
}
