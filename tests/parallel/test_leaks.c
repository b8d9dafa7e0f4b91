/* All kinds of collective calls, those that fail included, with every strategy, under the shim that counts what MPI
 * was asked for: at MPI_Finalize nothing may be left (leaks.h); nor may memory of the library. */
#include <stdio.h>
#include <string.h>

#include "array/array_handle.h"
#include "array/open.h"
#include "base/memory.h"
#include "leaks.h"
#include "stores/faulty.h"
#include "strategy.h"
#include "strip.h"
#include "watch.h"

static launch run;

typedef struct callback {
    strategy_pace pace;
    bool is_stopped;
} callback;

static int report(void *context, int64_t done_bytes, int64_t total_bytes)
{
    callback *own = context;
    return strategy_progress(&own->pace, done_bytes, total_bytes) != 0 || own->is_stopped;
}

static void expect_failure(parapet_status status, parapet_status expected, const char *call)
{
    launch_expect(&run, launch_agreed(&run, status, call) == expected, parapet_status_name(expected));
}

/* A datatype of datatypes: MPI hands out those inside. One that is refused half-way is put back too. */
static void use_file_view(parapet_array *array)
{
    static int32_t data[STRIP_CHUNK];
    MPI_Datatype pair, pairs, wide;
    parapet_array_parts list = {0};
    MPI_Type_contiguous(2, MPI_INT32_T, &pair);
    MPI_Type_vector(4, 1, 2, pair, &pairs);
    MPI_Type_contiguous(STRIP_EXTENT * (run.ranks + 1), pairs, &wide);
    MPI_Type_commit(&pairs);
    (void)LAUNCH_OK(&run, parapet_array_parts_build(&list, array, 0, pairs, data));
    (void)LAUNCH_OK(&run, parapet_array_read(array, list.parts, list.part_count));
    parapet_array_parts_free(&list);
    expect_failure(parapet_array_parts_build(&list, array, 0, wide, data), PARAPET_ERR_ARGUMENT, "parts_build");
    MPI_Type_free(&wide);
    MPI_Type_free(&pairs);
    MPI_Type_free(&pair);
}

/* As many elements as a rank has, from the last to the first. */
typedef struct listed {
    int64_t starts[STRIP_EXTENT];
    int32_t values[STRIP_EXTENT];
    parapet_points points;
    parapet_runs runs;
} listed;

static void listed_build(listed *made, int owner)
{
    int64_t i;
    for (i = 0; i < STRIP_EXTENT; i++) {
        made->starts[i] = (int64_t)(owner + 1) * STRIP_EXTENT - 1 - i;
        made->values[i] = (int32_t)made->starts[i];
    }
    made->points =
        (parapet_points){.ndim = 1, .count = STRIP_EXTENT, .coordinates = made->starts, .data = made->values};
    made->runs = (parapet_runs){.count = STRIP_EXTENT, .starts = made->starts, .data = made->values};
}

static bool holds_numbers(const listed *read)
{
    int64_t i;
    for (i = 0; i < STRIP_EXTENT; i++)
        if (read->values[i] != (int32_t)read->starts[i])
            return false;
    return true;
}

/* Collective lists in both forms; then a rank reads them, and a box, without the others. */
static void use_lists(parapet_array *array)
{
    const int64_t start[1] = {0}, count[1] = {STRIP_EXTENT};
    static listed own;
    parapet_part part = {.ndim = 1, .start = start, .count = count, .data = own.values};
    listed_build(&own, run.rank);
    (void)LAUNCH_OK(&run, parapet_array_write_points(array, &own.points));
    (void)LAUNCH_OK(&run, parapet_array_write_runs(array, &own.runs));
    (void)LAUNCH_OK(&run, parapet_array_flush(array));
    listed_build(&own, (run.rank + 1) % run.ranks);
    memset(own.values, 0, sizeof own.values);
    (void)LAUNCH_OK(&run, parapet_array_read_points(array, &own.points));
    launch_expect(&run, holds_numbers(&own), "the points that were written");
    memset(own.values, 0, sizeof own.values);
    (void)LAUNCH_OK(&run, parapet_array_read_runs(array, &own.runs));
    launch_expect(&run, holds_numbers(&own), "the runs that were written");
    if (run.rank != 0)
        return;
    launch_expect(&run, parapet_array_read_points_local(array, &own.points) == PARAPET_OK, "points, alone");
    launch_expect(&run, parapet_array_read_runs_local(array, &own.runs) == PARAPET_OK, "runs, alone");
    launch_expect(&run, holds_numbers(&own), "what was read alone");
    launch_expect(&run, parapet_array_read_local(array, &part, 1) == PARAPET_OK, "a box, alone");
}

/* Elements that rank 0 and the last one list, or one rank twice; elements that there are not; storage that fails. */
static void fail_with_lists(parapet_array *array, bool *is_stopped, pp_fault_plan *plan)
{
    static listed own;
    int64_t beyond[1] = {(int64_t)run.ranks * STRIP_EXTENT};
    parapet_points outside = {.ndim = 1, .count = 1, .coordinates = beyond, .data = own.values};
    listed_build(&own, 0);
    if (run.ranks > 1)
        expect_failure(parapet_array_write_points(array, &own.points), PARAPET_ERR_ARGUMENT, "points of two ranks");
    expect_failure(parapet_array_read_points(array, run.rank == 0 ? &outside : NULL), PARAPET_ERR_ARGUMENT,
                   "a point outside");
    if (run.rank == 0)
        launch_expect(&run, parapet_array_read_points_local(array, &outside) == PARAPET_ERR_ARGUMENT,
                      "PARAPET_ERR_ARGUMENT, alone");
    listed_build(&own, run.rank);
    *is_stopped = run.rank == run.ranks - 1;
    expect_failure(parapet_array_write_runs(array, &own.runs), PARAPET_ERR_CANCELLED, "cancelled runs");
    *is_stopped = false;
    *plan = (pp_fault_plan){.fail_at = run.rank == run.ranks - 1 ? 0 : -1, .fail_forever = true};
    expect_failure(parapet_array_write_runs(array, &own.runs), PARAPET_ERR_IO, "runs with a failure");
    expect_failure(parapet_array_read_points(array, &own.points), PARAPET_ERR_IO, "points with a failure");
    launch_expect(&run,
                  parapet_array_read_runs_local(array, &own.runs) ==
                      (run.rank == run.ranks - 1 ? PARAPET_ERR_IO : PARAPET_OK),
                  "storage that fails for the rank that reads alone");
    *plan = (pp_fault_plan){.fail_at = -1};
}

/* Every call of an array, with success. */
static void use_array(parapet_array *array)
{
    const int64_t larger[1] = {(int64_t)(run.ranks + 1) * STRIP_EXTENT},
                  as_before[1] = {(int64_t)run.ranks * STRIP_EXTENT};
    parapet_check_summary summary;
    int32_t generation = -1;
    (void)LAUNCH_OK(&run, strip_write(array, &run, 1));
    (void)LAUNCH_OK(&run, parapet_array_attribute_set(array, "x", "1"));
    (void)LAUNCH_OK(&run, parapet_array_resize(array, larger));
    (void)LAUNCH_OK(&run, parapet_array_resize(array, as_before));
    (void)LAUNCH_OK(&run, parapet_array_seal(array));
    (void)LAUNCH_OK(&run, strip_read(array, &run, &generation));
    launch_expect(&run, generation == 1, "what was written");
    (void)LAUNCH_OK(&run, parapet_array_check(array, PARAPET_CHECK_DATA, NULL, NULL, &summary));
    use_file_view(array);
    use_lists(array);
    (void)LAUNCH_OK(&run, parapet_array_unseal(array));
    (void)LAUNCH_OK(&run, parapet_array_write(array, NULL, 0));
}

static void use_group(parapet_store *store)
{
    parapet_group *group = NULL;
    (void)LAUNCH_OK(&run, parapet_group_create(&group, store, "g/h", NULL));
    (void)LAUNCH_OK(&run, parapet_group_attribute_set(group, "x", "1"));
    (void)LAUNCH_OK(&run, parapet_group_consolidate(group));
    (void)LAUNCH_OK(&run, parapet_group_close(&group));
}

/* Calls that are refused, differ between ranks, are cancelled or meet storage that fails on one rank. */
static void fail_with_array(parapet_store *store, parapet_array *array, bool *is_stopped, pp_fault_plan *plan)
{
    parapet_array *other = NULL;
    int64_t shape[1] = {STRIP_EXTENT + run.rank};
    int32_t generation;
    long at;
    expect_failure(parapet_array_open(&other, store, "absent"), PARAPET_ERR_NOT_FOUND, "open");
    expect_failure(strip_create(&other, store, "a", run.ranks, STRIP_SHARDS), PARAPET_ERR_EXISTS, "create");
    if (run.ranks > 1) {
        expect_failure(parapet_array_resize(array, shape), PARAPET_ERR_ARGUMENT, "resize");
        expect_failure(run.rank == 1 ? parapet_array_unseal(array) : parapet_array_seal(array), PARAPET_ERR_ARGUMENT,
                       "seal or unseal");
    }
    expect_failure(parapet_array_write(array, NULL, run.rank == 0 ? 1 : 0), PARAPET_ERR_ARGUMENT, "write");
    *is_stopped = run.rank == run.ranks - 1;
    expect_failure(strip_write(array, &run, 2), PARAPET_ERR_CANCELLED, "cancelled write");
    expect_failure(strip_read(array, &run, &generation), PARAPET_ERR_CANCELLED, "cancelled read");
    *is_stopped = false;
    for (at = 0; at < 3; at++) {
        *plan = (pp_fault_plan){.fail_at = run.rank == run.ranks - 1 ? at : -1};
        expect_failure(strip_write(array, &run, 2), PARAPET_ERR_IO, "write with a failure");
    }
    *plan = (pp_fault_plan){.fail_at = run.rank == run.ranks - 1 ? 0 : -1};
    expect_failure(strip_read(array, &run, &generation), PARAPET_ERR_IO, "read with a failure");
    *plan = (pp_fault_plan){.fail_at = -1};
}

static void use_store(pp_store *backend, pp_fault_plan *plan, callback *own, const parapet_store_options *options,
                      int64_t *taken)
{
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    if (LAUNCH_OK(&run, pp_store_open_over(&store, MPI_COMM_WORLD, backend, PARAPET_CREATE, options)) &&
        LAUNCH_OK(&run, strip_create(&array, store, "a", run.ranks, STRIP_SHARDS))) {
        use_array(array);
        use_group(store);
        *taken = strategy_taken(store);
        fail_with_array(store, array, &own->is_stopped, plan);
        fail_with_lists(array, &own->is_stopped, plan);
        expect_failure(parapet_store_close(&store), PARAPET_ERR_ARGUMENT, "close with an array open");
    }
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
}

static void build_directory(pp_store **inner, const char *path)
{
    pp_posix_options posix = {.not_durable = true, .create = true};
    parapet_store *store = NULL;
    expect_failure(parapet_store_open(&store, MPI_COMM_WORLD, path, PARAPET_READ, NULL), PARAPET_ERR_NOT_FOUND,
                   "open of a store that is not there");
    if (run.rank == 0)
        launch_expect(&run, pp_store_posix_build(inner, path, &posix) == PARAPET_OK, "a directory");
    watch_meet();
    if (run.rank != 0)
        launch_expect(&run, pp_store_posix_build(inner, path, &posix) == PARAPET_OK, "a directory");
}

static void run_case(const strategy *with, parapet_transport transport)
{
    static uint64_t number;
    parapet_store_options options = {.transport = transport, .servers = run.ranks};
    pp_fault_plan plan = {.fail_at = -1};
    pp_store *inner = NULL, *faulty = NULL;
    callback own = {.is_stopped = false};
    char path[600], weights_path[600];
    long live = pp_memory_live_count();
    int64_t taken = 0;
    launch_case_begin(&run, number);
    (void)snprintf(path, sizeof path, "%s/leaks-%d", run.folder, (int)number++);
    (void)snprintf(weights_path, sizeof weights_path, "%s/weights", run.folder);
    strategy_set(with, &options, &own.pace, weights_path, run.rank, run.ranks);
    options.progress = report;
    options.progress_context = &own;
    build_directory(&inner, path);
    launch_expect(&run, pp_store_faulty_build(&faulty, inner, &plan) == PARAPET_OK, "a store");
    use_store(faulty, &plan, &own, &options, &taken);
    pp_store_free(faulty);
    pp_store_free(inner);
    launch_expect(&run, pp_memory_live_count() == live, "memory that is given back");
    launch_sum(&taken, 1);
    if (run.rank == 0)
        printf("%s: %lld shards taken\n", with->name, (long long)taken);
    launch_expect(&run, (taken > 0) >= with->is_uneven, "shards that were taken");
    (void)launch_case_end(&run, with->name);
}

int main(int argc, char **argv)
{
    const strategy *with;
    leaks_counts counted;
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    for (with = strategy_next(NULL); with != NULL; with = strategy_next(with))
        run_case(with, (parapet_transport)(1 + (strategy_number(with) + run.ranks) % 2));
    counted = leaks_now();
    launch_case_begin(&run, 0);
    launch_expect(&run, counted.communicators_made >= 1, "a shim that sees what the library does");
    (void)launch_case_end(&run, "the shim");
    return launch_finish(&run);
}
