/* marked.h - a small state for tests of checkpoints: a field, a line and a number. Every value tells its place and
 * the mark that the state was put with, so that one look tells a state that is torn from one that is whole. */
#ifndef PARAPET_TESTS_MARKED_H
#define PARAPET_TESTS_MARKED_H

#include <parapet_arrays.h>

enum { MARKED_ARRAYS = 3, MARKED_ROWS = 12, MARKED_COLUMNS = 10, MARKED_LENGTH = 60 };

/* Points into itself: do not copy it. */
typedef struct marked {
    double field[MARKED_ROWS * MARKED_COLUMNS];
    int32_t line[MARKED_LENGTH];
    int64_t number;
    int64_t start[MARKED_ARRAYS][2], count[MARKED_ARRAYS][2];
    parapet_part parts[MARKED_ARRAYS];
    parapet_checkpoint_item items[MARKED_ARRAYS]; /* "field" of 4 shards, "line" of 2, "number" of 1 */
} marked;

/* What this rank puts. The last of several ranks has nothing of the field, and only it has the number. */
void marked_fill(marked *state, int rank, int ranks, int64_t mark);

/* All of it is wanted; nothing of it is there yet. */
void marked_want(marked *state);

/* The mark that all values have; -1: they differ. */
int64_t marked_mark(const marked *state);

/* [collective] Begins, puts the state and commits it; gives up after a failure to put. generation may be NULL. */
parapet_status marked_commit(marked *state, parapet_store *store, const char *path,
                             const parapet_checkpoint_options *options, int64_t *generation);

/* [collective] Opens a generation, gets the state and closes it. */
parapet_status marked_restore(parapet_store *store, const char *path, int64_t generation, int64_t *mark);

#endif
