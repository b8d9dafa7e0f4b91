/* race.h - what two jobs do at once in one race, drawn from its seed, and what
 * they tell of it. */
#ifndef PARAPET_TESTS_RACE_H
#define PARAPET_TESTS_RACE_H

#include <stdbool.h>
#include <stdint.h>

#include "strategy.h"

/* Everything that a job can do to a store. */
typedef enum operation {
    OP_CREATE,
    OP_WRITE_SHARDS,
    OP_WRITE_CHUNKS,
    OP_RESIZE,
    OP_ATTRIBUTE,
    OP_CONSOLIDATE,
    OP_SEAL,
    OP_OVERWRITE,
    OP_COPY,
    OP_RESUME,
    OP_APPEND,
    OP_SERIES_OPEN,
    OP_COMMIT,
    OP_RESTORE,
    OP_COLLECT,
    OP_CHECK,
    OP_READ,
    OP_REMOVE,
    OPERATIONS
} operation;

const char *operation_name(operation of);

/* An array "a" in shards of two chunks, or the lack of one; a series "s";
 * checkpoints "c"; the source "source" of copies, which nobody changes; "t",
 * into which "a" may be copied. */
enum {
    LENGTH = 64,
    LENGTH_GROWN = 96,
    LENGTH_SHRUNK = 32,
    CHUNK = 8,
    SHARD = 16,
    STEPS_MOST = 512,
    GENERATIONS_MOST = 16
};

/* How one job does its part. */
typedef struct part_of_race {
    operation does;
    int64_t mark;    /* what it writes, other than all that was written before */
    int64_t late_us; /* behind the common start */
    bool is_aged;    /* its handle was opened before the start */
    bool is_wide;    /* writes overlap those of the other job; an array shrinks; a
                        copy overwrites; all of keep is 1 */
    bool is_source;  /* a copy is of "a" into "t", not of "source" into "a" */
    const strategy *with;
} part_of_race;

typedef struct race {
    uint64_t seed;
    part_of_race jobs[2];
    bool has_array, is_sealed, is_consolidated, is_begun; /* at the start; begun: a copy into "a" was interrupted */
} race;

/* Race number `number` of a pair of operations. */
race race_draw(uint64_t seed, operation first, operation second, int64_t number);

/* What a job was told, and what it has seen. */
typedef struct outcome {
    parapet_status status;
    int64_t length, values[LENGTH_GROWN]; /* read */
    int64_t generation, mark;             /* committed or restored */
    bool has_removed;                     /* an array, not what is left of one */
    int64_t alarms, strays;               /* of a check */
    char sentence[512];
} outcome;

/* One rank of a job. */
typedef struct actor {
    parapet_store *store;
    int rank, ranks;
    int job;
    parapet_array *aged; /* NULL: it is opened when it is needed */
} actor;

/* [collective] Does the part of a job. The store is open for change. */
void operation_run(const actor *own, const race *run, outcome *told);

/* [collective] Makes steps, generations and parts of the same kind for the
 * preparation of a store. */
parapet_status operation_append(const actor *own, int64_t mark);
parapet_status operation_commit(const actor *own, int64_t mark, int64_t keep, int64_t *generation);
parapet_status operation_restore(parapet_store *store, int64_t generation, outcome *told);
parapet_status operation_copy(parapet_store *store, const part_of_race *part, bool resumes);
parapet_status operation_check_all(parapet_store *store, outcome *told);

#endif
