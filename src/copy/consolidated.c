/* consolidated.c - consolidated metadata of a source: what it has the copy gets. What the target had around the copy
 * is the matter of array/reconsolidate.h. */
#include "copy/consolidated.h"

#include "array/group.h"
#include "array/node.h"

/* Zarr v2 has it in an object of its own. */
parapet_status pp_copy_consolidated_is_there(parapet_store *store, const parapet_group *group, const char *path,
                                             bool *is_there)
{
    const pp_group_document *document = pp_group_document_of(group);
    *is_there = document->consolidated_metadata != NULL;
    return document->zarr_format == 2 ? pp_node_has_object(store, path, ".zmetadata", is_there) : PARAPET_OK;
}
