/* Stands before those functions of MPI without which the library neither asks, sends nor receives anything. */
#include "no_mpi.h"

#include <mpi.h>
#include <stdatomic.h>

static _Thread_local bool is_thread_forbidden;
static atomic_int count;

void no_mpi_forbid(bool is_forbidden)
{
    is_thread_forbidden = is_forbidden;
}

int no_mpi_count(void)
{
    return atomic_load(&count);
}

static void note_call(void)
{
    if (is_thread_forbidden)
        atomic_fetch_add(&count, 1);
}

int MPI_Initialized(int *flag)
{
    note_call();
    return PMPI_Initialized(flag);
}

int MPI_Finalized(int *flag)
{
    note_call();
    return PMPI_Finalized(flag);
}

int MPI_Query_thread(int *provided)
{
    note_call();
    return PMPI_Query_thread(provided);
}

int MPI_Isend(const void *data, int number, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Request *request)
{
    note_call();
    return PMPI_Isend(data, number, type, rank, tag, comm, request);
}

int MPI_Irecv(void *data, int number, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Request *request)
{
    note_call();
    return PMPI_Irecv(data, number, type, rank, tag, comm, request);
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    note_call();
    return PMPI_Test(request, flag, status);
}

int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
    note_call();
    return PMPI_Comm_rank(comm, rank);
}

int MPI_Comm_size(MPI_Comm comm, int *size)
{
    note_call();
    return PMPI_Comm_size(comm, size);
}
