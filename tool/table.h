/* table.h - columns of text, and lines, that fit on the screen.
 *
 * A table that is too wide first loses the columns that its owner can spare. If that does not suffice it keeps all of
 * them, and its rows take several lines, broken between the same columns in every row. Only a word that is longer
 * than a line, such as a path, is never broken: it would no longer be what it names. */
#ifndef PARAPET_TOOL_TABLE_H
#define PARAPET_TOOL_TABLE_H

#include <stddef.h>

/* Columns of text, as wide as their widest cell. */
typedef struct tool_table {
    char **cells;
    size_t count;
    size_t columns;
    const size_t *spare; /* columns that go, the first of these first, if all the rest then fits on a line */
    size_t spare_count;
} tool_table;

void table_add(tool_table *table, char *cell); /* takes the cell over */
void table_print(const tool_table *table, const char *indent);
void table_free(tool_table *table);

/* Prints lines; one that is too long continues under its last column. */
void text_print_folded(const char *text);

#endif
