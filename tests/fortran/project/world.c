/* MPI for a Fortran compiler that its MPI does not know: what ranks.f90 needs of it, with integer communicators. */
#include <mpi.h>
#include <stddef.h>

int world_begin(int *rank);
void world_end(void);

int world_begin(int *rank)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    return (int)MPI_Comm_c2f(MPI_COMM_WORLD);
}

void world_end(void)
{
    MPI_Finalize();
}
