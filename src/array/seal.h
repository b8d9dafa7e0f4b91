/* seal.h - seals of arrays: what they consist of, and the steps that put them in force and take them off. */
#ifndef PARAPET_ARRAY_SEAL_H
#define PARAPET_ARRAY_SEAL_H

#include "zarr/document.h"
#include "zarr/manifest.h"

parapet_status pp_seal_open(parapet_array *array);
parapet_status pp_seal_lookup_record(void *array, int64_t shard, pp_shard_record *record);
parapet_status pp_seal_write_head(parapet_array *array, const unsigned char before[PP_SHA256_BYTES],
                                  const unsigned char after[PP_SHA256_BYTES]);
/* The document is stored: from now on the head goes with it alone, and an older one is found out. */
parapet_status pp_seal_confirm(parapet_array *array, const pp_array_document *document);
/* Removes a head that is not in force any more. */
parapet_status pp_seal_remove_head(parapet_array *array);
/* Unseals if sealed: the first step of every write. */
parapet_status pp_seal_break(parapet_array *array);

/* The steps of sealing. First what an earlier seal or a shrinking has left is done away with; then the pages of the
 * head, which takes in their digests; last the head and the document, which is what seals. */
parapet_status pp_seal_remove_stale(parapet_array *array);
uint32_t pp_seal_page_records(const pp_manifest_head *head, int64_t page);
parapet_status pp_seal_write_page(parapet_array *array, int64_t page, const pp_shard_record *records);
parapet_status pp_seal_mark(parapet_array *array);

/* [collective] Seals arrays of one store that are not sealed; part of a call that has begun, same status on every
 * rank. The number of agreements does not depend on the number of arrays; shards are described and pages written by
 * all ranks (seal_many.c). */
parapet_status pp_arrays_seal(parapet_array *const *arrays, int count);

/* [collective] Compares every shard of sealed arrays with the manifest: existence, length and the checksum of its
 * index, each rank some of them; part of a call that has begun, same status on every rank (seal_verify.c). */
parapet_status pp_arrays_verify(parapet_array *const *arrays, int count);

/* Shards of many arrays are dealt to the servers in turn: the first of an array that is this rank's, with so many
 * shards in the arrays before it; INT64_MAX: none, this rank is no server. */
int64_t pp_seal_first_own(const parapet_store *store, int64_t before);

#endif
