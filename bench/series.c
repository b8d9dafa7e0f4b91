/* What it costs to append steps one by one: a series of four arrays of doubles, every step appended as a simulation
 * would, against the same arrays with the same chunks and shards written at once, when all steps are there.
 *
 *   mpiexec -n 4 bench_series DIRECTORY STEPS EDGE ROUNDS ROW...
 *
 * A step of an array is EDGE x EDGE, each rank with some of its rows; ROW is how many steps share a shard, one after
 * the other, with a chunk in each. Both end when everything is durable and committed; a store is made anew for each,
 * and who begins changes each round. Prints seconds, the ratio within each round, and how often a shard was written.
 */
#include <parapet.h>
#include <stdio.h>
#include <stdlib.h>

#include "case.h"

#define ARRAYS 4

static const char *const names[ARRAYS] = {"u", "v", "w", "t"};

typedef struct job {
    const char *directory;
    int64_t steps, edge, row;
    int rank, ranks;
    int64_t first, count; /* rows of this rank */
    double *data;         /* of one array: all steps */
    int64_t shards_written;
} job;

static void must(parapet_status status)
{
    if (status == PARAPET_OK)
        return;
    (void)fprintf(stderr, "bench_series: %s\n", parapet_error_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void remove_store(const job *all)
{
    char command[4200];
    bench_wait_for_all();
    (void)snprintf(command, sizeof command, "rm -rf '%s/series.zarr' && sync", all->directory);
    if (all->rank == 0 && system(command) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    bench_wait_for_all();
}

static void open_store(const job *all, parapet_store **store)
{
    parapet_store_options options = {.memory_bytes = INT64_C(2) << 30};
    char path[4200];
    (void)snprintf(path, sizeof path, "%s/series.zarr", all->directory);
    must(parapet_store_open(store, MPI_COMM_WORLD, path, PARAPET_CREATE, &options));
}

static parapet_array_spec spec_of(const int64_t *shape, const int64_t *chunks, const int64_t *shards)
{
    return (parapet_array_spec){
        .type = PARAPET_FLOAT64, .ndim = 3, .shape = shape, .chunks = chunks, .shards = shards, .codec = "none"};
}

static void append_steps(job *all, parapet_store *store)
{
    int64_t shape[3] = {0, all->edge, all->edge}, cell[3] = {all->row, all->edge / 4, all->edge};
    int64_t start[2] = {all->first, 0}, count[2] = {all->count, all->edge}, step;
    parapet_array_spec specs[ARRAYS];
    parapet_series *series = NULL;
    parapet_series_info info;
    for (int i = 0; i < ARRAYS; i++)
        specs[i] = spec_of(shape, cell, cell);
    must(parapet_series_create(&series, store, "run",
                               &(parapet_series_spec){.count = ARRAYS, .names = names, .specs = specs}));
    for (step = 0; step < all->steps; step++) {
        parapet_part part = {
            .ndim = 2, .start = start, .count = count, .data = all->data + step * all->count * all->edge};
        parapet_step steps[ARRAYS];
        for (int i = 0; i < ARRAYS; i++)
            steps[i] = (parapet_step){.parts = &part, .part_count = 1};
        must(parapet_series_append(series, (double)step, steps));
    }
    must(parapet_series_flush(series));
    must(parapet_series_get_info(series, &info));
    all->shards_written = info.shards_written;
    must(parapet_series_close(&series));
}

static void write_at_once(job *all, parapet_store *store)
{
    int64_t shape[3] = {all->steps, all->edge, all->edge}, cell[3] = {all->row, all->edge / 4, all->edge};
    int64_t start[3] = {0, all->first, 0}, count[3] = {all->steps, all->count, all->edge};
    parapet_part part = {.ndim = 3, .start = start, .count = count, .data = all->data};
    parapet_array *arrays[ARRAYS];
    parapet_array_spec specs[ARRAYS];
    parapet_array_parts list[ARRAYS];
    for (int i = 0; i < ARRAYS; i++)
        specs[i] = spec_of(shape, cell, cell);
    must(parapet_arrays_create(arrays, store, names, specs, ARRAYS));
    for (int i = 0; i < ARRAYS; i++)
        list[i] = (parapet_array_parts){.array = arrays[i], .parts = &part, .part_count = 1};
    must(parapet_arrays_write(list, ARRAYS));
    must(parapet_arrays_close(arrays, ARRAYS));
}

static double time_of(job *all, void (*work)(job *, parapet_store *))
{
    parapet_store *store = NULL;
    double start, seconds;
    remove_store(all);
    open_store(all, &store);
    bench_wait_for_all();
    start = MPI_Wtime();
    work(all, store);
    seconds = MPI_Wtime() - start;
    must(parapet_store_close(&store));
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return seconds;
}

static void compare(job *all, int round)
{
    double appended = 0, at_once = 0;
    int64_t shards = 0, expected = ARRAYS * 4 * ((all->steps + all->row - 1) / all->row);
    if (round % 2 == 0)
        appended = time_of(all, append_steps);
    at_once = time_of(all, write_at_once);
    if (round % 2 != 0)
        appended = time_of(all, append_steps);
    MPI_Allreduce(&all->shards_written, &shards, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (all->rank == 0)
        (void)printf("rows of %3lld: appended in %.2f s, at once in %.2f s, ratio %.2f; %lld writes of %lld shards\n",
                     (long long)all->row, appended, at_once, appended / at_once, (long long)shards,
                     (long long)expected);
    (void)fflush(stdout);
}

int main(int argc, char **argv)
{
    job all = {0};
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    if (argc < 6)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Comm_rank(MPI_COMM_WORLD, &all.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &all.ranks);
    all.directory = argv[1];
    all.steps = atoll(argv[2]);
    all.edge = atoll(argv[3]);
    all.first = all.edge * all.rank / all.ranks;
    all.count = all.edge * (all.rank + 1) / all.ranks - all.first;
    all.data = malloc((size_t)(all.steps * all.count * all.edge) * sizeof all.data[0]);
    if (all.data == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int64_t i = 0; i < all.steps * all.count * all.edge; i++)
        all.data[i] = (double)(i + all.first);
    for (int round = 0; round < atoi(argv[4]); round++)
        for (int i = 5; i < argc; i++) {
            all.row = atoll(argv[i]);
            compare(&all, round);
        }
    remove_store(&all);
    free(all.data);
    MPI_Finalize();
}
