/* flavour.h - turns a communicator of the caller into one of ours, and a datatype into a pattern. Compiled once per
 * flavour of the library, like everything that includes it, because MPI_Comm and MPI_Datatype are different types in
 * each (mpi_comm.c, mpi_datatype.c). The rest of the library is compiled once and knows only pp_comm and pp_pattern.
 */
#ifndef PARAPET_COMM_FLAVOUR_H
#define PARAPET_COMM_FLAVOUR_H

#include "base/pattern.h"
#include "comm/comm.h"

/* [collective] Takes a duplicate of mpi_comm, so that our messages never meet the caller's. MPI_COMM_NULL: this
 * process alone. Same status on every rank, except for PARAPET_ERR_TIMEOUT if the others did not arrive within
 * deadline_seconds; 0: no limit. */
parapet_status pp_comm_build(pp_comm **comm, MPI_Comm mpi_comm, double deadline_seconds);

/* What the predefined datatypes at the bottom of a datatype must be. */
typedef struct pp_element {
    parapet_type type;
    size_t bytes;
    const char *type_name; /* for sentences */
} pp_element;

/* [local] The bytes that a datatype selects. The patterns belong to the set, which may be cleared after a failure.
 * MPI must be running. */
parapet_status pp_datatype_read(pp_patterns *set, const pp_element *element, MPI_Datatype datatype,
                                const pp_pattern **pattern);

#endif
