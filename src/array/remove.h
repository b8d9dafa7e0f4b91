/* remove.h - how what is stored goes: only what is proved to be ours, object by object; directories only when they
 * are empty. What somebody else has put among it stays where it is.
 *
 * Proofs: a shard has a key of its array's own grammar, under its document; below __parapet everything is the
 * library's own. */
#ifndef PARAPET_ARRAY_REMOVE_H
#define PARAPET_ARRAY_REMOVE_H

#include "zarr/document.h"

/* Shards with keys of this document's grammar, and what is empty then. Nothing there is fine. */
parapet_status pp_remove_shards(parapet_store *store, const char *path, const pp_array_document *document);

/* Only those below a prefix, which is relative to the array: "c/7". */
parapet_status pp_remove_shards_below(parapet_store *store, const char *path, const pp_array_document *document,
                                      const char *prefix);

/* Shards of an array whose document this text was. Of a text that cannot be understood there are none. */
parapet_status pp_remove_shards_of_text(parapet_store *store, const char *path, const char *text, size_t bytes);

/* Everything of a Zarr v3 array, by its own document, which goes last. One whose document cannot be read is taken for
 * one of ours. Nothing there, or something that is no such array: fine, and stays. */
parapet_status pp_remove_array(parapet_store *store, const char *path);

/* The same where nothing but its place tells whose it is: only if a checkpoint can have made it. The library has put
 * something beside its document, or has written that itself; and it was not made as an array of its own. */
parapet_status pp_remove_array_of_checkpoint(parapet_store *store, const char *path);

#endif
