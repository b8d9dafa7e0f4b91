/* rank0.h - rank 0 alone accesses storage for metadata; the others learn the result. */
#ifndef PARAPET_ARRAY_RANK0_H
#define PARAPET_ARRAY_RANK0_H

#include "base/cursor.h"
#include "comm/comm.h"

/* What rank 0 does to a subject. */
typedef parapet_status (*pp_rank0_work)(void *subject, const void *argument);

/* A task of rank 0 on a subject, of which every rank has one. */
typedef struct pp_rank0_task {
    void *subject;
    const void *argument;
    pp_rank0_work work; /* on rank 0 only */
    /* What the other ranks need to know afterwards; NULL: nothing. With mark_broken, also after work failed. */
    parapet_status (*print)(void *subject, pp_text *bytes);
    parapet_status (*adopt)(void *subject, pp_cursor *bytes); /* need not look whether all is there */
    /* Called when ranks may know different things. NULL: nobody uses the subject after a failure. */
    void (*mark_broken)(void *subject);
} pp_rank0_task;

/* [collective] Same status on every rank. */
parapet_status pp_rank0_do(pp_comm *comm, const char *phase, const pp_rank0_task *task);

#endif
