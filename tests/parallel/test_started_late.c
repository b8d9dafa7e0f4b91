/* Requests and deadline_seconds: a rank that neither tests nor waits holds nobody up, and is named by the next call
 * that it does not make; one that does not come to start is named by start, and one whose storage does not answer by
 * wait. The store then accepts nothing but close. All ranks go by one clock, on which time passes only while the
 * others wait for that rank.
 *
 *     test_started_late single|funneled|multiple */
#include <parapet_store.h>
#include <stdio.h>
#include <string.h>

#include "array/open.h"
#include "delay.h"
#include "one_clock.h"
#include "strip.h"
#include "watch.h"

enum { DEADLINE_SECONDS = 1, SHARDS = 2 };

static launch run;

typedef struct bed {
    pp_store *inner, *delayed;
    delay_plan plan;
    parapet_store *store;
    parapet_array *array;
    parapet_series *series;
    parapet_checkpoint *checkpoint;
    strip own;
} bed;

static bool is_late(void)
{
    return run.rank == run.ranks - 1;
}

/* Until the others have given up. */
static void stay_away(void)
{
    one_clock_stay_away(DEADLINE_SECONDS);
}

static void get_stuck(void *context, const char *operation, const char *key)
{
    (void)context;
    (void)operation;
    (void)key;
    stay_away();
}

static void bed_open(bed *made, bool is_back)
{
    static int number;
    static const char *const names[] = {"u"};
    static const int64_t shape[2] = {0, 16};
    pp_posix_options posix = {.not_durable = true, .create = true};
    parapet_store_options options = {.deadline_seconds = DEADLINE_SECONDS, .servers = run.ranks};
    parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 2, .shape = shape};
    parapet_series_spec series_spec = {.count = 1, .names = names, .specs = &spec};
    char path[600];
    memset(made, 0, sizeof *made);
    one_clock_begin();
    if (is_back) {
        options.keep_descriptions = 1;
        options.cache_bytes = 1 << 20;
        options.write_back = 1;
    }
    (void)snprintf(path, sizeof path, "%s/late-%d", run.folder, number++);
    if (run.rank == 0)
        launch_expect(&run, pp_store_posix_build(&made->inner, path, &posix) == PARAPET_OK, "a directory");
    watch_meet();
    if (run.rank != 0)
        launch_expect(&run, pp_store_posix_build(&made->inner, path, &posix) == PARAPET_OK, "a directory");
    launch_expect(&run, delay_store_build(&made->delayed, made->inner, &made->plan) == PARAPET_OK, "a store");
    (void)LAUNCH_OK(&run, pp_store_open_over(&made->store, MPI_COMM_WORLD, made->delayed, PARAPET_CREATE, &options));
    (void)LAUNCH_OK(&run, strip_create(&made->array, made->store, "a", run.ranks, SHARDS));
    (void)LAUNCH_OK(&run, strip_write(made->array, &run, 1));
    (void)LAUNCH_OK(&run, parapet_series_create(&made->series, made->store, "s", &series_spec));
    (void)LAUNCH_OK(&run, parapet_checkpoint_begin(&made->checkpoint, made->store, "c", NULL));
    strip_deal(&made->own, run.rank, run.ranks);
    strip_fill(&made->own, 2);
}

static void bed_close(bed *used)
{
    launch_phase(&run, "closing");
    (void)parapet_checkpoint_abort(&used->checkpoint);
    (void)parapet_series_close(&used->series);
    (void)parapet_array_close(&used->array);
    (void)parapet_store_close(&used->store);
    launch_expect(&run, used->array == NULL && used->store == NULL, "closed handles");
    pp_store_free(used->delayed);
    pp_store_free(used->inner);
}

static void expect_named(parapet_status status, const char *word)
{
    char who[32], text[1200];
    one_clock_note_answer();
    (void)snprintf(who, sizeof who, "rank %d", run.ranks - 1);
    (void)snprintf(text, sizeof text, "PARAPET_ERR_TIMEOUT with \"%s\" and \"%s\", not %s: %s", who, word,
                   parapet_status_name(status), parapet_error_message());
    launch_expect(&run,
                  status == PARAPET_ERR_TIMEOUT && (is_late() || (strstr(parapet_error_message(), who) != NULL &&
                                                                  strstr(parapet_error_message(), word) != NULL)),
                  text);
    if (run.rank == 0)
        printf("%s\n", parapet_error_message());
}

/* ---- A rank that never tests ---- */

static void never_test(bed *all)
{
    parapet_request *request = NULL;
    launch_phase(&run, "waiting for a request that one rank does not test");
    launch_expect(&run,
                  parapet_array_start_write(&request, all->array, all->own.parts, all->own.part_count,
                                            PARAPET_BUFFERING_BORROW) == PARAPET_OK,
                  "a start");
    if (is_late())
        stay_away();
    launch_expect(&run, parapet_request_wait(&request) == PARAPET_OK, "a request that needs nothing of the program");
    expect_named(parapet_array_attribute_set(all->array, "x", "1"), "attribute_set(a)");
}

/* ---- A rank that never starts ---- */

static const int64_t none[1] = {0};

static parapet_status start_append(bed *all, parapet_request **request)
{
    parapet_part part = {.ndim = 1, .start = none, .count = none, .data = all->own.values};
    parapet_step step = {.parts = &part, .part_count = 1};
    return parapet_series_start_append(request, all->series, 0, &step, PARAPET_BUFFERING_COPY);
}

static parapet_status start_checkpoint(bed *all, parapet_request **request)
{
    static const int64_t extent[1] = {16};
    parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 1, .shape = extent};
    parapet_part part = {.ndim = 1, .start = none, .count = none, .data = all->own.values};
    parapet_checkpoint_item item = {.name = "x", .spec = &spec, .parts = &part, .part_count = 1};
    return parapet_checkpoint_start(request, &all->checkpoint, &item, 1, PARAPET_BUFFERING_COPY, NULL);
}

static void never_start(bed *all, parapet_status (*start)(bed *all, parapet_request **request), const char *word)
{
    parapet_request *request = NULL;
    parapet_status status;
    launch_phase(&run, word);
    if (is_late())
        stay_away();
    status = start(all, &request);
    launch_expect(&run, request == NULL, "no request");
    expect_named(status, word);
}

static void never_append(bed *all)
{
    never_start(all, start_append, "series_start_append(s)");
}

static void never_checkpoint(bed *all)
{
    never_start(all, start_checkpoint, "checkpoint_start(c");
}

/* ---- A rank whose storage does not answer ---- */

/* With write-back it is the flush that waits for storage. */
static void stick(bed *all)
{
    parapet_request *request = NULL;
    parapet_status status;
    all->plan = (delay_plan){.operation = "stage", .wait = is_late() ? get_stuck : NULL};
    launch_phase(&run, "waiting for a request that storage does not answer");
    status =
        parapet_array_start_write(&request, all->array, all->own.parts, all->own.part_count, PARAPET_BUFFERING_COPY);
    if (status == PARAPET_OK)
        status = parapet_request_wait(&request);
    if (status == PARAPET_OK)
        status = parapet_array_flush(all->array);
    expect_named(status, "(a)");
    all->plan.wait = NULL;
}

/* ---- All of it ---- */

static const struct row {
    const char *name;
    void (*act)(bed *all);
    bool is_back, needs_thread;
} rows[] = {
    {"a rank that never tests", never_test, false, true},
    {"a rank that never starts to append", never_append, false, false},
    {"a rank that never starts a checkpoint", never_checkpoint, true, false},
    {"storage that does not answer", stick, false, false},
    {"the same with write-back", stick, true, false},
};

static int level_of(const char *word)
{
    return strcmp(word, "single") == 0     ? MPI_THREAD_SINGLE
           : strcmp(word, "funneled") == 0 ? MPI_THREAD_FUNNELED
                                           : MPI_THREAD_MULTIPLE;
}

int main(int argc, char **argv)
{
    int provided;
    size_t i;
    bed all;
    launch_start(&run, &argc, &argv, level_of(argc > 1 ? argv[1] : "multiple"));
    MPI_Query_thread(&provided);
    one_clock_take(&run);
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].needs_thread && provided != MPI_THREAD_MULTIPLE)
            continue;
        launch_case_begin(&run, i);
        bed_open(&all, rows[i].is_back);
        rows[i].act(&all);
        bed_close(&all);
        (void)launch_case_end(&run, rows[i].name);
    }
    return launch_finish(&run);
}
