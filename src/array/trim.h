/* trim.h - makes sure that elements cut off from an array do not reappear. */
#ifndef PARAPET_ARRAY_TRIM_H
#define PARAPET_ARRAY_TRIM_H

#include "array/walk.h"
#include "zarr/document.h"

/* Marks in a document that the array shrank along these dimensions and that its shards have to be trimmed. */
parapet_status pp_trim_mark(pp_array_document *document, const bool *is_shrunk);

/* Whether the attributes of a document have such a mark; and what it says, one for each dimension. */
bool pp_trim_is_marked(pp_json *attributes);
parapet_status pp_trim_read(const pp_array_document *document, bool *is_shrunk);

/* Visits every shard outside the shape of a document that has a mark: the shards that are still to be removed. */
parapet_status pp_trim_visit_beyond(parapet_store *store, const char *path, const pp_array_document *document,
                                    pp_walk_visitor visit, void *context);

/* Does what the mark in the array's document says, and removes the mark; without a mark, does nothing. */
parapet_status pp_trim_finish(parapet_array *array);

#endif
