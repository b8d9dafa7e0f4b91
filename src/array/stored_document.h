/* stored_document.h - writes an array's document to the store; on one rank alone. */
#ifndef PARAPET_ARRAY_STORED_DOCUMENT_H
#define PARAPET_ARRAY_STORED_DOCUMENT_H

#include "base/sha256.h"
#include "store/store.h"
#include "zarr/document.h"

/* What happens to an array's seal with its next document. If the array is sealed before or after, a head that belongs
 * to both documents is written first. */
typedef enum pp_seal_change {
    PP_SEAL_KEEP, /* sealed as before, or not; a head that is not in force is removed */
    PP_SEAL_SET,  /* the document says that the array is sealed; its pages are written */
    PP_SEAL_OFF   /* the document no longer says so */
} pp_seal_change;

/* Writes the first document of a new array, exclusively; takes over the contents of document, even on failure. It is
 * durable only after the next sync of directories. */
parapet_status pp_array_store_first_document(parapet_array *array, pp_array_document *document);

/* Changes a copy of the document. */
typedef parapet_status (*pp_document_change)(parapet_array *array, pp_array_document *changed, const void *argument);

/* Changes the document in the store and in the handle: based on what is stored, not on what the handle remembers, and
 * while nobody else can change it. Changes that others made since are kept. */
parapet_status pp_array_edit(parapet_array *array, pp_document_change change, const void *argument,
                             pp_seal_change seal);

/* The same for a caller that holds the array for an edit and has refreshed the handle. */
parapet_status pp_array_edit_held(parapet_array *array, pp_document_change change, const void *argument,
                                  pp_seal_change seal);

/* The handle knows the SHA-256 that its document has when it is written, by whichever rank. */
parapet_status pp_array_note_digest(parapet_array *array);

/* The SHA-256 of the document that the array is about to have: without seal or trim mark, and with this extent of the
 * first dimension. */
parapet_status pp_array_digest_extended(const parapet_array *array, int64_t extent,
                                        unsigned char digest[PP_SHA256_BYTES]);

/* Writes the document that the handle has, and notes its digest. It is not durable before the store syncs its
 * directories. */
parapet_status pp_array_write_document(parapet_array *array, pp_publish_mode mode);

#endif
