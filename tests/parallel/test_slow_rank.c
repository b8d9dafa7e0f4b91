/* One rank's storage takes its time over every operation: the shards of the other owners are finished long before,
 * also where they need that rank's data, because it goes on answering.
 *
 * parallel_slow_rank SECONDS */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/array_handle.h"
#include "array/open.h"
#include "delay.h"
#include "strip.h"
#include "watch.h"

/* When a rank was done with its shards. */
typedef struct times {
    pthread_mutex_t mutex;
    double start, staged, read;
} times;

enum { ATTEMPTS = 3 };

static launch run;
static double delay_seconds; /* of every operation of the slow rank */

static void record(void *context, const char *operation)
{
    times *of = context;
    (void)pthread_mutex_lock(&of->mutex);
    if (strcmp(operation, "stage") == 0)
        of->staged = watch_clock() - of->start;
    if (strcmp(operation, "read") == 0)
        of->read = watch_clock() - of->start;
    (void)pthread_mutex_unlock(&of->mutex);
}

static void start_clock(times *of)
{
    watch_meet();
    (void)pthread_mutex_lock(&of->mutex);
    of->start = watch_clock();
    of->staged = of->read = 0;
    (void)pthread_mutex_unlock(&of->mutex);
}

/* done: when this rank's storage was done. Whether the others had it behind them in half the time of the slow one;
 * the same on all ranks. */
static bool are_others_ahead(const char *what, int slow, double done)
{
    double *all = calloc((size_t)run.ranks, sizeof all[0]), others = 0;
    bool is_ahead;
    int i;
    MPI_Allgather(&done, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    for (i = 0; i < run.ranks; i++)
        others = i != slow && all[i] > others ? all[i] : others;
    if (run.rank == 0)
        printf("  %s: others %.2f s, rank %d %.2f s\n", what, others, slow, all[slow]);
    launch_expect(&run, all[slow] >= 1.9 * delay_seconds, "the slow rank is slow");
    launch_expect(&run, others > 0, "the others have worked");
    is_ahead = others < 0.5 * all[slow];
    free(all);
    return is_ahead;
}

static pp_store *open_folder(const char *name)
{
    pp_posix_options posix = {.not_durable = true, .create = true};
    char path[600];
    pp_store *inner = NULL;
    (void)snprintf(path, sizeof path, "%s/%s", run.folder, name);
    if (run.rank == 0)
        launch_expect(&run, pp_store_posix_build(&inner, path, &posix) == PARAPET_OK, "a directory");
    watch_meet();
    if (run.rank != 0)
        launch_expect(&run, pp_store_posix_build(&inner, path, &posix) == PARAPET_OK, "a directory");
    return inner;
}

static bool transfer_once(parapet_array *array, int slow, const delay_plan *plan)
{
    times *of = plan->context;
    int32_t generation;
    bool is_ahead;
    start_clock(of);
    (void)LAUNCH_OK(&run, strip_write(array, &run, 1));
    is_ahead = are_others_ahead("write", slow, of->staged);
    start_clock(of);
    (void)LAUNCH_OK(&run, strip_read(array, &run, &generation));
    is_ahead = are_others_ahead("read", slow, of->read) && is_ahead;
    launch_expect(&run, generation == 1, "what was written");
    return is_ahead;
}

/* Whoever waits for the slow rank does so every time; a machine that is busy with something else does not. */
static void transfer(parapet_array *array, int slow, delay_plan *plan)
{
    bool is_ahead = false;
    int i;
    plan->seconds = run.rank == slow ? delay_seconds : 0;
    for (i = 0; i < ATTEMPTS && !is_ahead; i++)
        is_ahead = transfer_once(array, slow, plan);
    launch_expect(&run, is_ahead, "the others done in half the time of the slow rank");
    plan->seconds = 0;
}

static void run_case(parapet_transport transport, parapet_ownership ownership, int slow)
{
    static uint64_t number;
    parapet_store_options options = {.transport = transport, .ownership = ownership, .servers = run.ranks};
    times own = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    delay_plan plan = {.record = record, .context = &own};
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    pp_store *inner, *delayed = NULL;
    char name[32], description[96];
    launch_case_begin(&run, number);
    (void)snprintf(name, sizeof name, "slow-%d", (int)number++);
    (void)snprintf(description, sizeof description, "transport %d, ownership %d, rank %d is slow", (int)transport,
                   (int)ownership, slow);
    if (run.rank == 0)
        printf("%s\n", description);
    inner = open_folder(name);
    launch_expect(&run, delay_store_build(&delayed, inner, &plan) == PARAPET_OK, "a store");
    if (LAUNCH_OK(&run, pp_store_open_over(&store, MPI_COMM_WORLD, delayed, PARAPET_CREATE, &options)) &&
        LAUNCH_OK(&run, strip_create(&array, store, "a", run.ranks, 1)))
        transfer(array, slow, &plan);
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
    pp_store_free(delayed);
    pp_store_free(inner);
    (void)launch_case_end(&run, description);
}

int main(int argc, char **argv)
{
    int slow;
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    delay_seconds = argc > 1 ? strtod(argv[1], NULL) : 0.4;
    slow = run.ranks / 2;
    run_case(1, 1, slow);
    run_case(2, 2, slow);
    if (delay_seconds >= 1) {
        run_case(1, 2, 1 % run.ranks);
        run_case(2, 1, run.ranks - 1);
    }
    return launch_finish(&run);
}
