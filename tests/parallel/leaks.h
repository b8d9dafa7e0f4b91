/* leaks.h - stands between the program and MPI (by MPI's profiling interface), and counts what is started and what is
 * finished: requests, communicators, datatypes; and the order of collective operations, which must be the same on all
 * ranks. At MPI_Finalize anything left is told on stderr, and the exit code is 3. */
#ifndef PARAPET_TESTS_LEAKS_H
#define PARAPET_TESTS_LEAKS_H

typedef struct leaks_counts {
    long requests_started, requests_completed; /* a request that is freed while under way is not completed */
    long messages_matched, messages_received;  /* of matched probes */
    long communicators_made, communicators_freed;
    long datatypes_made, datatypes_freed;
    long others; /* calls that make something this shim does not follow */
} leaks_counts;

leaks_counts leaks_now(void);

#endif
