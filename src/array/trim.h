/* trim.h - what is cut off an array stays gone. */
#ifndef PARAPET_ARRAY_TRIM_H
#define PARAPET_ARRAY_TRIM_H

#include "zarr/document.h"

/* Says in a document that shards of an array that shrank along these dimensions have to be trimmed. */
parapet_status pp_trim_mark(pp_array_document *document, const bool *is_shrunk);

/* Does what the mark in the array's document says, and takes it off; no mark: nothing. */
parapet_status pp_trim_finish(parapet_array *array);

#endif
