/* throttle.h - a store as slow as a device: what is appended or read takes at least bytes / rate seconds, on every
 * rank for itself. */
#ifndef PARAPET_TESTS_THROTTLE_H
#define PARAPET_TESTS_THROTTLE_H

#include "store/store.h"

/* The inner store stays the caller's; bytes_per_second 0: as fast as it is. */
parapet_status throttle_store_build(pp_store **store, pp_store *inner, double bytes_per_second);

#endif
