/* group_document.h - the group's document, which says that it is a series, and how many steps are committed; on rank
 * 0 alone. */
#ifndef PARAPET_SERIES_GROUP_DOCUMENT_H
#define PARAPET_SERIES_GROUP_DOCUMENT_H

#include <parapet_arrays.h>

#include "zarr/document.h"

/* Writes the group's document with this number of committed steps and consolidated metadata, and makes everything
 * before it durable. steps < 0: the series is not complete yet. attributes are added to those it has; NULL: none. */
parapet_status pp_series_write_group(parapet_series *series, int64_t steps, pp_json *attributes);

/* Reads dimension, names, steps_committed, is_uncertain and what is shown. steps_committed is -1 if creating the
 * series was interrupted. PARAPET_ERR_NOT_FOUND: it is not a series. */
parapet_status pp_series_read_group(parapet_series *series);

/* The part of it that is in the document itself, consolidated metadata aside. */
parapet_status pp_series_take_mark(parapet_series *series, const pp_group_document *document);

#endif
