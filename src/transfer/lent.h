/* lent.h - stored shards that stay open from one transfer to the next: whoever opens one again gets the same object,
 * however often it is replaced meanwhile. */
#ifndef PARAPET_TRANSFER_LENT_H
#define PARAPET_TRANSFER_LENT_H

#include "store/store.h"

typedef struct pp_lent_shard {
    int64_t number;
    pp_reader *reader; /* NULL: it is not stored */
    struct pp_lent_shard *next;
} pp_lent_shard;

/* {0} has none. */
typedef struct pp_lent {
    pp_lent_shard *shards;
    int64_t count;
} pp_lent;

/* As pp_store_open_object; the reader is lent. */
parapet_status pp_lent_open(pp_lent *lent, pp_store *store, int64_t number, const char *key, pp_reader **reader);

/* Closes all of them. */
void pp_lent_clear(pp_lent *lent);

#endif
