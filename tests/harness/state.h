/* state.h - what a user sees of a store: read through the public API, and compared with what may be seen.
 *
 * The stores of these tests hold at most the groups "", "g" and "g/h" and the arrays "a" and "g/b", all of them
 * two-dimensional and of int32, in shards of STATE_SHARD x STATE_SHARD. */
#ifndef PARAPET_TESTS_STATE_H
#define PARAPET_TESTS_STATE_H

#include <stdbool.h>

#include "store/store.h"

enum { STATE_EDGE = 16, STATE_SHARD = 6, STATE_FILL = 7, STATE_TEXT = 96, STATE_ARRAYS = 2, STATE_GROUPS = 3 };

typedef struct array_state {
    bool exists;
    bool is_sealed;
    int64_t shape[2];
    char units[STATE_TEXT]; /* attributes as JSON, "" when not there */
    char note[STATE_TEXT];
    int32_t values[STATE_EDGE][STATE_EDGE]; /* STATE_FILL outside the shape */
} array_state;

typedef struct group_state {
    bool exists;
    char title[STATE_TEXT];
} group_state;

typedef struct state {
    array_state arrays[STATE_ARRAYS];
    group_state groups[STATE_GROUPS];
} state;

extern const char *const state_array_paths[STATE_ARRAYS];
extern const char *const state_group_paths[STATE_GROUPS];

/* What must hold of every store, whatever happened to it: it opens, every array in it opens and a deep check
 * finds nothing torn and nothing missing, and consolidated metadata, where there is any, is not stale. */
void state_take(state *seen, pp_store *store);

typedef struct state_rule {
    bool whole;      /* an array is old or new as a whole, not shard by shard */
    bool may_vanish; /* an array may also be absent */
    bool values_old; /* nothing was published: every value is old */
} state_rule;

/* Whether every part of seen is as in old or as in new; problem says what is not. */
bool state_is_between(const state *seen, const state *old, const state *new, state_rule rule, char problem[256]);

bool state_equals(const state *a, const state *b, char problem[256]);

#endif
