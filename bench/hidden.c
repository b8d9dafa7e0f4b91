/* How much of a write is hidden behind a computation, and what a series costs whose steps are appended meanwhile.
 *
 *   mpiexec -n RANKS bench_hidden write DIRECTORY MIB RATE LEVEL ROUNDS [dedicated]
 *   mpiexec -n RANKS bench_hidden series DIRECTORY STEPS EDGE LEVEL ROUNDS
 *
 * write: an array of MIB MiB, of which every rank has an equal share, through disks of RATE bytes a second on each
 * server, uncompressed, borrowed. The computation is a number of sweeps over a small array that takes 1 s where all
 * ranks do it at once. dedicated: rank 0 is the
 * only server and computes nothing, and the others compute what it would have. Prints for each round
 *
 *   COMPUTE WRITE BOTH      seconds of each alone and of both
 *
 * series: steps of an EDGE x EDGE array of doubles are made, which takes about as long as reading and writing them
 * once in memory, and appended one by one, each a row of its own and committed; or all are made, and then written at
 * once. Everything is durable in the end. Prints for each round
 *
 *   AT-ONCE APPENDED STARTED      seconds; the last with parapet_series_start_append and two buffers
 *
 * LEVEL is single, funneled or multiple. */
#include <parapet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/open.h"
#include "case.h"
#include "store/store.h"
#include "stores/throttled.h"

enum { CELLS = 4096 };

static int rank, rank_count;
static double cells[CELLS];
static bool is_idle; /* this rank only serves */

static void check(parapet_status status, const char *what)
{
    if (status != PARAPET_OK)
        bench_die(what, parapet_error_message());
}

static double largest(double seconds)
{
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return seconds;
}

static double *need(int64_t count)
{
    double *data = calloc((size_t)count, sizeof data[0]);
    if (data == NULL)
        bench_die("memory", "there is none");
    return data;
}

/* ---- The computation ---- */

static void sweep(void)
{
    int turn, i;
    for (turn = 0; turn < 400; turn++)
        for (i = 1; i < CELLS - 1; i++)
            cells[i] = 0.5 * cells[i] + 0.25 * (cells[i - 1] + cells[i + 1]);
}

static void compute(int sweeps)
{
    int i;
    for (i = 0; i < sweeps && !is_idle; i++)
        sweep();
}

/* As many sweeps as take a second. */
static int calibrate(void)
{
    double start;
    int sweeps = 50;
    compute(10);
    bench_wait_for_all();
    start = bench_now();
    compute(sweeps);
    return (int)(sweeps / largest(bench_now() - start)) + 1;
}

/* ---- Writing ---- */

typedef struct work {
    parapet_store *store;
    parapet_array *array;
    parapet_part part;
    int sweeps;
} work;

static void write_alone(const work *of)
{
    check(parapet_array_write(of->array, &of->part, 1), "write");
}

static void compute_alone(const work *of)
{
    compute(of->sweeps);
}

static void both(const work *of)
{
    parapet_request *request = NULL;
    check(parapet_array_start_write(&request, of->array, &of->part, 1, PARAPET_BUFFERING_BORROW), "start");
    compute(of->sweeps);
    check(parapet_request_wait(&request), "wait");
}

static double time_of(void (*what)(const work *of), const work *of)
{
    double start;
    bench_wait_for_all();
    start = bench_now();
    what(of);
    return largest(bench_now() - start);
}

static void run_write(const char *directory, int64_t mib, double rate, int rounds, bool is_dedicated)
{
    const int64_t row = 1 << 15, rows = mib * (1 << 20) / 8 / row; /* a row is 256 KiB, a shard 8 MiB */
    int64_t shape[2] = {rows, row}, chunks[2] = {4, row}, shards[2] = {32, row};
    int64_t first = rows * rank / rank_count, end = rows * (rank + 1) / rank_count;
    int64_t start[2] = {first, 0}, count[2] = {end - first, row};
    parapet_array_spec spec = {
        .type = PARAPET_FLOAT64, .ndim = 2, .shape = shape, .chunks = chunks, .shards = shards, .codec = "none"};
    parapet_store_options options = {.servers = is_dedicated ? 1 : rank_count};
    pp_posix_options posix = {.not_durable = true, .create = true};
    pp_throttle throttle = {.bytes_per_second = rate};
    pp_store *inner = NULL, *throttled = NULL;
    work of = {.part = {.ndim = 2, .start = start, .count = count, .data = need((end - first) * row)}};
    int round;
    memset(of.part.data, 1, (size_t)((end - first) * row) * sizeof(double));
    check(pp_store_posix_build(&inner, directory, &posix), directory);
    check(pp_store_throttled_build(&throttled, inner, &throttle), "a slow disk");
    check(pp_store_open_over(&of.store, MPI_COMM_WORLD, throttled, PARAPET_CREATE, &options), "open");
    check(parapet_array_create(&of.array, of.store, "a", &spec), "create");
    of.sweeps = calibrate();
    is_idle = is_dedicated && rank == 0;
    if (is_dedicated)
        of.sweeps = of.sweeps * rank_count / (rank_count - 1);
    for (round = 0; round < rounds; round++) {
        double computing = time_of(compute_alone, &of), writing = time_of(write_alone, &of);
        double together = time_of(both, &of);
        if (rank == 0)
            printf("%.4f %.4f %.4f\n", computing, writing, together);
    }
    check(parapet_array_close(&of.array), "close");
    check(parapet_store_close(&of.store), "close");
    pp_store_free(throttled);
    pp_store_free(inner);
    free(of.part.data);
}

/* ---- A series ---- */

typedef struct run {
    const char *directory;
    int64_t steps, edge, first, count; /* rows of this rank */
    double *all;                       /* steps of this rank, one behind the other */
} run;

/* Every element is read and written once. */
static void make_step(const run *of, double *step)
{
    int64_t i;
    for (i = 0; i < of->count * of->edge; i++)
        step[i] = step[i] * 0.999 + 1;
}

static parapet_store *open_fresh(const run *of)
{
    parapet_store_options options = {.memory_bytes = INT64_C(1) << 30};
    parapet_store *store = NULL;
    char path[4200], command[4300];
    (void)snprintf(path, sizeof path, "%s/series.zarr", of->directory);
    (void)snprintf(command, sizeof command, "rm -rf '%s' && sync", path);
    bench_wait_for_all();
    if (rank == 0 && system(command) != 0)
        bench_die(path, "cannot be removed");
    bench_wait_for_all();
    check(parapet_store_open(&store, MPI_COMM_WORLD, path, PARAPET_CREATE, &options), "open");
    return store;
}

static void write_at_once(const run *of, parapet_store *store)
{
    int64_t shape[3] = {of->steps, of->edge, of->edge}, cell[3] = {1, of->edge / 4, of->edge};
    int64_t start[3] = {0, of->first, 0}, count[3] = {of->steps, of->count, of->edge}, step;
    parapet_array_spec spec = {
        .type = PARAPET_FLOAT64, .ndim = 3, .shape = shape, .chunks = cell, .shards = cell, .codec = "none"};
    parapet_part part = {.ndim = 3, .start = start, .count = count, .data = of->all};
    parapet_array *array = NULL;
    for (step = 0; step < of->steps; step++)
        make_step(of, of->all + step * of->count * of->edge);
    check(parapet_array_create(&array, store, "u", &spec), "create");
    check(parapet_array_write(array, &part, 1), "write");
    check(parapet_array_close(&array), "close");
}

static parapet_series *create_series(const run *of, parapet_store *store)
{
    static const char *const names[] = {"u"};
    int64_t shape[3] = {0, of->edge, of->edge}, cell[3] = {1, of->edge / 4, of->edge};
    parapet_array_spec spec = {
        .type = PARAPET_FLOAT64, .ndim = 3, .shape = shape, .chunks = cell, .shards = cell, .codec = "none"};
    parapet_series *series = NULL;
    check(parapet_series_create(&series, store, "run",
                                &(parapet_series_spec){.count = 1, .names = names, .specs = &spec}),
          "create");
    return series;
}

static void append_steps(const run *of, parapet_store *store, bool is_started)
{
    int64_t start[2] = {of->first, 0}, count[2] = {of->count, of->edge}, number;
    parapet_series *series = create_series(of, store);
    parapet_request *request = NULL;
    for (number = 0; number < of->steps; number++) {
        double *data = of->all + (number % 2) * of->count * of->edge;
        parapet_part part = {.ndim = 2, .start = start, .count = count, .data = data};
        parapet_step step = {.parts = &part, .part_count = 1};
        make_step(of, data);
        if (request != NULL)
            check(parapet_request_wait(&request), "wait");
        if (is_started)
            check(parapet_series_start_append(&request, series, (double)number, &step, PARAPET_BUFFERING_BORROW),
                  "start");
        else
            check(parapet_series_append(series, (double)number, &step), "append");
    }
    if (request != NULL)
        check(parapet_request_wait(&request), "wait");
    check(parapet_series_close(&series), "close");
}

static void append_each(const run *of, parapet_store *store)
{
    append_steps(of, store, false);
}

static void start_each(const run *of, parapet_store *store)
{
    append_steps(of, store, true);
}

static double time_of_run(void (*what)(const run *of, parapet_store *store), const run *of)
{
    parapet_store *store = open_fresh(of);
    double start, seconds;
    bench_wait_for_all();
    start = bench_now();
    what(of, store);
    seconds = largest(bench_now() - start);
    check(parapet_store_close(&store), "close");
    return seconds;
}

static void run_series(const char *directory, int64_t steps, int64_t edge, int rounds)
{
    run of = {.directory = directory, .steps = steps, .edge = edge};
    int round;
    of.first = edge * rank / rank_count;
    of.count = edge * (rank + 1) / rank_count - of.first;
    of.all = need(steps * of.count * edge);
    for (round = 0; round < rounds; round++) {
        double at_once = time_of_run(write_at_once, &of), appended = time_of_run(append_each, &of);
        double started = time_of_run(start_each, &of);
        if (rank == 0)
            printf("%.4f %.4f %.4f\n", at_once, appended, started);
    }
    free(of.all);
}

static int level_of(const char *word)
{
    return strcmp(word, "single") == 0     ? MPI_THREAD_SINGLE
           : strcmp(word, "funneled") == 0 ? MPI_THREAD_FUNNELED
                                           : MPI_THREAD_MULTIPLE;
}

int main(int argc, char **argv)
{
    int provided;
    if (argc < 7) {
        fprintf(stderr, "usage: see the top of bench/hidden.c\n");
        return 2;
    }
    MPI_Init_thread(&argc, &argv, level_of(argv[5]), &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
    if (strcmp(argv[1], "write") == 0)
        run_write(argv[2], atoll(argv[3]), atof(argv[4]), atoi(argv[6]), argc > 7);
    else
        run_series(argv[2], atoll(argv[3]), atoll(argv[4]), atoi(argv[6]));
    MPI_Finalize();
    return 0;
}
