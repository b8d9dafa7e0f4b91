/* Reads what 04_write_block_distributed.c wrote, on any number of ranks, in slabs of the last dimension and in
 * Fortran order, and checks every element:
 *     mpiexec -n 3 ./05_read_on_other_ranks field.zarr */
#include <parapet.h>
#include <stdio.h>
#include <stdlib.h>

enum { NDIM = 3 };

/* What one rank reads, and where it is in memory. */
typedef struct slab {
    int64_t start[NDIM], count[NDIM], strides[NDIM];
    float *values;
} slab;

/* The slab of this rank; empty when there are more ranks than columns. The first index runs fastest in memory. */
static void build_slab(slab *mine, const int64_t *shape, int rank, int size)
{
    int64_t mesh[NDIM] = {1, 1, size}, boxes = 0;
    parapet_distribution slabs = {.ndim = NDIM, .shape = shape, .mesh = mesh};
    if (parapet_distribution_count(&slabs, rank, &boxes) == PARAPET_OK && boxes > 0)
        (void)parapet_distribution_box(&slabs, rank, 0, mine->start, mine->count);
    mine->strides[0] = sizeof *mine->values;
    mine->strides[1] = mine->count[0] * mine->strides[0];
    mine->strides[2] = mine->count[1] * mine->strides[1];
    mine->values = malloc((size_t)(mine->count[2] * mine->strides[2]) + 1);
}

static long count_wrong(const slab *mine, const int64_t *shape)
{
    const float *value = mine->values;
    long wrong = 0;
    for (int64_t k = 0; k < mine->count[2]; k++)
        for (int64_t j = 0; j < mine->count[1]; j++)
            for (int64_t i = 0; i < mine->count[0]; i++)
                wrong += *value++ != (float)((i * shape[1] + j) * shape[2] + mine->start[2] + k);
    return wrong;
}

/* How many elements are wrong; -1: they could not be read. A rank without memory still takes part: its data is NULL,
 * and all ranks are told so. */
static long read_field(parapet_array *array, slab *mine, int rank, int size)
{
    parapet_part part = {.ndim = NDIM,
                         .start = mine->start,
                         .count = mine->count,
                         .strides_bytes = mine->strides,
                         .type = PARAPET_FLOAT32};
    parapet_array_info info;
    if (parapet_array_get_info(array, &info) != PARAPET_OK || info.ndim != NDIM)
        return -1; /* the same on every rank */
    build_slab(mine, info.shape, rank, size);
    part.data = mine->values;
    return parapet_array_read(array, &part, 1) == PARAPET_OK ? count_wrong(mine, info.shape) : -1;
}

int main(int argc, char **argv)
{
    int rank, size, provided;
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    slab mine = {0};
    long wrong = -1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (parapet_store_open(&store, MPI_COMM_WORLD, argc > 1 ? argv[1] : "field.zarr", PARAPET_READ, NULL) ==
            PARAPET_OK &&
        parapet_array_open(&array, store, "field") == PARAPET_OK)
        wrong = read_field(array, &mine, rank, size);
    if (wrong < 0)
        fprintf(stderr, "%s\n", parapet_error_message());
    printf("rank %d of %d: %lld columns from %lld on, %ld elements are wrong\n", rank, size, (long long)mine.count[2],
           (long long)mine.start[2], wrong);
    parapet_array_close(&array);
    parapet_store_close(&store);
    free(mine.values);
    MPI_Finalize();
    return wrong != 0;
}
