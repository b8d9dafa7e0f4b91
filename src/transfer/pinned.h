/* pinned.h - stored shards that stay open from one transfer to the next: whoever opens one again gets the same
 * object, however often it is replaced meanwhile. */
#ifndef PARAPET_TRANSFER_PINNED_H
#define PARAPET_TRANSFER_PINNED_H

#include "transfer/context.h"

typedef struct pp_pinned_shard {
    int64_t number;
    pp_reader *reader; /* NULL: it is not stored */
    struct pp_pinned_shard *next;
} pp_pinned_shard;

/* {0} has none. */
struct pp_pinned {
    pp_pinned_shard *shards;
    int64_t count;
    const pp_layer *below;
    pp_layer layer; /* the same, but that objects are opened here */
};

/* From now on what the context opens is pinned, until all of it is closed. Ends what was not begun, too. */
void pp_pinned_begin(pp_pinned *pinned, pp_transfer_context *context);
void pp_pinned_end(pp_pinned *pinned, pp_transfer_context *context);

#endif
