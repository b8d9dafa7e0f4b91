/* announcement.h - the change of a group that is under way, or was interrupted: <group>/__parapet/change, a record of
 * change/change_record.h; on rank 0 alone.
 *
 * As long as it is there, some arrays of the group may be longer than others, and hold elements that no document
 * reaches. Whoever would build on that is refused. Whoever holds LONG of the group alone may end it. */
#ifndef PARAPET_ARRAY_ANNOUNCEMENT_H
#define PARAPET_ARRAY_ANNOUNCEMENT_H

#include "array/node_lock.h"
#include "change/change_record.h"

typedef struct pp_announcement {
    parapet_store *store;
    const char *group;
    const pp_node_lock *lock; /* LONG of the group, which is proved before anything is stored */
} pp_announcement;

/* Writes the record, exclusively and durably: the group has none. */
parapet_status pp_announcement_publish(const pp_announcement *place, const pp_change *change);

/* Removes the record, durably. That of another change, which has taken this one's place, stays. */
parapet_status pp_announcement_end(const pp_announcement *place, const pp_change *change);

/* The text of the record; NULL: there is none. Free it with pp_free. */
parapet_status pp_announcement_read(const pp_announcement *place, char **text, size_t *bytes);

/* Refuses a group that has a change: PARAPET_ERR_BUSY if it is under way, PARAPET_ERR_EXISTS if it was interrupted.
 */
parapet_status pp_announcement_refuse(parapet_store *store, const char *group);

/* The same for the groups above a node, and with the node itself. */
parapet_status pp_announcement_refuse_around(parapet_store *store, const char *path);
parapet_status pp_announcement_refuse_above(parapet_store *store, const char *path);

#endif
