/* Loses memory between the start and the end of MPI, on one rank; sanitizers_notice_leaks demands a report of it. */
#include <mpi.h>

#include <stdlib.h>
#include <string.h>

static void *volatile kept;

static void __attribute__((noinline)) forget_memory(void)
{
    kept = malloc(4321);
    if (kept != NULL)
        memset(kept, 1, 4321);
    kept = NULL;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1)
        forget_memory();
    MPI_Finalize();
    return 0;
}
