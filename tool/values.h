/* values.h - comparing two arrays. */
#ifndef PARAPET_TOOL_VALUES_H
#define PARAPET_TOOL_VALUES_H

#include "node.h"

typedef struct tool_values_difference {
    int64_t compared;  /* elements */
    int64_t differing; /* elements whose bits differ */
    int64_t first[PARAPET_MAX_NDIM];
    unsigned char *first_a; /* one element each; NULL when none differs */
    unsigned char *first_b;
    const char *refusal; /* why they are not compared; NULL: they are, or the library says why */
} tool_values_difference;

/* Compares two arrays of the same shape and type box by box, with two buffers of at most buffer_bytes each. */
parapet_status values_compare(tool_values_difference *difference, tool_node *a, tool_node *b, size_t buffer_bytes);
void values_difference_free(tool_values_difference *difference);

#endif
