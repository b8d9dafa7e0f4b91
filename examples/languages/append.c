/* Appends five hourly maps to a series: mpiexec -n 4 append STORE */
#include <parapet.h>
#include <stdio.h>

enum { ROWS = 36, COLUMNS = 48 };

static const int64_t shape[2] = {ROWS, COLUMNS};
static float map[ROWS][COLUMNS];

static parapet_status open_history(parapet_series **series, parapet_store *store)
{
    const int64_t steps[3] = {0, ROWS, COLUMNS}, chunks[3] = {4, 18, 48};
    const char *names[3] = {"time", "y", "x"}, *name = "t2m";
    parapet_array_spec spec = {
        .ndim = 3, .type = PARAPET_FLOAT32, .shape = steps, .chunks = chunks, .shards = chunks};
    parapet_series_spec all = {.count = 1, .names = &name, .specs = &spec};
    spec.dimension_names = names;
    spec.attributes = "{\"units\": \"K\"}";
    all.coordinate_attributes = "{\"units\": \"hours since 2000-01-01\"}";
    return parapet_series_create(series, store, "history", &all);
}

static parapet_status append_maps(parapet_series *series, const parapet_part *band)
{
    parapet_step step = {.parts = band, .part_count = 1};
    parapet_status status = PARAPET_OK;
    for (int hour = 0; hour < 5 && status == PARAPET_OK; hour++) {
        for (int64_t y = 0; y < band->count[0]; y++)
            for (int64_t x = 0; x < COLUMNS; x++)
                map[y][x] = (float)(1000 * hour + 100 * (band->start[0] + y) + x);
        status = parapet_series_append(series, hour, &step);
    }
    return status;
}

int main(int argc, char **argv)
{
    int rank, size;
    int64_t start[2], count[2];
    parapet_store *store = NULL;
    parapet_series *series = NULL;
    parapet_status status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int64_t mesh[2] = {size, 1};
    parapet_distribution bands = {.ndim = 2, .shape = shape, .mesh = mesh};
    parapet_distribution_box(&bands, rank, 0, start, count);
    parapet_part band = {.ndim = 2, .start = start, .count = count, .data = map};
    if ((status = parapet_store_open(&store, MPI_COMM_WORLD, argv[1], PARAPET_UPDATE, NULL)) == PARAPET_OK &&
        (status = open_history(&series, store)) == PARAPET_OK)
        status = append_maps(series, &band);
    if (status != PARAPET_OK && rank == 0)
        fprintf(stderr, "%s\n", parapet_error_message());
    parapet_series_close(&series);
    parapet_store_close(&store);
    return MPI_Finalize() != MPI_SUCCESS || status != PARAPET_OK;
}
