/* throttled.h - servers that are unequally fast: a store as slow as a disk with a given rate and latency. */
#ifndef PARAPET_TESTS_STORES_THROTTLED_H
#define PARAPET_TESTS_STORES_THROTTLED_H

#include "store/store.h"

/* How slow a disk is. It does one thing at a time: each operation takes the latency, and then its bytes at the rate.
 * Operations of several threads at once wait for each other. */
typedef struct pp_throttle {
    double bytes_per_second; /* 0: no limit */
    double latency_s;        /* of every operation, on locks too */
} pp_throttle;

/* Wraps a store (not freed with it) and makes it as slow as such a disk, which belongs to this process alone. Waiting
 * is sleeping. Over a store that is slower still, operations take what they take there. */
parapet_status pp_store_throttled_build(pp_store **store, pp_store *inner, const pp_throttle *throttle);

/* From now on it is this slow, for operations that have not begun; from any thread, at any time. */
void pp_store_throttled_set(pp_store *store, const pp_throttle *throttle);

#endif
