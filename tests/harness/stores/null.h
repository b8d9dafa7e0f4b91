/* null.h - a disk that is infinitely fast, for benchmarks of what is before it: a store that drops all data. */
#ifndef PARAPET_TESTS_STORES_NULL_H
#define PARAPET_TESTS_STORES_NULL_H

#include "store/store.h"

/* Wraps a store (not freed with it). Small objects (documents), logs and locks are those of the inner store. What
 * this process has dropped it cannot open again: PARAPET_ERR_UNSUPPORTED; another process, with a store of its own,
 * does not find it. Listings show what the inner store has. */
parapet_status pp_store_null_build(pp_store **store, pp_store *inner);

#endif
