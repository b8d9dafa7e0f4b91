/* Reads the field in bands of rows and writes it doubled: mpiexec -n 3 read STORE */
#include <parapet.h>
#include <stdio.h>
#include <stdlib.h>

static const int64_t shape[2] = {36, 48};

static parapet_status read_field(parapet_store *store, const parapet_part *band)
{
    parapet_array *array = NULL;
    parapet_status status = parapet_array_open(&array, store, "field");
    if (status == PARAPET_OK)
        status = parapet_array_read(array, band, 1);
    parapet_array_close(&array);
    return status;
}

static parapet_status write_doubled(parapet_store *store, const parapet_part *band)
{
    parapet_array *array = NULL;
    parapet_array_spec spec = {.ndim = 2, .type = PARAPET_FLOAT64, .shape = shape};
    parapet_status status = parapet_array_create(&array, store, "doubled", &spec);
    for (int64_t i = 0; i < band->count[0] * band->count[1]; i++)
        ((double *)band->data)[i] *= 2;
    if (status == PARAPET_OK)
        status = parapet_array_write(array, band, 1);
    parapet_array_close(&array);
    return status;
}

int main(int argc, char **argv)
{
    int rank, size;
    int64_t start[2], count[2];
    parapet_store *store = NULL;
    parapet_status status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int64_t mesh[2] = {size, 1};
    parapet_distribution bands = {.ndim = 2, .shape = shape, .mesh = mesh};
    parapet_distribution_box(&bands, rank, 0, start, count);
    parapet_part band = {.ndim = 2, .start = start, .count = count};
    band.data = malloc((size_t)(count[0] * count[1]) * sizeof(double));

    status = parapet_store_open(&store, MPI_COMM_WORLD, argv[1], PARAPET_UPDATE, NULL);
    if (status == PARAPET_OK && (status = read_field(store, &band)) == PARAPET_OK)
        status = write_doubled(store, &band);
    if (status != PARAPET_OK && rank == 0)
        fprintf(stderr, "%s\n", parapet_error_message());
    parapet_store_close(&store);
    free(band.data);
    MPI_Finalize();
    return status != PARAPET_OK;
}
