/* A copy whose ranks are not equally fast: others do work units of a slow one; what is stored is to the last byte as
 * without, also after the copy was cancelled and resumed with another rank slow; and all ranks get the same status.
 * The storage of a slow rank does not go on until others have stored some of its work units.
 *
 *     test_unit_stealing */
#include <parapet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/open.h"
#include "delay.h"
#include "launch.h"
#include "store/store.h"

enum { SHARD = 8192, CHUNK = 1024, SHARDS_PER_RANK = 12, RANKS_MOST = 16, TAKEN_LEAST = SHARDS_PER_RANK / 4 };

/* For a rank that answers nobody while its storage waits, or may have nothing to give. */
#define MOMENT_SECONDS 0.05

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
    delay_plan plan;
    pp_store *inner, *delayed;
    parapet_store *store;
} bed;

/* What all ranks know of a case. */
typedef struct common {
    atomic_bool is_stored[SHARDS_PER_RANK * RANKS_MOST]; /* work units of the slow rank, by another one */
    atomic_long taken;                                   /* so many */
    atomic_bool is_enough;
} common;

static launch run;
static common *all;
static atomic_int slow_now;    /* the slow rank; -1: none */
static atomic_bool is_brief;   /* it waits for a moment only */
static atomic_bool is_in_vain; /* it has waited in vain */
static int64_t cancel_at;      /* bytes of progress; 0: never */

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
    bool is_due = cancel_at > 0 && done >= cancel_at;
    (void)context;
    (void)total;
    if (is_due)
        atomic_store(&all->is_enough, true);
    return is_due;
}

/* ---- Who is slow ---- */

/* Each shard is a work unit, and at first a rank has every so many-th; -1: it is none. */
static int64_t find_work_unit(const char *key)
{
    const char *at = strstr(key, "uneven/c/");
    return at == NULL ? -1 : strtoll(at + strlen("uneven/c/"), NULL, 10);
}

static void note_stored(void *context, const char *operation, const char *key)
{
    int64_t work_unit = find_work_unit(key);
    int slow = atomic_load(&slow_now);
    (void)context;
    if (work_unit < 0 || slow < 0 || run.rank == slow || work_unit % run.ranks != slow ||
        strcmp(operation, "stage") != 0 || atomic_exchange(&all->is_stored[work_unit], true))
        return;
    if (1 + atomic_fetch_add(&all->taken, 1) == TAKEN_LEAST)
        atomic_store(&all->is_enough, true);
}

static void wait_for_others(void *context, const char *operation, const char *key)
{
    (void)context;
    (void)operation;
    if (find_work_unit(key) < 0 || run.rank != atomic_load(&slow_now) || atomic_load(&is_in_vain))
        return;
    if (!delay_until(&all->is_enough, atomic_load(&is_brief) ? MOMENT_SECONDS : DELAY_PATIENCE_SECONDS) &&
        !atomic_load(&is_brief))
        atomic_store(&is_in_vain, true);
}

/* Together. */
static void set_slow(int rank, bool briefly)
{
    launch_barrier();
    if (run.rank == 0)
        memset(all, 0, sizeof *all);
    atomic_store(&slow_now, rank);
    atomic_store(&is_brief, briefly);
    launch_barrier();
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
    of->plan = (delay_plan){.wait = wait_for_others, .record = note_stored};
    launch_expect(&run, delay_store_build(&of->delayed, of->inner, &of->plan) == PARAPET_OK, "a store");
    (void)LAUNCH_OK(&run, pp_store_open_over(&of->store, MPI_COMM_WORLD, of->delayed, PARAPET_CREATE, &options));
}

static void close_bed(bed *of)
{
    (void)LAUNCH_OK(&run, parapet_store_close(&of->store));
    pp_store_free(of->delayed);
    pp_store_free(of->inner);
    launch_barrier();
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
    set_slow(slow_rank(of) == 0 ? 1 : 0, true);
}

static int64_t run_copies(const dealing_case *of, const bed *with)
{
    int64_t before;
    (void)LAUNCH_OK(&run, copy(with, "even", false));
    set_slow(slow_rank(of), of->io_thread == PARAPET_IO_THREAD_NONE);
    if (of->is_interrupted)
        interrupt(of, with);
    before = count_written(with);
    (void)LAUNCH_OK(&run, copy(with, "uneven", of->is_interrupted));
    return count_written(with) - before;
}

static void run_case(const dealing_case *of, int number)
{
    int64_t written;
    char name[64], text[200];
    bed with = {0};
    launch_case_begin(&run, (uint64_t)number);
    (void)snprintf(name, sizeof name, "store-%d", number);
    open_bed(&with, name, of->io_thread);
    write_source(&with);
    written = run_copies(of, &with);
    compare(&with);
    launch_sum(&written, 1);
    (void)snprintf(text, sizeof text, "%s: %lld objects, %ld of %d work units of the slow rank by others", of->name,
                   (long long)written, atomic_load(&all->taken), SHARDS_PER_RANK);
    if (run.rank == 0)
        printf("%s\n", text);
    launch_expect(&run, of->slow == -1 || of->is_interrupted || atomic_load(&all->is_enough), text);
    launch_expect(&run, !atomic_load(&is_in_vain), "that others take from the slow rank");
    set_slow(-1, false);
    close_bed(&with);
    (void)launch_case_end(&run, text);
}

int main(int argc, char **argv)
{
    size_t i;
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    all = launch_share(&run, sizeof *all);
    atomic_store(&slow_now, -1);
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++)
        run_case(&cases[i], (int)i);
    return launch_finish(&run);
}
