/* job.h - what power is cut under: jobs that tell what they have begun and what was acknowledged to them, and that
 * can say afterwards whether it is there. */
#ifndef POWER_JOB_H
#define POWER_JOB_H

#include <mpi.h>
#include <parapet_types.h>
#include <stdbool.h>
#include <stdint.h>

/* Exit codes. */
enum { JOB_SOUND = 0, JOB_VIOLATED = 1, JOB_MISUSED = 2, JOB_FAILED = 3 };

typedef struct job {
    const char *root; /* of the store, on the disk that loses power */
    int marks;        /* descriptor of the file that marks go to, on another disk */
    MPI_Comm comm;
    int rank, rank_count;
    int64_t count;    /* write: how many to do */
    int64_t done;     /* verify: the last that was acknowledged before the cut, or 0 */
    int64_t previous; /* verify: the one acknowledged before that, or 0 */
    int64_t begun;    /* verify: the last that was begun, or 0 */
} job;

/* Numbered works: generations, copies, steps. Both return an exit code. verify makes good what the cut left, and does
 * one more work. */
typedef struct power_subject {
    const char *name;
    int (*write)(const job *self);
    int (*verify)(const job *self);
} power_subject;

extern const power_subject checkpoint_subject, copy_subject, series_subject;

/* Written by rank 0: "begin 7" before a work, "done 7" once it was acknowledged. */
void job_mark(const job *self, const char *what, int64_t number);

parapet_status job_open(const job *self, parapet_mode mode, parapet_store **store);

/* Prints what is wrong, from rank 0; returns JOB_VIOLATED. */
int job_violated(const job *self, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints the last error, from rank 0; returns JOB_FAILED. */
int job_failed(const job *self, const char *what, int64_t number, parapet_status status);

/* Element index of an array in work number; no two are alike. */
uint32_t job_value(int64_t number, int array, int64_t index);

/* The rows of this rank: a block of the first dimension. */
void job_rows(const job *self, int64_t row_count, int64_t *start, int64_t *count);

#endif
