/* A copy whose ranks are not equally fast: a slow one gets fewer work units; what is stored is to
 * the last byte as without, also after the copy was cancelled and resumed with another rank slow; and all ranks get
 * the same status.
 *
 *     test_dealing */
#include <stdio.h>
#include <string.h>

#include "array/open.h"
#include "launch.h"
#include "store/store.h"
#include "watch.h"

enum { SHARD = 8192, CHUNK = 1024, SHARDS_PER_RANK = 12, TRIES = 3 };

#define RATE 2e6
#define SLOW_RATE (RATE / 6)
#define SLOW_MOST (SHARDS_PER_RANK * 3 / 4) /* objects that a slow rank stores; by its speed it would be 2 or 3 */

typedef struct dealing_case {
    const char *name;
    int slow; /* rank; -1: none; -2: the last */
    parapet_io_thread io_thread;
    bool is_interrupted; /* cancelled half-way by another rank, and resumed when the first rank is slow */
} dealing_case;

static const dealing_case cases[] = {
    {"nobody is slow", -1, PARAPET_IO_THREAD_OWN, false},
    {"the first is slow", 0, PARAPET_IO_THREAD_OWN, false},
    {"the last is slow", -2, PARAPET_IO_THREAD_OWN, false},
    {"the last is slow, without threads", -2, PARAPET_IO_THREAD_NONE, false},
    {"cancelled and resumed", -2, PARAPET_IO_THREAD_OWN, true},
};

typedef struct bed {
    char path[600];
    pp_store *inner, *throttled;
    parapet_store *store;
} bed;

static launch run;
static int64_t cancel_at; /* bytes of progress; 0: never */

static int64_t shard_count(void)
{
    return (int64_t)SHARDS_PER_RANK * run.ranks;
}

static int slow_rank(const dealing_case *of)
{
    return of->slow == -2 ? run.ranks - 1 : of->slow;
}

static int cancel(void *context, int64_t done, int64_t total)
{
    (void)context;
    (void)total;
    return cancel_at > 0 && done >= cancel_at;
}

/* ---- A store of which every rank sees its own disk ---- */

static void open_bed(bed *of, const char *name, parapet_io_thread io_thread)
{
    parapet_store_options options = {.io_thread = io_thread, .threads = 1, .servers = run.ranks, .progress = cancel};
    pp_posix_options posix = {.not_durable = true, .create = true};
    (void)snprintf(of->path, sizeof of->path, "%s/%s", run.folder, name);
    if (run.rank == 0)
        launch_expect(&run, pp_store_posix_build(&of->inner, of->path, &posix) == PARAPET_OK, "a directory");
    launch_barrier();
    if (run.rank != 0)
        launch_expect(&run, pp_store_posix_build(&of->inner, of->path, &posix) == PARAPET_OK, "a directory");
    launch_expect(&run, pp_store_throttled_build(&of->throttled, of->inner, &(pp_throttle){0}) == PARAPET_OK,
                  "a store");
    (void)LAUNCH_OK(&run, pp_store_open_over(&of->store, MPI_COMM_WORLD, of->throttled, PARAPET_CREATE, &options));
}

static void close_bed(bed *of)
{
    (void)LAUNCH_OK(&run, parapet_store_close(&of->store));
    pp_store_free(of->throttled);
    pp_store_free(of->inner);
    launch_barrier();
}

static void throttle(const bed *of, int slow)
{
    pp_throttle speed = {.bytes_per_second = run.rank == slow ? SLOW_RATE : RATE};
    pp_store_throttled_set(of->throttled, &speed);
}

/* ---- Source and target ---- */

static void write_source(const bed *of)
{
    enum { OWN = SHARD * SHARDS_PER_RANK };
    static int32_t field[OWN];
    int64_t shape = SHARD * shard_count(), chunks = CHUNK, shards = SHARD, start = (int64_t)OWN * run.rank;
    int64_t count = OWN, i;
    parapet_array_spec spec = {
        .type = PARAPET_INT32, .ndim = 1, .shape = &shape, .chunks = &chunks, .shards = &shards, .codec = "none"};
    parapet_part part = {.ndim = 1, .start = &start, .count = &count, .data = field};
    parapet_array *array = NULL;
    if (!LAUNCH_OK(&run, parapet_array_create(&array, of->store, "source", &spec)))
        return;
    for (i = 0; i < OWN; i++)
        field[i] = (int32_t)(start + i) * 31 + 7;
    (void)LAUNCH_OK(&run, parapet_array_write(array, &part, 1));
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
}

/* Each shard of the target is a work unit. */
static parapet_status copy(const bed *of, const char *target, bool resumes)
{
    parapet_copy_request request = {.source = of->store,
                                    .source_path = "source",
                                    .target = of->store,
                                    .target_path = target,
                                    .changes = {.chunks = "512", .shards = "8192"},
                                    .unit_bytes = SHARD * sizeof(int32_t),
                                    .no_probe = 1,
                                    .passes = 1,
                                    .cooperation = PARAPET_COOPERATION_ALONE,
                                    .resume = resumes};
    return parapet_copy(&request, NULL);
}

static int64_t count_written(const bed *of)
{
    parapet_statistics own;
    launch_expect(&run, parapet_store_get_statistics(of->store, &own) == PARAPET_OK, "statistics");
    return own.objects_written;
}

static size_t load(const bed *of, const char *target, int64_t shard, unsigned char *bytes, size_t most)
{
    char name[800];
    size_t count = 0;
    FILE *file;
    (void)snprintf(name, sizeof name, "%s/%s/c/%lld", of->path, target, (long long)shard);
    if ((file = fopen(name, "rb")) == NULL)
        return 0;
    count = fread(bytes, 1, most, file);
    (void)fclose(file);
    return count;
}

static void compare(const bed *of)
{
    enum { MOST = 2 * SHARD * sizeof(int32_t) };
    static unsigned char a[MOST], b[MOST];
    int64_t shard;
    for (shard = 0; run.rank == 0 && shard < shard_count(); shard++) {
        size_t bytes = load(of, "even", shard, a, MOST);
        launch_expect(&run, bytes > 0 && bytes == load(of, "uneven", shard, b, MOST) && memcmp(a, b, bytes) == 0,
                      "a shard with the same bytes");
    }
}

/* ---- Cases ---- */

/* On another rank than the slow one. */
static void interrupt(const dealing_case *of, const bed *with)
{
    cancel_at = run.rank == 0 ? shard_count() * SHARD * (int64_t)sizeof(int32_t) / 2 : 0;
    launch_expect(&run, LAUNCH_AGREED(&run, copy(with, "uneven", false)) == PARAPET_ERR_CANCELLED,
                  "a cancelled copy");
    cancel_at = 0;
    throttle(with, slow_rank(of) == 0 ? 1 : 0);
    launch_barrier();
}

static bool run_once(const dealing_case *of, int number, char *text, size_t text_bytes)
{
    int64_t shards[2] = {0}, before, written;
    char name[64];
    bed with = {0};
    double start, seconds;
    (void)snprintf(name, sizeof name, "store-%d", number);
    open_bed(&with, name, of->io_thread);
    write_source(&with);
    (void)LAUNCH_OK(&run, copy(&with, "even", false));
    throttle(&with, slow_rank(of));
    if (of->is_interrupted)
        interrupt(of, &with);
    before = count_written(&with);
    start = watch_clock();
    (void)LAUNCH_OK(&run, copy(&with, "uneven", of->is_interrupted));
    seconds = (double)launch_largest((int64_t)(1e9 * (watch_clock() - start))) * 1e-9;
    written = count_written(&with) - before;
    compare(&with);
    shards[0] = written;
    shards[1] = run.rank == slow_rank(of) ? written : 0;
    launch_sum(shards, 2);
    close_bed(&with);
    (void)snprintf(text, text_bytes, "%s: %.2f s, %lld of %lld objects by the slow rank", of->name, seconds,
                   (long long)shards[1], (long long)shards[0]);
    return of->slow == -1 || of->is_interrupted || shards[1] <= SLOW_MOST;
}

static void run_case(const dealing_case *of, int number)
{
    char text[200];
    bool is_good = false;
    int i;
    launch_case_begin(&run, (uint64_t)number);
    for (i = 0; i < TRIES && !is_good; i++)
        is_good = run_once(of, TRIES * number + i, text, sizeof text);
    if (run.rank == 0)
        printf("%s\n", text);
    launch_expect(&run, is_good, text);
    (void)launch_case_end(&run, text);
}

int main(int argc, char **argv)
{
    size_t i;
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++)
        run_case(&cases[i], (int)i);
    return launch_finish(&run);
}
