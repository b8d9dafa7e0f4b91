/* Where compression pays: the same field written and read uncompressed and with zstd:1, through stores that move so
 * many megabytes a second on each server. At 100 MB/s zstd:1 may not be slower, at most 1.05 of the time, where every
 * server has a core: one core compresses some 200 to 300 MB/s.
 *
 *     test_throttled planes servers rate...     each plane is 512 KiB; servers 0: as many as cores, if there are as
 *                                               many ranks; MB/s for each server, 0: no limit */
#include <math.h>
#include <parapet_store.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array/array_handle.h"
#include "array/open.h"
#include "launch.h"
#include "stores/throttled.h"
#include "tree.h"
#include "watch.h"

enum { NDIM = 3, ROWS = 256, COLUMNS = 256, REPEATS = 3, REPEATS_MOST = 8 };

#define MEGABYTE 1e6
#define SLOWER_MOST 1.05

typedef struct timing {
    double write, read; /* seconds, the best of the repeats */
    int64_t stored;     /* bytes */
} timing;

static launch run;
static int64_t planes, servers;
static bool has_cores; /* one for each server */
static double *field, *other;

static int64_t rows_per_rank(void)
{
    return ROWS / run.ranks;
}

static size_t own_count(void)
{
    return (size_t)(planes * rows_per_rank() * COLUMNS);
}

/* A smooth field with noise, of 24 binary digits behind the point. */
static void fill_field(void)
{
    uint64_t noise = UINT64_C(0x9E3779B97F4A7C15) + (uint64_t)run.rank;
    size_t i;
    for (i = 0; i < own_count(); i++) {
        double x = (double)(i % COLUMNS), y = (double)(i / COLUMNS % (size_t)rows_per_rank());
        double z = (double)(i / COLUMNS / (size_t)rows_per_rank()), value;
        noise ^= noise << 13;
        noise ^= noise >> 7;
        noise ^= noise << 17;
        value = sin(0.01 * x) * cos(0.02 * (y + run.rank)) * sin(0.03 * z) + 1e-6 * (double)(noise % 1000) / 1000;
        field[i] = round(value * 16777216) / 16777216;
    }
}

static double slowest(double seconds)
{
    return (double)launch_largest((int64_t)(1e9 * seconds)) * 1e-9;
}

static pp_store *open_folder(const char *path)
{
    pp_posix_options posix = {.not_durable = true, .create = true};
    pp_store *inner = NULL;
    if (run.rank == 0)
        launch_expect(&run, pp_store_posix_build(&inner, path, &posix) == PARAPET_OK, "a directory");
    launch_barrier();
    if (run.rank != 0)
        launch_expect(&run, pp_store_posix_build(&inner, path, &posix) == PARAPET_OK, "a directory");
    return inner;
}

static void transfer(parapet_store *store, const char *codec, timing *of)
{
    int64_t shape[] = {planes, ROWS, COLUMNS}, chunks[] = {32, 64, 64}, shards[] = {32, 256, 256};
    int64_t start[] = {0, run.rank * rows_per_rank(), 0}, count[] = {planes, rows_per_rank(), COLUMNS};
    parapet_array_spec spec = {
        .type = PARAPET_FLOAT64, .ndim = NDIM, .shape = shape, .chunks = chunks, .shards = shards, .codec = codec};
    parapet_part part = {.ndim = NDIM, .start = start, .count = count, .data = field};
    parapet_array *array = NULL;
    parapet_statistics statistics;
    double begin;
    if (!LAUNCH_OK(&run, parapet_array_create(&array, store, "a", &spec)))
        return;
    launch_barrier();
    begin = watch_clock();
    (void)LAUNCH_OK(&run, parapet_array_write(array, &part, 1));
    of->write = fmin(of->write, slowest(watch_clock() - begin));
    launch_expect(&run, parapet_store_get_statistics(store, &statistics) == PARAPET_OK, "statistics");
    of->stored = statistics.written_bytes;
    launch_sum(&of->stored, 1);
    part.data = other;
    launch_barrier();
    begin = watch_clock();
    (void)LAUNCH_OK(&run, parapet_array_read(array, &part, 1));
    of->read = fmin(of->read, slowest(watch_clock() - begin));
    launch_expect(&run, memcmp(field, other, own_count() * sizeof field[0]) == 0, "what was written");
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
}

static void measure(const char *codec, double rate, timing *of)
{
    static int number;
    parapet_store_options options = {.servers = servers, .owners = PARAPET_OWNERS_IN_TURN};
    parapet_store *store = NULL;
    pp_throttle throttle = {.bytes_per_second = rate};
    pp_store *inner, *throttled = NULL;
    char path[600];
    (void)snprintf(path, sizeof path, "%s/throttled-%d", run.folder, number++);
    inner = open_folder(path);
    launch_expect(&run, pp_store_throttled_build(&throttled, inner, &throttle) == PARAPET_OK, "a store");
    if (LAUNCH_OK(&run, pp_store_open_over(&store, MPI_COMM_WORLD, throttled, PARAPET_CREATE, &options)))
        transfer(store, codec, of);
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
    pp_store_free(throttled);
    pp_store_free(inner);
    launch_barrier();
    if (run.rank == 0)
        tree_remove(path);
}

static bool pays(const timing *none, const timing *zstd)
{
    return zstd->write <= SLOWER_MOST * none->write;
}

/* The two take turns, so that what else the machine does meets both. */
static void run_rate(double megabytes, uint64_t number)
{
    timing none = {.write = 1e9, .read = 1e9}, zstd = none;
    double raw = (double)planes * ROWS * COLUMNS * sizeof(double), least;
    bool must_pay = has_cores && megabytes > 0 && megabytes <= 100;
    char text[128];
    int i;
    launch_case_begin(&run, number);
    for (i = 0; i < REPEATS || (i < REPEATS_MOST && must_pay && !pays(&none, &zstd)); i++) {
        measure("none", megabytes * MEGABYTE, &none);
        measure("zstd:1", megabytes * MEGABYTE, &zstd);
    }
    least = raw / (double)servers / (megabytes * MEGABYTE);
    if (run.rank == 0)
        printf("| %6.0f | %6.2f | %6.2f | %4.2f | %6.2f | %6.2f | %4.2f | %4.2f |\n", megabytes, none.write,
               zstd.write, zstd.write / none.write, none.read, zstd.read, zstd.read / none.read,
               raw / (double)zstd.stored);
    launch_expect(&run, megabytes <= 0 || (none.write >= 0.95 * least && none.read >= 0.95 * least),
                  "the store is as slow as it is told to be");
    launch_expect(&run, (double)zstd.stored < 0.7 * raw && (double)none.stored >= raw, "zstd:1 makes it smaller");
    (void)snprintf(text, sizeof text, "at %.0f MB/s zstd:1 (%.2f s) at most %.2f of none (%.2f s)", megabytes,
                   zstd.write, SLOWER_MOST, none.write);
    launch_expect(&run, !must_pay || pays(&none, &zstd), text);
    (void)launch_case_end(&run, text);
}

static void choose_servers(int64_t wanted)
{
    int64_t cores = sysconf(_SC_NPROCESSORS_ONLN);
    servers = wanted > 0 ? wanted : cores;
    servers = servers < run.ranks ? servers : run.ranks;
    has_cores = servers <= cores;
#if defined(__SANITIZE_ADDRESS__) /* everything but the codec is slower */
    has_cores = false;
#endif
    if (run.rank == 0)
        printf("%d ranks, %d servers, %d cores\n", run.ranks, (int)servers, (int)cores);
}

int main(int argc, char **argv)
{
    int i;
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    planes = argc > 1 ? strtoll(argv[1], NULL, 10) : 256;
    choose_servers(argc > 2 ? strtoll(argv[2], NULL, 10) : 0);
    field = malloc(own_count() * sizeof field[0]);
    other = malloc(own_count() * sizeof other[0]);
    fill_field();
    if (run.rank == 0)
        printf("| MB/s | write none | zstd:1 | ratio | read none | zstd:1 | ratio | smaller by |\n"
               "|-----:|-----------:|-------:|------:|----------:|-------:|------:|-----------:|\n");
    for (i = 3; i < argc; i++)
        run_rate(strtod(argv[i], NULL), (uint64_t)i);
    free(field);
    free(other);
    return launch_finish(&run);
}
