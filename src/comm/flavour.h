/* flavour.h - how a communicator of the caller's becomes one of ours. Compiled once per flavour of the library, as is
 * everything that includes it: MPI_Comm is another type in each (mpi_comm.c). The rest of the library is compiled
 * once, and knows pp_comm only. */
#ifndef PARAPET_COMM_FLAVOUR_H
#define PARAPET_COMM_FLAVOUR_H

#include "comm/comm.h"

/* [collective] Takes a duplicate of mpi_comm, so that our messages never meet the caller's. MPI_COMM_NULL: this
 * process alone. Same status on every rank, but for PARAPET_ERR_TIMEOUT where the others did not come within
 * deadline_seconds; 0: it waits for ever. */
parapet_status pp_comm_build(pp_comm **comm, MPI_Comm mpi_comm, double deadline_seconds);

#endif
