/* list.h - a growing list of rows of equal size, whose memory comes from a budget. */
#ifndef PARAPET_BASE_LIST_H
#define PARAPET_BASE_LIST_H

#include "base/budget.h"

typedef struct pp_list {
    unsigned char *rows;
    size_t row_bytes, count, capacity;
    pp_budget *budget;   /* NULL: its memory is counted elsewhere, and it cannot grow */
    const char *purpose; /* ends a refusal's sentence: "the claims of a transfer" */
} pp_list;

void pp_list_init(pp_list *list, size_t row_bytes, pp_budget *budget, const char *purpose);

/* Empties it and gives the memory back; it can be used again. */
void pp_list_clear(pp_list *list);

/* Row number index; it stays there until the list grows. */
void *pp_list_at(const pp_list *list, size_t index);

/* Makes room for this many more rows. */
parapet_status pp_list_reserve(pp_list *list, size_t more);

/* Appends a copy of row. The list grows by half, so that adding is cheap and no list takes more than twice what it
 * needs. */
parapet_status pp_list_add(pp_list *list, const void *row);

/* Gives back the room for rows that were not added. How much the list takes then depends on its rows only, not on how
 * much memory there was when it grew. */
parapet_status pp_list_trim(pp_list *list);

typedef int (*pp_compare)(const void *left, const void *right);

/* Sorts rows in memory. The memory that the C library needs for this is taken from the budget first; rows that are
 * already in order are left alone and need none. */
parapet_status pp_sort_within(pp_budget *budget, void *rows, size_t count, size_t row_bytes, pp_compare compare,
                              const char *purpose);
parapet_status pp_list_sort(pp_list *list, pp_compare compare);

/* Keeps only the first of equal rows; the list is sorted. */
void pp_list_drop_equal(pp_list *list, pp_compare compare);

#endif
