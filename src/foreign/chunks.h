/* chunks.h - the chunks of a foreign array that is stored chunk by chunk: where each is, and which of the filters of
 * the array were left out when it was stored. Chunks that are not listed hold the fill value. */
#ifndef PARAPET_FOREIGN_CHUNKS_H
#define PARAPET_FOREIGN_CHUNKS_H

#include "foreign/beyond.h"

typedef struct pp_chunk_place {
    uint64_t index; /* of its position in the grid, in C order */
    uint64_t start;
    uint32_t bytes;
    uint32_t left_out; /* bit i: filter i, the codec after bytes being 0 */
} pp_chunk_place;

typedef struct pp_foreign_chunks {
    pp_chunk_place *list; /* by index */
    size_t count, capacity;
    unsigned char *data; /* the bytes of the only chunk, if they are not in the file at an offset; owned */
    uint64_t stored_bytes;
    pp_foreign_beyond beyond; /* whose extents the caller sets */
    /* Where some chunks lack filters, or have something else beyond the end of the array, readers see all chunks
     * decoded. */
    bool is_decoded;
    size_t chunk_bytes; /* of a decoded chunk */
    pp_chain_spec filters;
} pp_foreign_chunks;

void pp_foreign_chunks_clear(pp_foreign_chunks *chunks);

/* Adds one; their indices ascend. */
parapet_status pp_foreign_chunks_add(pp_foreign_chunks *chunks, const pp_chunk_place *place);

/* Checks all of them against the document of the array and the length of the file. If they have to be decoded, the
 * codecs move from the document to the chunks. */
parapet_status pp_foreign_chunks_finish(pp_foreign_chunks *chunks, pp_array_document *document, uint64_t file_bytes);

/* The same for the texts of an array, which are one chunk or none. */
parapet_status pp_foreign_chunks_finish_texts(const pp_foreign_chunks *chunks, const pp_array_document *document);

/* The first chunk whose index is not below this one; chunks->count: none. */
size_t pp_foreign_chunks_search(const pp_foreign_chunks *chunks, uint64_t index);

/* Decodes the bytes of one chunk into memory of chunk_bytes, which is freed with pp_free. */
parapet_status pp_foreign_chunks_decode(const pp_foreign_chunks *chunks, const pp_chunk_place *place, pp_bytes stored,
                                        unsigned char **decoded);

#endif
