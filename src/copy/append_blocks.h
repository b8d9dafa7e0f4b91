/* append_blocks.h - the boxes in which elements are read and written, dealt to ranks in turn. */
#ifndef PARAPET_COPY_APPEND_BLOCKS_H
#define PARAPET_COPY_APPEND_BLOCKS_H

#include "geometry/tiling.h"

typedef struct pp_append_blocks {
    pp_box region;
    int64_t first[PARAPET_MAX_NDIM]; /* of the blocks, where one begins */
    int64_t block[PARAPET_MAX_NDIM];
    int64_t along[PARAPET_MAX_NDIM]; /* how many there are */
    int64_t count, elements_most;
} pp_append_blocks;

/* How much a rank takes at once, and how many ranks there are to take it. */
typedef struct pp_append_share {
    int64_t bytes_most;
    int ranks;
} pp_append_share;

/* Whole shards of the target, and whole chunks of the source, as far as so many bytes allow, and no larger than that
 * each rank gets one. */
void pp_append_blocks_init(pp_append_blocks *blocks, const pp_box *region, const pp_tiling *target,
                           const pp_tiling *source, const pp_append_share *share);
void pp_append_block(const pp_append_blocks *blocks, int64_t number, pp_box *box);

#endif
