/* crash.h - a store that is left as a crash leaves it: nobody removes what a writer has begun. */
#ifndef PARAPET_TESTS_CRASH_H
#define PARAPET_TESTS_CRASH_H

#include "store/store.h"
#include "stores/faulty.h"

/* Changes a store that was just built: from the moment the plan fails forever, freeing a writer suspends it. The plan
 * is the caller's and outlives the store. */
void crash_prepare(pp_store *store, const pp_fault_plan *plan);

#endif
