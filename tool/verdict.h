/* verdict.h - how two stores differ, in one line. */
#ifndef PARAPET_TOOL_VERDICT_H
#define PARAPET_TOOL_VERDICT_H

#include <stdint.h>

typedef enum tool_difference {
    DIFFERENCE_VALUES,
    DIFFERENCE_SHAPE,
    DIFFERENCE_TYPE,
    DIFFERENCE_NAMES,
    DIFFERENCE_FILL_VALUE,
    DIFFERENCE_ATTRIBUTE,
    DIFFERENCE_KIND,
    DIFFERENCE_ARRAY_ONLY_A,
    DIFFERENCE_ARRAY_ONLY_B,
    DIFFERENCE_GROUP_ONLY_A,
    DIFFERENCE_GROUP_ONLY_B,
    DIFFERENCE_LAYOUT,
    DIFFERENCE_KINDS
} tool_difference;

typedef struct tool_verdict_counts {
    int64_t differing[DIFFERENCE_KINDS];
    int64_t uncounted; /* differences in layout that nobody asked for */
    int64_t arrays;    /* compared */
    int64_t elements;
    int64_t failures; /* nodes that could not be compared, already reported */
} tool_verdict_counts;

/* All that differs. */
int64_t verdict_sum(const tool_verdict_counts *counts);

/* "differ: 1 attribute, 2 arrays only in A" or "the same: 3 arrays, 25 elements"; before it what was not counted. */
void verdict_print(const tool_verdict_counts *counts);

#endif
