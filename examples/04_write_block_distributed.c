/* Writes a field of three dimensions that is distributed over all ranks in blocks, each with a halo of ghost cells:
 *     mpiexec -n 4 ./04_write_block_distributed field.zarr
 * Strides skip the halo, and the stored chunks and shards need not match the blocks of the ranks. */
#include <parapet.h>
#include <stdio.h>
#include <stdlib.h>

enum { NDIM = 3, HALO = 1 };

static const int64_t shape[NDIM] = {60, 50, 40}, chunks[NDIM] = {16, 16, 16}, shards[NDIM] = {32, 32, 48};

/* Memory for a block and its halo. Each cell of the block gets its number in the whole field; *part describes it. */
static float *build_block(const int64_t *start, const int64_t *count, int64_t *strides, parapet_part *part)
{
    int64_t rows = count[1] + 2 * HALO, columns = count[2] + 2 * HALO, i, j, k;
    float *memory = calloc((size_t)((count[0] + 2 * HALO) * rows * columns), sizeof *memory);
    float *first = memory != NULL ? memory + (HALO * rows + HALO) * columns + HALO : NULL;
    for (i = 0; first != NULL && i < count[0]; i++)
        for (j = 0; j < count[1]; j++)
            for (k = 0; k < count[2]; k++)
                first[(i * rows + j) * columns + k] =
                    (float)(((start[0] + i) * shape[1] + start[1] + j) * shape[2] + start[2] + k);
    strides[0] = rows * columns * (int64_t)sizeof *memory;
    strides[1] = columns * (int64_t)sizeof *memory;
    strides[2] = sizeof *memory;
    *part = (parapet_part){.ndim = NDIM, .start = start, .count = count, .data = first, .strides_bytes = strides};
    return memory;
}

/* Every rank calls this with what it holds; all get the same status. */
static parapet_status write_field(const char *path, const parapet_part *part)
{
    const char *names[NDIM] = {"z", "y", "x"};
    parapet_array_spec spec = {.type = PARAPET_FLOAT32, .ndim = NDIM, .shape = shape, .overwrite = 1};
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    parapet_status status;
    spec.chunks = chunks;
    spec.shards = shards;
    spec.dimension_names = names;
    if ((status = parapet_store_open(&store, MPI_COMM_WORLD, path, PARAPET_CREATE, NULL)) == PARAPET_OK &&
        (status = parapet_array_create(&array, store, "field", &spec)) == PARAPET_OK)
        status = parapet_array_write(array, part, 1);
    if (status != PARAPET_OK)
        fprintf(stderr, "%s\n", parapet_error_message());
    parapet_array_close(&array);
    parapet_store_close(&store);
    return status;
}

int main(int argc, char **argv)
{
    int64_t mesh[NDIM], start[NDIM] = {0}, count[NDIM] = {0}, strides[NDIM];
    int rank, size, provided, sides[NDIM] = {0};
    parapet_distribution blocks = {.ndim = NDIM, .shape = shape, .mesh = mesh};
    parapet_part part;
    parapet_status status;
    float *memory;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, NDIM, sides);
    for (int d = 0; d < NDIM; d++)
        mesh[d] = sides[d];
    (void)parapet_distribution_box(&blocks, rank, 0, start, count); /* a rank that has no box keeps an empty one */
    memory = build_block(start, count, strides, &part);
    status = write_field(argc > 1 ? argv[1] : "field.zarr", &part);
    printf("rank %d of %d: %lld x %lld x %lld elements at %lld, %lld, %lld: %s\n", rank, size, (long long)count[0],
           (long long)count[1], (long long)count[2], (long long)start[0], (long long)start[1], (long long)start[2],
           parapet_status_name(status));
    free(memory);
    MPI_Finalize();
    return status != PARAPET_OK;
}
