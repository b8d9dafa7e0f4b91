/* array.h - handles of arrays: how they are built, opened, checked and freed, and what can be asked of them. */
#ifndef PARAPET_ARRAY_ARRAY_H
#define PARAPET_ARRAY_ARRAY_H

#include "array/rank0.h"
#include "plan/homes.h"
#include "transfer/context.h"

/* Handles without a document yet. Finish them even after a failure. */
parapet_status pp_arrays_build(parapet_array **arrays, parapet_store *store, const char *const *paths, int count);

typedef struct pp_arrays {
    parapet_store *store;
    parapet_array **arrays;
    int count;
} pp_arrays;

/* [collective] As parapet_arrays_open. is_detached: the groups above are not changed; the caller takes care of them.
 */
parapet_status pp_arrays_open(parapet_array **arrays, parapet_store *store, const char *const *paths, int count,
                              bool is_detached);

/* [collective] Begins the call verb(path), then rank 0 does work on a pp_arrays; the handles are counted on success,
 * freed on failure. mine is the status of this rank so far, call what must be equal on all ranks. */
parapet_status pp_arrays_rank0_do(const pp_arrays *arrays, const pp_call *call, parapet_status mine,
                                  pp_rank0_work work, const void *argument);

/* Counts the handles as open, or, after a failure, frees them; returns status. */
parapet_status pp_arrays_finish(const pp_arrays *made, parapet_status status);

/* Homes stay where they are as long as the array is open, also while it grows. homes is the same on all ranks, or the
 * others are told what was chosen. */
parapet_status pp_array_choose_homes(parapet_array *array, pp_homes *homes);

/* [local] The turn of a call that makes handles, which are NULL before it. */
parapet_status pp_arrays_take_turn(pp_turn *turn, parapet_array **arrays, const parapet_store *store, int count);

/* The words "verb(path)" and a digest of all paths. */
void pp_arrays_call(pp_call *call, const char *verb, const char *const *paths, int count);

parapet_status pp_array_check_usable(const parapet_array *array);
parapet_status pp_array_check_writable(const parapet_array *array);

/* Checks that there is a layout: arrays of variable-length elements can be opened and listed, but not read. */
parapet_status pp_array_check_readable(const parapet_array *array);

parapet_store *pp_array_store(const parapet_array *array);
const char *pp_array_path(const parapet_array *array);
const pp_array_document *pp_array_document_of(const parapet_array *array);
/* SHA-256 of zarr.json as it is stored. */
const unsigned char *pp_array_document_digest(const parapet_array *array);
const pp_layout *pp_array_layout(const parapet_array *array);
bool pp_array_is_sealed(const parapet_array *array);

/* Gives a handle that was built its document, in memory only; takes over the contents of document. An array that
 * cannot be read is refused. */
parapet_status pp_array_take_document(parapet_array *array, pp_array_document *document);

/* The same for an array that nobody here can decode: the handle says where it is, and how its objects are named. */
void pp_array_take_undecodable(parapet_array *array, pp_array_document *document);

/* Gives the first dimension this extent, in memory only: what is written next may reach that far. */
parapet_status pp_array_set_extent(parapet_array *array, int64_t extent);

/* Resets a handle to what it was when it was built. */
void pp_array_forget(parapet_array *array);

/* Handles that were built and never counted as open; takes NULL. */
void pp_array_free(parapet_array *array);
void pp_arrays_free(parapet_array **arrays, int count);

/* Everything a transfer of this array needs; fails when the array cannot be read. */
parapet_status pp_array_transfer_context(parapet_array *array, pp_transfer_context *context);

/* The same for reading on this rank alone, on one thread: MPI is not asked what threads it allows. */
parapet_status pp_array_local_context(parapet_array *array, pp_transfer_context *context);

#endif
