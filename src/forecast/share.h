/* share.h - what one rank and the owner of one shard exchange, counted as the transfer would do it.
 *
 * Pure. Depends on base, geometry and plan. If pieces have to be packed into messages one after the other,
 * pieces.h does the counting; if every window fits in one message, or a window is one chunk, equal cases are
 * counted at once. */
#ifndef PARAPET_FORECAST_SHARE_H
#define PARAPET_FORECAST_SHARE_H

#include "forecast/crossing.h"

typedef struct pp_share {
    int64_t requests;  /* windows of the shard that the rank has elements of */
    int64_t fragments; /* messages of data */
    int64_t bytes;     /* of the data */
    int64_t boxes;     /* of the rank that meet the shard */
} pp_share;

typedef struct pp_share_case {
    const pp_crossing *crossings; /* one per dimension */
    const pp_tiling *tiling;
    int window_chunks;
    size_t fragment_bytes;
} pp_share_case;

/* For a rank and a shard that meet in this way; encounters has one number per dimension. */
parapet_status pp_share_count(const pp_share_case *share_case, const int32_t *encounters, pp_share *share);

/* The same, with pieces.h for every window: slow, and the reference for the fast ways. */
parapet_status pp_share_count_by_pieces(const pp_share_case *share_case, const int32_t *encounters, pp_share *share);

/* sum += times * share. */
void pp_share_add(pp_share *sum, const pp_share *share, int64_t times);

#endif
