/* seal.h - seals of arrays: the steps that set and remove them. */
#ifndef PARAPET_ARRAY_SEAL_H
#define PARAPET_ARRAY_SEAL_H

#include <parapet_types.h>

#include "base/status.h"

/* Unseals if sealed, on rank 0. */
parapet_status pp_seal_break(parapet_array *array);

/* The same for a job that shares the array with other jobs that write, of which one may be faster: the last
 * step of a write before its shards become visible. Until then old shards are compared with the seal. */
parapet_status pp_seal_break_shared(parapet_array *array);

/* The steps of sealing, on rank 0. First, what an earlier seal or a shrinking has left is removed; then the pages are
 * written, whose digests go into the head; last the head and the document, which seals the array. */
parapet_status pp_seal_remove_stale(parapet_array *array);
parapet_status pp_seal_mark(parapet_array *array);

/* The last step where no other job knows of the array yet, so that a crash between head and document does no
 * harm: both are durable after the next sync of directories. */
parapet_status pp_seal_mark_apart(parapet_array *array);

/* [collective] Seals arrays of one store that are not sealed; part of a call that has begun, same status on every
 * rank. The number of agreements does not depend on the number of arrays; shards are described and pages written by
 * all ranks (seal_many.c). */
parapet_status pp_arrays_seal(parapet_array *const *arrays, int count);

/* [collective] The same for new arrays that no other job knows of, between two agreements: failure is that of this
 * rank so far, and with one it only takes part. What was published is durable afterwards, if nothing failed, and the
 * handle on rank 0 has the digest of the document. */
void pp_arrays_seal_apart(parapet_array *const *arrays, int count, pp_failure *failure);

/* [collective] Compares every shard of sealed arrays with the manifest (existence, length and the checksum of its
 * index), and shares the work among the ranks; part of a call that has begun, same status on every rank
 * (seal_verify.c). */
parapet_status pp_arrays_verify(parapet_array *const *arrays, int count);

/* [local] If the array is sealed, compares the shards that are kept in part when it is cut to this shape in the
 * marked dimensions with the seal, contents included: before the seal is broken, since afterwards there is
 * nothing to compare them with (seal_verify.c). */
parapet_status pp_seal_verify_edge(parapet_array *array, const int64_t *shape, const bool *is_cut);

/* Shards of many arrays are dealt to the servers in turn. Returns the first shard of an array that belongs to this
 * rank, if the arrays before it have this many shards; INT64_MAX: none, this rank is not a server. */
int64_t pp_seal_first_own(const parapet_store *store, int64_t before);

#endif
