/* delay.h - a store that takes its time: every operation of the store it wraps, except those on locks, begins so much
 * later, and is told when it is over. */
#ifndef PARAPET_TESTS_DELAY_H
#define PARAPET_TESTS_DELAY_H

#include "store/store.h"

typedef struct delay_plan {
    double seconds;                                       /* before every operation */
    const char *operation;                                /* only before this one ("stage"); NULL: before every one */
    void (*record)(void *context, const char *operation); /* an operation is over; from any thread; may be NULL */
    void *context;
} delay_plan;

/* The inner store and the plan stay the caller's. */
parapet_status delay_store_build(pp_store **store, pp_store *inner, const delay_plan *plan);

#endif
