/* share.h - what of a range of numbers (of shards, of work units) one rank is to do. */
#ifndef PARAPET_COPY_SHARE_H
#define PARAPET_COPY_SHARE_H

#include "base/ranges.h"

/* Numbers that are rank modulo rank_count, and in some set. */
typedef struct pp_copy_share {
    int rank, rank_count;
    const pp_ranges *some; /* NULL: all */
} pp_copy_share;

/* Moves *number on to the next one of the share from there on, below count; false: there is none. */
bool pp_copy_share_next(const pp_copy_share *share, int64_t count, int64_t *number);

#endif
