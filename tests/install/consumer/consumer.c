/* The smallest program that writes an array and reads it back. */
#include <parapet.h>
#include <stdio.h>
#include <string.h>

static int16_t written[6][10], read_back[6][10];

static parapet_status write_and_read(parapet_store *store, const char *path)
{
    int64_t shape[2] = {6, 10}, start[2] = {0, 0};
    parapet_array_spec spec = {.type = PARAPET_INT16, .ndim = 2, .shape = shape};
    parapet_part source = {.ndim = 2, .start = start, .count = shape, .data = written};
    parapet_part target = {.ndim = 2, .start = start, .count = shape, .data = read_back};
    parapet_array *array = NULL;
    parapet_status status, closed;

    status = parapet_array_create(&array, store, path, &spec);
    if (status == PARAPET_OK)
        status = parapet_array_write(array, &source, 1);
    if (status == PARAPET_OK)
        status = parapet_array_read(array, &target, 1);
    closed = parapet_array_close(&array);
    return status != PARAPET_OK ? status : closed;
}

int main(int argc, char **argv)
{
    parapet_store *store = NULL;
    parapet_status status, closed;
    MPI_Comm comm;
    int i;

    if (argc != 2)
        return 2;
#ifdef PARAPET_SERIAL
    comm = MPI_COMM_NULL;
#else
    MPI_Init(&argc, &argv);
    comm = MPI_COMM_WORLD;
#endif
    for (i = 0; i < 60; i++)
        written[i / 10][i % 10] = (int16_t)(i * i - 1000);
    status = parapet_store_open(&store, comm, argv[1], PARAPET_CREATE, NULL);
    if (status == PARAPET_OK)
        status = write_and_read(store, "results/density");
    if (status != PARAPET_OK)
        printf("%s: %s\n", parapet_status_name(status), parapet_error_message());
    closed = parapet_store_close(&store);
#ifndef PARAPET_SERIAL
    MPI_Finalize();
#endif
    if (status != PARAPET_OK || closed != PARAPET_OK)
        return 1;
    if (memcmp(written, read_back, sizeof written) != 0) {
        printf("what was read is not what was written\n");
        return 1;
    }
    return 0;
}
