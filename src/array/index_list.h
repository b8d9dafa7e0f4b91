/* index_list.h - elements that a caller lists one by one: points or runs, as they are given. */
#ifndef PARAPET_ARRAY_INDEX_LIST_H
#define PARAPET_ARRAY_INDEX_LIST_H

#include <parapet_arrays.h>

#include "plan/indices.h"

typedef struct pp_index_list {
    bool are_points;
    const parapet_points *points; /* NULL: there are none */
    const parapet_runs *runs;
} pp_index_list;

/* "points" or "runs". */
const char *pp_index_list_words(const pp_index_list *listed);

/* Checks everything about the list that can be wrong, for an array that can be read. */
parapet_status pp_index_list_check(const pp_index_list *listed, parapet_array *array, pp_indices *indices);

#endif
