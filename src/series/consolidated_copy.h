/* consolidated_copy.h - what the group's consolidated metadata repeat of the arrays; on rank 0 alone. */
#ifndef PARAPET_SERIES_CONSOLIDATED_COPY_H
#define PARAPET_SERIES_CONSOLIDATED_COPY_H

#include <parapet_arrays.h>
#include <stdbool.h>

#include "base/sha256.h"

/* What the group's consolidated metadata say about an array, without its steps and attributes. */
typedef struct pp_series_consolidated_copy {
    bool is_sound; /* it is the document of an array */
    unsigned char structure[PP_SHA256_BYTES];
} pp_series_consolidated_copy;

/* Reads steps_shown and shown. */
parapet_status pp_series_read_consolidated_copy(parapet_series *series);

/* The same from the text of the group's document. */
parapet_status pp_series_take_consolidated_copy(parapet_series *series, const char *text, size_t bytes);

/* Refuses a series if the document of an array differs from its copy in the group's document. */
parapet_status pp_series_check_consolidated_copy(const parapet_series *series);

/* Whether somebody has written the group's document since it was read. */
bool pp_series_has_moved(const parapet_series *series);

#endif
