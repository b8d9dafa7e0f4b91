/* Lists that are too long for whole shards: storage or memory of one rank fails, at one place after the other, while
 * shards are written and read in several passes. Every rank returns the same, nothing leaks, and each shard is old or
 * new. Runs under the launcher:
 *
 *     parallel_divided_fails STEP
 *
 * takes every STEP-th place. */
#include <parapet.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/open.h"
#include "base/memory.h"
#include "launch.h"
#include "store/store.h"
#include "stores/faulty.h"

enum { ROWS = 60, COLUMNS = 1000, SHARD_ROWS = 30, ELEMENTS = ROWS * COLUMNS };

typedef struct trial {
    launch *run;
    pp_store *inner, *faulty;
    pp_fault_plan plan;
    parapet_store *store;
    parapet_array *array;
    int64_t count;
    int64_t *starts;
    int32_t *values;
    int32_t generation[2]; /* that each shard has */
} trial;

/* ---- Refused memory ---- */

static atomic_long allocations;
static long refused_at;

static int decide(void *context, size_t bytes)
{
    (void)context;
    (void)bytes;
    return atomic_fetch_add(&allocations, 1) == refused_at;
}

/* ---- What is stored ---- */

static int32_t value_of(int64_t element, int32_t generation)
{
    return (int32_t)element * 16 + generation;
}

/* All elements but every seventh, so that something of the old shard stays; in no order. */
static void make_list(trial *test)
{
    int64_t i;
    test->starts = calloc(ELEMENTS, sizeof test->starts[0]);
    test->values = calloc(ELEMENTS, sizeof test->values[0]);
    for (i = test->run->rank; i < ELEMENTS; i += test->run->ranks) {
        int64_t element = i * 7919 % ELEMENTS;
        if (element % 7 != 0)
            test->starts[test->count++] = element;
    }
}

static void set_values(trial *test, int32_t generation)
{
    int64_t i;
    for (i = 0; i < test->count; i++)
        test->values[i] = value_of(test->starts[i], generation);
}

static parapet_runs runs_of(const trial *test)
{
    return (parapet_runs){.count = test->count, .starts = test->starts, .data = test->values};
}

static parapet_status write_list(trial *test)
{
    parapet_runs runs = runs_of(test);
    return parapet_array_write_runs(test->array, &runs);
}

static parapet_status read_list(trial *test)
{
    parapet_runs runs = runs_of(test);
    return parapet_array_read_runs(test->array, &runs);
}

static bool holds(const trial *test, int shard, int32_t generation)
{
    int64_t i;
    for (i = 0; i < test->count; i++)
        if (test->starts[i] / COLUMNS / SHARD_ROWS == shard &&
            test->values[i] != value_of(test->starts[i], generation))
            return false;
    return true;
}

/* ---- Handles ---- */

static void open_handles(trial *test)
{
    const parapet_store_options options = {.memory_bytes = 1 << 20, .io_thread = PARAPET_IO_THREAD_NONE};
    (void)LAUNCH_OK(test->run,
                    pp_store_open_over(&test->store, MPI_COMM_WORLD, test->faulty, PARAPET_UPDATE, &options));
    (void)LAUNCH_OK(test->run, parapet_array_open(&test->array, test->store, "a"));
}

static void close_handles(trial *test)
{
    (void)parapet_array_close(&test->array);
    (void)LAUNCH_OK(test->run, parapet_store_close(&test->store));
}

static void create(trial *test)
{
    static const int64_t shape[2] = {ROWS, COLUMNS}, chunks[2] = {10, 50}, shards[2] = {SHARD_ROWS, COLUMNS};
    parapet_array_spec spec = {
        .type = PARAPET_INT32, .ndim = 2, .shape = shape, .chunks = chunks, .shards = shards, .codec = "none"};
    if (LAUNCH_OK(test->run, pp_store_open_over(&test->store, MPI_COMM_WORLD, test->faulty, PARAPET_CREATE, NULL)))
        (void)LAUNCH_OK(test->run, parapet_array_create(&test->array, test->store, "a", &spec));
    set_values(test, 0);
    (void)LAUNCH_OK(test->run, write_list(test));
    close_handles(test);
}

/* ---- One place ---- */

typedef struct site {
    bool is_memory, writes;
    long at;
    int rank;
} site;

/* Makes the call with a failure at the site; *is_reached: on some rank it was. */
static parapet_status fail_at(trial *test, const site *of, bool *is_reached)
{
    bool is_mine = of->rank == test->run->rank;
    parapet_status status;
    int64_t reached;
    refused_at = is_mine && of->is_memory ? of->at : -1;
    atomic_store(&allocations, 0);
    test->plan = (pp_fault_plan){.fail_at = is_mine && !of->is_memory ? of->at : -1, .status = PARAPET_ERR_IO};
    pp_memory_hook_set(decide, NULL);
    launch_phase(test->run, of->writes ? "a write that fails" : "a read that fails");
    status = of->writes ? write_list(test) : read_list(test);
    pp_memory_hook_set(NULL, NULL);
    reached = of->is_memory ? refused_at >= 0 && atomic_load(&allocations) > refused_at : test->plan.failures > 0;
    test->plan = (pp_fault_plan){.fail_at = -1};
    *is_reached = launch_largest(reached) > 0;
    return launch_agreed(test->run, status, "a call in which one rank fails");
}

/* Each shard is as before or as after; all ranks know which. */
static void find_generation(trial *test, int shard, int32_t old, int32_t new)
{
    bool is_old = launch_largest(!holds(test, shard, old)) == 0,
         is_new = launch_largest(!holds(test, shard, new)) == 0;
    launch_expect(test->run, is_old || is_new, "a shard that is old or new");
    test->generation[shard] = is_new ? new : old;
}

static void check_stored(trial *test, parapet_status status, int32_t new)
{
    int shard;
    (void)LAUNCH_OK(test->run, read_list(test));
    for (shard = 0; shard < 2; shard++) {
        find_generation(test, shard, test->generation[shard], new);
        launch_expect(test->run, status != PARAPET_OK || test->generation[shard] == new, "what was acknowledged");
    }
}

/* Whether the place was reached. */
static bool run_site(trial *test, const site *of)
{
    int32_t new = (test->generation[0] > test->generation[1] ? test->generation[0] : test->generation[1]) % 8 + 1;
    parapet_status status;
    bool is_reached;
    long live;
    new = new == test->generation[0] || new == test->generation[1] ? new + 1 : new;
    live = pp_memory_live_count();
    open_handles(test);
    if (of->writes)
        set_values(test, new);
    status = fail_at(test, of, &is_reached);
    launch_expect(test->run, is_reached || status == PARAPET_OK, "success if nothing fails");
    if (!of->writes && status == PARAPET_OK)
        launch_expect(test->run, holds(test, 0, test->generation[0]) && holds(test, 1, test->generation[1]),
                      "the values that are stored");
    close_handles(test);
    launch_expect(test->run, pp_memory_live_count() == live, "all memory given back");
    open_handles(test);
    if (of->writes)
        check_stored(test, status, new);
    close_handles(test);
    return is_reached;
}

static long run_sites(trial *test, bool is_memory, bool writes, long step)
{
    site of = {.is_memory = is_memory, .writes = writes};
    long count = 0;
    for (of.rank = 0; of.rank < test->run->ranks; of.rank++)
        for (of.at = (of.rank * 3) % step; run_site(test, &of); of.at += step)
            count++;
    return count;
}

int main(int argc, char **argv)
{
    pp_posix_options posix = {.not_durable = true, .direct_io = PP_DIRECT_IO_NEVER};
    long step, counts[4];
    int i;
    launch run;
    trial test = {.run = &run, .plan = {.fail_at = -1}};
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    step = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
    launch_case_begin(&run, 0);
    make_list(&test);
    if (launch_ok(&run, pp_store_posix_build(&test.inner, run.folder, &posix), "a directory") &&
        launch_ok(&run, pp_store_faulty_build(&test.faulty, test.inner, &test.plan), "a store that fails")) {
        create(&test);
        for (i = 0; i < 4; i++)
            counts[i] = run_sites(&test, i % 2 == 1, i < 2, step);
        if (run.rank == 0)
            (void)printf("%d ranks: %ld storage operations and %ld allocations of a write failed, %ld and %ld of a "
                         "read\n",
                         run.ranks, counts[0], counts[1], counts[2], counts[3]);
    }
    (void)launch_case_end(&run, "divided shards");
    pp_store_free(test.faulty);
    pp_store_free(test.inner);
    free(test.starts);
    free(test.values);
    return launch_finish(&run);
}
