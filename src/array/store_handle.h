/* store_handle.h - what is behind a parapet_store. Private to array/: other folders use store.h. */
#ifndef PARAPET_ARRAY_STORE_HANDLE_H
#define PARAPET_ARRAY_STORE_HANDLE_H

#include "transfer/transfer.h"

struct parapet_store {
    pp_comm *comm;
    uint64_t serial; /* another one for every store of this process */
    pp_store *backend;
    bool is_backend_borrowed;
    parapet_mode mode;
    parapet_store_options options; /* every field resolved */
    parapet_store_options given;   /* as they came from the caller: tells the source of a value */
    pp_budget budget;
    pp_counters counters;
    int handle_count; /* arrays and groups not closed yet */
    int *servers;     /* the ranks that touch the storage of shards, ascending; equal on all ranks */
    int server_count;
    bool uses_records;          /* in place of locks; equal on all ranks */
    char lock_source[96];       /* what says so */
    int64_t least_memory_bytes; /* the smallest memory_bytes of all ranks */
};

#endif
