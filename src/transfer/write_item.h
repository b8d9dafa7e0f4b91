/* write_item.h - a window of chunks of one new shard: assembled from the pieces of all ranks and from the old shard,
 * encoded, appended. */
#ifndef PARAPET_TRANSFER_WRITE_ITEM_H
#define PARAPET_TRANSFER_WRITE_ITEM_H

#include "transfer/write_shard.h"

typedef struct pp_write_item {
    pp_transfer_item head;
    bool is_last; /* of its shard; it may have no chunks */
    pp_write_chunk chunks[PP_WINDOW_CHUNKS];
    pp_chain_scratch *scratch;
    pp_buffer input;  /* old encoded bytes */
    pp_buffer output; /* encoded chunks of a window of several */
} pp_write_item;

/* Operations of a transfer that writes. */
parapet_status pp_write_item_take(pp_transfer *transfer, pp_transfer_shard *shard, pp_transfer_item *item,
                                  bool *is_taken);
parapet_status pp_write_item_encode(pp_transfer *transfer, int worker, pp_transfer_item *item);
void pp_write_item_clear(pp_transfer_item *item);

#endif
