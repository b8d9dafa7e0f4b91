/* trim.h - makes sure that elements cut off from an array do not reappear. */
#ifndef PARAPET_ARRAY_TRIM_H
#define PARAPET_ARRAY_TRIM_H

#include "zarr/document.h"

/* Marks in a document that the array shrank along these dimensions and that its shards have to be trimmed. */
parapet_status pp_trim_mark(pp_array_document *document, const bool *is_shrunk);

/* Does what the mark in the array's document says, and removes the mark; without a mark, does nothing. */
parapet_status pp_trim_finish(parapet_array *array);

#endif
