/* A solver keeps its field with a halo of ghost cells. Strides say where the cells are, so that the interior is
 * written in place, without a copy; later, only the box that changed is written again. */
#include <parapet.h>
#include <stdio.h>

enum { SIZE = 64, HALO = 2, PADDED = SIZE + 2 * HALO };

static float field[PADDED][PADDED]; /* the interior is field[HALO + i][HALO + j] */
static float stored[SIZE][SIZE];

static int64_t strides[2] = {sizeof field[0], sizeof field[0][0]};

/* The box of the array that begins at (row, column), and where it is in the padded field. */
static parapet_status write_box(parapet_array *array, const int64_t start[2], const int64_t count[2])
{
    parapet_part part = {.ndim = 2,
                         .start = start,
                         .count = count,
                         .data = &field[HALO + start[0]][HALO + start[1]],
                         .strides_bytes = strides};
    return parapet_array_write(array, &part, 1);
}

static parapet_status run(parapet_store *store, parapet_array **array)
{
    int64_t origin[2] = {0, 0}, shape[2] = {SIZE, SIZE}, corner[2] = {10, 20}, patch[2] = {5, 7};
    int64_t chunks[2] = {16, 16};
    parapet_array_spec spec = {.type = PARAPET_FLOAT32, .ndim = 2, .shape = shape, .chunks = chunks, .overwrite = 1};
    parapet_part all = {.ndim = 2, .start = origin, .count = shape, .data = stored};
    parapet_status status;
    if ((status = parapet_array_create(array, store, "field", &spec)) != PARAPET_OK ||
        (status = write_box(*array, origin, shape)) != PARAPET_OK)
        return status;
    for (int64_t i = corner[0]; i < corner[0] + patch[0]; i++)
        for (int64_t j = corner[1]; j < corner[1] + patch[1]; j++)
            field[HALO + i][HALO + j] = -1;
    if ((status = write_box(*array, corner, patch)) != PARAPET_OK)
        return status;
    return parapet_array_read(*array, &all, 1);
}

int main(void)
{
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    int wrong = 0;
    for (int i = 0; i < PADDED * PADDED; i++)
        field[i / PADDED][i % PADDED] = (float)i;
    if (parapet_store_open(&store, MPI_COMM_NULL, "example02.zarr", PARAPET_CREATE, NULL) != PARAPET_OK ||
        run(store, &array) != PARAPET_OK)
        wrong += fprintf(stderr, "%s\n", parapet_error_message());
    parapet_array_close(&array);
    parapet_store_close(&store);
    for (int i = 0; i < SIZE * SIZE; i++)
        wrong += stored[i / SIZE][i % SIZE] != field[HALO + i / SIZE][HALO + i % SIZE];
    printf("%d elements are not as expected\n", wrong);
    return wrong != 0;
}
