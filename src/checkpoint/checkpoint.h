/* checkpoint.h - a generation in the making: filled and committed, in the parts that a call and a request share. */
#ifndef PARAPET_CHECKPOINT_CHECKPOINT_H
#define PARAPET_CHECKPOINT_CHECKPOINT_H

#include <parapet_arrays.h>

#include "comm/comm.h"
#include "plan/homes.h"

/* Frees one that is open, and sets it to NULL. */
void pp_checkpoint_drop(parapet_checkpoint **checkpoint);

/* Which call this is, and on which generation. */
void pp_checkpoint_call(pp_call *call, const char *verb, const parapet_checkpoint *checkpoint);

/* The arrays of one put. */
typedef struct pp_filling {
    parapet_checkpoint *checkpoint;
    int count;
    parapet_array **arrays;
    parapet_array_parts *list;
    pp_homes homes; /* with these arrays: those of the checkpoint once all ranks have begun */
} pp_filling;

/* [local] Defines the arrays of items, and lists their parts; call gets what must be equal on all ranks. Clear it
 * even after a failure. */
parapet_status pp_filling_init(pp_filling *filling, parapet_checkpoint *checkpoint,
                               const parapet_checkpoint_item *items, int count, pp_call *call);
void pp_filling_clear(pp_filling *filling);

/* [collective] Begins the call, with the status of this rank so far; then stores, writes and seals the arrays and
 * adds them to the commit record. After a failure the checkpoint can only be given up, unless some ranks made another
 * call. */
parapet_status pp_checkpoint_fill(pp_filling *filling, const pp_call *call, parapet_status mine);

/* [collective] The commit itself, within a call that has begun; the handle stays. */
parapet_status pp_checkpoint_conclude(parapet_checkpoint *checkpoint);

#endif
