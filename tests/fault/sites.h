/* sites.h - runs a scenario with one failure injected, and looks at everything that must hold afterwards. */
#ifndef PARAPET_TESTS_SITES_H
#define PARAPET_TESTS_SITES_H

#include <stdatomic.h>

#include "scenario.h"

typedef enum fault_kind { FAULT_STORAGE, FAULT_MEMORY } fault_kind;

/* Where and how to fail. */
typedef struct fault_point {
    fault_kind kind;
    long at; /* operation or allocation, counted from 0 */
    bool forever;
    bool after;            /* storage: the operation takes effect first */
    bool torn;             /* storage: a failing append writes half */
    parapet_status status; /* storage */
} fault_point;

/* A scenario that was prepared, and what its runs have shown. */
typedef struct site_test {
    const scenario *of;
    image before;
    state old, new;
    pp_store *(*build_inner)(void); /* NULL: a memory store */
    void (*check_inner)(void);      /* after every run, with all handles closed; may be NULL */
    int64_t threads;
    parapet_io_thread io_thread;
    long first_shard_publish; /* operations before the first shard becomes visible; -1: not known */
    long sites[2];            /* by kind, with one thread */
    long runs;
} site_test;

void site_test_build(site_test *test, const scenario *of);
void site_test_free(site_test *test);

/* One run; returns whether the point was reached. Fails the test when anything is not as promised. */
bool site_test_run(site_test *test, const fault_point *point);

/* All points of that manner, from the first to the last that is reached; returns how many there were. */
long site_test_run_all(site_test *test, fault_point manner);

#endif
