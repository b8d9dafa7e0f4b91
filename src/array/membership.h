/* membership.h - whether a node is a part of something that is kept as a whole: a generation of a checkpoint, which a
 * commit record names, or an array of a series, which the group's document names. */
#ifndef PARAPET_ARRAY_MEMBERSHIP_H
#define PARAPET_ARRAY_MEMBERSHIP_H

#include <parapet_types.h>

/* Rank 0: PARAPET_OK if the node at path can be removed by itself. Refuses it if it is a part of such a thing, if it
 * lies inside an array, or if the document of a group above it cannot be read, so that nobody can tell. */
parapet_status pp_membership_check(parapet_store *store, const char *path);

#endif
