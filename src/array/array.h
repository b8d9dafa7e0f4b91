/* array.h - handles of arrays: built, opened, checked, freed. */
#ifndef PARAPET_ARRAY_ARRAY_H
#define PARAPET_ARRAY_ARRAY_H

#include "array/rank0.h"
#include "transfer/context.h"

/* Handles without a document yet. Finish them also after a failure. */
parapet_status pp_arrays_build(parapet_array **arrays, parapet_store *store, const char *const *paths, int count);

typedef struct pp_arrays {
    parapet_store *store;
    parapet_array **arrays;
    int count;
} pp_arrays;

/* [collective] Begins the call verb(path), then rank 0 does work on a pp_arrays; the handles are counted on success,
 * freed on failure. mine is what this rank has to say beforehand, call what it has to compare. */
parapet_status pp_arrays_rank0_do(const pp_arrays *arrays, const pp_call *call, parapet_status mine,
                                  pp_rank0_work work, const void *argument);

/* The words "verb(path)" and a digest of all paths. */
void pp_arrays_call(pp_call *call, const char *verb, const char *const *paths, int count);

parapet_status pp_array_check_usable(const parapet_array *array);
parapet_status pp_array_check_writable(const parapet_array *array);

/* Handles that were built and never counted as open; takes NULL. */
void pp_array_free(parapet_array *array);

/* Everything a transfer of this array needs; fails when the array cannot be read. */
parapet_status pp_array_transfer_context(parapet_array *array, pp_transfer_context *context);

#endif
