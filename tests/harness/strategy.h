/* strategy.h - every way in which the servers of a job may share the work. What must hold whatever goes wrong (a rank
 * that fails, does not come or asks to stop, leaks, memory, two jobs) is tried with each of them: a suite goes
 * through the list, and never names one. A new way is a row of the table in strategy.c, of which CMake reads the
 * names. */
#ifndef PARAPET_TESTS_STRATEGY_H
#define PARAPET_TESTS_STRATEGY_H

#include <parapet.h>
#include <stdbool.h>

typedef struct strategy {
    const char *name;
    parapet_owners owners;
    parapet_sharing sharing;
    bool keeps_descriptions;
    bool has_weights; /* a file tells that servers differ */
    bool has_cache;   /* servers keep chunks */
    bool is_uneven;   /* the first rank takes its time, so that others have something to take from it */
} strategy;

/* Those of this run, in order: the first one behind NULL, and behind the last one NULL. All of them; or as
 * PARAPET_TEST_STRATEGY says: only the one that it names, or with "1/3" every third one from the second on. */
const strategy *strategy_next(const strategy *before);

/* Its number in the list, which a run that takes only some of them does not change; how many there are; the one of a
 * number, counted round. */
int strategy_number(const strategy *of);
int strategy_count(void);
const strategy *strategy_of(int number);

/* Whether PARAPET_TEST_STRATEGY names one. */
bool strategy_is_alone(void);

/* How one rank goes about its work. */
typedef struct strategy_pace {
    bool is_slow;
    int64_t done_bytes;
} strategy_pace;

/* Fills in owners, sharing, descriptions, weights, cache and progress, and threads where it is uneven; servers has to
 * be the number of ranks, or 0 where that means the same. The pace and the path stay the caller's while the options
 * are used; rank 0 makes the file of weights there, unless there is one. */
void strategy_set(const strategy *with, parapet_store_options *options, strategy_pace *pace, const char *weights_path,
                  int rank, int ranks);

/* The progress that it sets, with the pace as its context: for those that have to do more there. */
int strategy_progress(void *pace, int64_t done_bytes, int64_t total_bytes);

/* Shards that this rank has taken from others so far. */
int64_t strategy_taken(parapet_store *store);

#endif
