/* calls.h - public calls made by all ranks together over one directory, where one rank's storage or memory can fail.
 *
 * Uses the bed and the scenarios of tests/fault: every rank has a bed of its own around the same directory. What is
 * stored before, and what may be seen afterwards, is known on rank 0 alone. */
#ifndef PARAPET_TESTS_CALLS_H
#define PARAPET_TESTS_CALLS_H

#include "launch.h"
#include "places.h"
#include "scenario.h"

enum { SHARED_MANY = 5, SHARED_STEPS = 2 };

/* The bed comes first: the calls of tests/fault get a pointer to it. */
typedef struct shared_bed {
    bed bed;
    pp_store *faulty; /* around which that of the bed only records */
    parapet_array *many[SHARED_MANY];
    char folder[600];
    long live; /* allocations of this rank before */
} shared_bed;

typedef struct parallel_call {
    scenario of;
    const scenario *alone; /* the same call of one process; NULL: there is none */
    bool opens_many;       /* the five arrays are open before */
    bool absorbs;          /* what storage fails to do once may be tried again, or told as unknown */
} parallel_call;

/* The calls; their number. */
const parallel_call *parallel_calls(int *count);

/* A read returned success and other values than were written; reset by whoever looks. */
extern bool parallel_has_wrong_values;

/* Where operations of storage begin; set before any bed is built. */
extern place_record *parallel_operations;

/* What may be seen of the five arrays, of the newest generation of a checkpoint with five of the same names, and of a
 * series of one array; beside the state of tests/fault. */
typedef struct shared_state {
    state main;
    bool exists[SHARED_MANY];
    int32_t values[SHARED_MANY][12];
    bool has_checkpoint;
    int32_t checkpoint[SHARED_MANY][12];
    int64_t steps;
    int32_t series[SHARED_STEPS][12];
} shared_state;

/* [rank 0] What is seen, and whether all of it is old or new. */
void shared_state_take(shared_state *seen, pp_store *store);
bool shared_state_is_between(const shared_state *seen, const shared_state *old, const shared_state *new,
                             state_rule rule, char problem[256]);

/* [collective] A fresh directory with the objects of the image, and a bed around it on every rank. */
void shared_bed_build(shared_bed *made, const launch *run, const image *before, const parapet_store_options *options);
/* [collective] Closes what is open, frees everything, removes the directory. Something left under a temporary name
 * is told on rank 0. */
void shared_bed_free(shared_bed *used, const launch *run, bool *has_leftover);

/* [collective] Asserts success. */
void shared_bed_open_handles(shared_bed *used, const parallel_call *call);
void shared_bed_close_handles(shared_bed *used);

/* Which handles are open, as bits. */
int64_t shared_bed_handles(const shared_bed *used);
/* Gives up the handles without closing: the ranks differ in what is open. */
void shared_bed_abandon(shared_bed *used);

#endif
