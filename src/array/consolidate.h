/* consolidate.h - consolidated metadata: the documents of everything below a group, kept in its zarr.json. */
#ifndef PARAPET_ARRAY_CONSOLIDATE_H
#define PARAPET_ARRAY_CONSOLIDATE_H

#include <stdbool.h>

#include "zarr/json.h"

/* Gathers the documents of everything below a group; flat: only those of its direct arrays. Free it even after a
 * failure. */
parapet_status pp_metadata_gather(parapet_store *store, const char *path, bool is_flat, pp_json **consolidated);

#endif
