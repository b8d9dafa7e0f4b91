/* Requests: what is started is done beside the program, in order, and wait tells all ranks the same. Whatever the
 * thread level, nobody can tell by what comes of it; but below MPI_THREAD_MULTIPLE, it is done when start returns.
 *
 *     test_requests single|funneled|serialized|multiple */
#include <parapet_store.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "one_clock.h"
#include "strip.h"

enum { TURNS = 6, DEADLINE_SECONDS = 1, SHARDS = 2 };

typedef struct bed {
    parapet_store *store;
    parapet_array *first, *second;
} bed;

static launch run;
static bool has_threads; /* requests have threads of their own */

static void bed_open(bed *made, const char *name, const parapet_store_options *options)
{
    static int number;
    char path[600];
    *made = (bed){0};
    (void)snprintf(path, sizeof path, "%s/%s-%d", run.folder, name, number++);
    (void)LAUNCH_OK(&run, parapet_store_open(&made->store, MPI_COMM_WORLD, path, PARAPET_CREATE, options));
    (void)LAUNCH_OK(&run, strip_create(&made->first, made->store, "a", run.ranks, SHARDS));
    (void)LAUNCH_OK(&run, strip_create(&made->second, made->store, "b", run.ranks, SHARDS));
    (void)LAUNCH_OK(&run, strip_write(made->first, &run, 1));
}

static void bed_close(bed *used)
{
    (void)LAUNCH_OK(&run, parapet_array_close(&used->first));
    (void)LAUNCH_OK(&run, parapet_array_close(&used->second));
    (void)LAUNCH_OK(&run, parapet_store_close(&used->store));
}

static void own_strip(strip *own, int32_t generation)
{
    strip_deal(own, run.rank, run.ranks);
    strip_fill(own, generation);
}

static void next_strip(strip *wanted)
{
    strip_deal(wanted, (run.rank + 1) % run.ranks, run.ranks);
    memset(wanted->values, 0xee, sizeof wanted->values);
}

static void start_to_write(parapet_request **request, parapet_array *array, strip *own, parapet_buffering buffering)
{
    int is_done = 0;
    (void)LAUNCH_OK(&run, parapet_array_start_write(request, array, own->parts, own->part_count, buffering));
    if (!has_threads)
        launch_expect(&run, parapet_request_test(*request, &is_done) == PARAPET_OK && is_done, "done at once");
}

static void start_to_read(parapet_request **request, parapet_array *array, strip *wanted)
{
    (void)LAUNCH_OK(&run, parapet_array_start_read(request, array, wanted->parts, wanted->part_count));
}

static void rest(double seconds)
{
    struct timespec pause = {.tv_sec = (time_t)seconds, .tv_nsec = (long)(1e9 * (seconds - (double)(time_t)seconds))};
    (void)nanosleep(&pause, NULL);
}

static void compute_until_done(parapet_request *request)
{
    int is_done = 0;
    launch_phase(&run, "testing a request");
    while (parapet_request_test(request, &is_done) == PARAPET_OK && !is_done)
        rest(200e-6);
    launch_expect(&run, is_done, "a request that is done");
}

static void expect_generation(parapet_array *array, int32_t expected)
{
    int32_t generation = -1;
    if (LAUNCH_OK(&run, strip_read(array, &run, &generation)))
        launch_expect(&run, generation == expected, "the values that were written");
}

static void expect_fails(parapet_status status, parapet_status expected, const char *word)
{
    char sentence[1024];
    (void)snprintf(sentence, sizeof sentence, "%s", parapet_error_message());
    if (launch_agreed(&run, status, word) != expected || strstr(sentence, word) == NULL) {
        fprintf(stderr, "%s: \"%s\"\n", parapet_status_name(status), sentence);
        launch_expect(&run, false, word);
    }
}

/* Three requests at once: a write, a read of what it writes, and a write of another array. */
static void check_values(parapet_transport transport, parapet_buffering buffering)
{
    parapet_store_options options = {.durability = PARAPET_DURABILITY_LEAVE, .transport = transport};
    parapet_request *requests[3];
    strip own, other, wanted;
    int32_t turn;
    bed all;
    launch_case_begin(&run, 1);
    bed_open(&all, "values", &options);
    for (turn = 2; turn < 2 + TURNS; turn++) {
        own_strip(&own, turn);
        own_strip(&other, 100 + turn);
        next_strip(&wanted);
        start_to_write(&requests[0], all.first, &own, buffering);
        if (buffering == PARAPET_BUFFERING_COPY)
            memset(&own, 0xff, sizeof own); /* the lists of parts too */
        start_to_read(&requests[1], all.first, &wanted);
        start_to_write(&requests[2], all.second, &other, PARAPET_BUFFERING_BORROW);
        if (turn % 2 == 0)
            compute_until_done(requests[turn % 3]);
        (void)LAUNCH_OK(&run, parapet_request_wait(&requests[turn % 3]));
        (void)LAUNCH_OK(&run, parapet_request_wait(&requests[(turn + 1) % 3]));
        (void)LAUNCH_OK(&run, parapet_request_wait(&requests[(turn + 2) % 3]));
        launch_expect(&run, strip_generation(&wanted) == turn, "a read that comes after the write");
        expect_generation(all.first, turn);
        expect_generation(all.second, 100 + turn);
    }
    bed_close(&all);
    (void)launch_case_end(&run, "values");
}

/* Two arrays as one transfer, and scalars, which have no start. */
static void check_lists(void)
{
    parapet_store_options options = {.durability = PARAPET_DURABILITY_LEAVE};
    parapet_array_spec spec = {.type = PARAPET_INT32, .codec = "none"};
    parapet_array *scalar = NULL;
    parapet_request *request = NULL;
    int32_t number = 4711, got = 0;
    parapet_part value = {.data = &number}, wanted = {.data = &got};
    strip own;
    bed all;
    launch_case_begin(&run, 2);
    bed_open(&all, "lists", &options);
    (void)LAUNCH_OK(&run, parapet_array_create(&scalar, all.store, "scalar", &spec));
    own_strip(&own, 2);
    {
        parapet_array_parts list[2] = {
            {.array = all.second, .parts = own.parts, .part_count = own.part_count},
            {.array = scalar, .parts = &value, .part_count = run.rank == 0},
        };
        (void)LAUNCH_OK(&run, parapet_arrays_start_write(&request, list, 2, PARAPET_BUFFERING_COPY));
        memset(list, 0xff, sizeof list);
        number = 0;
        (void)LAUNCH_OK(&run, parapet_request_wait(&request));
    }
    {
        parapet_array_parts list[1] = {{.array = scalar, .parts = &wanted, .part_count = 1}};
        (void)LAUNCH_OK(&run, parapet_arrays_start_read(&request, list, 1));
        (void)LAUNCH_OK(&run, parapet_request_wait(&request));
    }
    launch_expect(&run, got == 4711, "the scalar");
    expect_generation(all.second, 2);
    (void)LAUNCH_OK(&run, parapet_array_close(&scalar));
    bed_close(&all);
    (void)launch_case_end(&run, "lists");
}

/* Ranks wait for the requests of two stores in opposite order, and for other calls on either. */
static void check_opposite_order(void)
{
    parapet_store_options options = {.durability = PARAPET_DURABILITY_LEAVE};
    parapet_request *requests[2];
    strip own[2];
    bed all[2];
    int turn, odd = run.rank % 2;
    launch_case_begin(&run, 3);
    bed_open(&all[0], "one", &options);
    bed_open(&all[1], "other", &options);
    for (turn = 0; turn < TURNS; turn++) {
        own_strip(&own[0], 2 + turn);
        own_strip(&own[1], 50 + turn);
        start_to_write(&requests[0], all[0].first, &own[0], PARAPET_BUFFERING_BORROW);
        start_to_write(&requests[1], all[1].first, &own[1], PARAPET_BUFFERING_BORROW);
        launch_phase(&run, "waiting in opposite order");
        launch_expect(&run, parapet_request_wait(&requests[odd]) == PARAPET_OK, "the one that this rank wants first");
        launch_expect(&run, parapet_request_wait(&requests[1 - odd]) == PARAPET_OK, "the other one");
        expect_generation(all[0].first, 2 + turn);
        expect_generation(all[1].first, 50 + turn);
    }
    bed_close(&all[0]);
    bed_close(&all[1]);
    (void)launch_case_end(&run, "opposite order");
}

/* Any other collective call comes after what was started; a handle may be closed before the request is waited for; a
 * store may not. */
static void check_other_calls(void)
{
    parapet_store_options options = {.durability = PARAPET_DURABILITY_LEAVE};
    parapet_request *request = NULL;
    parapet_array_info info;
    strip own, local;
    bed all;
    launch_case_begin(&run, 4);
    bed_open(&all, "others", &options);
    own_strip(&own, 2);
    start_to_write(&request, all.first, &own, PARAPET_BUFFERING_COPY);
    next_strip(&local);
    launch_expect(&run, parapet_array_read_local(all.first, local.parts, local.part_count) == PARAPET_OK,
                  "a local read beside it");
    expect_generation(all.first, 2);
    (void)LAUNCH_OK(&run, parapet_request_wait(&request));
    own_strip(&own, 3);
    start_to_write(&request, all.first, &own, PARAPET_BUFFERING_COPY);
    (void)LAUNCH_OK(&run, parapet_array_seal(all.first));
    (void)LAUNCH_OK(&run, parapet_request_wait(&request));
    launch_expect(&run, parapet_array_get_info(all.first, &info) == PARAPET_OK && info.is_sealed, "a seal");
    own_strip(&own, 4);
    start_to_write(&request, all.first, &own, PARAPET_BUFFERING_COPY); /* takes the seal off */
    (void)LAUNCH_OK(&run, parapet_array_close(&all.first));
    (void)LAUNCH_OK(&run, parapet_array_close(&all.second));
    expect_fails(parapet_store_close(&all.store), PARAPET_ERR_ARGUMENT, "wait for them");
    (void)LAUNCH_OK(&run, parapet_request_wait(&request));
    (void)LAUNCH_OK(&run, parapet_array_open(&all.first, all.store, "a"));
    expect_generation(all.first, 4);
    bed_close(&all);
    (void)launch_case_end(&run, "other calls");
}

/* A rank that is wrong, or has no memory, is told by start, on all ranks, and there is no request. */
static void check_failures(void)
{
    parapet_store_options options = {.durability = PARAPET_DURABILITY_LEAVE, .memory_bytes = 4 << 20};
    parapet_request *request;
    static int32_t many[4 << 20];
    int64_t shape[1] = {sizeof many / sizeof many[0]}, start[1] = {0}, none[1] = {0};
    parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 1, .shape = shape, .codec = "none"};
    parapet_part part = {.ndim = 1, .start = start, .count = run.rank == 0 ? shape : none, .data = many};
    parapet_array *large = NULL;
    strip bad;
    bed all;
    launch_case_begin(&run, 6);
    bed_open(&all, "failures", &options);
    own_strip(&bad, 2);
    if (run.rank == run.ranks - 1)
        bad.starts[0][0] += (int64_t)run.ranks * STRIP_EXTENT;
    expect_fails(parapet_array_start_write(&request, all.first, bad.parts, bad.part_count, PARAPET_BUFFERING_COPY),
                 PARAPET_ERR_ARGUMENT, "reaches");
    launch_expect(&run, request == NULL, "no request");
    expect_generation(all.first, 1);
    (void)LAUNCH_OK(&run, parapet_array_create(&large, all.store, "large", &spec));
    expect_fails(parapet_array_start_write(&request, large, &part, 1, PARAPET_BUFFERING_COPY), PARAPET_ERR_MEMORY,
                 "memory_bytes");
    launch_expect(&run, request == NULL, "no request");
    (void)LAUNCH_OK(&run, parapet_array_start_write(&request, large, &part, 1, PARAPET_BUFFERING_BORROW));
    (void)LAUNCH_OK(&run, parapet_request_wait(&request));
    (void)LAUNCH_OK(&run, parapet_array_close(&large));
    bed_close(&all);
    (void)launch_case_end(&run, "failures");
}

/* Copies count towards the limit, and are given back. */
static void check_memory(void)
{
    enum { COUNT = 6, ELEMENTS = 256 << 10 };
    parapet_store_options options = {.durability = PARAPET_DURABILITY_LEAVE, .memory_bytes = 4 << 20};
    parapet_request *requests[COUNT];
    static int32_t values[ELEMENTS];
    int64_t shape[2] = {run.ranks, ELEMENTS}, start[2] = {run.rank, 0}, count[2] = {1, ELEMENTS};
    int64_t chunks[2] = {1, ELEMENTS / 16};
    parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 2, .shape = shape, .chunks = chunks, .codec = "none"};
    parapet_part part = {.ndim = 2, .start = start, .count = count, .data = values};
    parapet_statistics statistics;
    parapet_array *array = NULL;
    bed all;
    int i;
    launch_case_begin(&run, 7);
    bed_open(&all, "memory", &options);
    (void)LAUNCH_OK(&run, parapet_array_create(&array, all.store, "wide", &spec));
    for (i = 0; i < COUNT; i++) {
        values[0] = values[ELEMENTS - 1] = i + 1;
        (void)LAUNCH_OK(&run, parapet_array_start_write(&requests[i], array, &part, 1, PARAPET_BUFFERING_COPY));
    }
    for (i = 0; i < COUNT; i++)
        (void)LAUNCH_OK(&run, parapet_request_wait(&requests[i]));
    (void)LAUNCH_OK(&run, parapet_array_read(array, &part, 1));
    launch_expect(&run, values[0] == COUNT && values[ELEMENTS - 1] == COUNT, "what was written last");
    launch_expect(&run,
                  parapet_store_get_statistics(all.store, &statistics) == PARAPET_OK &&
                      statistics.memory_peak_bytes <= statistics.memory_planned_bytes &&
                      statistics.memory_planned_bytes <= options.memory_bytes,
                  "memory within the plan, and the plan within the limit");
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
    bed_close(&all);
    (void)launch_case_end(&run, "memory");
}

static atomic_bool is_to_stop;

static int ask_to_stop(void *context, int64_t done_bytes, int64_t total_bytes)
{
    (void)context, (void)done_bytes, (void)total_bytes;
    return atomic_load(&is_to_stop);
}

static atomic_bool is_held_up;

/* Not for ever, whatever goes wrong. */
static int hold_up(void *context, int64_t done_bytes, int64_t total_bytes)
{
    int turn;
    (void)context, (void)done_bytes, (void)total_bytes;
    for (turn = 0; turn < 30000 && atomic_load(&is_held_up); turn++)
        rest(2e-3);
    return 0;
}

/* Whoever waits for a request that is done does not wait for the one that runs now. */
static void check_newer_runs(void)
{
    parapet_store_options options = {.durability = PARAPET_DURABILITY_LEAVE, .progress = hold_up};
    parapet_request *older = NULL, *newer = NULL;
    int is_done = 0;
    strip own[2];
    bed all;
    launch_case_begin(&run, 5);
    bed_open(&all, "newer", &options);
    own_strip(&own[0], 2);
    own_strip(&own[1], 3);
    start_to_write(&older, all.first, &own[0], PARAPET_BUFFERING_BORROW);
    compute_until_done(older);
    launch_barrier();
    atomic_store(&is_held_up, has_threads);
    start_to_write(&newer, all.first, &own[1], PARAPET_BUFFERING_BORROW);
    (void)LAUNCH_OK(&run, parapet_request_wait(&older));
    launch_expect(&run, parapet_request_test(newer, &is_done) == PARAPET_OK && is_done != has_threads,
                  "a newer request that still runs");
    atomic_store(&is_held_up, false);
    (void)LAUNCH_OK(&run, parapet_request_wait(&newer));
    expect_generation(all.first, 3);
    bed_close(&all);
    (void)launch_case_end(&run, "a newer request");
}

/* What a callback starts, and what came of it. */
typedef struct attempt {
    atomic_bool is_due;
    parapet_array *array;
    strip own;
    parapet_request *request;
    parapet_status status;
} attempt;

static int start_another(void *context, int64_t done_bytes, int64_t total_bytes)
{
    attempt *self = context;
    (void)done_bytes, (void)total_bytes;
    if (atomic_exchange(&self->is_due, false))
        self->status = parapet_array_start_write(&self->request, self->array, self->own.parts, self->own.part_count,
                                                 PARAPET_BUFFERING_COPY);
    return 0;
}

/* A callback of a request cannot start another one: it would wait for itself. */
static void check_start_in_callback(void)
{
    attempt tried = {.status = PARAPET_OK};
    parapet_store_options options = {
        .durability = PARAPET_DURABILITY_LEAVE, .progress = start_another, .progress_context = &tried};
    parapet_request *request = NULL;
    strip own;
    bed all;
    launch_case_begin(&run, 12);
    bed_open(&all, "callback", &options);
    own_strip(&own, 2);
    own_strip(&tried.own, 3);
    tried.array = all.second;
    atomic_store(&tried.is_due, true);
    start_to_write(&request, all.first, &own, PARAPET_BUFFERING_BORROW);
    (void)LAUNCH_OK(&run, parapet_request_wait(&request));
    launch_expect(&run, tried.status == PARAPET_ERR_ARGUMENT && tried.request == NULL, "a refusal in the callback");
    expect_generation(all.first, 2);
    bed_close(&all);
    (void)launch_case_end(&run, "a start in a callback");
}

/* A step is written while the next one is made; rows of 1 and rows of 3. */
static void check_series(int64_t row, parapet_buffering buffering)
{
    enum { STEPS = 7 };
    static const char *const names[] = {"u"};
    parapet_store_options options = {.durability = PARAPET_DURABILITY_LEAVE};
    int64_t shape[2] = {0, run.ranks * 3}, cell[2] = {row, 2}, start[1] = {run.rank * 3}, count[1] = {3};
    parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 2, .shape = shape, .chunks = cell, .shards = cell};
    parapet_series_spec series_spec = {.count = 1, .names = names, .specs = &spec};
    int32_t values[2][3], got[STEPS][3];
    int64_t whole_start[2] = {0, (run.rank + 1) % run.ranks * 3}, whole_count[2] = {STEPS, 3};
    parapet_part wanted = {.ndim = 2, .start = whole_start, .count = whole_count, .data = got};
    parapet_request *request = NULL;
    parapet_series *series = NULL;
    parapet_series_info info;
    parapet_array *array = NULL;
    bed all;
    int32_t step, i;
    launch_case_begin(&run, 10);
    bed_open(&all, "series", &options);
    (void)LAUNCH_OK(&run, parapet_series_create(&series, all.store, "s", &series_spec));
    for (step = 0; step < STEPS; step++) {
        int32_t *own = values[step % 2];
        parapet_part part = {.ndim = 1, .start = start, .count = count, .data = own};
        parapet_step given = {.parts = &part, .part_count = 1};
        for (i = 0; i < 3; i++)
            own[i] = 1000 * step + (int32_t)start[0] + i;
        if (step > 0)
            (void)LAUNCH_OK(&run, parapet_request_wait(&request));
        (void)LAUNCH_OK(&run, parapet_series_start_append(&request, series, step, &given, buffering));
        if (buffering == PARAPET_BUFFERING_COPY)
            memset(own, 0xff, 3 * sizeof own[0]);
    }
    (void)LAUNCH_OK(&run, parapet_series_flush(series)); /* completes the last one */
    launch_expect(&run, parapet_series_get_info(series, &info) == PARAPET_OK && info.steps_committed == STEPS,
                  "all steps");
    (void)LAUNCH_OK(&run, parapet_request_wait(&request));
    (void)LAUNCH_OK(&run, parapet_series_close(&series));
    (void)LAUNCH_OK(&run, parapet_array_open(&array, all.store, "s/u"));
    (void)LAUNCH_OK(&run, parapet_array_read(array, &wanted, 1));
    for (step = 0; step < STEPS; step++)
        for (i = 0; i < 3; i++)
            launch_expect(&run, got[step][i] == 1000 * step + (int32_t)whole_start[1] + i, "the values of a step");
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
    bed_close(&all);
    (void)launch_case_end(&run, "series");
}

/* A step that one rank has wrong is refused by start. One that fails later holds up those after it until the program
 * knows; then the next one is appended in its place. */
static void check_bad_step(void)
{
    static const char *const names[] = {"u"};
    parapet_store_options options = {.durability = PARAPET_DURABILITY_LEAVE, .progress = ask_to_stop};
    int64_t shape[2] = {0, run.ranks}, start[1] = {run.rank}, count[1] = {1};
    parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 2, .shape = shape};
    parapet_series_spec series_spec = {.count = 1, .names = names, .specs = &spec};
    int32_t value = 1;
    parapet_part part = {.ndim = 1, .start = start, .count = count, .data = &value};
    parapet_step given = {.parts = &part, .part_count = 1};
    parapet_request *request = NULL, *next = NULL;
    parapet_series *series = NULL;
    parapet_series_info info;
    bed all;
    launch_case_begin(&run, 11);
    bed_open(&all, "bad_step", &options);
    (void)LAUNCH_OK(&run, parapet_series_create(&series, all.store, "s", &series_spec));
    start[0] = run.rank == run.ranks - 1 ? run.ranks : run.rank;
    expect_fails(parapet_series_start_append(&request, series, 0, &given, PARAPET_BUFFERING_COPY),
                 PARAPET_ERR_ARGUMENT, "reaches");
    start[0] = run.rank;
    atomic_store(&is_to_stop, run.rank == run.ranks - 1);
    (void)LAUNCH_OK(&run, parapet_series_start_append(&request, series, 0, &given, PARAPET_BUFFERING_COPY));
    expect_fails(parapet_series_start_append(&next, series, 1, &given, PARAPET_BUFFERING_COPY), PARAPET_ERR_ARGUMENT,
                 "wait for its request");
    atomic_store(&is_to_stop, false);
    expect_fails(parapet_series_append(series, 1, &given), PARAPET_ERR_ARGUMENT, "wait for its request");
    expect_fails(parapet_series_close(&series), PARAPET_ERR_ARGUMENT, "wait for their requests");
    expect_fails(parapet_request_wait(&request), PARAPET_ERR_CANCELLED, "cannot append");
    (void)LAUNCH_OK(&run, parapet_series_start_append(&request, series, 0, &given, PARAPET_BUFFERING_BORROW));
    if (run.rank == 0 && run.ranks > 1)
        launch_expect(&run, parapet_request_wait(&request) == PARAPET_OK, "a rank that waits before the others");
    expect_fails(parapet_series_close(&series), PARAPET_ERR_ARGUMENT, "wait for their requests");
    if (request != NULL)
        launch_expect(&run, parapet_request_wait(&request) == PARAPET_OK, "the others");
    launch_expect(&run, parapet_series_get_info(series, &info) == PARAPET_OK && info.steps_committed == 1, "a step");
    (void)LAUNCH_OK(&run, parapet_series_close(&series));
    bed_close(&all);
    (void)launch_case_end(&run, "a bad step");
}

/* The callback of one rank asks to stop. */
static void check_cancel(void)
{
    parapet_store_options options = {.durability = PARAPET_DURABILITY_LEAVE, .progress = ask_to_stop};
    parapet_request *request = NULL;
    strip own;
    bed all;
    launch_case_begin(&run, 8);
    bed_open(&all, "cancel", &options);
    own_strip(&own, 2);
    atomic_store(&is_to_stop, run.rank == run.ranks - 1);
    start_to_write(&request, all.first, &own, PARAPET_BUFFERING_COPY);
    expect_fails(parapet_request_wait(&request), PARAPET_ERR_CANCELLED, "cancelled by the progress callback");
    atomic_store(&is_to_stop, false);
    expect_generation(all.first, 1);
    bed_close(&all);
    (void)launch_case_end(&run, "cancel");
}

/* Ranks that compute for longer than the deadline, when all of the request is done but for the waiting; and a rank
 * that comes too late to start. */
static void check_deadline(bool has_absent)
{
    parapet_store_options options = {.durability = PARAPET_DURABILITY_LEAVE, .deadline_seconds = DEADLINE_SECONDS};
    bool is_absent = has_absent && run.rank == run.ranks - 1;
    parapet_request *request = NULL;
    parapet_status status;
    char word[32];
    strip own;
    bed all;
    launch_case_begin(&run, 9);
    one_clock_begin();
    bed_open(&all, "deadline", &options);
    own_strip(&own, 2);
    (void)snprintf(word, sizeof word, "rank %d", run.ranks - 1);
    if (is_absent)
        one_clock_stay_away(DEADLINE_SECONDS);
    status = parapet_array_start_write(&request, all.first, own.parts, own.part_count, PARAPET_BUFFERING_COPY);
    one_clock_note_answer();
    if (!has_absent && launch_ok(&run, status, "start")) {
        if (run.rank == 0)
            compute_until_done(request);
        launch_barrier();
        one_clock_move(1.5 * DEADLINE_SECONDS);
        launch_barrier();
        (void)LAUNCH_OK(&run, parapet_request_wait(&request));
    } else {
        launch_expect(&run,
                      status == PARAPET_ERR_TIMEOUT && (is_absent || strstr(parapet_error_message(), word) != NULL),
                      "the rank that did not come");
    }
    (void)parapet_array_close(&all.first);
    (void)parapet_array_close(&all.second);
    (void)parapet_store_close(&all.store);
    launch_expect(&run, all.store == NULL, "a store that is closed");
    (void)launch_case_end(&run, has_absent ? "a rank that does not start" : "ranks that compute for long");
}

static int level_of(const char *word)
{
    static const struct {
        const char *word;
        int level;
    } levels[] = {{"single", MPI_THREAD_SINGLE},
                  {"funneled", MPI_THREAD_FUNNELED},
                  {"serialized", MPI_THREAD_SERIALIZED},
                  {"multiple", MPI_THREAD_MULTIPLE}};
    size_t i;
    for (i = 0; i < sizeof levels / sizeof levels[0]; i++)
        if (strcmp(levels[i].word, word) == 0)
            return levels[i].level;
    return MPI_THREAD_MULTIPLE;
}

int main(int argc, char **argv)
{
    int level = level_of(argc > 1 ? argv[1] : "multiple"), provided;
    launch_start(&run, &argc, &argv, level);
    MPI_Query_thread(&provided);
    has_threads = run.ranks > 1 ? provided == MPI_THREAD_MULTIPLE : provided >= MPI_THREAD_FUNNELED;
    check_values(PARAPET_TRANSPORT_DIRECT, PARAPET_BUFFERING_COPY);
    check_values(PARAPET_TRANSPORT_MESSAGES, PARAPET_BUFFERING_BORROW);
    check_lists();
    check_opposite_order();
    check_other_calls();
    check_failures();
    check_memory();
    check_cancel();
    check_newer_runs();
    check_start_in_callback();
    check_series(1, PARAPET_BUFFERING_BORROW);
    check_series(3, PARAPET_BUFFERING_COPY);
    check_bad_step();
    if (run.ranks > 1 && has_threads) {
        one_clock_take(&run);
        check_deadline(false);
        check_deadline(true);
    }
    return launch_finish(&run);
}
