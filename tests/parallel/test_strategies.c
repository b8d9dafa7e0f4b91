/* Whichever way owners are chosen, and however fast or slow the storage of each server is, the same bytes are stored,
 * and the same values are read: every strategy with every throttle, against the first.
 *
 *     test_strategies */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/open.h"
#include "launch.h"
#include "stores/throttled.h"
#include "strategy.h"
#include "tree.h"

enum { COLUMNS = 192, ROWS_PER_RANK = 48, SHARD = 32, CHUNK = 8, ARRAYS = 2, CALLS = 3 };

#define RATE 32e6

/* How fast the last server is, of the others, in each call; 0: no limit for anybody. */
typedef struct throttling {
    const char *name;
    double part[CALLS];
} throttling;

static const throttling throttlings[] = {
    {"full speed", {0, 0, 0}},
    {"one server is slow", {0.2, 0.2, 0.2}},
    {"one server becomes slow, and recovers", {1, 0.2, 1}},
};
enum { THROTTLINGS = sizeof throttlings / sizeof throttlings[0] };

static const char *const names[ARRAYS] = {"packed", "plain"}, *const codecs[ARRAYS] = {"zstd:1", "none"};

static launch run;
static int32_t values[ROWS_PER_RANK * COLUMNS], seen[ROWS_PER_RANK * COLUMNS];
static pp_store *inner, *slow;
static parapet_store *store;
static parapet_array *arrays[ARRAYS];
static char weights_path[600];
static strategy_pace pace;

static void fill(int call)
{
    int i;
    for (i = 0; i < ROWS_PER_RANK * COLUMNS; i++)
        values[i] = (run.rank * ROWS_PER_RANK * COLUMNS + i) / 7 + 1000003 * call;
}

static void open_backend(const char *path)
{
    pp_posix_options posix = {.not_durable = true, .create = true};
    if (run.rank == 0)
        launch_expect(&run, pp_store_posix_build(&inner, path, &posix) == PARAPET_OK, "a directory");
    launch_barrier();
    if (run.rank != 0)
        launch_expect(&run, pp_store_posix_build(&inner, path, &posix) == PARAPET_OK, "a directory");
    launch_expect(&run, pp_store_throttled_build(&slow, inner, &(pp_throttle){0}) == PARAPET_OK, "a store");
}

static bool open_arrays(const char *path, const strategy *with)
{
    static const int64_t chunks[2] = {CHUNK, CHUNK}, shards[2] = {SHARD, SHARD};
    int64_t shape[2] = {(int64_t)run.ranks * ROWS_PER_RANK, COLUMNS};
    parapet_store_options options = {.servers = run.ranks};
    bool is_open;
    int i;
    strategy_set(with, &options, &pace, weights_path, run.rank, run.ranks);
    open_backend(path);
    is_open = LAUNCH_OK(&run, pp_store_open_over(&store, MPI_COMM_WORLD, slow, PARAPET_CREATE, &options));
    for (i = 0; i < ARRAYS && is_open; i++) {
        parapet_array_spec spec = {
            .type = PARAPET_INT32, .ndim = 2, .shape = shape, .chunks = chunks, .shards = shards, .codec = codecs[i]};
        is_open = LAUNCH_OK(&run, parapet_array_create(&arrays[i], store, names[i], &spec));
    }
    return is_open;
}

static void close_arrays(void)
{
    int i;
    for (i = 0; i < ARRAYS; i++)
        (void)LAUNCH_OK(&run, parapet_array_close(&arrays[i]));
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
    pp_store_free(slow);
    pp_store_free(inner);
}

static void set_speeds(const throttling *with, int call)
{
    double part = run.rank == run.ranks - 1 ? with->part[call] : 1;
    pp_store_throttled_set(slow, &(pp_throttle){.bytes_per_second = with->part[call] > 0 ? part * RATE : 0});
}

typedef parapet_status (*transfer)(const parapet_array_parts *list, int count);

/* The last call leaves out some columns, so that shards are written in part. */
static parapet_status move(transfer call, int32_t *memory, int skipped)
{
    int64_t start[2] = {(int64_t)run.rank * ROWS_PER_RANK, skipped}, count[2] = {ROWS_PER_RANK, COLUMNS - skipped};
    int64_t strides[2] = {COLUMNS * (int64_t)sizeof memory[0], sizeof memory[0]};
    parapet_part part = {
        .ndim = 2, .start = start, .count = count, .data = memory + skipped, .strides_bytes = strides};
    parapet_array_parts list[ARRAYS];
    int i;
    for (i = 0; i < ARRAYS; i++)
        list[i] = (parapet_array_parts){.array = arrays[i], .parts = &part, .part_count = 1};
    return call(list, ARRAYS);
}

static void use_arrays(const throttling *with)
{
    int call;
    for (call = 0; call < CALLS; call++) {
        set_speeds(with, call);
        fill(call < CALLS - 1 ? call : 0);
        (void)LAUNCH_OK(&run, move(parapet_arrays_write, values, call < CALLS - 1 ? 0 : COLUMNS / 3));
        memset(seen, 0xff, sizeof seen);
        (void)LAUNCH_OK(&run, move(parapet_arrays_read, seen, call < CALLS - 1 ? 0 : COLUMNS / 3));
        if (call < CALLS - 1)
            launch_expect(&run, memcmp(values, seen, sizeof seen) == 0, "the values that were written");
    }
}

/* Rank 0 compares; others wait. */
static void compare(const char *path, const char *first_path)
{
    char one[700], other[700];
    tree first, second;
    int i;
    for (i = 0; i < ARRAYS && run.rank == 0; i++) {
        (void)snprintf(one, sizeof one, "%s/%s/c", first_path, names[i]);
        (void)snprintf(other, sizeof other, "%s/%s/c", path, names[i]);
        tree_take(&first, one);
        tree_take(&second, other);
        launch_expect(&run, first.count > 0 && tree_equals(&first, &second), "the same bytes");
        tree_clear(&first);
        tree_clear(&second);
    }
    launch_barrier();
}

static void run_case(const strategy *by, const throttling *with)
{
    static uint64_t number;
    static char first_path[600];
    char path[600], description[128];
    (void)snprintf(path, sizeof path, "%s/strategy-%d", run.folder, (int)number);
    (void)snprintf(description, sizeof description, "%s, %s", by->name, with->name);
    if (number == 0)
        (void)snprintf(first_path, sizeof first_path, "%s", path);
    launch_case_begin(&run, number++);
    if (open_arrays(path, by))
        use_arrays(with);
    close_arrays();
    compare(path, first_path);
    (void)launch_case_end(&run, description);
}

int main(int argc, char **argv)
{
    const strategy *by;
    int i;
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    (void)snprintf(weights_path, sizeof weights_path, "%s/disks.txt", run.folder);
    for (i = 0; i < THROTTLINGS; i++)
        for (by = strategy_next(NULL); by != NULL; by = strategy_next(by))
            run_case(by, &throttlings[i]);
    return launch_finish(&run);
}
