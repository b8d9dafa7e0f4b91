/* seal_objects.h - the head and the pages of a seal, as objects of the store. */
#ifndef PARAPET_ARRAY_SEAL_OBJECTS_H
#define PARAPET_ARRAY_SEAL_OBJECTS_H

#include "transfer/context.h"

/* Finds out whether an array that is being opened is sealed, and whether its document is the one that was sealed. */
parapet_status pp_seal_open(parapet_array *array);

/* Shows what the seal says about a shard, as a pp_seal_lookup; array is a parapet_array. */
parapet_status pp_seal_lookup_visit(void *array, int64_t shard, pp_seal_visitor visit, void *subject);

/* The same as a copy, without checksums. */
parapet_status pp_seal_lookup_record(parapet_array *array, int64_t shard, pp_shard_record *record);

/* Pages that were kept are read again when they are needed. */
void pp_seal_forget_pages(parapet_array *array);

/* Writes the head of a document that nobody but the caller changes; durable only after the next sync of directories.
 */
parapet_status pp_seal_publish_head(parapet_array *array, const unsigned char document[PP_SHA256_BYTES]);

/* Writes the head, durably: it belongs both to the document before a change and to the one after it. */
parapet_status pp_seal_write_head(parapet_array *array, const unsigned char before[PP_SHA256_BYTES],
                                  const unsigned char after[PP_SHA256_BYTES]);

/* Writes a page, or leaves it to the head, and puts its digest into the head. */
parapet_status pp_seal_write_page(parapet_array *array, int64_t page, const pp_shard_record *records);

/* Removes a head that is no longer in force; the second also removes the pages. */
parapet_status pp_seal_remove_head(parapet_array *array);
parapet_status pp_seal_remove_objects(parapet_array *array);

#endif
