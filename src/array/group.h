/* group.h - the handle of a group: whether it can be used, and its document. */
#ifndef PARAPET_ARRAY_GROUP_H
#define PARAPET_ARRAY_GROUP_H

#include "zarr/document.h"

parapet_status pp_group_check_usable(const parapet_group *group);
parapet_status pp_group_check_changeable(const parapet_group *group);

const pp_group_document *pp_group_document_of(const parapet_group *group);

/* Changes the document of a group, which here has no consolidated metadata, and prints it. */
typedef parapet_status (*pp_group_change)(parapet_group *group, pp_group_document *changed, const void *argument,
                                          pp_text *text);

/* Rank 0: changes the document in the store and in the handle, based on what is stored, while nobody else can change
 * it or a document below it through Parapet. */
parapet_status pp_group_edit(parapet_group *group, pp_group_change change, const void *argument);

#endif
