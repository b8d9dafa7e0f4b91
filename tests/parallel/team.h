/* team.h - public calls made by all ranks together over one directory, where one rank's storage or memory can fail.
 *
 * Uses the bed and the scenarios of tests/fault: every rank has a bed of its own around the same directory. What is
 * stored before, and what may be seen afterwards, is known on rank 0 alone. */
#ifndef PARAPET_TESTS_TEAM_H
#define PARAPET_TESTS_TEAM_H

#include "launch.h"
#include "scenario.h"

enum { TEAM_MANY = 5, TEAM_STEPS = 2 };

/* The bed comes first: the calls of tests/fault get a pointer to it. */
typedef struct team {
    bed bed;
    parapet_array *many[TEAM_MANY];
    char folder[600];
    long live; /* allocations of this rank before */
} team;

typedef struct team_call {
    scenario of;
    const scenario *alone; /* the same call of one process; NULL: there is none */
    bool opens_many;       /* the five arrays are open before */
    bool absorbs;          /* what storage fails to do once may be tried again, or told as unknown */
} team_call;

/* The calls; their number. */
const team_call *team_calls(int *count);

/* A read returned success and other values than were written; reset by whoever looks. */
extern bool team_has_wrong_values;

/* What may be seen of the five arrays, of the newest generation of a checkpoint with five of the same names, and of a
 * series of one array; beside the state of tests/fault. */
typedef struct team_state {
    state main;
    bool exists[TEAM_MANY];
    int32_t values[TEAM_MANY][12];
    bool has_checkpoint;
    int32_t checkpoint[TEAM_MANY][12];
    int64_t steps;
    int32_t series[TEAM_STEPS][12];
} team_state;

/* [rank 0] What is seen, and whether all of it is old or new. */
void team_state_take(team_state *seen, pp_store *store);
bool team_state_is_between(const team_state *seen, const team_state *old, const team_state *new, state_rule rule,
                           char problem[256]);

/* [collective] A fresh directory with the objects of the image, and a bed around it on every rank. */
void team_build(team *made, const launch *run, const image *before, const parapet_store_options *options);
/* [collective] Closes what is open, frees everything, removes the directory. Something left under a temporary name
 * is told on rank 0. */
void team_free(team *used, const launch *run, bool *has_leftover);

/* [collective] Asserts success. */
void team_open_handles(team *used, const team_call *call);
void team_close_handles(team *used);

/* Which handles are open, as bits. */
int64_t team_handles(const team *used);
/* Gives up the handles without closing: the ranks differ in what is open. */
void team_abandon(team *used);

#endif
