/* Requests of every kind, whatever goes wrong, with every strategy, and with write-back where there is a cache: they
 * are completed by a wait, by another call or by closing an array; ranks start different things; the callback of one
 * rank asks to stop; storage or memory of one rank fails at some place. Every rank is told the same, and what comes
 * next works. Under the shim that counts what MPI was asked for, nothing may be left (leaks.h); nor may memory of the
 * library.
 *
 * The shim knows no threads: nothing but the library uses MPI while a request runs. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "array/open.h"
#include "base/memory.h"
#include "leaks.h"
#include "stores/faulty.h"
#include "strategy.h"
#include "strip.h"
#include "watch.h"

enum { SHARDS = 2, PLACES = 6 };

static launch run;
static int failed_requests, sound_requests; /* where something failed on one rank */

typedef struct bed {
    pp_store *inner, *faulty;
    pp_fault_plan plan;
    strategy_pace pace;
    atomic_bool is_stopped;
    parapet_store *store;
    parapet_array *array, *second;
    parapet_series *series;
    parapet_checkpoint *checkpoint;
    strip own, wanted;
    int64_t step_start[1], step_count[1];
    parapet_part part; /* of a step, and of an item */
} bed;

static const int64_t extent[1] = {16}, step_shape[2] = {0, 16}, step_cell[2] = {1, 4};

static int report(void *context, int64_t done_bytes, int64_t total_bytes)
{
    bed *all = context;
    return strategy_progress(&all->pace, done_bytes, total_bytes) != 0 || atomic_load(&all->is_stopped);
}

/* ---- Kinds of requests ---- */

static parapet_status start_write(bed *all, parapet_request **request)
{
    return parapet_array_start_write(request, all->array, all->own.parts, all->own.part_count,
                                     PARAPET_BUFFERING_BORROW);
}

static parapet_status start_read(bed *all, parapet_request **request)
{
    return parapet_array_start_read(request, all->array, all->wanted.parts, all->wanted.part_count);
}

static parapet_status start_list(bed *all, parapet_request **request)
{
    parapet_array_parts list[2] = {
        {.array = all->array, .parts = all->own.parts, .part_count = all->own.part_count},
        {.array = all->second, .parts = all->own.parts, .part_count = all->own.part_count},
    };
    return parapet_arrays_start_write(request, list, 2, PARAPET_BUFFERING_COPY);
}

static void open_series(bed *all)
{
    (void)LAUNCH_OK(&run, parapet_series_open(&all->series, all->store, "s"));
}

static parapet_status start_append(bed *all, parapet_request **request)
{
    parapet_step step = {.parts = &all->part, .part_count = 1};
    parapet_series_info info = {0};
    launch_expect(&run, parapet_series_get_info(all->series, &info) == PARAPET_OK, "what the series has");
    return parapet_series_start_append(request, all->series, (double)info.steps, &step, PARAPET_BUFFERING_COPY);
}

static void close_series(bed *all)
{
    (void)LAUNCH_OK(&run, parapet_series_close(&all->series));
}

static void begin_checkpoint(bed *all)
{
    (void)LAUNCH_OK(&run, parapet_checkpoint_begin(&all->checkpoint, all->store, "c", NULL));
}

static parapet_status start_checkpoint(bed *all, parapet_request **request)
{
    parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 1, .shape = extent};
    parapet_checkpoint_item item = {.name = "x", .spec = &spec, .parts = &all->part, .part_count = 1};
    return parapet_checkpoint_start(request, &all->checkpoint, &item, 1, PARAPET_BUFFERING_COPY, NULL);
}

static void end_checkpoint(bed *all)
{
    if (all->checkpoint != NULL)
        (void)LAUNCH_OK(&run, parapet_checkpoint_abort(&all->checkpoint));
}

static void do_nothing(bed *all)
{
    (void)all;
}

static const struct kind {
    const char *name;
    void (*prepare)(bed *all);
    parapet_status (*start)(bed *all, parapet_request **request);
    void (*conclude)(bed *all);
} kinds[] = {
    {"start_write", do_nothing, start_write, do_nothing},
    {"start_read", do_nothing, start_read, do_nothing},
    {"start_write of two", do_nothing, start_list, do_nothing},
    {"start_append", open_series, start_append, close_series},
    {"checkpoint_start", begin_checkpoint, start_checkpoint, end_checkpoint},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static void test_until_done(parapet_request *request)
{
    int is_done = 0;
    while (parapet_request_test(request, &is_done) == PARAPET_OK && !is_done)
        (void)nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
}

/* The status of the start, or else that of the wait. */
static parapet_status start_and_wait(const struct kind *of, bed *all, bool is_tested)
{
    parapet_request *request = NULL;
    parapet_status status;
    launch_phase(&run, of->name);
    if ((status = of->start(all, &request)) != PARAPET_OK) {
        launch_expect(&run, request == NULL, "no request");
        return status;
    }
    if (is_tested)
        test_until_done(request);
    return parapet_request_wait(&request);
}

static void expect_generation(bed *all, int32_t least)
{
    int32_t generation = -1;
    if (LAUNCH_OK(&run, strip_read(all->array, &run, &generation)))
        launch_expect(&run, generation >= least, "the values that were written");
}

/* ---- What is done to them ---- */

static void complete_all(bed *all)
{
    int i;
    strip_fill(&all->own, 2);
    for (i = 0; i < KINDS; i++) {
        kinds[i].prepare(all);
        (void)launch_ok(&run, start_and_wait(&kinds[i], all, i % 2 == 0), kinds[i].name);
        kinds[i].conclude(all);
    }
    launch_expect(&run, strip_generation(&all->wanted) == 2, "what the request wrote");
    expect_generation(all, 2);
}

/* Another call completes it; so does closing the array, and with write-back both flush what it has written. */
static void complete_otherwise(bed *all)
{
    parapet_request *request = NULL;
    parapet_status started, called, closed, refused;
    strip_fill(&all->own, 3);
    launch_phase(&run, "flushing beside a request");
    started = start_write(all, &request);
    called = parapet_array_flush(all->array);
    (void)launch_ok(&run, started, "start_write");
    (void)launch_ok(&run, called, "flush beside it");
    (void)LAUNCH_OK(&run, parapet_request_wait(&request));
    expect_generation(all, 3);
    strip_fill(&all->own, 4);
    launch_phase(&run, "closing beside a request");
    started = start_write(all, &request);
    closed = parapet_array_close(&all->array);
    refused = parapet_store_close(&all->store);
    (void)launch_ok(&run, started, "start_write");
    (void)launch_ok(&run, closed, "close beside it");
    launch_expect(&run, launch_agreed(&run, refused, "close of the store") == PARAPET_ERR_ARGUMENT, "a refusal");
    (void)LAUNCH_OK(&run, parapet_request_wait(&request));
    (void)LAUNCH_OK(&run, parapet_array_open(&all->array, all->store, "a"));
    expect_generation(all, 4);
}

static void start_different(bed *all)
{
    int i;
    for (i = 0; i < KINDS && run.ranks > 1; i++) {
        const struct kind *mine = &kinds[run.rank == 1 ? (i + 1) % KINDS : i];
        kinds[i].prepare(all);
        kinds[(i + 1) % KINDS].prepare(all);
        launch_expect(&run,
                      launch_agreed(&run, start_and_wait(mine, all, false), kinds[i].name) == PARAPET_ERR_ARGUMENT,
                      "a refusal");
        kinds[i].conclude(all);
        kinds[(i + 1) % KINDS].conclude(all);
    }
}

static void cancel_all(bed *all)
{
    parapet_status status;
    int i;
    for (i = 0; i < KINDS; i++) {
        kinds[i].prepare(all);
        atomic_store(&all->is_stopped, run.rank == run.ranks - 1);
        status = start_and_wait(&kinds[i], all, false);
        atomic_store(&all->is_stopped, false);
        launch_expect(&run, launch_agreed(&run, status, kinds[i].name) == PARAPET_ERR_CANCELLED, kinds[i].name);
        kinds[i].conclude(all);
    }
    expect_generation(all, 4);
}

/* Refuses one allocation, on any thread. */
typedef struct refusal {
    long at;
    atomic_long count;
} refusal;

static int refuse(void *context, size_t bytes)
{
    refusal *planned = context;
    (void)bytes;
    return atomic_fetch_add(&planned->count, 1) == planned->at;
}

/* What could not be written waits for another flush; the handles may be good for nothing else. */
static void renew_arrays(bed *all)
{
    (void)LAUNCH_OK(&run, parapet_store_flush(all->store));
    (void)LAUNCH_OK(&run, parapet_array_close(&all->array));
    (void)LAUNCH_OK(&run, parapet_array_open(&all->array, all->store, "a"));
    (void)LAUNCH_OK(&run, parapet_array_close(&all->second));
    (void)LAUNCH_OK(&run, parapet_array_open(&all->second, all->store, "b"));
}

static void fail_at(bed *all, const struct kind *of, long at, bool is_memory)
{
    refusal planned = {.at = at};
    bool fails = run.rank == run.ranks - 1;
    parapet_status status, expected = is_memory ? PARAPET_ERR_MEMORY : PARAPET_ERR_IO;
    of->prepare(all);
    if (fails && is_memory)
        pp_memory_hook_set(refuse, &planned);
    all->plan = (pp_fault_plan){.fail_at = fails && !is_memory ? at : -1};
    status = start_and_wait(of, all, false);
    pp_memory_hook_set(NULL, NULL);
    all->plan = (pp_fault_plan){.fail_at = -1};
    status = launch_agreed(&run, status, of->name);
    launch_expect(&run, status == PARAPET_OK || status == expected, parapet_status_name(status));
    of->conclude(all);
    failed_requests += status != PARAPET_OK;
    sound_requests += status == PARAPET_OK;
    if (status != PARAPET_OK)
        renew_arrays(all);
}

/* Other places with every strategy. */
static void fail_some(bed *all, int number)
{
    int i, k;
    strip_fill(&all->own, 5);
    for (i = 0; i < KINDS; i++)
        for (k = 0; k < PLACES; k++) {
            fail_at(all, &kinds[i], k + (number + i) % 3, false);
            fail_at(all, &kinds[i], 7 * k + number % 7, true);
        }
    expect_generation(all, -1);
    for (i = 0; i < KINDS; i++) {
        kinds[i].prepare(all);
        (void)launch_ok(&run, start_and_wait(&kinds[i], all, true), kinds[i].name);
        kinds[i].conclude(all);
    }
    expect_generation(all, 5);
}

/* ---- All of it ---- */

static void build_directory(bed *all, const char *path)
{
    pp_posix_options posix = {.not_durable = true, .create = true};
    if (run.rank == 0)
        launch_expect(&run, pp_store_posix_build(&all->inner, path, &posix) == PARAPET_OK, "a directory");
    watch_meet();
    if (run.rank != 0)
        launch_expect(&run, pp_store_posix_build(&all->inner, path, &posix) == PARAPET_OK, "a directory");
    all->plan.fail_at = -1;
    launch_expect(&run, pp_store_faulty_build(&all->faulty, all->inner, &all->plan) == PARAPET_OK, "a store");
}

static void open_bed(bed *all, const parapet_store_options *options)
{
    static const char *const names[] = {"u"};
    parapet_array_spec spec = {
        .type = PARAPET_INT32, .ndim = 2, .shape = step_shape, .chunks = step_cell, .shards = step_cell};
    parapet_series_spec series_spec = {.count = 1, .names = names, .specs = &spec};
    strip_deal(&all->own, run.rank, run.ranks);
    strip_deal(&all->wanted, (run.rank + 1) % run.ranks, run.ranks);
    all->step_count[0] = run.rank == 0 ? extent[0] : 0;
    all->part =
        (parapet_part){.ndim = 1, .start = all->step_start, .count = all->step_count, .data = all->own.values};
    (void)LAUNCH_OK(&run, pp_store_open_over(&all->store, MPI_COMM_WORLD, all->faulty, PARAPET_CREATE, options));
    (void)LAUNCH_OK(&run, strip_create(&all->array, all->store, "a", run.ranks, SHARDS));
    (void)LAUNCH_OK(&run, strip_create(&all->second, all->store, "b", run.ranks, SHARDS));
    (void)LAUNCH_OK(&run, strip_write(all->array, &run, 1));
    (void)LAUNCH_OK(&run, parapet_series_create(&all->series, all->store, "s", &series_spec));
    (void)LAUNCH_OK(&run, parapet_series_close(&all->series));
}

static void close_bed(bed *all)
{
    (void)LAUNCH_OK(&run, parapet_array_close(&all->array));
    (void)LAUNCH_OK(&run, parapet_array_close(&all->second));
    (void)LAUNCH_OK(&run, parapet_store_close(&all->store));
    pp_store_free(all->faulty);
    pp_store_free(all->inner);
}

static void run_case(const strategy *with, bool is_back)
{
    static int number;
    parapet_store_options options = {.servers = run.ranks,
                                     .durability = PARAPET_DURABILITY_LEAVE,
                                     .transport = (parapet_transport)(1 + (number + run.ranks) % 2)};
    char path[600], weights_path[600], description[64];
    long live = pp_memory_live_count();
    bed all = {0};
    launch_case_begin(&run, (uint64_t)number);
    (void)snprintf(path, sizeof path, "%s/started-%d", run.folder, number);
    (void)snprintf(weights_path, sizeof weights_path, "%s/weights", run.folder);
    (void)snprintf(description, sizeof description, "%s%s", with->name, is_back ? ", write-back" : "");
    strategy_set(with, &options, &all.pace, weights_path, run.rank, run.ranks);
    options.progress = report;
    options.progress_context = &all;
    options.write_back = is_back;
    build_directory(&all, path);
    open_bed(&all, &options);
    complete_all(&all);
    complete_otherwise(&all);
    start_different(&all);
    cancel_all(&all);
    fail_some(&all, number++);
    close_bed(&all);
    launch_expect(&run, pp_memory_live_count() == live, "memory that is given back");
    (void)launch_case_end(&run, description);
}

static void check_counts(void)
{
    launch_case_begin(&run, 0);
    if (run.rank == 0)
        printf("%d requests failed where something failed on one rank, %d did not\n", failed_requests,
               sound_requests);
    launch_expect(&run, failed_requests > sound_requests, "failures that are met");
    launch_expect(&run, leaks_now().communicators_made >= 1, "a shim that sees what the library does");
    (void)launch_case_end(&run, "counts");
}

int main(int argc, char **argv)
{
    const strategy *with;
    launch_start(&run, &argc, &argv, MPI_THREAD_MULTIPLE);
    for (with = strategy_next(NULL); with != NULL; with = strategy_next(with)) {
        run_case(with, false);
        if (with->has_cache)
            run_case(with, true);
    }
    check_counts();
    return launch_finish(&run);
}
