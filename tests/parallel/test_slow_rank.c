/* One rank's storage takes its time over every operation: the shards of the other owners are finished long before,
 * also where they need that rank's data, because it goes on answering.
 *
 * parallel_slow_rank SECONDS */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/internal.h"
#include "delay.h"
#include "strip.h"
#include "watch.h"

/* When a rank was done with its shards. */
typedef struct times {
    pthread_mutex_t mutex;
    double start, staged, read;
} times;

static launch run;

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

/* done: when this rank's storage was done. */
static void compare_times(const char *what, int slow, double delay, double done)
{
    double *all = calloc((size_t)run.ranks, sizeof all[0]), others = 0;
    char text[160];
    int i;
    MPI_Allgather(&done, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    for (i = 0; i < run.ranks; i++)
        others = i != slow && all[i] > others ? all[i] : others;
    (void)snprintf(text, sizeof text, "%s: the others done (%.2f s) in half the time of rank %d (%.2f s)", what,
                   others, slow, all[slow]);
    if (run.rank == 0)
        printf("  %s: others %.2f s, rank %d %.2f s\n", what, others, slow, all[slow]);
    launch_expect(&run, all[slow] >= 1.9 * delay, "the slow rank is slow");
    launch_expect(&run, others > 0, "the others have worked");
    launch_expect(&run, others < 0.5 * all[slow], text);
    free(all);
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

static void transfer(parapet_array *array, int slow, delay_plan *plan, double delay)
{
    times *of = plan->context;
    int32_t generation;
    plan->seconds = run.rank == slow ? delay : 0;
    start_clock(of);
    (void)LAUNCH_OK(&run, strip_write(array, &run, 1));
    compare_times("write", slow, delay, of->staged);
    start_clock(of);
    (void)LAUNCH_OK(&run, strip_read(array, &run, &generation));
    compare_times("read", slow, delay, of->read);
    launch_expect(&run, generation == 1, "what was written");
    plan->seconds = 0;
}

static void run_case(int64_t transport, int64_t ownership, int slow, double delay)
{
    static uint64_t number;
    parapet_options options = {.transport = transport, .ownership = ownership, .servers = run.ranks};
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
        LAUNCH_OK(&run, strip_create(&array, store, "a", run.ranks)))
        transfer(array, slow, &plan, delay);
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
    pp_store_free(delayed);
    pp_store_free(inner);
    (void)launch_case_end(&run, description);
}

int main(int argc, char **argv)
{
    double delay;
    int slow;
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    delay = argc > 1 ? strtod(argv[1], NULL) : 0.4;
    slow = run.ranks / 2;
    run_case(1, 1, slow, delay);
    run_case(2, 2, slow, delay);
    if (delay >= 1) {
        run_case(1, 2, 1 % run.ranks, delay);
        run_case(2, 1, run.ranks - 1, delay);
    }
    return launch_finish(&run);
}
