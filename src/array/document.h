/* document.h - documents of arrays: made from a spec, duplicated, and what can be derived from them. */
#ifndef PARAPET_ARRAY_DOCUMENT_H
#define PARAPET_ARRAY_DOCUMENT_H

#include <parapet_arrays.h>

#include "base/status.h"
#include "transfer/layout.h"

/* The document of a new array; clear it even after a failure. */
parapet_status pp_document_from_spec(pp_array_document *document, const parapet_array_spec *spec,
                                     int64_t expected_servers);

/* Wraps the document's chunks, and their codecs, in shards of grid_shape. */
parapet_status pp_document_wrap_in_shards(pp_array_document *document, const int64_t *chunks);

/* The codecs of a chunk: inside the shards, if there are any. */
const pp_chain_spec *pp_document_chunk_codecs(const pp_array_document *document);

/* A copy of the document that may be changed. */
parapet_status pp_array_document_duplicate(const pp_array_document *document, pp_array_document *copy);

/* What is derived from a document. */
typedef struct pp_derived {
    pp_layout layout;
    pp_failure *layout_failure; /* NULL: there is a layout */
    char *codec_words;
} pp_derived;

parapet_status pp_derived_init(pp_derived *derived, const parapet_store *store, const pp_array_document *document);
void pp_derived_clear(pp_derived *derived);

/* Replaces what the handle has; takes over the contents of derived. */
void pp_derived_adopt(pp_derived *derived, parapet_array *array);

#endif
