/* series_ranks.c - a series under the launcher, to be killed.
 *
 *     series_ranks make FOLDER FORM COUNT        appends so many steps; makes the series if need be
 *     series_ranks continue FOLDER FORM COUNT    the same, and verifies
 *     series_ranks verify FOLDER FORM            reads all steps, and changes nothing
 *
 * The series is in FOLDER/store. FORM is single (rows of one step), memory (rows of 10 that are kept there) or staged
 * (rows of 10 that are eight times memory_bytes). Each prints lines of JSON from rank 0. FOLDER/notes tells what was
 * begun and acknowledged. */
#include <inttypes.h>
#include <mpi.h>
#include <parapet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kill_subject.h"

#define PLACE "run"

enum { ARRAYS = 4, FLUSHED_AFTER = 7, MOST_STEPS_PER_ROW = 10 };

/* energy has one element in each step. */
static const char *const names[ARRAYS] = {"u", "v", "w", "energy"};
static const char *const codecs[ARRAYS] = {"none", "zstd:1", "none", "none"};
static const int ndims[ARRAYS] = {3, 3, 3, 1};

typedef struct form {
    const char *name;
    int64_t steps_per_row;
    int64_t shape[2], chunk[2], shard[2]; /* of a step */
    int64_t memory_bytes;                 /* of all ranks together: fewer have larger parts of the same steps */
} form;

static const form forms[] = {
    {"single", 1, {40, 24}, {8, 12}, {16, 24}, 0},
    {"memory", 10, {40, 24}, {8, 12}, {16, 24}, 0},
    {"staged", 10, {704, 400}, {16, 50}, {128, 400}, 4 << 20},
};

static const char *folder;
static const form *shaped;

static void require(parapet_status status)
{
    if (status == PARAPET_OK)
        return;
    fprintf(stderr, "series_ranks: %s: %s\n", parapet_status_name(status), parapet_error_message());
    exit(1);
}

static void *allocate(size_t bytes)
{
    void *memory = calloc(bytes + 1, 1);
    if (memory == NULL)
        abort();
    return memory;
}

static void cut_block(int64_t extent, int64_t *start, int64_t *count)
{
    *start = extent * kill_rank / kill_ranks;
    *count = extent * (kill_rank + 1) / kill_ranks - *start;
}

/* Never the fill value. */
static int32_t value_of(int array, int64_t step, int64_t i, int64_t j)
{
    return (int32_t)((array * 40503 + step * 1048583 + (i * shaped->shape[1] + j) * 8) % 2147483647) | 1;
}

static parapet_store *open_store(parapet_mode mode, int64_t memory_bytes)
{
    parapet_store_options options = {.memory_bytes = memory_bytes};
    parapet_store *store = NULL;
    char path[600];
    (void)snprintf(path, sizeof path, "%s/store", folder);
    require(parapet_store_open(&store, MPI_COMM_WORLD, path, mode, &options));
    return store;
}

/* ---- Making ---- */

static void create(parapet_series **series, parapet_store *store)
{
    int64_t shape[3] = {0, shaped->shape[0], shaped->shape[1]};
    int64_t chunks[3] = {shaped->steps_per_row, shaped->chunk[0], shaped->chunk[1]};
    int64_t shards[3] = {shaped->steps_per_row, shaped->shard[0], shaped->shard[1]};
    parapet_array_spec specs[ARRAYS];
    parapet_series_spec spec = {.count = ARRAYS, .names = names, .specs = specs};
    int i;
    for (i = 0; i < ARRAYS; i++)
        specs[i] = (parapet_array_spec){.type = PARAPET_INT32,
                                        .ndim = ndims[i],
                                        .shape = shape,
                                        .chunks = chunks,
                                        .shards = shards,
                                        .codec = codecs[i]};
    require(parapet_series_create(series, store, PLACE, &spec));
}

static parapet_series *open_or_create(parapet_store *store)
{
    parapet_series *series = NULL;
    parapet_status status = parapet_series_open(&series, store, PLACE);
    if (status == PARAPET_ERR_NOT_FOUND)
        create(&series, store);
    else
        require(status);
    return series;
}

static parapet_series_info info_of(parapet_series *series)
{
    parapet_series_info info;
    require(parapet_series_get_info(series, &info));
    return info;
}

/* Every rank has some columns, so that shards are of all of them; energy is rank 0's. */
static void append(parapet_series *series, int64_t step, int32_t *data)
{
    int64_t start[2] = {0, 0}, count[2] = {shaped->shape[0], 0}, elements, i, j;
    parapet_part parts[ARRAYS];
    parapet_step steps[ARRAYS] = {{0}};
    int array;
    cut_block(shaped->shape[1], &start[1], &count[1]);
    elements = count[0] * count[1];
    for (array = 0; array < ARRAYS; array++) {
        int32_t *values = data + array * elements;
        for (i = 0; i < (ndims[array] > 1 ? count[0] : 1); i++)
            for (j = 0; j < (ndims[array] > 1 ? count[1] : 1); j++)
                values[i * count[1] + j] = value_of(array, step, i, ndims[array] > 1 ? start[1] + j : 0);
        parts[array] = ndims[array] > 1 ? (parapet_part){.ndim = 2, .start = start, .count = count, .data = values}
                                        : (parapet_part){.data = values};
        steps[array] = (parapet_step){.parts = &parts[array], .part_count = ndims[array] > 1 || kill_rank == 0};
    }
    require(parapet_series_append(series, 0.5 * (double)step, steps));
}

/* Notes what can no more be lost, if that has changed. */
static void acknowledge(parapet_series *series, int64_t *known)
{
    parapet_series_info info = info_of(series);
    if (info.steps_committed > *known)
        kill_note(folder, "done", info.steps_committed, 0);
    *known = info.steps_committed;
    if (info.steps > info.steps_committed && info.is_staged != (shaped->memory_bytes > 0)) {
        fprintf(stderr, "series_ranks: open steps are not where they are to be tested\n");
        exit(1);
    }
}

static void make(int64_t count)
{
    parapet_store *store = open_store(PARAPET_CREATE, shaped->memory_bytes / kill_ranks);
    int32_t *data = allocate((size_t)(ARRAYS * shaped->shape[0] * shaped->shape[1]) * sizeof *data);
    parapet_series *series;
    int64_t step, end, known = -1;
    kill_note(folder, "begin", 0, 0);
    series = open_or_create(store);
    step = info_of(series).steps;
    acknowledge(series, &known);
    for (end = step + count; step < end; step++) {
        kill_note(folder, "begin", step + 1, 0);
        append(series, step, data);
        if ((step + 1) % FLUSHED_AFTER == 0)
            require(parapet_series_flush(series));
        acknowledge(series, &known);
    }
    require(parapet_series_close(&series));
    kill_note(folder, "done", end, 0);
    require(parapet_store_close(&store));
    free(data);
    if (kill_rank == 0)
        printf("{\"made\": %" PRId64 "}\n", end);
}

/* ---- Verifying ---- */

static int64_t sum_of(int64_t number)
{
    MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return number;
}

static void tell(const char *name, parapet_status status, int64_t steps, int64_t wrong)
{
    if (kill_rank == 0)
        printf("{\"array\": \"%s\", \"status\": \"%s\", \"steps\": %" PRId64 ", \"wrong\": %" PRId64 "}\n", name,
               parapet_status_name(status), steps, wrong);
}

static int64_t steps_of(parapet_array *array)
{
    parapet_array_info info;
    require(parapet_array_get_info(array, &info));
    return info.shape[0];
}

/* Counts what differs in a block of steps; every rank has some rows of them. */
static parapet_status compare(parapet_array *array, int number, int64_t first, int64_t steps, int64_t *wrong)
{
    int64_t start[3] = {first, 0, 0}, count[3] = {steps, 1, 1}, t, i, j;
    int32_t *found = allocate((size_t)(steps * shaped->shape[0] * shaped->shape[1]) * sizeof *found), *next = found;
    parapet_part part = {.ndim = ndims[number], .start = start, .count = count, .data = found};
    parapet_status status;
    if (ndims[number] > 1) {
        cut_block(shaped->shape[0], &start[1], &count[1]);
        count[2] = shaped->shape[1];
    }
    if ((status = parapet_array_read(array, &part, 1)) == PARAPET_OK)
        for (t = 0; t < steps; t++)
            for (i = 0; i < count[1]; i++)
                for (j = 0; j < count[2]; j++)
                    *wrong += *next++ != value_of(number, first + t, start[1] + i, j);
    free(found);
    return status;
}

static void verify_array(parapet_store *store, int number)
{
    parapet_array *array = NULL;
    int64_t steps = -1, wrong = 0, first, count;
    char path[32];
    parapet_status status;
    (void)snprintf(path, sizeof path, PLACE "/%s", names[number]);
    if ((status = parapet_array_open(&array, store, path)) == PARAPET_OK)
        steps = steps_of(array);
    for (first = 0; first < steps && status == PARAPET_OK; first += count) {
        count = steps - first < MOST_STEPS_PER_ROW ? steps - first : MOST_STEPS_PER_ROW;
        status = compare(array, number, first, count, &wrong);
    }
    tell(names[number], status, steps, sum_of(wrong));
    if (array != NULL)
        require(parapet_array_close(&array));
}

static void verify_coordinate(parapet_store *store)
{
    parapet_array *array = NULL;
    int64_t start = 0, steps, wrong = 0, i;
    double *found;
    parapet_part part;
    parapet_status status;
    require(parapet_array_open(&array, store, PLACE "/time"));
    steps = steps_of(array);
    found = allocate((size_t)steps * sizeof *found);
    part = (parapet_part){.ndim = 1, .start = &start, .count = &steps, .data = found};
    if ((status = parapet_array_read(array, &part, 1)) == PARAPET_OK)
        for (i = 0; i < steps; i++)
            wrong += found[i] != 0.5 * (double)i;
    tell("time", status, steps, sum_of(wrong));
    free(found);
    require(parapet_array_close(&array));
}

static void verify(void)
{
    parapet_store *store = open_store(PARAPET_READ, 0);
    int i;
    for (i = 0; i < ARRAYS; i++)
        verify_array(store, i);
    verify_coordinate(store);
    require(parapet_store_close(&store));
}

static const form *find_form(const char *name)
{
    size_t i;
    for (i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (strcmp(forms[i].name, name) == 0)
            return &forms[i];
    return NULL;
}

int main(int argc, char **argv)
{
    int is_only_verified = argc == 4 && strcmp(argv[1], "verify") == 0;
    if ((argc != 5 && !is_only_verified) || (shaped = find_form(argv[3])) == NULL)
        return 2;
    folder = argv[2];
    kill_start(&argc, &argv, folder);
    if (!is_only_verified)
        make(strtoll(argv[4], NULL, 10));
    if (strcmp(argv[1], "make") != 0)
        verify();
    MPI_Finalize();
    return 0;
}
