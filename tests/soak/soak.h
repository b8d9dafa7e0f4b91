/* soak.h - one job of the soak: a script of operations that are drawn from a seed, each noted before it begins and
 * behind its end. What a job can do, and what a store holds, is that of two_jobs. */
#ifndef PARAPET_TESTS_SOAK_H
#define PARAPET_TESTS_SOAK_H

#include "world.h"

typedef struct soak_script {
    const char *folder; /* "job0" or "job1": pids/, and notes: what is begun and told, one JSON object in a line */
    const char *url;
    int job;
    uint64_t seed;
    int64_t mark;         /* of the first operation; each has its own */
    int64_t count;        /* operations */
    int64_t operations;   /* those that are drawn from: bit n for operation n */
    int stopping_in_1000; /* how many are told to stop half way */
} soak_script;

/* Starts MPI, runs the script, and ends it. The exit code is 0 whatever the calls have said. */
int soak_job_run(const soak_script *script, int *argc, char ***argv);

/* One line on stdout with what is in the store. */
void soak_world_print(const world *of);

#endif
