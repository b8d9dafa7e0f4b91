/* copy_stored.h - what is stored of an array, chunk by chunk, read with plain file calls: an index at the end of each
 * shard, 16 bytes a chunk and a checksum. The order of chunks inside a shard does not show. */
#ifndef PARAPET_TESTS_COPY_STORED_H
#define PARAPET_TESTS_COPY_STORED_H

#include "copy_case.h"

typedef struct copy_stored {
    int64_t chunk_count;
    uint64_t *digests; /* of the encoded bytes of all chunks of the array in C order; 0: not stored */
    uint64_t metadata; /* of zarr.json */
    int64_t stored_chunks, objects;
} copy_stored;

/* false: something is wrong with the files, said on stderr. */
bool copy_stored_take(copy_stored *taken, const char *path, int ndim, const copy_layout *layout);
void copy_stored_clear(copy_stored *taken);

/* Whether both have the same chunks and metadata; says on stderr what differs. */
bool copy_stored_equals(const copy_stored *left, const copy_stored *right);

#endif
