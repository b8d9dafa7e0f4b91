/* group.h - the handle of a group: whether it can be used, and its document. */
#ifndef PARAPET_ARRAY_GROUP_H
#define PARAPET_ARRAY_GROUP_H

#include "zarr/document.h"

parapet_status pp_group_check_usable(const parapet_group *group);
parapet_status pp_group_check_changeable(const parapet_group *group);

const pp_group_document *pp_group_document_of(const parapet_group *group);

/* Takes what Parapet keeps in the attributes from the store: a series may have gone on since the group was opened. */
parapet_status pp_group_refresh_reserved(parapet_group *group);

#endif
