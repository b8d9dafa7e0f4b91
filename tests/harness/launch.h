/* launch.h - what a program under the launcher needs: ranks that wait without spinning, failures counted over all
 * ranks, a watch over calls that do not return, a directory for stores. */
#ifndef PARAPET_TESTS_LAUNCH_H
#define PARAPET_TESTS_LAUNCH_H

#include <mpi.h>
#include <parapet_status.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct launch {
    int rank, ranks;
    char folder[512];     /* the same on all ranks; empty at first, removed at the end */
    uint64_t seed;        /* of the case that runs */
    const char *phase;    /* what it is doing */
    int failures;         /* of this case, on this rank */
    int64_t failed_cases; /* the same number on all ranks */
} launch;

/* Starts MPI with this thread level, and the watch. */
void launch_start(launch *run, int *argc, char ***argv, int thread_level);
/* Removes the folder and ends MPI; the program's exit code, the same on all ranks. */
int launch_finish(launch *run);

/* A case: within it every rank counts its failures; the end tells whether no rank had one. */
void launch_case_begin(launch *run, uint64_t seed);
bool launch_case_end(launch *run, const char *description);

/* A call that takes longer than some minutes is reported with this phase, and the program ends. */
void launch_phase(launch *run, const char *phase);

/* Whether the folder is on a file system in memory. */
bool launch_is_in_memory(const launch *run);

void launch_barrier(void);
/* Largest over all ranks. */
int64_t launch_largest(int64_t number);
/* Sums over all ranks, in place. */
void launch_sum(int64_t *numbers, int count);

/* [collective] Memory that all ranks have together, zeroed; it stays until the program ends. */
void *launch_share(const launch *run, size_t bytes);

/* Counts a failure unless is_true, and says what was expected. */
void launch_expect(launch *run, bool is_true, const char *what);

/* Takes what a collective call returned: the same status and the same sentence are expected on all ranks. */
parapet_status launch_agreed(launch *run, parapet_status status, const char *call);

/* The same, and success is expected. */
bool launch_ok(launch *run, parapet_status status, const char *call);

/* What a call that may be refused memory returned: raises the limit to the one that the refusal names, which has to
 * be enough at the first attempt. Returns whether the call is to be made again. was_refused: false at first. */
bool launch_raise_limit(launch *run, parapet_status status, int64_t *memory_bytes, bool *was_refused);

/* Both with the phase set before the call is made. */
#define LAUNCH_AGREED(run, call) (launch_phase((run), #call), launch_agreed((run), (call), #call))
#define LAUNCH_OK(run, call) (launch_phase((run), #call), launch_ok((run), (call), #call))

#endif
