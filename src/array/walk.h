/* walk.h - visits every object below a path. */
#ifndef PARAPET_ARRAY_WALK_H
#define PARAPET_ARRAY_WALK_H

#include <parapet_types.h>

/* Called for every object below a path except those in __parapet; key is relative to path. */
typedef parapet_status (*pp_walk_visitor)(void *context, const char *key, uint64_t bytes);
parapet_status pp_walk_objects(parapet_store *store, const char *path, pp_walk_visitor visit, void *context);

/* The same for whoever must know of all of them: fails where directories are nested deeper than any key of ours,
 * which the other one does not look into. */
parapet_status pp_walk_every_object(parapet_store *store, const char *path, pp_walk_visitor visit, void *context);

/* The same for whoever removes shards of the array at path, below prefix, "" for all: a directory with a document of
 * its own is another node, whose shards may have keys that fit, and is not entered (invariant 10 of
 * docs/design/change.md). Keys are relative to path, too. */
parapet_status pp_walk_shards(parapet_store *store, const char *path, const char *prefix, pp_walk_visitor visit,
                              void *context);

/* Removes an object that a walk has visited; it may already be gone. */
parapet_status pp_walk_remove(parapet_store *store, const char *path, const char *key);

#endif
