/* strip.h - a plain distributed array for tests: one dimension, as many elements for each rank, in one shard or in
 * several. Every rank begins some elements late, and so ends in the first shard of the next rank: of that one, at
 * least, every owner needs something of two ranks. */
#ifndef PARAPET_TESTS_STRIP_H
#define PARAPET_TESTS_STRIP_H

#include "launch.h"

enum { STRIP_EXTENT = 4096 /* of a rank */, STRIP_CHUNK = 512, STRIP_SHARDS = STRIP_EXTENT / STRIP_CHUNK };

/* [collective] With so many shards for each rank: 1 to STRIP_SHARDS, which leaves something to take. */
parapet_status strip_create(parapet_array **array, parapet_store *store, const char *path, int ranks, int shards);

/* [collective] Every element gets a value that tells its place and this generation, which is above 0. */
parapet_status strip_write(parapet_array *array, const launch *run, int32_t generation);

/* [collective] Reads what the next rank wrote. The generation that all of its elements have; 0: they are fill value;
 * -1: they differ. */
parapet_status strip_read(parapet_array *array, const launch *run, int32_t *generation);

#endif
