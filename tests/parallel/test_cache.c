/* The owner cache (cache_bytes) against a model: what was read or written before is not read again, what another job
 * has written since is never answered from the cache, a failed call leaves nothing wrong in it, and memory stays
 * within the plan.
 *
 *     test_cache */
#include <fcntl.h>
#include <parapet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array/open.h"
#include "draw.h"
#include "launch.h"
#include "stores/faulty.h"

enum { ROWS = 32, COLUMNS = 32, ROUNDS = 80, FAULTS = 40 };

static launch run;
static draw from;
static parapet_store *store, *other; /* two jobs, as far as the store can tell */
static parapet_array *array, *others;
static int32_t model[ROWS][COLUMNS], values[ROWS * COLUMNS];
static int32_t next_value = 1;
static pp_store *inner, *faulty;
static pp_fault_plan plan;

/* A box of which every rank has some rows. */
typedef struct tile {
    int64_t start[2], count[2];
} tile;

static tile draw_tile(void)
{
    tile made;
    int d;
    for (d = 0; d < 2; d++) {
        made.start[d] = draw_between(&from, 0, ROWS - 2);
        made.count[d] = draw_between(&from, 1, ROWS - made.start[d]);
    }
    return made;
}

static tile own_tile(const tile *all)
{
    int64_t first = all->count[0] * run.rank / run.ranks, end = all->count[0] * (run.rank + 1) / run.ranks;
    return (tile){{all->start[0] + first, all->start[1]}, {end - first, all->count[1]}};
}

static parapet_status write_tile(parapet_array *to, const tile *all, int32_t first_value)
{
    tile own = own_tile(all);
    parapet_part part = {.ndim = 2, .start = own.start, .count = own.count, .data = values};
    int64_t i, j;
    for (i = 0; i < own.count[0]; i++)
        for (j = 0; j < own.count[1]; j++)
            values[i * own.count[1] + j] =
                first_value + (int32_t)((own.start[0] - all->start[0] + i) * all->count[1] + j);
    return parapet_array_write(to, &part, 1);
}

static void note_tile(const tile *all, int32_t first_value)
{
    int64_t i, j;
    for (i = 0; i < all->count[0]; i++)
        for (j = 0; j < all->count[1]; j++)
            model[all->start[0] + i][all->start[1] + j] = first_value + (int32_t)(i * all->count[1] + j);
}

static void write_right(parapet_array *to, const tile *all)
{
    if (LAUNCH_OK(&run, write_tile(to, all, next_value)))
        note_tile(all, next_value);
    next_value += ROWS * COLUMNS;
}

static bool holds_tile(const tile *own)
{
    int64_t i, j;
    for (i = 0; i < own->count[0]; i++)
        for (j = 0; j < own->count[1]; j++)
            if (values[i * own->count[1] + j] != model[own->start[0] + i][own->start[1] + j])
                return false;
    return true;
}

static void read_right(parapet_array *of, const tile *all)
{
    tile own = own_tile(all);
    parapet_part part = {.ndim = 2, .start = own.start, .count = own.count, .data = values};
    memset(values, 0xff, sizeof values);
    if (LAUNCH_OK(&run, parapet_array_read(of, &part, 1)))
        launch_expect(&run, holds_tile(&own), "the values of the model");
}

static parapet_statistics statistics_of(parapet_store *of)
{
    parapet_statistics found = {0};
    (void)parapet_store_get_statistics(of, &found);
    return found;
}

/* ---- What is read, and what is not ---- */

static int64_t sum(int64_t number)
{
    launch_sum(&number, 1);
    return number;
}

static void read_once(void)
{
    static const tile all = {{0, 0}, {ROWS, COLUMNS}};
    parapet_statistics before, after;
    write_right(array, &all);
    before = statistics_of(store);
    read_right(array, &all);
    after = statistics_of(store);
    launch_expect(&run, sum(after.read_bytes - before.read_bytes) == 0, "what was written is not read from storage");
    launch_expect(&run, sum(after.cache_hits - before.cache_hits) > 0, "hits");
    launch_expect(&run, sum(after.cache_misses - before.cache_misses) == 0, "no misses");
    launch_expect(&run, sum(after.cache_bytes - before.cache_bytes) > 0, "bytes of hits");
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
    (void)LAUNCH_OK(&run, parapet_array_open(&array, store, "a"));
    before = statistics_of(store);
    read_right(array, &all);
    after = statistics_of(store);
    launch_expect(&run, sum(after.read_bytes - before.read_bytes) > 0, "another handle reads");
    read_right(array, &all);
    launch_expect(&run, sum(statistics_of(store).read_bytes - after.read_bytes) == 0, "and reads once");
}

/* A little of every shard: the rest of it is not read either. */
static void merge_without_reading(void)
{
    static const tile middle = {{3, 3}, {26, 26}};
    parapet_statistics before = statistics_of(store);
    write_right(array, &middle);
    launch_expect(&run, sum(statistics_of(store).read_bytes - before.read_bytes) == 0, "old chunks are not read");
    read_right(others, &middle);
}

static void see_other_jobs(void)
{
    static const tile all = {{0, 0}, {ROWS, COLUMNS}}, some = {{9, 1}, {2, 3}};
    read_right(array, &all);
    write_right(others, &some);
    read_right(array, &all);
    write_right(others, &all);
    write_right(array, &some); /* which keeps what the other job wrote around it */
    read_right(array, &all);
    read_right(others, &all);
}

/* ---- What checks find ---- */

static void swap_byte(int file, off_t at)
{
    unsigned char byte = 0;
    launch_expect(&run, pread(file, &byte, 1, at) == 1, "a byte");
    byte ^= 0xff;
    launch_expect(&run, pwrite(file, &byte, 1, at) == 1, "a byte");
}

/* Behind the back of everybody who looks at inode, length and time of change: the first chunk, and the index. */
static void damage_shard(const char *name)
{
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}};
    struct stat before;
    char path[700];
    int file;
    (void)snprintf(path, sizeof path, "%s/%s/a/c/0/0", run.folder, name);
    file = open(path, O_RDWR);
    launch_expect(&run, file >= 0 && fstat(file, &before) == 0, "a shard");
    swap_byte(file, 1);
    swap_byte(file, before.st_size - 8);
    times[1] = before.st_mtim;
    launch_expect(&run, futimens(file, times) == 0, "its time");
    (void)close(file);
}

static int64_t count_torn(parapet_check_depth depth)
{
    parapet_check_summary summary = {0};
    (void)LAUNCH_OK(&run, parapet_array_check(array, depth, NULL, NULL, &summary));
    return summary.torn;
}

/* A check is about what is stored. */
static void check_storage(const char *name)
{
    static const tile all = {{0, 0}, {ROWS, COLUMNS}};
    write_right(array, &all);
    read_right(array, &all);
    if (run.rank == 0)
        damage_shard(name);
    launch_barrier();
    launch_expect(&run, count_torn(PARAPET_CHECK_INDEX) > 0, "a damaged index is found beside the cache");
    if (run.rank == 0)
        damage_shard(name);
    launch_barrier();
    launch_expect(&run, count_torn(PARAPET_CHECK_DATA) == 0, "and is well again");
}

/* ---- At random ---- */

static void resize(void)
{
    static const int64_t larger[2] = {ROWS + 8, COLUMNS + 8}, as_before[2] = {ROWS, COLUMNS};
    (void)LAUNCH_OK(&run, parapet_array_resize(array, larger));
    (void)LAUNCH_OK(&run, parapet_array_resize(array, as_before));
    (void)LAUNCH_OK(&run, parapet_array_close(&others));
    (void)LAUNCH_OK(&run, parapet_array_open(&others, other, "a"));
}

static void run_rounds(void)
{
    int i;
    for (i = 0; i < ROUNDS; i++) {
        tile all = draw_tile();
        int64_t what = draw_between(&from, 0, 99);
        if (what < 40)
            read_right(array, &all);
        else if (what < 70)
            write_right(array, &all);
        else if (what < 85)
            write_right(others, &all);
        else if (what < 95)
            read_right(others, &all);
        else
            resize();
    }
}

/* ---- Failures ---- */

/* One rank's storage fails at each operation in turn: the same status on all ranks, and never a value that was not
 * published. */
static void fail_in_turn(void)
{
    static const tile all = {{0, 0}, {ROWS, COLUMNS}}, middle = {{3, 3}, {26, 26}};
    int at;
    for (at = 0; at < FAULTS; at++) {
        parapet_status status;
        read_right(array, &all);
        plan = (pp_fault_plan){.fail_at = run.rank == at % run.ranks ? at / run.ranks : -1, .status = PARAPET_ERR_IO};
        status = LAUNCH_AGREED(&run, write_tile(array, &middle, next_value));
        plan = (pp_fault_plan){.fail_at = -1};
        if (status == PARAPET_OK)
            note_tile(&middle, next_value);
        next_value += ROWS * COLUMNS;
        if (status != PARAPET_OK) { /* what was published may be old or new: write it again through a fresh handle */
            (void)LAUNCH_OK(&run, parapet_array_close(&array));
            (void)LAUNCH_OK(&run, parapet_array_open(&array, store, "a"));
            write_right(array, &middle);
        }
        read_right(array, &all);
    }
}

/* ---- All of it ---- */

typedef struct cache_case {
    const char *codec;
    int64_t cache_bytes, memory_bytes, threads;
    parapet_transport transport;
} cache_case;

static bool open_both(const cache_case *by, const char *name)
{
    static const int64_t shape[2] = {ROWS, COLUMNS}, chunks[2] = {4, 4}, shards[2] = {16, 8};
    parapet_store_options options = {.keep_descriptions = 1,
                                     .cache_bytes = by->cache_bytes,
                                     .memory_bytes = by->memory_bytes,
                                     .threads = by->threads,
                                     .transport = by->transport,
                                     .durability = PARAPET_DURABILITY_LEAVE},
                          plain = {.durability = PARAPET_DURABILITY_LEAVE};
    parapet_array_spec spec = {
        .type = PARAPET_INT32, .ndim = 2, .shape = shape, .chunks = chunks, .shards = shards, .codec = by->codec};
    pp_posix_options posix = {.not_durable = true, .create = true};
    char path[600];
    (void)snprintf(path, sizeof path, "%s/%s", run.folder, name);
    memset(model, 0, sizeof model);
    plan = (pp_fault_plan){.fail_at = -1};
    if (run.rank == 0)
        launch_expect(&run, pp_store_posix_build(&inner, path, &posix) == PARAPET_OK, "a directory");
    launch_barrier();
    if (run.rank != 0)
        launch_expect(&run, pp_store_posix_build(&inner, path, &posix) == PARAPET_OK, "a directory");
    launch_expect(&run, pp_store_faulty_build(&faulty, inner, &plan) == PARAPET_OK, "a store that can fail");
    return LAUNCH_OK(&run, pp_store_open_over(&store, MPI_COMM_WORLD, faulty, PARAPET_CREATE, &options)) &&
           LAUNCH_OK(&run, parapet_array_create(&array, store, "a", &spec)) &&
           LAUNCH_OK(&run, parapet_store_open(&other, MPI_COMM_WORLD, path, PARAPET_UPDATE, &plain)) &&
           LAUNCH_OK(&run, parapet_array_open(&others, other, "a"));
}

static void close_both(const cache_case *by)
{
    parapet_statistics found = statistics_of(store);
    launch_expect(&run, found.memory_peak_bytes <= by->memory_bytes, "memory within the limit");
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
    (void)LAUNCH_OK(&run, parapet_array_close(&others));
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
    (void)LAUNCH_OK(&run, parapet_store_close(&other));
    pp_store_free(faulty);
    pp_store_free(inner);
}

static void run_case(uint64_t seed, const cache_case *by)
{
    char name[32];
    from = draw_start(seed, 1);
    launch_case_begin(&run, seed);
    (void)snprintf(name, sizeof name, "s%llu", (unsigned long long)seed);
    if (open_both(by, name)) {
        if (by->cache_bytes >= 1 << 20) { /* it holds all */
            read_once();
            merge_without_reading();
            check_storage(name);
        }
        see_other_jobs();
        run_rounds();
        fail_in_turn();
        close_both(by);
    }
    (void)launch_case_end(&run, by->codec);
}

static void expect_refusal(const parapet_store_options *options, const char *words)
{
    parapet_store *refused = NULL;
    char path[600];
    parapet_status status;
    (void)snprintf(path, sizeof path, "%s/refused", run.folder);
    status = LAUNCH_AGREED(&run, parapet_store_open(&refused, MPI_COMM_WORLD, path, PARAPET_CREATE, options));
    launch_expect(&run, status == PARAPET_ERR_ARGUMENT && strstr(parapet_error_message(), words) != NULL,
                  parapet_error_message());
}

int main(int argc, char **argv)
{
    static const cache_case cases[] = {{"zstd:1", 1 << 20, 8 << 20, 1, PARAPET_TRANSPORT_DIRECT},
                                       {"none", 1 << 20, 8 << 20, 2, PARAPET_TRANSPORT_MESSAGES},
                                       {"zstd:1", 2000, 4 << 20, 2, PARAPET_TRANSPORT_DIRECT},
                                       {"none", 1 << 20, 1 << 20, 1, PARAPET_TRANSPORT_DIRECT}};
    size_t i;
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++)
        run_case(21 + i, &cases[i]);
    launch_case_begin(&run, 31);
    expect_refusal(&(parapet_store_options){.cache_bytes = 1 << 20, .owners = PARAPET_OWNERS_NEAREST},
                   "cache_bytes needs owners in_turn, not nearest");
    expect_refusal(&(parapet_store_options){.cache_bytes = 8 << 20, .memory_bytes = 4 << 20, .keep_descriptions = 1},
                   "more than memory_bytes");
    (void)launch_case_end(&run, "options that do not fit");
    return launch_finish(&run);
}
