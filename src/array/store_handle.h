/* store_handle.h - the struct of a parapet_store. Private to array/: other folders use store_queries.h. */
#ifndef PARAPET_ARRAY_STORE_HANDLE_H
#define PARAPET_ARRAY_STORE_HANDLE_H

#include "array/dirty_arrays.h"
#include "base/pool.h"
#include "base/status.h"
#include "plan/homes.h"
#include "plan/speeds.h"
#include "store/meter.h"
#include "transfer/alone.h"

/* By how fast servers are in one direction; see array/epochs.h. */
typedef struct pp_epochs {
    pp_speeds speeds;
    pp_homes homes; /* with the turns of this epoch */
    bool is_told;   /* all have told their speeds of this direction, or the weights were given; else those of the
                       other direction are in force */
} pp_epochs;

struct parapet_store {
    pp_comm *comm;
    uint64_t serial; /* differs for every store of this process */
    pp_store *backend;
    bool is_backend_borrowed;
    parapet_mode mode;
    struct parapet_store_options *options; /* every field resolved; who reads one includes parapet_store.h */
    struct parapet_store_options *given;   /* as the caller gave them: shows where a value comes from */
    char *weights;                         /* the text of that option, which both refer to; NULL: none */
    pp_budget budget;
    _Atomic(size_t) cached_page_bytes; /* of all arrays: see array_handle.h */
    pp_alone alone;
    pp_counters counters;
    pp_request_cost cost;
    pp_pool *pool;             /* threads of calls */
    pp_meter meter;            /* of the backend, while it is open here */
    _Atomic(int) handle_count; /* arrays, groups, checkpoints, series and requests not closed yet */
    int *servers;              /* the ranks that access the storage of shards, ascending; equal on all ranks */
    int server_count;
    pp_homes homes;            /* of the arrays that were opened so far, on rank 0 */
    bool is_foreign;           /* a file of another format, which can only be read */
    pp_epochs *epochs;         /* by direction; NULL: shares do not depend on speeds */
    pp_session_cache *kept;    /* descriptions of calls; NULL: none are kept */
    const pp_layer *layer;     /* of its arrays, which installs the next two */
    pp_cache *cache;           /* of chunks; NULL: cache_bytes is 0 */
    pp_write_back *write_back; /* shards that are written later; NULL: all are written at once */
    pp_budget cache_budget;    /* of both, if there is the latter */
    pp_dirty_arrays dirty_arrays;
    _Atomic(int64_t) handles_made; /* of arrays, so far */
    bool uses_records;             /* in place of locks; equal on all ranks */
    char lock_source[96];          /* why */
    int64_t least_memory_bytes;    /* the smallest memory_bytes of all ranks */
};

#endif
