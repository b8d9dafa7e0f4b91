/* part_copies.h - parts of arrays for a call that outlives the caller's lists of them, and perhaps their elements. */
#ifndef PARAPET_REQUEST_PART_COPIES_H
#define PARAPET_REQUEST_PART_COPIES_H

#include "base/list.h"
#include "transfer/parts.h"

typedef struct pp_part_copies {
    pp_list parts;      /* of parapet_part: those of all arrays, one array behind the other */
    pp_list numbers;    /* of int64_t: their starts, counts and strides */
    pp_buffer elements; /* of all parts; empty: those of the caller are used */
    size_t filled;
} pp_part_copies;

/* What is copied: parts that were checked, of so many arrays. */
typedef struct pp_part_copying {
    pp_budget *budget;
    const pp_parts *parts;
    int count;
    parapet_buffering buffering;
    size_t transfer_bytes; /* what moving them takes beside, so that a refusal names a limit that is enough */
} pp_part_copying;

/* [local] Within the memory limit: everything is reserved before anything is copied. Clear it even after a failure.
 */
parapet_status pp_part_copies_init(pp_part_copies *copies, const pp_part_copying *copying);
void pp_part_copies_clear(pp_part_copies *copies);

/* The copy of the part that has so many before it. */
const parapet_part *pp_part_copies_at(const pp_part_copies *copies, size_t before);

/* The same parts of the same arrays, in the same order: list gets the copies. */
void pp_part_copies_list(const pp_part_copies *copies, parapet_array_parts *list, int count);

/* Refuses any value but those of the enum. */
parapet_status pp_buffering_check(parapet_buffering buffering);

#endif
