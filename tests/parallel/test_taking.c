/* Servers that have nothing left take shards from others: everything is stored once and to the last byte as without,
 * whoever is slow and however data travels; a slow server holds nobody; and there are few messages more.
 *
 *     test_taking */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/array_handle.h"
#include "array/open.h"
#include "delay.h"
#include "launch.h"
#include "store/store.h"
#include "tree.h"
#include "watch.h"

enum { SHARD = 4096, CHUNK = 512, SHARDS_PER_RANK = 12, TRIES = 3 };

#define FAST_SECONDS 0.001 /* before each operation of storage */
#define SLOW_SECONDS 0.006
#define GAIN_MOST 0.8 /* of the time that the slow server takes alone; the ideal is about half of it */

typedef struct taking_case {
    const char *name;
    int slow; /* rank; -1: none */
    parapet_transport transport;
    parapet_io_thread io_thread;
    int64_t threads;
    int64_t servers; /* 0: all ranks */
    bool is_crowded; /* rank 0 holds all of the array */
} taking_case;

static const taking_case cases[] = {
    {"nobody is slow", -1, PARAPET_TRANSPORT_DIRECT, PARAPET_IO_THREAD_OWN, 1, 0, false},
    {"the first is slow", 0, PARAPET_TRANSPORT_MESSAGES, PARAPET_IO_THREAD_OWN, 1, 0, false},
    {"the last is slow", -2, PARAPET_TRANSPORT_DIRECT, PARAPET_IO_THREAD_OWN, 2, 0, false},
    {"the last is slow, without threads", -2, PARAPET_TRANSPORT_MESSAGES, PARAPET_IO_THREAD_NONE, 1, 0, false},
    {"two servers", 0, PARAPET_TRANSPORT_MESSAGES, PARAPET_IO_THREAD_OWN, 1, 2, false},
    {"one rank has it all", 0, PARAPET_TRANSPORT_DIRECT, PARAPET_IO_THREAD_OWN, 1, 0, true},
};

typedef struct outcome {
    double write, read; /* seconds of the slowest rank */
    int64_t owned, taken, most_owned, messages;
} outcome;

static launch run;
static int32_t *field;

static int64_t element_count(void)
{
    return (int64_t)SHARD * SHARDS_PER_RANK * run.ranks;
}

/* A part of every rank, which begins and ends inside a shard. */
static void find_part(const taking_case *of, int rank, int64_t *start, int64_t *count)
{
    int64_t each = (int64_t)SHARD * SHARDS_PER_RANK, end;
    *start = rank == 0 ? 0 : rank * each - SHARD / 4;
    end = rank == run.ranks - 1 ? element_count() : (rank + 1) * each - SHARD / 4;
    if (of->is_crowded) {
        *start = 0;
        end = rank == 0 ? element_count() : 0;
    }
    *count = end - *start;
}

static bool is_slow(const taking_case *of)
{
    return run.rank == (of->slow == -2 ? run.ranks - 1 : of->slow);
}

/* ---- One run ---- */

static double slowest(double seconds)
{
    return (double)launch_largest((int64_t)(1e9 * seconds)) * 1e-9;
}

static void fill_part(int64_t start, int64_t count, int32_t salt)
{
    int64_t i;
    for (i = 0; i < count; i++)
        field[i] = (int32_t)(start + i) * 31 + salt;
}

static bool has_values(int64_t start, int64_t count)
{
    int64_t i;
    for (i = 0; i < count; i++)
        if (field[i] != (int32_t)(start + i) * 31 + 7)
            return false;
    return true;
}

static void count_all(parapet_store *store, outcome *out)
{
    parapet_statistics own;
    int64_t sums[3];
    launch_expect(&run, parapet_store_get_statistics(store, &own) == PARAPET_OK, "statistics");
    launch_expect(&run, own.memory_peak_bytes <= own.memory_planned_bytes || own.shards_owned == 0,
                  "no more memory than was planned");
    sums[0] = own.shards_owned;
    sums[1] = own.shards_taken;
    sums[2] = own.messages_sent;
    out->most_owned = launch_largest(own.shards_owned);
    launch_sum(sums, 3);
    out->owned = sums[0];
    out->taken = sums[1];
    out->messages = sums[2];
}

static void write_and_read(const taking_case *of, parapet_store *store, outcome *out)
{
    int64_t shape = element_count(), chunks = CHUNK, shards = SHARD, start, count;
    parapet_array_spec spec = {
        .type = PARAPET_INT32, .ndim = 1, .shape = &shape, .chunks = &chunks, .shards = &shards, .codec = "none"};
    parapet_part part = {.ndim = 1, .start = &start, .count = &count, .data = field};
    parapet_array *array = NULL;
    double begin;
    if (!LAUNCH_OK(&run, parapet_array_create(&array, store, "a", &spec)))
        return;
    find_part(of, run.rank, &start, &count);
    fill_part(start, count, 7);
    watch_meet();
    begin = watch_clock();
    (void)LAUNCH_OK(&run, parapet_array_write(array, &part, count > 0));
    out->write = slowest(watch_clock() - begin);
    fill_part(start, count, 0);
    watch_meet();
    begin = watch_clock();
    (void)LAUNCH_OK(&run, parapet_array_read(array, &part, count > 0));
    out->read = slowest(watch_clock() - begin);
    launch_expect(&run, has_values(start, count), "the values that were written");
    count_all(store, out);
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
}

static outcome run_store(const taking_case *of, parapet_ownership ownership, const char *path)
{
    parapet_store_options options = {.transport = of->transport,
                                     .ownership = ownership,
                                     .io_thread = of->io_thread,
                                     .threads = of->threads,
                                     .servers = of->servers > 0 ? of->servers : run.ranks};
    delay_plan plan = {.seconds = is_slow(of) ? SLOW_SECONDS : FAST_SECONDS};
    pp_posix_options posix = {.not_durable = true, .create = true};
    pp_store *inner = NULL, *delayed = NULL;
    parapet_store *store = NULL;
    outcome out = {0};
    if (run.rank == 0)
        launch_expect(&run, pp_store_posix_build(&inner, path, &posix) == PARAPET_OK, "a directory");
    watch_meet();
    if (run.rank != 0)
        launch_expect(&run, pp_store_posix_build(&inner, path, &posix) == PARAPET_OK, "a directory");
    launch_expect(&run, delay_store_build(&delayed, inner, &plan) == PARAPET_OK, "a store");
    if (LAUNCH_OK(&run, pp_store_open_over(&store, MPI_COMM_WORLD, delayed, PARAPET_CREATE, &options)))
        write_and_read(of, store, &out);
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
    pp_store_free(delayed);
    pp_store_free(inner);
    watch_meet();
    return out;
}

/* ---- What is stored ---- */

static size_t load(const char *path, int64_t shard, unsigned char *bytes, size_t most)
{
    char name[700];
    size_t count = 0;
    FILE *file;
    (void)snprintf(name, sizeof name, "%s/a/c/%lld", path, (long long)shard);
    if ((file = fopen(name, "rb")) == NULL)
        return 0;
    count = fread(bytes, 1, most, file);
    (void)fclose(file);
    return count;
}

static void compare_shards(const char *left, const char *right)
{
    enum { MOST = 2 * SHARD * sizeof(int32_t) };
    static unsigned char a[MOST], b[MOST];
    int64_t shard;
    if (run.rank != 0)
        return;
    for (shard = 0; shard < (int64_t)SHARDS_PER_RANK * run.ranks; shard++) {
        size_t bytes = load(left, shard, a, MOST);
        launch_expect(&run, bytes > 0 && bytes == load(right, shard, b, MOST) && memcmp(a, b, bytes) == 0,
                      "a shard with the same bytes");
    }
}

/* ---- Cases ---- */

/* One rank is slow: shards move, and time is saved. */
static bool has_gained(const taking_case *of, const outcome *kept, const outcome *moved)
{
    if (of->slow == -1 || of->io_thread == PARAPET_IO_THREAD_NONE)
        return true;
    return moved->write <= GAIN_MOST * kept->write && moved->read <= GAIN_MOST * kept->read;
}

static void check_counts(const taking_case *of, const outcome *kept, const outcome *moved)
{
    int64_t shards = (int64_t)SHARDS_PER_RANK * run.ranks, servers = of->servers > 0 ? of->servers : run.ranks;
    int64_t levels = 0;
    while ((INT64_C(1) << levels) < servers)
        levels++;
    launch_expect(&run, kept->owned == 2 * shards && moved->owned == 2 * shards, "every shard served once a call");
    launch_expect(&run, kept->taken == 0, "nothing taken unless that is asked for");
    launch_expect(&run, of->slow == -1 || moved->taken > 0, "shards taken from the slow server");
    launch_expect(&run, moved->taken <= 4 * shards, "hardly a shard taken twice");
    launch_expect(&run,
                  of->transport == PARAPET_TRANSPORT_MESSAGES ||
                      moved->messages - kept->messages <= 4 * moved->taken + 4 * servers * (4 + levels) + 64,
                  "a few messages for each shard that moved, and servers x log(servers)");
}

static void run_case(const taking_case *of, int number)
{
    char kept_path[600], moved_path[600], text[300];
    outcome kept = {0}, moved = {0};
    int i;
    launch_case_begin(&run, (uint64_t)number);
    (void)snprintf(kept_path, sizeof kept_path, "%s/kept-%d", run.folder, number);
    (void)snprintf(moved_path, sizeof moved_path, "%s/moved-%d", run.folder, number);
    for (i = 0; i == 0 || (i < TRIES && !has_gained(of, &kept, &moved)); i++) {
        if (run.rank == 0) {
            tree_remove(kept_path);
            tree_remove(moved_path);
        }
        watch_meet();
        kept = run_store(of, PARAPET_OWNERSHIP_LOCALITY, kept_path);
        moved = run_store(of, PARAPET_OWNERSHIP_DYNAMIC, moved_path);
        check_counts(of, &kept, &moved);
        compare_shards(kept_path, moved_path);
    }
    (void)snprintf(text, sizeof text, "%s: write %.2f -> %.2f s, read %.2f -> %.2f s, %lld shards taken", of->name,
                   kept.write, moved.write, kept.read, moved.read, (long long)moved.taken);
    if (run.rank == 0)
        printf("%s\n", text);
    launch_expect(&run, has_gained(of, &kept, &moved), text);
    (void)launch_case_end(&run, text);
}

int main(int argc, char **argv)
{
    size_t i;
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    field = malloc((size_t)element_count() * sizeof field[0]);
    launch_expect(&run, field != NULL, "memory");
    for (i = 0; field != NULL && i < sizeof cases / sizeof cases[0]; i++)
        run_case(&cases[i], (int)i);
    free(field);
    return launch_finish(&run);
}
