/* pair.h - two processes, each a job of its own without MPI, that use one store and meet in between.
 *
 * Nothing of the library has been called when they part. What one of them expects in vain fails the test. */
#ifndef PARAPET_TESTS_PAIR_H
#define PARAPET_TESTS_PAIR_H

#include <parapet_status.h>
#include <stdbool.h>

enum { PAIR_NUMBERS = 64 };

typedef struct pair {
    int job;          /* 0 or 1 */
    char store[600];  /* the url of the store, which does not exist at first */
    int64_t *numbers; /* what both see: PAIR_NUMBERS of them, zero at first */
} pair;

/* Waits for the other job. Ends the process if that does not come. */
void pair_meet(pair *own);

/* Counts a failure unless is_true, and says what was expected. */
void pair_expect(pair *own, bool is_true, const char *what);

/* Counts a failure unless the status is the one that is wanted, and says what it was. */
void pair_expect_status(pair *own, parapet_status status, parapet_status wanted, const char *call);
#define PAIR_OK(own, call) pair_expect_status((own), (call), PARAPET_OK, #call)
#define PAIR_STATUS(own, call, wanted) pair_expect_status((own), (call), (wanted), #call)

/* Runs both jobs to their end; the exit code of the program. */
int pair_run(void (*act)(pair *own));

#endif
