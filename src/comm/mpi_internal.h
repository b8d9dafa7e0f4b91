/* mpi_internal.h - the communicator as the files that call MPI see it: mpi_*.c, and nobody else. */
#ifndef PARAPET_COMM_MPI_INTERNAL_H
#define PARAPET_COMM_MPI_INTERNAL_H

#include <mpi.h>
#include <parapet_types.h>

#include "comm/exchange.h"
#include "comm/internal.h"

typedef struct pp_mpi_comm {
    pp_comm base;
    MPI_Comm mpi_comm;               /* a duplicate of the caller's */
    unsigned exchanges;              /* begun so far */
    struct pp_mpi_comm *lost_before; /* of those that stay, see free_over_mpi */
} pp_mpi_comm;

static inline MPI_Comm pp_mpi_comm_of(const pp_comm *comm)
{
    return ((const pp_mpi_comm *)comm)->mpi_comm;
}

/* Tags of what is not a wire's. Data of a wire has tags from PP_TAG_DATA on. */
enum { PP_TAG_CONTROL = 1, PP_TAG_EXCHANGE = 2 /* and 3 */, PP_TAG_DATA = 16 };

/* Waits for one request without occupying the core; false: the deadline has passed. */
bool pp_mpi_wait(pp_comm *comm, MPI_Request *request);

/* mpi_wire.c: a wire over mpi_comm, which the caller keeps. */
parapet_status pp_mpi_wire_build(pp_wire **wire, MPI_Comm mpi_comm);
void pp_mpi_wire_free(pp_wire *wire); /* takes NULL; cancels the receives that are posted */

/* mpi_exchange.c */
parapet_status pp_mpi_exchange(pp_comm *comm, const pp_exchange *exchange);

bool pp_mpi_is_running(void);

/* Whether a predefined datatype, of so many bytes, has the elements of an array, or consists of their bytes
 * (mpi_predefined.c). F90 types have no handles of their own: their combiner tells. */
bool pp_mpi_is_element(MPI_Datatype datatype, int combiner, MPI_Count bytes, parapet_type type, size_t element_bytes);

#endif
