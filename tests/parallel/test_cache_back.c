/* Write-back: what is written waits with its owner until it is flushed. Nothing that a flush has acknowledged is
 * lost; a flush that fails keeps what it could not write, and can be repeated; nobody reads what is older than what
 * this job has written, and local reads refuse; another job that writes the same shard is noticed.
 *
 *     test_cache_back [all]: with all failures, not only some */
#include <parapet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/open.h"
#include "draw.h"
#include "launch.h"
#include "stores/faulty.h"

enum { ROWS = 32, COLUMNS = 32, ROUNDS = 40, FEW_FAULTS = 12, FAULTS_MOST = 400 };

static launch run;
static draw from;
static parapet_store *store, *other; /* two jobs, as far as the store can tell */
static parapet_array *array, *others;
static int32_t model[ROWS][COLUMNS], flushed[ROWS][COLUMNS], values[ROWS * COLUMNS];
static int32_t next_value = 1;
static pp_store *inner, *faulty;
static pp_fault_plan plan;
static bool fails_all;

/* A box of which every rank has some rows. */
typedef struct tile {
    int64_t start[2], count[2];
} tile;

static const tile everything = {{0, 0}, {ROWS, COLUMNS}}, middle = {{3, 3}, {26, 26}}, corner = {{1, 1}, {2, 3}};

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

static bool holds_tile(int32_t expected[ROWS][COLUMNS], const tile *own)
{
    int64_t i, j;
    for (i = 0; i < own->count[0]; i++)
        for (j = 0; j < own->count[1]; j++)
            if (values[i * own->count[1] + j] != expected[own->start[0] + i][own->start[1] + j])
                return false;
    return true;
}

static parapet_status read_tile(parapet_array *of, const tile *own)
{
    parapet_part part = {.ndim = 2, .start = own->start, .count = own->count, .data = values};
    memset(values, 0xff, sizeof values);
    return parapet_array_read(of, &part, 1);
}

static void read_expected(parapet_array *of, const tile *all, int32_t expected[ROWS][COLUMNS])
{
    tile own = own_tile(all);
    if (LAUNCH_OK(&run, read_tile(of, &own)))
        launch_expect(&run, holds_tile(expected, &own), "the values of the model");
}

static void read_right(parapet_array *of, const tile *all)
{
    read_expected(of, all, model);
}

static void note_flush(void)
{
    memcpy(flushed, model, sizeof model);
}

static void flush_right(void)
{
    if (LAUNCH_OK(&run, parapet_array_flush(array)))
        note_flush();
}

static int64_t count_written(void)
{
    parapet_statistics found = {0};
    (void)parapet_store_get_statistics(store, &found);
    launch_sum(&found.objects_written, 1);
    return found.objects_written;
}

static void expect_memory(int64_t memory_bytes)
{
    parapet_statistics found = {0};
    (void)parapet_store_get_statistics(store, &found);
    launch_expect(&run, found.memory_peak_bytes <= found.memory_planned_bytes, "memory within the plan");
    launch_expect(&run, found.memory_planned_bytes <= memory_bytes, "a plan within the limit");
}

/* ---- Who sees what ---- */

static void wait_for_flush(void)
{
    int64_t before;
    tile own = own_tile(&middle);
    parapet_part part = {.ndim = 2, .start = own.start, .count = own.count, .data = values};
    write_right(array, &everything);
    flush_right();
    before = count_written();
    write_right(array, &middle);
    write_right(array, &corner);
    launch_expect(&run, count_written() == before, "nothing is written before the flush");
    read_right(array, &everything);
    read_expected(others, &everything, flushed);
    launch_expect(&run, parapet_array_read_local(array, &part, 1) == PARAPET_ERR_ARGUMENT, "local reads refuse");
    launch_expect(&run, strstr(parapet_error_message(), "parapet_array_flush") != NULL, parapet_error_message());
    flush_right();
    launch_expect(&run, count_written() > before, "the flush has written");
    read_right(others, &everything);
    launch_expect(&run, parapet_array_read_local(array, &part, 1) == PARAPET_OK && holds_tile(model, &own),
                  "and local reads see it");
    launch_barrier();
    before = count_written();
    flush_right();
    (void)LAUNCH_OK(&run, parapet_store_flush(store));
    launch_expect(&run, count_written() == before, "once");
    read_right(array, &everything);
}

static void flush_by_others(void)
{
    static const int64_t shape[2] = {ROWS, COLUMNS};
    parapet_array *second = NULL;
    parapet_check_summary summary = {0};
    write_right(array, &middle);
    (void)LAUNCH_OK(&run, parapet_array_attribute_set(array, "a", "1"));
    read_right(others, &everything);
    write_right(array, &middle);
    (void)LAUNCH_OK(&run, parapet_array_resize(array, shape));
    read_right(others, &everything);
    write_right(array, &corner);
    (void)LAUNCH_OK(&run, parapet_array_check(array, PARAPET_CHECK_DATA, NULL, NULL, &summary));
    launch_expect(&run, summary.torn == 0, "a sound array");
    read_right(others, &everything);
    write_right(array, &middle);
    (void)LAUNCH_OK(&run, parapet_array_seal(array));
    read_right(others, &everything);
    write_right(array, &middle); /* which takes the seal off */
    (void)LAUNCH_OK(&run, parapet_store_flush(store));
    read_right(others, &everything);
    write_right(array, &middle);
    (void)LAUNCH_OK(&run, parapet_array_open(&second, store, "a"));
    read_right(others, &everything);
    write_right(array, &middle);
    read_right(second, &everything);
    write_right(second, &corner);
    read_right(array, &everything);
    write_right(array, &middle);
    write_right(second, &corner);
    (void)LAUNCH_OK(&run, parapet_array_close(&second));
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
    read_right(others, &everything);
    (void)LAUNCH_OK(&run, parapet_array_open(&array, store, "a"));
    read_right(array, &everything);
    note_flush();
}

/* ---- Another job ---- */

static void expect_stale(parapet_status status)
{
    launch_expect(&run, status == PARAPET_ERR_STALE, parapet_error_message());
}

/* Parts of all shards are written here, and then a part of the first by the other job. In the end the model has what
 * both wrote, and in the first shard only what the other one did. */
static void write_both(void)
{
    int32_t first_value = next_value, kept[16][8];
    int64_t i;
    write_right(array, &everything);
    flush_right();
    first_value = next_value;
    write_right(array, &middle);
    memcpy(model, flushed, sizeof model);
    write_right(others, &corner);
    for (i = 0; i < 16; i++)
        memcpy(kept[i], model[i], sizeof kept[i]);
    note_tile(&middle, first_value);
    for (i = 0; i < 16; i++)
        memcpy(model[i], kept[i], sizeof kept[i]);
}

static void meet_another_job(void)
{
    static const tile first_shard = {{0, 0}, {16, 8}};
    tile own = own_tile(&everything);
    write_both();
    expect_stale(LAUNCH_AGREED(&run, read_tile(array, &own)));
    expect_stale(LAUNCH_AGREED(&run, write_tile(array, &corner, 1)));
    expect_stale(LAUNCH_AGREED(&run, parapet_array_flush(array)));
    read_right(others, &everything); /* the others are written */
    expect_stale(LAUNCH_AGREED(&run, parapet_array_attribute_set(array, "a", "2")));
    write_right(array, &first_shard); /* all of it, so that it does not matter what there was */
    flush_right();
    read_right(others, &everything);
}

static void give_up(void)
{
    write_both();
    expect_stale(LAUNCH_AGREED(&run, parapet_array_close(&array)));
    launch_expect(&run, array == NULL && strstr(parapet_error_message(), "lost") != NULL, parapet_error_message());
    (void)LAUNCH_OK(&run, parapet_array_open(&array, store, "a"));
    read_right(array, &everything);
    note_flush();
}

/* ---- At random, with whatever room there is ---- */

static void run_rounds(void)
{
    int i;
    for (i = 0; i < ROUNDS; i++) {
        tile all = draw_tile();
        int64_t what = draw_between(&from, 0, 99);
        if (what < 40)
            read_right(array, &all);
        else if (what < 85)
            write_right(array, &all);
        else
            flush_right();
    }
    flush_right();
    read_right(others, &everything);
}

/* ---- Failures ---- */

/* The same status on all ranks, nothing lost, and the next flush writes it. */
static bool fail_flush(long at, int rank, const pp_fault_plan *how)
{
    parapet_status status;
    long failures;
    write_right(array, &middle);
    write_right(array, &corner);
    plan = *how;
    plan.fail_at = run.rank == rank ? at : -1;
    status = LAUNCH_AGREED(&run, parapet_array_flush(array));
    failures = plan.failures;
    plan = (pp_fault_plan){.fail_at = -1};
    launch_expect(&run, launch_largest(failures) == 0 || status == PARAPET_ERR_IO || status == PARAPET_OK,
                  parapet_error_message());
    read_right(array, &everything);
    if (status != PARAPET_OK)
        flush_right();
    note_flush();
    read_right(others, &everything);
    return launch_largest(failures) > 0;
}

/* Every operation of every rank in every way, or each of these in turn. */
static void fail_in_turn(void)
{
    static const pp_fault_plan ways[] = {{.status = PARAPET_ERR_IO},
                                         {.status = PARAPET_ERR_IO, .fail_after = true},
                                         {.status = PARAPET_ERR_IO, .fail_forever = true}};
    long at, way, ways_count = sizeof ways / sizeof ways[0];
    int rank;
    if (!fails_all)
        for (at = 0; at < FEW_FAULTS && run.failures == 0; at++)
            (void)fail_flush(at, (int)(at % run.ranks), &ways[at % ways_count]);
    for (way = 0; fails_all && way < ways_count; way++)
        for (rank = 0; rank < run.ranks; rank++)
            for (at = 0; at < FAULTS_MOST && fail_flush(at, rank, &ways[way]) && run.failures == 0; at++)
                continue;
}

/* The same for writes, which read, and for what they have written to make room. */
static bool fail_write(long at, int rank)
{
    tile all = draw_tile();
    parapet_status status;
    long failures;
    plan = (pp_fault_plan){.fail_at = run.rank == rank ? at : -1, .status = PARAPET_ERR_IO};
    status = LAUNCH_AGREED(&run, write_tile(array, &all, next_value));
    failures = plan.failures;
    plan = (pp_fault_plan){.fail_at = -1};
    if (status == PARAPET_OK) {
        note_tile(&all, next_value);
    } else { /* if it wrote at once, any shard of it may be old or new */
        (void)LAUNCH_AGREED(&run, parapet_array_close(&array));
        (void)LAUNCH_OK(&run, parapet_array_open(&array, store, "a"));
        (void)LAUNCH_OK(&run, write_tile(array, &all, next_value));
        note_tile(&all, next_value);
    }
    next_value += ROWS * COLUMNS;
    read_right(array, &everything);
    return launch_largest(failures) > 0;
}

static void fail_writes(void)
{
    int rank;
    long at;
    if (!fails_all)
        for (at = 0; at < FEW_FAULTS && run.failures == 0; at++)
            (void)fail_write(at, (int)(at % run.ranks));
    for (rank = 0; fails_all && rank < run.ranks; rank++)
        for (at = 0; at < FAULTS_MOST && fail_write(at, rank) && run.failures == 0; at++)
            continue;
    flush_right();
    read_right(others, &everything);
}

/* ---- All of it ---- */

typedef struct back_case {
    const char *codec;
    int64_t cache_bytes, memory_bytes, threads;
    parapet_transport transport;
    bool is_unsharded;
} back_case;

static bool open_both(const back_case *by, const char *name)
{
    static const int64_t shape[2] = {ROWS, COLUMNS}, chunks[2] = {4, 4}, shards[2] = {16, 8};
    parapet_store_options options = {.keep_descriptions = 1,
                                     .cache_bytes = by->cache_bytes,
                                     .write_back = 1,
                                     .memory_bytes = by->memory_bytes,
                                     .threads = by->threads,
                                     .transport = by->transport,
                                     .durability = PARAPET_DURABILITY_LEAVE},
                          plain = {.durability = PARAPET_DURABILITY_LEAVE};
    parapet_array_spec spec = {.type = PARAPET_INT32,
                               .ndim = 2,
                               .shape = shape,
                               .chunks = by->is_unsharded ? shards : chunks,
                               .shards = by->is_unsharded ? NULL : shards,
                               .unsharded = by->is_unsharded,
                               .codec = by->codec};
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

static void close_both(const back_case *by)
{
    expect_memory(by->memory_bytes);
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
    (void)LAUNCH_OK(&run, parapet_array_close(&others));
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
    (void)LAUNCH_OK(&run, parapet_store_close(&other));
    pp_store_free(faulty);
    pp_store_free(inner);
}

static void run_case(uint64_t seed, const back_case *by)
{
    char name[32];
    from = draw_start(seed, 1);
    launch_case_begin(&run, seed);
    (void)snprintf(name, sizeof name, "s%llu", (unsigned long long)seed);
    if (open_both(by, name)) {
        if (by->cache_bytes >= 1 << 20) { /* it holds all */
            wait_for_flush();
            flush_by_others();
            meet_another_job();
            give_up();
            fail_in_turn();
        }
        run_rounds();
        fail_writes();
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
    static const back_case cases[] = {{"zstd:1", 1 << 20, 8 << 20, 1, PARAPET_TRANSPORT_DIRECT, false},
                                      {"none", 1 << 20, 8 << 20, 2, PARAPET_TRANSPORT_MESSAGES, true},
                                      {"zstd:1", 3000, 4 << 20, 2, PARAPET_TRANSPORT_DIRECT, false},
                                      {"none", 6000, 2 << 20, 1, PARAPET_TRANSPORT_MESSAGES, false}};
    size_t i;
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    fails_all = argc > 1;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++)
        run_case(41 + i, &cases[i]);
    launch_case_begin(&run, 51);
    expect_refusal(&(parapet_store_options){.write_back = 1}, "needs cache_bytes");
    expect_refusal(
        &(parapet_store_options){
            .write_back = 1, .cache_bytes = 4 << 20, .memory_bytes = 4 << 20, .keep_descriptions = 1},
        "must leave at least");
    (void)launch_case_end(&run, "options that do not fit");
    return launch_finish(&run);
}
