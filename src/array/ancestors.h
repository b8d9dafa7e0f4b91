/* ancestors.h - what has to be true of the groups above a node that changes: for whoever holds them for an edit
 * (node_lock.h).
 *
 * Everybody who makes a node comes through here. So here is where a group in which an append was interrupted is
 * refused (mark.h): nobody could tell the new node from what the append has left. */
#ifndef PARAPET_ARRAY_ANCESTORS_H
#define PARAPET_ARRAY_ANCESTORS_H

#include <parapet_types.h>

/* Creates the groups above path that do not exist, and removes stale consolidated metadata from those that do. */
parapet_status pp_ancestors_prepare(parapet_store *store, const char *path);

/* The same for the group at path, and no other. */
parapet_status pp_ancestors_ensure_group(parapet_store *store, const char *path);

/* Removes consolidated metadata from the groups above path, and from path itself if it is a group. */
parapet_status pp_ancestors_drop_consolidated_with(parapet_store *store, const char *path);

/* Only from the groups above: for a node that goes, and whose own document may be unreadable. */
parapet_status pp_ancestors_drop_consolidated(parapet_store *store, const char *path);

#endif
