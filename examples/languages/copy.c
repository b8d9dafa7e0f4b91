/* Copies the field with chunks of whole columns: mpiexec -n 4 copy STORE */
#include <parapet.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    parapet_store *store = NULL;
    parapet_copy_request request = {.source_path = "field", .target_path = "columns"};
    parapet_copy_result result = {0};
    parapet_status status;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    status = parapet_store_open(&store, MPI_COMM_WORLD, argv[1], PARAPET_UPDATE, NULL);
    if (status == PARAPET_OK) {
        request.source = request.target = store;
        request.changes.chunks = "y/,x/4";
        request.memory_bytes = 16 << 20;
        status = parapet_copy(&request, &result);
    }
    if (status != PARAPET_OK && rank == 0)
        fprintf(stderr, "%s\n", parapet_error_message());
    else if (rank == 0)
        printf("%lld bytes in %lld chunks\n", (long long)result.array_bytes, (long long)result.chunks_written);
    parapet_store_close(&store);
    return MPI_Finalize() != MPI_SUCCESS || status != PARAPET_OK;
}
