/* places.h - where in the code something happens: told apart by the calls that lead there, the innermost ones. */
#ifndef PARAPET_TESTS_PLACES_H
#define PARAPET_TESTS_PLACES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store.h"

enum { PLACES_MOST = 1 << 15 };

/* The places where things happened, in the order in which they did. */
typedef struct place_record {
    bool is_on;
    atomic_long count;
    uint64_t places[PLACES_MOST]; /* what comes after them is not told apart any more */
} place_record;

/* From any thread. */
void place_record_add(place_record *record);

/* Around a store (not freed with it) whose operations are such things. */
pp_store *place_store_build(pp_store *inner, place_record *record);

/* Places that are known already. */
typedef struct place_set {
    uint64_t slots[4 * PLACES_MOST]; /* 0: free */
    long count;
} place_set;

/* The first of what was recorded, from there on, at a place that was not known yet, and is from now on; -1: none. */
long place_set_add_next(place_set *set, const place_record *record, long from);

#endif
