/* consolidate.h - consolidated metadata: the documents of everything below a group, kept in its zarr.json. */
#ifndef PARAPET_ARRAY_CONSOLIDATE_H
#define PARAPET_ARRAY_CONSOLIDATE_H

#include <stdbool.h>

#include "base/sha256.h"
#include "zarr/document.h"

/* Who is shown each document that was gathered: its path below the group, and its digest. Not OK: ends gathering. */
typedef struct pp_gathered {
    parapet_status (*visit)(void *context, const char *name, const unsigned char digest[PP_SHA256_BYTES]);
    void *context;
} pp_gathered;

/* Rank 0: prints the document of the group at path with the documents of everything below it; flat: only those of its
 * direct arrays. The budget of the store pays for the text; free it even after a failure. gathered may be NULL. */
parapet_status pp_metadata_print(parapet_store *store, const char *path, bool is_flat,
                                 const pp_group_document *document, const pp_gathered *gathered, pp_text *text);

/* [collective] As parapet_group_consolidate, for an append to this group, or to one above, that is about to end. */
parapet_status pp_group_consolidate_appended(parapet_group *group);

#endif
