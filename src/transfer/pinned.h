/* pinned.h - stored shards that stay open from one transfer to the next: whoever opens one again gets the same
 * object, however often it is replaced meanwhile. */
#ifndef PARAPET_TRANSFER_PINNED_H
#define PARAPET_TRANSFER_PINNED_H

#include "store/store.h"

typedef struct pp_pinned_shard {
    int64_t number;
    pp_reader *reader; /* NULL: it is not stored */
    struct pp_pinned_shard *next;
} pp_pinned_shard;

/* {0} has none. */
typedef struct pp_pinned {
    pp_pinned_shard *shards;
    int64_t count;
} pp_pinned;

/* As pp_store_open_object; the reader stays open. */
parapet_status pp_pinned_open(pp_pinned *pinned, pp_store *store, int64_t number, const char *key,
                              pp_reader **reader);

/* Closes all of them. */
void pp_pinned_clear(pp_pinned *pinned);

#endif
