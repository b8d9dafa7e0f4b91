/* consolidate.h - consolidated metadata: what a group's zarr.json holds of everything below it. */
#ifndef PARAPET_ARRAY_CONSOLIDATE_H
#define PARAPET_ARRAY_CONSOLIDATE_H

#include <stdbool.h>

#include "zarr/json.h"

/* The documents of everything below a group; flat: of its own arrays. Free it also after a failure. */
parapet_status pp_metadata_gather(parapet_store *store, const char *path, bool is_flat, pp_json **consolidated);

#endif
