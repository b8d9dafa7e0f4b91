/* mark.h - what the library notes beside a group, <group>/__parapet/<name>, as long as a change of several steps is
 * not complete: after a kill, it tells that there is something to put right; on rank 0 alone. */
#ifndef PARAPET_ARRAY_MARK_H
#define PARAPET_ARRAY_MARK_H

#include <stdbool.h>
#include <stddef.h>

#include "change/registry.h"

typedef struct pp_mark {
    parapet_store *store;
    const char *group;
    pp_own own;
} pp_mark;

/* Durable when it returns. */
parapet_status pp_mark_write(const pp_mark *mark, const char *text, size_t bytes);

/* With the directory that it was in, if that is empty then: readers list it and wonder. It is fine if there is none.
 */
parapet_status pp_mark_remove(const pp_mark *mark);

parapet_status pp_mark_is_there(const pp_mark *mark, bool *is_there);

/* A change took the group's consolidated metadata away, and has not made them again (reconsolidate.h). */

/* ---- Appends: some arrays of a group may be longer than others, and hold elements that no document reaches ---- */

/* Refuses a group that an append has not come to its end in: PARAPET_ERR_BUSY if it is under way, PARAPET_ERR_EXISTS
 * if it was interrupted. */
parapet_status pp_mark_refuse_append(parapet_store *store, const char *group);

/* The same for a node and all groups above it. */
parapet_status pp_mark_refuse_append_above(parapet_store *store, const char *path);

/* The same for the groups above a node alone. */
parapet_status pp_mark_refuse_append_around(parapet_store *store, const char *path);

#endif
