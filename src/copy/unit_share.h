/* unit_share.h - which numbers of a range (of shards, of work units) belong to one rank. */
#ifndef PARAPET_COPY_UNIT_SHARE_H
#define PARAPET_COPY_UNIT_SHARE_H

#include "base/ranges.h"

/* Numbers that are rank modulo rank_count, and in some set. */
typedef struct pp_copy_share {
    int rank, rank_count;
    const pp_ranges *some; /* NULL: all */
} pp_copy_share;

/* Advances *number to the next one of the share, starting with itself, below count; false: there is none. */
bool pp_copy_share_next(const pp_copy_share *share, int64_t count, int64_t *number);

#endif
