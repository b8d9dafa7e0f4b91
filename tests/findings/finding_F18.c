/* finding_F18 STORE: rank 1 stops before it opens the store; the others say how long they waited, and for what reason
 * they gave up. Then all wait to be ended. */
#include <parapet.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    parapet_store *store = NULL;
    const parapet_store_options options = {.deadline_seconds = 2};
    parapet_status status;
    double start;
    int rank;
    if (argc < 2)
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("process %d\n", (int)getpid());
    (void)fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    if (rank == 1)
        (void)raise(SIGSTOP);
    status = parapet_store_open(&store, MPI_COMM_WORLD, argv[1], PARAPET_CREATE, &options);
    printf("rank %d %s %.2f %s\n", rank, parapet_status_name(status), MPI_Wtime() - start, parapet_error_message());
    (void)fflush(stdout);
    for (;;)
        (void)pause();
}
