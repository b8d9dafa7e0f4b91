/* exchange.c - the exchange of a process alone; mpi_exchange.c has that of several ranks, and its argument. */
#include "comm/exchange.h"

#include <assert.h>

#include "base/memory.h"
#include "comm/internal.h"

/* For a process that has no memory: what it tells itself arrives, as it does from other ranks, and then it fails. */
static unsigned char spare_parcel[PP_PARCEL_BYTES];

static parapet_status exchange_alone(const pp_comm *comm, const pp_exchange *exchange)
{
    unsigned char *memory = NULL, *parcel;
    parapet_status status = pp_allocate_pages(&memory, PP_PARCEL_BYTES);
    size_t bytes = 0;
    int rank = -1;
    parcel = memory != NULL ? memory : spare_parcel;
    while (exchange->next(exchange->context, &rank, parcel, &bytes)) {
        assert(rank == comm->rank && bytes <= PP_PARCEL_BYTES);
        exchange->receive(exchange->context, comm->rank, parcel, bytes);
    }
    pp_free(memory);
    return status;
}

parapet_status pp_comm_exchange(pp_comm *comm, const pp_exchange *exchange)
{
    return comm->wire != NULL ? comm->ops->exchange(comm, exchange) : exchange_alone(comm, exchange);
}
