/* run.h - how a transfer runs, in either direction: messages, memory, agreement, run, clear.
 *
 * The shards that this rank owns are opened one after the other. Items are taken from them and pass through the
 * pipeline; a shard is closed when its last item is consumed. The operations decide what happens to shards and items;
 * there is one set for each direction (read.c, write.c). */
#ifndef PARAPET_TRANSFER_RUN_H
#define PARAPET_TRANSFER_RUN_H

#include "comm/stealing.h"
#include "transfer/item.h"
#include "transfer/memory_plan.h"
#include "transfer/sieve.h"
#include "transfer/supply.h"

typedef struct pp_transfer pp_transfer;

typedef struct pp_transfer_operations {
    pp_direction direction;
    size_t shard_bytes, item_bytes; /* of structs that begin with a pp_transfer_shard and a pp_transfer_item */

    /* Everything that can be refused, or fail, before memory is divided. */
    parapet_status (*prepare)(pp_transfer *transfer);
    /* The same for shards that were taken from another server; NULL: nothing. */
    parapet_status (*prepare_more)(pp_transfer *transfer);
    /* Divides the budget; layouts are those of all arrays of the session. */
    parapet_status (*plan_memory)(const pp_transfer *transfer, const pp_layout *const *layouts,
                                  const pp_memory_case *memory, pp_memory_plan *plan);

    /* Whether storage has everything to do, and a thread for it brings nothing. NULL: it never has. */
    bool (*is_storage_only)(const pp_transfer *transfer);

    /* As pp_pipeline_job.next: never called by two threads at once. The shard is zero except for its head, and is
     * closed even after a failure. take: *is_taken false: nothing is left of the shard. */
    parapet_status (*open_shard)(pp_transfer *transfer, pp_transfer_shard *shard);
    void (*close_shard)(pp_transfer *transfer, pp_transfer_shard *shard);
    parapet_status (*take)(pp_transfer *transfer, pp_transfer_shard *shard, pp_transfer_item *item, bool *is_taken);

    /* As those of pp_pipeline_job. */
    parapet_status (*produce)(pp_transfer *transfer, int worker, pp_transfer_item *item);
    parapet_status (*consume)(pp_transfer *transfer, int worker, pp_transfer_item *item);

    void (*clear_item)(pp_transfer_item *item);
    void (*clear)(pp_transfer *transfer); /* frees what prepare has made; NULL: nothing */
} pp_transfer_operations;

/* One transfer, as it runs on this rank. */
struct pp_transfer {
    const pp_transfer_operations *operations;
    pp_session *session;
    const pp_view *view; /* what this rank serves */
    pp_memory_plan memory;
    bool is_planned;     /* by the caller, for this rank alone, beside the transfers that are counted */
    pp_supply supply;    /* shards that are not opened yet */
    pp_stealing *taking; /* NULL: servers keep what they own */
    int64_t rank_most;   /* taking: as in pp_memory_case, of the shards of all servers */
    pp_transfer_shard *oldest, *current; /* a queue: the current one is the last */
    void *items;
    pp_sieve *sieves; /* one of each worker; NULL if no other rank is served */
    atomic_llong done_bytes;
    int64_t total_bytes;
    int64_t reported_bytes; /* what the progress callback was told last; -1: report the start */
    int64_t reported_total; /* and of how many: shards that change their server change this too */
};

/* [collective, unless the session is alone] Runs the transfer that operations, session and reported_bytes describe;
 * `before` is the status so far. Clears the session. Same status on every rank. */
parapet_status pp_transfer_run(pp_transfer *transfer, parapet_status before);

#endif
