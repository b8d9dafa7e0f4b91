/* The progress callback of one rank asks to stop: all ranks return PARAPET_ERR_CANCELLED with the number of that
 * rank, nothing is published, and the next call works. With every strategy; also where MPI allows no threads.
 *
 * parallel_cancel single|funneled */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "strategy.h"
#include "strip.h"

static launch run;

typedef struct callback {
    strategy_pace pace;
    long stop_at; /* the call that asks to stop; negative: none */
    atomic_long calls;
    atomic_bool is_backward; /* bytes done went down, or beyond the total */
    int64_t last;
} callback;

static int report(void *context, int64_t done_bytes, int64_t total_bytes)
{
    callback *own = context;
    long number = atomic_fetch_add(&own->calls, 1);
    if (done_bytes < own->last || done_bytes > total_bytes) {
        fprintf(stderr, "rank %d: %lld of %lld bytes done, after %lld\n", run.rank, (long long)done_bytes,
                (long long)total_bytes, (long long)own->last);
        atomic_store(&own->is_backward, true);
    }
    own->last = done_bytes;
    (void)strategy_progress(&own->pace, done_bytes, total_bytes);
    return own->stop_at >= 0 && number >= own->stop_at;
}

static void reset(callback *own, long stop_at)
{
    own->stop_at = stop_at;
    own->last = 0;
    atomic_store(&own->calls, 0);
    atomic_store(&own->is_backward, false);
}

/* With the callback set to stop there; negative: nowhere. */
static parapet_status put(parapet_array *array, callback *own, long stop_at, int32_t generation)
{
    reset(own, stop_at);
    return strip_write(array, &run, generation);
}

static parapet_status get(parapet_array *array, callback *own, long stop_at, int32_t *generation)
{
    reset(own, stop_at);
    return strip_read(array, &run, generation);
}

static parapet_status transfer(parapet_array *array, callback *own, long stop_at, bool is_read)
{
    int32_t generation;
    return is_read ? get(array, own, stop_at, &generation) : put(array, own, stop_at, 2);
}

/* How often the callback is called on a rank, in a transfer that nobody stops; the same number on all ranks. */
static int64_t count_calls(parapet_array *array, callback *own, int stopper, bool is_read)
{
    (void)LAUNCH_OK(&run, transfer(array, own, -1, is_read));
    launch_expect(&run, !atomic_load(&own->is_backward), "progress that goes forward");
    return launch_largest(run.rank == stopper ? atomic_load(&own->calls) : 0);
}

static void cancel_at(parapet_array *array, callback *own, int stopper, long stop_at, bool is_read)
{
    int32_t generation = -1;
    char who[32];
    parapet_status status;
    (void)snprintf(who, sizeof who, "rank %d on ", stopper);
    (void)LAUNCH_OK(&run, put(array, own, -1, 1));
    status = LAUNCH_AGREED(&run, transfer(array, own, run.rank == stopper ? stop_at : -1, is_read));
    if (launch_largest(run.rank == stopper && atomic_load(&own->calls) > stop_at) == 0)
        return; /* how often it is called depends on which message comes first */
    launch_expect(&run, status == PARAPET_ERR_CANCELLED, "PARAPET_ERR_CANCELLED");
    launch_expect(&run, strstr(parapet_error_message(), who) != NULL, who);
    (void)LAUNCH_OK(&run, get(array, own, -1, &generation));
    launch_expect(&run, generation == 1, "nothing published");
    (void)LAUNCH_OK(&run, put(array, own, -1, 2));
    (void)LAUNCH_OK(&run, get(array, own, -1, &generation));
    launch_expect(&run, generation == 2, "the next call works");
}

static void test_stopper(parapet_array *array, callback *own, int stopper, bool is_read)
{
    char description[64];
    int64_t calls;
    (void)snprintf(description, sizeof description, "rank %d stops %s", stopper, is_read ? "reading" : "writing");
    launch_case_begin(&run, (uint64_t)stopper);
    (void)LAUNCH_OK(&run, put(array, own, -1, 1));
    calls = count_calls(array, own, stopper, is_read);
    if (run.rank == 0)
        printf("%s: %lld calls\n", description, (long long)calls);
    launch_expect(&run, calls > 0, "a callback on every rank that has something to do");
    if (calls > 0)
        cancel_at(array, own, stopper, 0, is_read);
    if (calls > 1)
        cancel_at(array, own, stopper, (long)calls - 1, is_read);
    (void)launch_case_end(&run, description);
}

static void test_store(parapet_store *store, callback *own)
{
    parapet_array *array = NULL;
    int i;
    if (LAUNCH_OK(&run, strip_create(&array, store, "a", run.ranks, STRIP_SHARDS)))
        for (i = 0; i < run.ranks; i++) {
            test_stopper(array, own, i, false);
            test_stopper(array, own, i, true);
        }
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
}

static void test_settings(const strategy *with, parapet_transport transport, int64_t servers)
{
    static int number;
    callback own = {.stop_at = -1};
    parapet_store_options options = {.transport = transport, .servers = servers};
    parapet_store *store = NULL;
    char path[600], weights_path[600];
    int64_t taken = 0;
    (void)snprintf(path, sizeof path, "%s/cancel-%d", run.folder, number++);
    (void)snprintf(weights_path, sizeof weights_path, "%s/weights", run.folder);
    strategy_set(with, &options, &own.pace, weights_path, run.rank, run.ranks);
    options.progress = report;
    options.progress_context = &own;
    launch_case_begin(&run, 0);
    if (LAUNCH_OK(&run, parapet_store_open(&store, MPI_COMM_WORLD, path, PARAPET_CREATE, &options))) {
        test_store(store, &own);
        taken = strategy_taken(store);
    }
    launch_sum(&taken, 1);
    if (run.rank == 0)
        printf("%s: %lld shards taken\n", with->name, (long long)taken);
    launch_expect(&run, (taken > 0) >= with->is_uneven, "shards that were taken");
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
    (void)launch_case_end(&run, with->name);
}

int main(int argc, char **argv)
{
    bool is_single = argc > 1 && strcmp(argv[1], "single") == 0;
    const strategy *with;
    launch_start(&run, &argc, &argv, is_single ? MPI_THREAD_SINGLE : MPI_THREAD_FUNNELED);
    for (with = strategy_next(NULL); with != NULL; with = strategy_next(with))
        test_settings(with, (parapet_transport)(1 + (strategy_number(with) + run.ranks) % 2), run.ranks);
    test_settings(strategy_of(0), PARAPET_TRANSPORT_MESSAGES, 1); /* ranks that are not servers may ask to stop too */
    return launch_finish(&run);
}
