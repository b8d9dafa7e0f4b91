/* create.h - creates arrays, and makes room for them. */
#ifndef PARAPET_ARRAY_CREATE_H
#define PARAPET_ARRAY_CREATE_H

#include <parapet_arrays.h>
#include <stdbool.h>

#include "comm/comm.h"
#include "plan/homes.h"
#include "zarr/document.h"

/* As parapet_arrays_create. is_detached: the groups above are not changed; the caller takes care of them. */
parapet_status pp_arrays_create(parapet_array **arrays, parapet_store *store, const char *const *paths,
                                const parapet_array_spec *specs, int count, bool is_detached);

/* The document of a new array, which can be written and read; clear it even after a failure. */
parapet_status pp_array_draft_document(const parapet_store *store, const parapet_array_spec *spec,
                                       pp_array_document *document);

/* Rank 0: creates one array, for which it holds what has to be held, and waits where others hold it. A handle that
 * has an incarnation keeps it. The array is durable only after the next sync of directories. */
parapet_status pp_array_create_here(parapet_array *array, const parapet_array_spec *spec);

/* New arrays, of which nobody else knows before the caller has seen to the groups above them. */
typedef struct pp_definitions {
    parapet_store *store;
    const char *const *paths;
    const parapet_array_spec *specs;
    int count;
    pp_homes *homes; /* the same on all ranks, before and after */
} pp_definitions;

/* [local] Handles with documents, in memory only; call gets what must be equal on all ranks. Free the handles
 * (pp_arrays_free) even after a failure: they are never counted as open. */
parapet_status pp_arrays_define(parapet_array **arrays, const pp_definitions *given, pp_call *call);

/* [local] Stores those of the documents that are dealt to this rank, durably. */
parapet_status pp_arrays_store_documents(parapet_array *const *arrays, int count);

/* Makes sure that nothing is at the path of a new array, or refuses. */
parapet_status pp_array_make_room(parapet_array *array, const pp_array_document *document, bool overwrites);

/* Refuses anything that is not an array of ours, or that may not be overwritten. It is fine if there is nothing. */
parapet_status pp_array_check_replaceable(parapet_array *array, bool overwrites);

/* Takes the array away: its document becomes the old one, beside what is left of it, and from then on there is no
 * array, only objects without meaning. It may already be gone. */
parapet_status pp_array_take_away(parapet_array *array);

/* Removes the shards that the old document names. */
parapet_status pp_array_remove_old_shards(parapet_array *array);

/* Removes shards, of the old document and of this one, and what the library keeps beside them, below an array that
 * has no document. A copy that could be resumed is forgotten first. */
parapet_status pp_array_remove_remains(parapet_array *array, const pp_array_document *document);

/* Both, for an array that is stored; NULL: its document cannot be read. */
parapet_status pp_array_remove(parapet_array *array, const pp_array_document *document);

/* Whether an overwriting, a removal or a copy has left what lies below a path without a document. */
parapet_status pp_array_has_remains(parapet_array *array, bool *has_some);

/* The document of what was there, where it is known. Clear it even after a failure. */
parapet_status pp_array_old_document(parapet_array *array, pp_array_document *document, bool *is_known);

#endif
