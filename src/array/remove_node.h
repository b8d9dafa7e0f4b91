/* remove_node.h - how stored objects are removed: only objects that are proved to be ours, one by one, and
 * directories only if they are empty. Files that somebody else put among them stay.
 *
 * Proofs: the key of a shard follows the grammar of its array's document; everything below __parapet belongs to the
 * library. */
#ifndef PARAPET_ARRAY_REMOVE_NODE_H
#define PARAPET_ARRAY_REMOVE_NODE_H

#include <stdbool.h>

#include "zarr/document.h"

/* Whether a key, relative to the array, follows this document's grammar; NULL: the document cannot be read, and the
 * ordinary grammar counts. */
bool pp_remove_is_shard(const pp_array_document *document, const char *key);

/* Removes the shards of a document (NULL as above), and directories that are then empty. It is fine if there are
 * none. */
parapet_status pp_remove_shards(parapet_store *store, const char *path, const pp_array_document *document);

/* Only those below a prefix, which is relative to the array: "c/7". */
parapet_status pp_remove_shards_below(parapet_store *store, const char *path, const pp_array_document *document,
                                      const char *prefix);

/* Removes the shards of an array whose document was this text. If the text cannot be understood, there are none. */
parapet_status pp_remove_shards_of_text(parapet_store *store, const char *path, const char *text, size_t bytes);

/* Removes a Zarr v3 array according to its own document, which is removed last. An array whose document cannot be
 * read counts as one of ours. If there is nothing, or something else, it is left alone. */
parapet_status pp_remove_array(parapet_store *store, const char *path);

/* The same if only its place tells whose it is: removes it only if a checkpoint can have made it, that is, if the
 * library put something beside its document or wrote the document, and if it was not created as an independent
 * array. */
parapet_status pp_remove_array_of_checkpoint(parapet_store *store, const char *path);

#endif
