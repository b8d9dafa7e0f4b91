/* part_calls.h - writing parts of arrays in other ways than the public functions do. */
#ifndef PARAPET_ARRAY_PART_CALLS_H
#define PARAPET_ARRAY_PART_CALLS_H

#include "array/index_list.h"
#include "base/status.h"
#include "comm/comm.h"
#include "transfer/direction.h"

/* New arrays of which no other job knows, and which one call stores, writes and seals. */
typedef struct pp_making {
    parapet_store *store;
    const parapet_array_parts *list; /* at least one, unless this rank has failed */
    int count;
    /* [local] What is stored of the arrays before they are written. */
    parapet_status (*begin)(void *context);
    /* [collective] Called on every rank when the shards have their names, or when failure says why they have not:
     * does what is left to do. */
    void (*end)(void *context, pp_failure *failure);
    void *context;
} pp_making;

/* [collective] Begins the call, with the status of this rank so far, and makes the arrays, with four agreements: that
 * all make the same call and can make it; that all is planned; that all is staged; and, in the end, that all is done.
 * *has_begun: the first of these was no failure. */
parapet_status pp_arrays_make(const pp_making *making, const pp_call *call, parapet_status mine, bool *has_begun);

/* [collective] As parapet_arrays_write, for a caller that keeps the data until it is written, and writes it again
 * after a failure: the arrays stay usable, unless the ranks are out of step. No notes are kept for a seal. step, if
 * not NULL: the parts leave out the first dimension, and are at this index in it. *shards_written grows by the shards
 * that this rank wrote. */
parapet_status pp_arrays_write_repeatable(const parapet_array_parts *list, int count, const int64_t *step,
                                          int64_t *shards_written);

/* [collective] As parapet_array_write or parapet_array_read, for listed elements instead of parts. */
parapet_status pp_array_move_listed(parapet_array *array, pp_direction direction, const pp_index_list *listed,
                                    const char *function);

/* [collective] Within a call that has begun: writes what is delayed of those of the arrays, some of which may be
 * NULL, that have marks. What cannot be written stays delayed. */
parapet_status pp_arrays_flush(parapet_array *const *arrays, int count, parapet_store *store);
/* The same for all handles of the array. */
parapet_status pp_array_flush(parapet_array *array);

/* The memory for writing this many parts into this many shards of an array, so that the limit that a refusal names is
 * enough; each part meets one shard. */
size_t pp_array_write_bytes(const parapet_array *array, size_t part_count, int64_t shards);

/* One rank writes a part without the others; alone is a communicator of this rank. */
parapet_status pp_array_write_alone(parapet_array *array, pp_comm *alone, const parapet_part *part);

#endif
