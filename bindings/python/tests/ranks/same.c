/* The program of same.py in C: both leave the same bytes. same FOLDER */
#include <parapet.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 60, COLUMNS = 50 };

static void expect(parapet_status status)
{
    if (status != PARAPET_OK) {
        (void)fprintf(stderr, "%s\n", parapet_error_message());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static const int64_t shape[3] = {0, ROWS, COLUMNS}, chunks[3] = {1, 7, 11}, shards[3] = {4, 28, 33};
static const char *const names[3] = {"time", "y", "x"};

/* Steps of a series, of which the first four fill a row. */
static void append(parapet_store *store, const parapet_part *part, double *field, int64_t cells)
{
    const char *const array[1] = {"u"};
    parapet_array_spec spec = {.ndim = 3,
                               .type = PARAPET_FLOAT64,
                               .shape = shape,
                               .chunks = chunks,
                               .shards = shards,
                               .dimension_names = names};
    parapet_series_spec series = {.count = 1, .names = array, .specs = &spec, .attributes = "{\"title\": \"same\"}"};
    parapet_step step = {.parts = part, .part_count = 1};
    parapet_series *history = NULL;
    expect(parapet_series_create(&history, store, "history", &series));
    for (int hour = 0; hour < 5; hour++) {
        expect(parapet_series_append(history, hour, &step));
        for (int64_t i = 0; i < cells; i++)
            field[i] += 1;
    }
    expect(parapet_series_close(&history));
}

/* A generation, which is read again into the field. */
static void save_and_restore(parapet_store *store, const parapet_array_spec *spec, const parapet_part *part)
{
    parapet_checkpoint_item item = {.name = "u", .spec = spec, .parts = part, .part_count = 1};
    parapet_checkpoint *checkpoint = NULL;
    parapet_restore *restore = NULL;
    expect(parapet_checkpoint_begin(&checkpoint, store, "restart", NULL));
    expect(parapet_checkpoint_put(checkpoint, &item, 1));
    expect(parapet_checkpoint_attribute_set(checkpoint, "step", "5"));
    expect(parapet_checkpoint_commit(&checkpoint, NULL));
    expect(parapet_restore_open(&restore, store, "restart", 0));
    expect(parapet_restore_get(restore, &item, 1));
    expect(parapet_restore_close(&restore));
}

int main(int argc, char **argv)
{
    int rank = 0, size = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int64_t first = ROWS * rank / size, end = ROWS * (rank + 1) / size, cells = (end - first) * COLUMNS;
    int64_t start[2] = {first, 0}, count[2] = {end - first, COLUMNS};
    double *field = malloc((size_t)cells * sizeof *field);
    parapet_part part = {.ndim = 2, .start = start, .count = count, .data = field};
    parapet_array_spec spec = {.ndim = 2,
                               .type = PARAPET_FLOAT64,
                               .shape = shape + 1,
                               .chunks = chunks + 1,
                               .shards = shards + 1,
                               .dimension_names = names + 1,
                               .attributes = "{\"units\": \"m\", \"levels\": [1, 2.5]}"};
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    for (int64_t i = 0; i < cells; i++)
        field[i] = (double)(first * COLUMNS + i);
    expect(parapet_store_open(&store, MPI_COMM_WORLD, argv[1], PARAPET_CREATE, NULL));
    expect(parapet_array_create(&array, store, "field", &spec));
    expect(parapet_array_write(array, &part, 1));
    expect(parapet_array_close(&array));
    append(store, &part, field, cells);
    save_and_restore(store, &spec, &part);
    parapet_copy_request copy = {.source = store,
                                 .source_path = "field",
                                 .target = store,
                                 .target_path = "columns",
                                 .changes = {.chunks = "y/-1,x/5"},
                                 .no_probe = 1};
    expect(parapet_copy(&copy, NULL));
    expect(parapet_store_close(&store));
    free(field);
    MPI_Finalize();
    return 0;
}
