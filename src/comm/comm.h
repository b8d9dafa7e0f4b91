/* comm.h - the ranks that share a store. The only module that calls MPI.
 *
 * Depends on base. Today there is one implementation, for one process; it needs no MPI at all, so that the tool
 * runs on a login node, and it is what a communicator of one rank gets. */
#ifndef PARAPET_COMM_COMM_H
#define PARAPET_COMM_COMM_H

#include <stdbool.h>

#include "base/status.h"
#include "base/text.h"

typedef struct pp_comm pp_comm;

/* [collective] Takes a duplicate of mpi_comm, so that our messages never meet the caller's. MPI_COMM_NULL: this
 * process alone. Refuses more than one rank in this version. */
parapet_status pp_comm_build(pp_comm **comm, MPI_Comm mpi_comm);
void pp_comm_free(pp_comm *comm); /* takes NULL */

int pp_comm_rank(const pp_comm *comm);
int pp_comm_size(const pp_comm *comm);

/* [collective] Spreads a failure: every rank returns the status of the lowest failing rank, and its sentence. */
parapet_status pp_comm_agree(pp_comm *comm, parapet_status mine);

/* [local] Whether MPI tolerates threads beside the one that calls it. */
bool pp_comm_allows_threads(void);

/* [local] Name and version of the MPI library, on one line. */
void pp_comm_print_library(pp_text *text);

#endif
