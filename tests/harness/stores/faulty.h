/* faulty.h - storage that fails, or a crash at any instant: a store whose operations fail as a plan says. */
#ifndef PARAPET_TESTS_STORES_FAULTY_H
#define PARAPET_TESTS_STORES_FAULTY_H

#include "store/store.h"

/* What a faulty store does to the operations of the store that it wraps. */
typedef struct pp_fault_plan {
    const char *only;      /* operations of this name, such as "sync_dirs"; others are not counted; NULL: all */
    long fail_at;          /* operation that fails, counted from 0; negative: none */
    bool fail_forever;     /* and all after it: storage that is gone, or a crash at that instant */
    bool fail_after;       /* the operation takes effect, and only then reports failure */
    bool is_torn;          /* a failing append, to an object or a log, writes half of its bytes first */
    parapet_status status; /* what failing operations return */
    long operations;       /* out: how many there were */
    long failures;         /* out: how many failed */
} pp_fault_plan;

/* Wraps a store (not freed with it) and fails operations as the plan says; the plan is the caller's and may be
 * changed between calls. Freeing readers and writers, suspending, closing and releasing locks never fail and are not
 * counted. */
parapet_status pp_store_faulty_build(pp_store **store, pp_store *inner, pp_fault_plan *plan);

#endif
