/* consolidate.h - consolidated metadata: the documents of everything below a group, kept in its zarr.json. */
#ifndef PARAPET_ARRAY_CONSOLIDATE_H
#define PARAPET_ARRAY_CONSOLIDATE_H

#include <stdbool.h>

#include "zarr/document.h"

/* Rank 0: prints the document of the group at path with the documents of everything below it; flat: only those of its
 * direct arrays. The budget of the store pays for the text; free it even after a failure. */
parapet_status pp_metadata_print(parapet_store *store, const char *path, bool is_flat,
                                 const pp_group_document *document, pp_text *text);

#endif
