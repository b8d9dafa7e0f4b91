/* exchange.h - a sparse exchange: every rank sends to any ranks, and none knows beforehand from whom it will receive.
 * No all-to-all: synchronous sends, probing, and a non-blocking barrier that says when all have arrived (non-blocking
 * consensus). At most a few parcels of a rank are in transit at a time, so the memory is bounded. */
#ifndef PARAPET_COMM_EXCHANGE_H
#define PARAPET_COMM_EXCHANGE_H

#include "comm/comm.h"

#define PP_PARCEL_BYTES ((size_t)32 << 10)

typedef struct pp_exchange {
    void *context;
    /* Fills the next parcel, of at most PP_PARCEL_BYTES, for *rank, which may be this one; false: no more. */
    bool (*next)(void *context, int *rank, void *parcel, size_t *bytes);
    /* Gets every parcel sent to this rank; parcels of one sender in the order sent. Must not fail: if a parcel cannot
     * be kept, that is noted and reported at the next agreement. */
    void (*receive)(void *context, int source, const void *parcel, size_t bytes);
} pp_exchange;

/* [collective] Same status on every rank only after the next agreement. */
parapet_status pp_comm_exchange(pp_comm *comm, const pp_exchange *exchange);

#endif
