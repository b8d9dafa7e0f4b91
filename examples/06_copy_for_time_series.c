/* Maps to time series: a field that was written one map at a time is copied into chunks that hold all times of a few
 * places, within a memory limit. A time series then costs one chunk instead of all of them. */
#include <parapet.h>
#include <stdio.h>

enum { TIMES = 200, ROWS = 60, COLUMNS = 90 };

static const int64_t shape[3] = {TIMES, ROWS, COLUMNS}, map[3] = {1, ROWS, COLUMNS};
static float maps[TIMES][ROWS][COLUMNS], series[TIMES];

static parapet_status write_maps(parapet_store *store)
{
    const char *names[3] = {"time", "lat", "lon"};
    int64_t start[3] = {0}, shards[3] = {20, ROWS, COLUMNS};
    parapet_array_spec spec = {.type = PARAPET_FLOAT32, .ndim = 3, .shape = shape, .overwrite = 1};
    parapet_part part = {.ndim = 3, .start = start, .count = shape, .data = maps};
    parapet_array *array = NULL;
    parapet_status status;
    spec.chunks = map;
    spec.shards = shards;
    spec.dimension_names = names;
    for (int i = 0; i < TIMES; i++)
        for (int j = 0; j < ROWS; j++)
            for (int k = 0; k < COLUMNS; k++)
                maps[i][j][k] = (float)(i + 1000 * j + 100000 * k);
    if ((status = parapet_array_create(&array, store, "by_map", &spec)) == PARAPET_OK)
        status = parapet_array_write(array, &part, 1);
    parapet_array_close(&array);
    return status;
}

/* The array is larger than the limit; source and target may be in different stores. */
static parapet_status copy_to_series(parapet_store *store)
{
    parapet_copy_request request = {.source = store, .source_path = "by_map", .target = store, .overwrite = 1};
    parapet_copy_result result;
    parapet_status status;
    request.target_path = "by_place";
    request.changes.chunks = "time/,lat/10,lon/10"; /* nothing after the slash: the whole dimension */
    request.memory_bytes = 3 << 20;
    request.verify = 1;
    if ((status = parapet_copy(&request, &result)) == PARAPET_OK)
        printf("copied %lld bytes in %lld pass(es); buffers took %lld of %lld bytes\n", (long long)result.array_bytes,
               (long long)result.passes, (long long)result.memory_peak_bytes, (long long)request.memory_bytes);
    return status;
}

/* One place at all times; *chunks: how many had to be decoded for it. */
static parapet_status read_series(parapet_store *store, const char *path, long long *chunks)
{
    const int64_t start[3] = {0, 17, 42}, count[3] = {TIMES, 1, 1};
    parapet_part part = {.ndim = 3, .start = start, .count = count, .data = series};
    parapet_statistics before, after;
    parapet_array *array = NULL;
    parapet_status status;
    parapet_store_get_statistics(store, &before);
    if ((status = parapet_array_open(&array, store, path)) == PARAPET_OK)
        status = parapet_array_read(array, &part, 1);
    parapet_array_close(&array);
    parapet_store_get_statistics(store, &after);
    *chunks = (long long)(after.chunks_decoded - before.chunks_decoded);
    for (int i = 0; status == PARAPET_OK && i < TIMES; i++)
        if (series[i] < maps[i][17][42] || series[i] > maps[i][17][42])
            return PARAPET_ERR_CORRUPT;
    return status;
}

int main(void)
{
    long long by_map = 0, by_place = 0;
    parapet_store *store = NULL;
    parapet_status status;
    if ((status = parapet_store_open(&store, MPI_COMM_NULL, "example_copy.zarr", PARAPET_CREATE, NULL)) !=
            PARAPET_OK ||
        (status = write_maps(store)) != PARAPET_OK || (status = copy_to_series(store)) != PARAPET_OK ||
        (status = read_series(store, "by_map", &by_map)) != PARAPET_OK ||
        (status = read_series(store, "by_place", &by_place)) != PARAPET_OK)
        fprintf(stderr, "%s\n", parapet_error_message());
    else
        printf("one time series took %lld chunks before, and takes %lld now\n", by_map, by_place);
    parapet_store_close(&store);
    return status != PARAPET_OK || by_place != 1;
}
