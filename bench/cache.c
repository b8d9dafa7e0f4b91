/* What owners that last gain: a window that slides over an array, and the same write again and again.
 *
 *   mpiexec -n RANKS bench_cache window DIRECTORY TILES EDGE RATE default|tiles [name=value ...]
 *   mpiexec -n RANKS bench_cache alternate DIRECTORY STEPS EDGE RATE [name=value ...]
 *   mpiexec -n RANKS bench_cache flash DIRECTORY ARRAYS BLOCKS RATE [name=value ...]
 *   mpiexec -n RANKS bench_cache repeat DIRECTORY ARRAYS CALLS BUFFERS [name=value ...]
 *
 * window: TILES x TILES tiles of EDGE x EDGE doubles. The array is written once; then all ranks together read each
 * tile in turn, update it and write it, and in the end flush. RATE: bytes a second of each server's disk, 0: no
 * limit. Shards are those of the defaults, or one for each tile. Nothing is compressed. Prints
 *
 *   SECONDS READ-BYTES WRITTEN-BYTES HITS MISSES      of the steps; bytes from and to storage, of all ranks
 *
 * alternate: in each of STEPS steps, all ranks write EDGE^3 doubles of their own, in columns of a square of ranks,
 * and read them again, as BTIO does; in the end they flush. A step has 4 shards. Prints the same.
 *
 * flash: every rank writes BLOCKS blocks of 16^3 doubles of ARRAYS arrays, one array after the other and each once,
 * as a checkpoint of FLASH does, and in the end flushes. Prints the same.
 *
 * repeat: ARRAYS arrays of 8 KiB for each rank, which has a part of all 16 shards of each, are written CALLS times,
 * from one buffer or from 2 in turn. Prints
 *
 *   MILLISECONDS FIRST-MESSAGES MESSAGES      the median of a call, and messages that describe, of all ranks: in
 *                                             the first call, and in each of those after
 *
 * The words name=value are options of the store. */
#include <inttypes.h>
#include <parapet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/open.h"
#include "case.h"
#include "store/store.h"
#include "stores/throttled.h"

enum { MOST_ARRAYS = 64, CELLS = 1024, SHARDS = 16 };

static int rank, rank_count;
static parapet_store *store;
static pp_store *inner, *throttled;

static void check(parapet_status status, const char *what)
{
    if (status != PARAPET_OK)
        bench_die(what, parapet_error_message());
}

static void *need(size_t bytes)
{
    void *memory = calloc(1, bytes > 0 ? bytes : 1);
    if (memory == NULL)
        bench_die("memory", "there is none");
    return memory;
}

static int64_t sum(int64_t number)
{
    int64_t all = 0;
    MPI_Allreduce(&number, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static parapet_statistics statistics_now(void)
{
    parapet_statistics found = {0};
    check(parapet_store_get_statistics(store, &found), "statistics");
    return found;
}

/* ---- The store ---- */

static void set_options(parapet_store_options *options, char **words, int count)
{
    int i;
    *options = (parapet_store_options){.durability = PARAPET_DURABILITY_LEAVE};
    for (i = 0; i < count; i++) {
        char name[64] = "";
        const char *equals = strchr(words[i], '=');
        if (equals == NULL || equals - words[i] >= (int)sizeof name)
            bench_die(words[i], "not name=value");
        memcpy(name, words[i], (size_t)(equals - words[i]));
        check(parapet_store_options_set(options, name, equals + 1), name);
    }
}

static void open_store(const char *directory, double rate, char **words, int count)
{
    pp_posix_options posix = {.not_durable = true, .create = true};
    pp_throttle throttle = {.bytes_per_second = rate};
    parapet_store_options options;
    set_options(&options, words, count);
    if (rank == 0)
        check(pp_store_posix_build(&inner, directory, &posix), directory);
    bench_wait_for_all();
    if (rank != 0)
        check(pp_store_posix_build(&inner, directory, &posix), directory);
    check(pp_store_throttled_build(&throttled, inner, &throttle), "a slow disk");
    check(pp_store_open_over(&store, MPI_COMM_WORLD, rate > 0 ? throttled : inner, PARAPET_CREATE, &options), "open");
}

static void close_store(void)
{
    check(parapet_store_close(&store), "close");
    pp_store_free(throttled);
    pp_store_free(inner);
}

/* ---- The window ---- */

typedef struct window {
    parapet_array *array;
    int64_t tiles, edge; /* tiles: or steps */
    double *data;
    int64_t start[4], count[4];
    parapet_part part;
} window;

static void create_array(window *on, bool has_tiles)
{
    int64_t whole = on->tiles * on->edge, shape[2] = {whole, whole}, tile[2] = {on->edge, on->edge};
    parapet_array_spec spec = {.type = PARAPET_FLOAT64,
                               .ndim = 2,
                               .shape = shape,
                               .chunks = tile,
                               .shards = has_tiles ? tile : NULL,
                               .codec = "none"};
    check(parapet_array_create(&on->array, store, "a", &spec), "create");
}

/* The rows of a tile that this rank has. */
static void place(window *on, int64_t row, int64_t column)
{
    int64_t first = on->edge * rank / rank_count, end = on->edge * (rank + 1) / rank_count;
    on->start[0] = row * on->edge + first;
    on->start[1] = column * on->edge;
    on->count[0] = end - first;
    on->count[1] = on->edge;
    on->part = (parapet_part){.ndim = 2, .start = on->start, .count = on->count, .data = on->data};
}

/* The whole array, in one call: every rank has some rows. */
static void fill(const window *on)
{
    int64_t whole = on->tiles * on->edge, first = whole * rank / rank_count;
    int64_t start[2] = {first, 0}, count[2] = {whole * (rank + 1) / rank_count - first, whole}, i;
    double *data = need(sizeof(double) * (size_t)(count[0] * whole));
    parapet_part part = {.ndim = 2, .start = start, .count = count, .data = data};
    for (i = 0; i < count[0] * whole; i++)
        data[i] = (double)((first * whole + i) % 1000);
    check(parapet_array_write(on->array, &part, 1), "write");
    free(data);
}

static void slide(window *on)
{
    int64_t tile, i;
    for (tile = 0; tile < on->tiles * on->tiles; tile++) {
        place(on, tile / on->tiles, tile % on->tiles);
        check(parapet_array_read(on->array, &on->part, 1), "read");
        for (i = 0; i < on->count[0] * on->count[1]; i++)
            on->data[i] += 1;
        check(parapet_array_write(on->array, &on->part, 1), "write");
    }
    check(parapet_array_flush(on->array), "flush");
}

/* Prints what these steps took. */
static void report(void (*steps)(window *on), window *on)
{
    parapet_statistics before = statistics_now(), after;
    double began;
    bench_wait_for_all();
    began = bench_now();
    steps(on);
    bench_wait_for_all();
    began = bench_now() - began;
    after = statistics_now();
    after.read_bytes = sum(after.read_bytes - before.read_bytes);
    after.written_bytes = sum(after.written_bytes - before.written_bytes);
    after.cache_hits = sum(after.cache_hits - before.cache_hits);
    after.cache_misses = sum(after.cache_misses - before.cache_misses);
    if (rank == 0)
        printf("%.6f %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n", began, after.read_bytes, after.written_bytes,
               after.cache_hits, after.cache_misses);
}

static void run_window(char **words, int count)
{
    window on = {.tiles = strtoll(words[1], NULL, 10), .edge = strtoll(words[2], NULL, 10)};
    on.data = need(sizeof(double) * (size_t)(on.edge * on.edge));
    open_store(words[0], strtod(words[3], NULL), words + 5, count - 5);
    create_array(&on, strcmp(words[4], "tiles") == 0);
    fill(&on);
    check(parapet_array_flush(on.array), "flush");
    report(slide, &on);
    check(parapet_array_close(&on.array), "close");
    close_store();
    free(on.data);
}

/* ---- Writing and reading in turn ---- */

static int mesh_edge(void)
{
    int edge = 1;
    while (edge * edge < rank_count)
        edge++;
    if (edge * edge != rank_count)
        bench_die("alternate", "the ranks form no square");
    return edge;
}

/* The column of this rank in one step. */
static void place_column(window *on, int64_t step)
{
    int64_t edge = mesh_edge(), at[2] = {rank / edge, rank % edge};
    int d;
    on->start[0] = step;
    on->count[0] = 1;
    on->start[3] = 0;
    on->count[3] = on->edge;
    for (d = 0; d < 2; d++) {
        on->start[1 + d] = on->edge * at[d] / edge;
        on->count[1 + d] = on->edge * (at[d] + 1) / edge - on->start[1 + d];
    }
    on->part = (parapet_part){.ndim = 4, .start = on->start, .count = on->count, .data = on->data};
}

static void alternate(window *on)
{
    int64_t step;
    for (step = 0; step < on->tiles; step++) {
        place_column(on, step);
        on->data[0] = (double)step;
        check(parapet_array_write(on->array, &on->part, 1), "write");
        on->data[0] = -1;
        check(parapet_array_read(on->array, &on->part, 1), "read");
        if (on->data[0] != (double)step)
            bench_die("alternate", "another value than was written");
    }
    check(parapet_array_flush(on->array), "flush");
}

static void run_alternate(char **words, int count)
{
    window on = {.tiles = strtoll(words[1], NULL, 10), .edge = strtoll(words[2], NULL, 10)};
    int64_t shape[4] = {on.tiles, on.edge, on.edge, on.edge};
    int64_t shards[4] = {1, (on.edge + 1) / 2, (on.edge + 1) / 2, on.edge};
    parapet_array_spec spec = {
        .type = PARAPET_FLOAT64, .ndim = 4, .shape = shape, .chunks = shards, .shards = shards, .codec = "none"};
    on.data = need(sizeof(double) * (size_t)(on.edge * on.edge * on.edge));
    open_store(words[0], strtod(words[3], NULL), words + 4, count - 4);
    check(parapet_array_create(&on.array, store, "a", &spec), "create");
    report(alternate, &on);
    check(parapet_array_close(&on.array), "close");
    close_store();
    free(on.data);
}

/* ---- Many arrays once ---- */

enum { BLOCK = 16 };

/* tiles: arrays; edge: blocks of each rank. */
static void write_blocks(window *on)
{
    int64_t shape[4] = {on->edge * rank_count, BLOCK, BLOCK, BLOCK}, chunks[4] = {on->edge, BLOCK, BLOCK, BLOCK}, i;
    parapet_array_spec spec = {.type = PARAPET_FLOAT64, .ndim = 4, .shape = shape, .chunks = chunks, .codec = "none"};
    parapet_array *arrays[MOST_ARRAYS];
    parapet_array_spec specs[MOST_ARRAYS];
    const char *paths[MOST_ARRAYS];
    char names[MOST_ARRAYS][16];
    for (i = 0; i < on->tiles; i++) {
        (void)snprintf(names[i], sizeof names[i], "u%d", (int)i);
        paths[i] = names[i];
        specs[i] = spec;
    }
    check(parapet_arrays_create(arrays, store, paths, specs, (int)on->tiles), "create");
    for (i = 0; i < on->tiles; i++)
        check(parapet_array_write(arrays[i], &on->part, 1), "write");
    check(parapet_store_flush(store), "flush");
    check(parapet_arrays_close(arrays, (int)on->tiles), "close");
}

static void run_flash(char **words, int count)
{
    window on = {.tiles = strtoll(words[1], NULL, 10), .edge = strtoll(words[2], NULL, 10)};
    if (on.tiles < 1 || on.tiles > MOST_ARRAYS)
        bench_die("flash", "1 to 64 arrays");
    on.data = need(sizeof(double) * (size_t)(on.edge * BLOCK * BLOCK * BLOCK));
    memcpy(on.start, (int64_t[4]){on.edge * rank, 0, 0, 0}, sizeof on.start);
    memcpy(on.count, (int64_t[4]){on.edge, BLOCK, BLOCK, BLOCK}, sizeof on.count);
    on.part = (parapet_part){.ndim = 4, .start = on.start, .count = on.count, .data = on.data};
    open_store(words[0], strtod(words[3], NULL), words + 4, count - 4);
    report(write_blocks, &on);
    close_store();
    free(on.data);
}

/* ---- The same again ---- */

typedef struct repeat {
    int arrays, calls, buffers;
    parapet_array *handles[MOST_ARRAYS];
    parapet_array_parts list[MOST_ARRAYS];
    parapet_part parts[MOST_ARRAYS];
    double data[2][MOST_ARRAYS][CELLS];
    int64_t start[2], count[2];
} repeat;

/* Every rank has a row, and a part of every shard. */
static void create_arrays(repeat *on)
{
    int64_t shape[2] = {rank_count, CELLS}, chunks[2] = {rank_count, CELLS / SHARDS};
    parapet_array_spec spec = {
        .type = PARAPET_FLOAT64, .ndim = 2, .shape = shape, .chunks = chunks, .shards = chunks, .codec = "none"};
    char path[16];
    int i;
    on->start[0] = rank;
    on->count[0] = 1;
    on->count[1] = CELLS;
    for (i = 0; i < on->arrays; i++) {
        (void)snprintf(path, sizeof path, "a%d", i);
        check(parapet_array_create(&on->handles[i], store, path, &spec), "create");
        on->parts[i] = (parapet_part){.ndim = 2, .start = on->start, .count = on->count};
        on->list[i] = (parapet_array_parts){.array = on->handles[i], .parts = &on->parts[i], .part_count = 1};
    }
}

static double call_once(repeat *on, int number)
{
    double began;
    int i;
    for (i = 0; i < on->arrays; i++)
        on->parts[i].data = on->data[number % on->buffers][i];
    bench_wait_for_all();
    began = bench_now();
    check(parapet_arrays_write(on->list, on->arrays), "write");
    bench_wait_for_all();
    return bench_now() - began;
}

static int compare_seconds(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static void run_repeat(char **words, int count)
{
    static repeat on;
    int64_t first = 0, later;
    double *seconds;
    int i;
    on.arrays = atoi(words[1]);
    on.calls = atoi(words[2]);
    on.buffers = atoi(words[3]);
    if (on.arrays < 1 || on.arrays > MOST_ARRAYS || on.calls < 2 || on.buffers < 1 || on.buffers > 2)
        bench_die("repeat", "1 to 64 arrays, 2 calls or more, 1 or 2 buffers");
    seconds = need((size_t)on.calls * sizeof seconds[0]);
    open_store(words[0], 0, words + 4, count - 4);
    create_arrays(&on);
    for (i = 0; i < on.calls; i++) {
        seconds[i] = call_once(&on, i);
        if (i == 0)
            first = sum(statistics_now().description_messages);
    }
    later = sum(statistics_now().description_messages) - first;
    qsort(seconds + 1, (size_t)on.calls - 1, sizeof seconds[0], compare_seconds);
    if (rank == 0)
        printf("%.3f %" PRId64 " %.1f\n", 1e3 * seconds[1 + (on.calls - 1) / 2], first,
               (double)later / (on.calls - 1));
    check(parapet_arrays_close(on.handles, on.arrays), "close");
    close_store();
    free(seconds);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
    if (argc >= 7 && strcmp(argv[1], "window") == 0)
        run_window(argv + 2, argc - 2);
    else if (argc >= 6 && strcmp(argv[1], "alternate") == 0)
        run_alternate(argv + 2, argc - 2);
    else if (argc >= 6 && strcmp(argv[1], "flash") == 0)
        run_flash(argv + 2, argc - 2);
    else if (argc >= 6 && strcmp(argv[1], "repeat") == 0)
        run_repeat(argv + 2, argc - 2);
    else
        bench_die("usage", "bench_cache window|alternate|flash|repeat DIRECTORY ...; see bench/cache.c");
    MPI_Finalize();
    return 0;
}
