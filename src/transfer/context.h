/* context.h - what every transfer of one array works with: where it is stored, how it is divided, what it may use. */
#ifndef PARAPET_TRANSFER_CONTEXT_H
#define PARAPET_TRANSFER_CONTEXT_H

#include <stdatomic.h>

#include "base/pool.h"
#include "plan/lattice.h"
#include "store/store.h"
#include "transfer/cache.h"
#include "transfer/layer.h"
#include "transfer/layout.h"
#include "transfer/request_cost.h"
#include "transfer/write_back.h"
#include "zarr/manifest.h"

/* What was done since the store was opened; see parapet_statistics. */
typedef struct pp_counters {
    _Atomic(int64_t) read_bytes, written_bytes, read_requests, objects_written;
    _Atomic(int64_t) chunks_decoded, chunks_encoded, chunks_copied, chunks_missing;
    _Atomic(int64_t) messages_sent, message_bytes, direct_bytes, shards_owned, shards_taken;
    _Atomic(int64_t) cache_hits, cache_misses, cache_bytes;
    _Atomic(int64_t) description_messages, descriptions_reused;
    _Atomic(int64_t) memory_planned; /* of the largest transfer */
} pp_counters;

/* Notes that a transfer is going to take this much. */
void pp_counters_plan(pp_counters *counters, size_t bytes);

/* Looks up what the seal of an array says about a shard, and shows it: the status of the visitor, or an error of the
 * manifest. The checksums of the record go with the visit, since other threads look, too. */
typedef parapet_status (*pp_seal_visitor)(void *subject, const pp_shard_record *record);
typedef parapet_status (*pp_seal_lookup)(void *context, int64_t shard, pp_seal_visitor visit, void *subject);

typedef struct pp_pinned pp_pinned;                 /* see pinned.h */
typedef struct pp_partial_shards pp_partial_shards; /* see partial_shards.h */

struct pp_transfer_context {
    pp_store *store;
    const char *path; /* of the array; "" is the root */
    const pp_layout *layout;
    const pp_lattice *lattice; /* where the homes of its shards are; the same on every rank */
    const pp_turns *turns;     /* as in pp_target */
    pp_budget *budget;
    pp_counters *counters;
    pp_request_cost *cost;     /* of requests to the store; NULL: an ordinary disk */
    const pp_layer *layer;     /* the topmost of those through which chunks are read and written */
    pp_cache *cache;           /* of chunks, for the layer that has it */
    pp_write_back *write_back; /* shards that are written later, for the same */
    int64_t cache_array;       /* the number of this array in both */
    int threads;
    pp_pool *pool; /* its threads; NULL: there may be none */
    bool elides_fill;
    bool has_neighbours; /* others who read alone, through the same page cache */
    parapet_progress_callback progress;
    void *progress_context;
    pp_seal_lookup seal; /* NULL: the array is not sealed */
    void *seal_context;
    pp_pinned *pinned;          /* for its layer: stored shards that stay open when the transfer ends */
    pp_partial_shards *divided; /* for a transfer of parts of shards: new ones that do */
};

/* Reports the progress of a transfer to the caller's callback, which may cancel it. doing ends in "ing". */
parapet_status pp_transfer_report(const pp_transfer_context *context, const char *doing, int64_t done_bytes,
                                  int64_t total_bytes);

#endif
