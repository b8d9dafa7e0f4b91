/* rank0.h - rank 0 alone touches storage for metadata; the others learn what came of it. */
#ifndef PARAPET_ARRAY_RANK0_H
#define PARAPET_ARRAY_RANK0_H

#include "base/cursor.h"
#include "comm/comm.h"

/* What rank 0 does to a subject. */
typedef parapet_status (*pp_rank0_work)(void *subject, const void *argument);

/* Something that rank 0 does to the subject, of which every rank has one. */
typedef struct pp_rank0_task {
    void *subject;
    const void *argument;
    pp_rank0_work work; /* on rank 0 only */
    /* What the other ranks need to know then; NULL: nothing. With mark_broken, after a failure of work, too. */
    parapet_status (*print)(void *subject, pp_text *bytes);
    parapet_status (*adopt)(void *subject, pp_cursor *bytes);
    /* Ranks may know different things now. NULL: nobody uses the subject after a failure. */
    void (*mark_broken)(void *subject);
} pp_rank0_task;

/* [collective] Same status on every rank. */
parapet_status pp_rank0_do(pp_comm *comm, const char *phase, const pp_rank0_task *task);

#endif
