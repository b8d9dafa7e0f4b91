/* scenario.h - one public call each: what is stored before it, which handles are open, and the call itself.
 *
 * A bed holds the pieces of one run: a store of objects, the faulty store around it, and the handles over that. */
#ifndef PARAPET_TESTS_SCENARIO_H
#define PARAPET_TESTS_SCENARIO_H

#include <parapet_store.h>

#include "image.h"
#include "state.h"

#include "array/array_handle.h"
#include "array/open.h"
#include "stores/faulty.h"

typedef struct bed {
    pp_store *inner;  /* where the objects are */
    pp_store *faulty; /* around it */
    pp_fault_plan plan;
    parapet_store_options options;
    parapet_mode mode;
    parapet_store *store;
    parapet_group *group;
    parapet_array *array;
} bed;

typedef enum bed_opens { OPENS_NOTHING, OPENS_STORE, OPENS_GROUP, OPENS_ARRAY } bed_opens;

typedef enum scenario_kind {
    SCENARIO_READS,    /* the store is open for reading only */
    SCENARIO_WRITES,   /* values may change only once the first shard is published */
    SCENARIO_REPLACES, /* an array is old, new or, in between, absent */
    SCENARIO_CHANGES   /* anything else */
} scenario_kind;

typedef struct scenario {
    const char *name;
    void (*prepare)(bed *bed);       /* what is stored before; NULL: nothing */
    parapet_status (*run)(bed *bed); /* the call; what it opens goes into the bed */
    bed_opens opens;                 /* what is open before the call: the root group, the array "a" */
    scenario_kind kind;
    void (*meanwhile)(parapet_store *other); /* what another job does once the handles are open; NULL: nothing */
} scenario;

extern const scenario scenarios[];
extern const int scenario_count;

const scenario *scenario_find(const char *name);

/* The bed over an empty store of objects, which it owns. */
void bed_build(bed *bed, pp_store *inner);
/* Closes what is open and frees everything. */
void bed_free(bed *bed);

/* Opens the handles that the scenario wants, and lets them age; close_handles closes whatever is open. */
void bed_open_handles(bed *bed, const scenario *of);
void bed_close_handles(bed *bed);

/* What is stored before the scenario: made once. */
void scenario_prepare(const scenario *of, image *before);

/* What is seen before and after the scenario when nothing fails. */
void scenario_bounds(const scenario *of, const image *before, state *old, state *new);

/* Writes all of the array with the values of a generation. */
parapet_status bed_write_all(parapet_array *array, int32_t generation);

#endif
