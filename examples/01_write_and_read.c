/* Writes an array of temperatures, reads a part of it back, and leaves example01.zarr behind:
 *     parapet info example01.zarr
 *     python3 -c 'import xarray; print(xarray.open_zarr("example01.zarr"))' */
#include <parapet.h>
#include <stdio.h>

enum { ROWS = 100, COLUMNS = 200 };

static double temperature[ROWS][COLUMNS];

static parapet_status write_field(parapet_store *store)
{
    int64_t start[2] = {0, 0}, shape[2] = {ROWS, COLUMNS};
    const char *names[2] = {"lat", "lon"};
    parapet_array_spec spec = {.type = PARAPET_FLOAT64,
                               .ndim = 2,
                               .shape = shape,
                               .dimension_names = names,
                               .attributes = "{\"units\": \"K\"}",
                               .overwrite = 1};
    parapet_part part = {.ndim = 2, .start = start, .count = shape, .data = temperature};
    parapet_array *array = NULL;
    parapet_status status = parapet_array_create(&array, store, "temperature", &spec);
    if (status == PARAPET_OK)
        status = parapet_array_write(array, &part, 1);
    return parapet_array_close(&array) == PARAPET_OK ? status : PARAPET_ERR_IO;
}

static parapet_status read_corner(parapet_store *store, double corner[2][3])
{
    int64_t start[2] = {10, 20}, count[2] = {2, 3};
    parapet_part part = {.ndim = 2, .start = start, .count = count, .data = corner};
    parapet_array *array = NULL;
    parapet_status status = parapet_array_open(&array, store, "temperature");
    if (status == PARAPET_OK)
        status = parapet_array_read(array, &part, 1);
    return parapet_array_close(&array) == PARAPET_OK ? status : PARAPET_ERR_IO;
}

int main(void)
{
    double corner[2][3] = {{0}};
    parapet_store *store = NULL;
    parapet_status status;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            temperature[i][j] = 273.15 + i + 0.01 * j;
    if ((status = parapet_store_open(&store, MPI_COMM_NULL, "example01.zarr", PARAPET_CREATE, NULL)) != PARAPET_OK ||
        (status = write_field(store)) != PARAPET_OK || (status = read_corner(store, corner)) != PARAPET_OK)
        fprintf(stderr, "%s\n", parapet_error_message());
    parapet_store_close(&store);
    printf("temperature[10][20] = %g\n", corner[0][0]);
    return status != PARAPET_OK || corner[1][2] != temperature[11][22];
}
