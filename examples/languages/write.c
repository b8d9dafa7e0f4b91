/* Writes a field, in blocks with a halo: mpiexec -n 4 write STORE */
#include <parapet.h>
#include <stdio.h>
#include <stdlib.h>

static const int64_t shape[2] = {36, 48}, chunks[2] = {16, 20};

static parapet_status write_field(parapet_store *store, const parapet_part *block)
{
    const char *names[2] = {"y", "x"};
    parapet_array *array = NULL;
    parapet_array_spec spec = {.ndim = 2, .type = PARAPET_FLOAT64, .shape = shape, .chunks = chunks};
    spec.dimension_names = names;
    spec.attributes = "{\"units\": \"K\"}";
    parapet_status status = parapet_array_create(&array, store, "field", &spec);
    if (status == PARAPET_OK)
        status = parapet_array_write(array, block, 1);
    parapet_array_close(&array);
    return status;
}

int main(int argc, char **argv)
{
    int rank, size, sides[2] = {0};
    int64_t start[2], count[2];
    parapet_store *store = NULL;
    parapet_status status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, sides);
    int64_t mesh[2] = {sides[0], sides[1]};
    parapet_distribution blocks = {.ndim = 2, .shape = shape, .mesh = mesh};
    parapet_distribution_box(&blocks, rank, 0, start, count);

    int64_t row = count[1] + 2, strides[2] = {row * 8, 8};
    double *field = calloc((size_t)((count[0] + 2) * row), sizeof *field);
    for (int64_t y = 0; y < count[0]; y++)
        for (int64_t x = 0; x < count[1]; x++)
            field[(y + 1) * row + x + 1] = (double)(100 * (start[0] + y) + start[1] + x);
    parapet_part block = {.ndim = 2, .start = start, .count = count, .strides_bytes = strides};
    block.data = field + row + 1;

    status = parapet_store_open(&store, MPI_COMM_WORLD, argv[1], PARAPET_CREATE, NULL);
    if (status == PARAPET_OK)
        status = write_field(store, &block);
    if (status != PARAPET_OK && rank == 0)
        fprintf(stderr, "%s\n", parapet_error_message());
    parapet_store_close(&store);
    free(field);
    MPI_Finalize();
    return status != PARAPET_OK;
}
