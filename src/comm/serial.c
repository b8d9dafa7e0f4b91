/* serial.c - the library without MPI: what mpi_comm.c is with it. */
#include "comm/flavour.h"

#include "base/status.h"

parapet_status pp_comm_build(pp_comm **comm, MPI_Comm mpi_comm, double deadline_seconds)
{
    (void)deadline_seconds;
    *comm = NULL;
    if (mpi_comm != MPI_COMM_NULL)
        return pp_fail(PARAPET_ERR_UNSUPPORTED,
                       "this is the serial library, without MPI: it accepts only MPI_COMM_NULL, which means this "
                       "process alone; to use a communicator, link with parapet-mpich or parapet-openmpi");
    return pp_comm_build_alone(comm);
}

parapet_status pp_datatype_read(pp_patterns *set, const pp_element *element, MPI_Datatype datatype,
                                const pp_pattern **pattern)
{
    (void)set, (void)element, (void)datatype, (void)pattern;
    return pp_fail(PARAPET_ERR_UNSUPPORTED,
                   "this is the serial library, without MPI, which has no datatypes; link with "
                   "parapet-mpich or parapet-openmpi");
}

const char *pp_comm_flavour(void)
{
    return PARAPET_FLAVOUR;
}

bool pp_comm_allows_threads(void)
{
    return true;
}

bool pp_comm_allows_any_thread(void)
{
    return true;
}

void pp_comm_print_library(pp_text *text)
{
    pp_text_add(text, "serial: without MPI");
}
