/* unit_stealing.h - which rank does which work unit of a pass. At first every rank has those that are its number
 * modulo the ranks; one that has none left takes some from another (comm/stealing.h), so that nobody waits for a slow
 * one.
 *
 * Nothing of this is stored: a work unit has its own journal, whoever does it. All functions but
 * pp_unit_stealing_skip are called by the thread that calls MPI. */
#ifndef PARAPET_COPY_UNIT_STEALING_H
#define PARAPET_COPY_UNIT_STEALING_H

#include "comm/stealing.h"
#include "copy/journal.h"
#include "copy/sparse.h"
#include "copy/unit_share.h"

typedef struct pp_unit_stealing {
    pp_copy_job *job;
    pp_comm *comm;
    pp_copy_sparse sparse; /* where job->stored says what there is */
    pp_done_units done;    /* by earlier runs */
    /* What this rank has: the work units of a share that are neither before next nor at end or behind it. */
    pp_copy_share share;
    int64_t next, end;
    int64_t left; /* of them, those that are not done */
    /* How fast this rank is. */
    int64_t work_unit_bytes;    /* of the largest */
    atomic_llong skipped_bytes; /* of job->done_bytes: done by earlier runs */
    int64_t began_with;         /* what was done before the work unit at work */
    double busy_seconds, began_at;
    bool is_busy;
    pp_stealing *taking; /* NULL: the rank is alone */
    int *ranks;          /* all of them */
    pp_budget budget;    /* for descriptions of what is given, which take two pages */
} pp_unit_stealing;

/* [local] Before the agreement that begins the pass. Close it even after a failure. */
parapet_status pp_unit_stealing_open(pp_unit_stealing *dealing, pp_copy_job *job, pp_comm *comm);
void pp_unit_stealing_close(pp_unit_stealing *dealing);

/* The next work unit for this rank, perhaps one that an earlier run has done; waits while others are asked. *is_any
 * false: nobody has one to give. */
parapet_status pp_unit_stealing_next(pp_unit_stealing *dealing, int64_t *work_unit, bool *is_any);

/* So many bytes of job->done_bytes are an earlier run's. */
void pp_unit_stealing_skip(pp_unit_stealing *dealing, int64_t bytes);

/* How much of what this rank has to do is done, from 0 to 1; 0: it has nothing. */
double pp_unit_stealing_part(const pp_unit_stealing *dealing);

/* Answers those who ask; to be called now and then while the rank is at work. */
void pp_unit_stealing_answer(pp_unit_stealing *dealing);

/* [collective] The agreement that ends the pass; answers the others until then. */
parapet_status pp_unit_stealing_agree(pp_unit_stealing *dealing, const char *phase, parapet_status status);

#endif
