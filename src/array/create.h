/* create.h - new arrays, and room for them. */
#ifndef PARAPET_ARRAY_CREATE_H
#define PARAPET_ARRAY_CREATE_H

#include <stdbool.h>

#include "zarr/document.h"

/* As parapet_arrays_create. is_apart: the groups above are left alone, the caller takes care of them. */
parapet_status pp_arrays_create(parapet_array **arrays, parapet_store *store, const char *const *paths,
                                const parapet_array_spec *specs, int count, bool is_apart);

/* Makes sure that nothing is at the path of a new array, or refuses. */
parapet_status pp_array_make_room(parapet_array *array, const pp_array_document *document, bool overwrites);

/* Removes shards and everything else below an array that has no document. */
parapet_status pp_array_remove_remains(parapet_array *array, const pp_array_document *document);

#endif
