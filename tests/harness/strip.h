/* strip.h - a plain distributed array for tests: one dimension, one shard a rank. Rank r holds three quarters of
 * shard r and a quarter of the next one, so that every owner needs something of another rank. */
#ifndef PARAPET_TESTS_STRIP_H
#define PARAPET_TESTS_STRIP_H

#include "launch.h"

enum { STRIP_SHARD = 4096, STRIP_CHUNK = 512 };

/* [collective] */
parapet_status strip_create(parapet_array **array, parapet_store *store, const char *path, int ranks);

/* [collective] Every element gets a value that tells its place and this generation, which is above 0. */
parapet_status strip_write(parapet_array *array, const launch *run, int32_t generation);

/* [collective] Reads what the next rank wrote. The generation that all of its elements have; 0: they are fill value;
 * -1: they differ. */
parapet_status strip_read(parapet_array *array, const launch *run, int32_t *generation);

#endif
