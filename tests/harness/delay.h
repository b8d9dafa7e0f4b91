/* delay.h - a store that takes its time: every operation of the store it wraps, except those on locks, begins so much
 * later, or when something else has happened, and is reported when it is over. */
#ifndef PARAPET_TESTS_DELAY_H
#define PARAPET_TESTS_DELAY_H

#include <stdatomic.h>
#include <stdbool.h>

#include "store/store.h"

/* From any thread. */
typedef void (*delay_hook)(void *context, const char *operation, const char *key);

typedef struct delay_plan {
    double seconds;        /* before every operation */
    const char *operation; /* only before this one ("stage"); NULL: before every one */
    delay_hook wait;       /* returns when such an operation may begin; may be NULL */
    delay_hook record;     /* an operation, of any kind, is over; may be NULL */
    void *context;
} delay_plan;

/* The inner store and the plan stay the caller's. */
parapet_status delay_store_build(pp_store **store, pp_store *inner, const delay_plan *plan);

/* Until it is set; false: in vain for so long. It may be in memory that ranks share. */
bool delay_until(const atomic_bool *is_due, double seconds);
#define DELAY_PATIENCE_SECONDS 60 /* for what must come */

#endif
