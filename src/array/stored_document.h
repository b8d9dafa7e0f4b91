/* stored_document.h - an array's document goes to the store; on rank 0 alone. */
#ifndef PARAPET_ARRAY_STORED_DOCUMENT_H
#define PARAPET_ARRAY_STORED_DOCUMENT_H

#include "zarr/document.h"

/* What becomes of an array's seal with its next document. Wherever the array is sealed before or after, a head that
 * goes with both documents is written first. */
typedef enum pp_seal_change {
    PP_SEAL_KEEP, /* sealed as before, or not; a head that is not in force goes */
    PP_SEAL_SET,  /* the document says sealed, and its pages are written */
    PP_SEAL_OFF   /* the document does not say so any more */
} pp_seal_change;

/* Replaces the array's document in the store and in the handle; takes over the contents of document, also on
 * failure. */
parapet_status pp_array_store_document(parapet_array *array, pp_array_document *document, pp_seal_change seal);

/* Writes the document that the handle has. It is not durable before the store settles. */
parapet_status pp_array_write_document(parapet_array *array);

#endif
