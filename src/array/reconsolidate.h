/* reconsolidate.h - consolidated metadata of the groups around a node that is copied to or removed: the change takes
 * it from them, and it is made again afterwards.
 *
 * Until that is done, such a group has a mark: after a kill, the next change of this kind finds it. Only whether it
 * is there counts, so there is nothing in it to be believed. */
#ifndef PARAPET_ARRAY_RECONSOLIDATE_H
#define PARAPET_ARRAY_RECONSOLIDATE_H

#include <parapet_types.h>
#include <stddef.h>

/* [collective] Consolidates the group at a path. */
parapet_status pp_group_consolidate_at(parapet_store *store, const char *path);
parapet_status pp_group_consolidate_appended_at(parapet_store *store, const char *path); /* see consolidate.h */

/* The sentence when that has failed after everything else was done ("the copy is complete"); returns status. */
parapet_status pp_reconsolidate_fail(parapet_status status, const char *done, const char *path);

/* Groups around a node that have consolidated metadata before it changes. */
typedef struct pp_reconsolidate {
    char *path;    /* of the node */
    int64_t *ends; /* so many bytes of it are the path of such a group; the outermost is first */
    size_t count;
} pp_reconsolidate;

/* [collective] Marks them, so that the metadata is not lost with a change that is killed. Clear it even after a
 * failure. */
parapet_status pp_reconsolidate_find(pp_reconsolidate *around, parapet_store *store, const char *path);

/* [collective] Only those that an earlier change has marked and not renewed. */
parapet_status pp_reconsolidate_find_marked(pp_reconsolidate *around, parapet_store *store, const char *path);

/* [collective] Consolidates again those that the change, which ended with this status, took the metadata of. done
 * says what has been done, as for pp_reconsolidate_fail. Returns the first failure. */
parapet_status pp_reconsolidate_restore(pp_reconsolidate *around, parapet_store *store, const char *done,
                                        parapet_status status);
void pp_reconsolidate_clear(pp_reconsolidate *around);

/* [collective] Consolidates a marked group if it has no metadata now, and takes the mark off. */
parapet_status pp_reconsolidate_renew(parapet_store *store, const char *group);

#endif
