/* list.h - a list of rows of one size, which grows, and whose memory is taken from a budget. */
#ifndef PARAPET_BASE_LIST_H
#define PARAPET_BASE_LIST_H

#include "base/budget.h"

typedef struct pp_list {
    unsigned char *rows;
    size_t row_bytes, count, capacity;
    pp_budget *budget;
    const char *purpose; /* ends a refusal's sentence: "the claims of a transfer" */
} pp_list;

void pp_list_init(pp_list *list, size_t row_bytes, pp_budget *budget, const char *purpose);

/* Empties it and gives the memory back; it can be used again. */
void pp_list_clear(pp_list *list);

/* Row number index; it stays there until the list grows. */
void *pp_list_at(const pp_list *list, size_t index);

/* Makes room for so many rows behind those that are there. */
parapet_status pp_list_reserve(pp_list *list, size_t more);

/* A copy of row becomes the last. Grows by half, so that adding is cheap and no list takes more than twice what it
 * needs. */
parapet_status pp_list_add(pp_list *list, const void *row);

typedef int (*pp_compare)(const void *left, const void *right);

/* Sorts rows in memory. What the C library takes for that is taken from the budget first; what is in order already is
 * left alone, and takes nothing. */
parapet_status pp_sort_within(pp_budget *budget, void *rows, size_t count, size_t row_bytes, pp_compare compare,
                              const char *purpose);
parapet_status pp_list_sort(pp_list *list, pp_compare compare);

/* Of a sorted list, keeps the first of rows that are equal. */
void pp_list_drop_equal(pp_list *list, pp_compare compare);

#endif
