/* ranges.h - a set of numbers, kept as runs: dense sets take almost no memory, sparse sets as much as they have
 * runs. */
#ifndef PARAPET_BASE_RANGES_H
#define PARAPET_BASE_RANGES_H

#include <stdint.h>

#include "base/budget.h"

typedef struct pp_range {
    int64_t first, last;
} pp_range;

/* {.budget = ...} is an empty set; without a budget its memory is not charged. */
typedef struct pp_ranges {
    pp_budget *budget;
    pp_range *list;
    size_t count, capacity;
    size_t sorted_count; /* of them in order, without overlap */
} pp_ranges;

/* In any order, and any number of times. */
parapet_status pp_ranges_add(pp_ranges *ranges, int64_t first, int64_t last);

/* Puts the set in order: needed after adding and before any question. */
void pp_ranges_sort(pp_ranges *ranges);

/* The first run that reaches `from` or beyond, without what is before it; false: there is none. */
bool pp_ranges_next(const pp_ranges *ranges, int64_t from, pp_range *found);
bool pp_ranges_has(const pp_ranges *ranges, int64_t number);

int64_t pp_ranges_number_count(const pp_ranges *ranges);
void pp_ranges_clear(pp_ranges *ranges);

#endif
