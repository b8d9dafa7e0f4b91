#include "spelling.h"

#include <stdint.h>
#include <string.h>

enum { WIDTH_MOST = 64 };

static size_t lesser(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The row of the first i letters of a, from the two rows before it. */
static void fill_row(size_t rows[3][WIDTH_MOST], const char *a, size_t i, const char *b)
{
    size_t *row = rows[i % 3];
    const size_t *last = rows[(i + 2) % 3], *last_but_one = rows[(i + 1) % 3];
    row[0] = i;
    for (size_t j = 1; b[j - 1] != '\0'; j++) {
        row[j] = lesser(last[j - 1] + (a[i - 1] != b[j - 1]), lesser(last[j], row[j - 1]) + 1);
        if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
            row[j] = lesser(row[j], last_but_one[j - 2] + 1);
    }
}

size_t spelling_distance(const char *a, const char *b)
{
    size_t rows[3][WIDTH_MOST] = {{0}};
    size_t width = strlen(b), length = strlen(a);
    if (width >= WIDTH_MOST)
        return SIZE_MAX;
    for (size_t j = 0; j <= width; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= length; i++)
        fill_row(rows, a, i, b);
    return rows[length % 3][width];
}

/* Words of which most letters differ have nothing to do with each other. */
bool spelling_is_near(const char *word, size_t distance)
{
    return distance < (strlen(word) + 1) / 2;
}
