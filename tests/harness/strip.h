/* strip.h - a plain distributed array for tests: one dimension, as many elements for each rank, in one shard or in
 * several. Every rank begins some elements late, and so ends in the first shard of the next rank: of that one, at
 * least, every owner needs something of two ranks. */
#ifndef PARAPET_TESTS_STRIP_H
#define PARAPET_TESTS_STRIP_H

#include <parapet_arrays.h>

#include "launch.h"

enum { STRIP_EXTENT = 4096 /* of a rank */, STRIP_CHUNK = 512, STRIP_SHARDS = STRIP_EXTENT / STRIP_CHUNK };

/* What a rank holds. The last one has a part at the end and one at the beginning. Points into itself: do not copy it.
 */
typedef struct strip {
    int64_t starts[2][1], counts[2][1];
    int32_t values[STRIP_EXTENT];
    parapet_part parts[2];
    int part_count;
} strip;

void strip_deal(strip *dealt, int rank, int ranks);

/* Every element gets a value that tells its place and this generation, which is above 0. */
void strip_fill(strip *dealt, int32_t generation);

/* The generation that all elements have; 0: they are fill value; -1: they differ. */
int32_t strip_generation(const strip *dealt);

/* [collective] With so many shards for each rank: 1 to STRIP_SHARDS, which leaves something to take. */
parapet_status strip_create(parapet_array **array, parapet_store *store, const char *path, int ranks, int shards);

/* [collective] Fills and writes what this rank holds. */
parapet_status strip_write(parapet_array *array, const launch *run, int32_t generation);

/* [collective] Reads what the next rank wrote; its generation. */
parapet_status strip_read(parapet_array *array, const launch *run, int32_t *generation);

#endif
