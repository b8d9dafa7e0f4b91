/* flavour.h - turns a communicator of the caller into one of ours. Compiled once per flavour of the library, like
 * everything that includes it, because MPI_Comm is a different type in each (mpi_comm.c). The rest of the library is
 * compiled once and knows only pp_comm. */
#ifndef PARAPET_COMM_FLAVOUR_H
#define PARAPET_COMM_FLAVOUR_H

#include "comm/comm.h"

/* [collective] Takes a duplicate of mpi_comm, so that our messages never meet the caller's. MPI_COMM_NULL: this
 * process alone. Same status on every rank, except for PARAPET_ERR_TIMEOUT if the others did not arrive within
 * deadline_seconds; 0: no limit. */
parapet_status pp_comm_build(pp_comm **comm, MPI_Comm mpi_comm, double deadline_seconds);

#endif
