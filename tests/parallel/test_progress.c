/* What a copy reports when its ranks have not equally much to do: on every rank it goes forward, is never more than
 * the total, and is all of it once, at the end. And that one which is cancelled at any report is resumed, whatever of
 * the work units each rank has done.
 *
 *     test_progress */
#include <inttypes.h>
#include <parapet.h>
#include <stdio.h>

#include "launch.h"

enum { SHARD = 8192, CHUNK = 1024, SHARDS = 2 };

typedef struct progress_case {
    const char *name;
    const char *path; /* of the source */
    int passes, verify;
    parapet_cooperation cooperation;
} progress_case;

static const progress_case cases[] = {
    {"alone", "tree/a", 1, 0, PARAPET_COOPERATION_ALONE},
    {"together", "tree/a", 1, 0, PARAPET_COOPERATION_TOGETHER},
    {"verified", "tree/a", 1, 1, PARAPET_COOPERATION_ALONE},
    {"two passes", "tree/a", 2, 0, PARAPET_COOPERATION_ALONE},
    {"many shards", "many", 1, 0, PARAPET_COOPERATION_ALONE},
    {"two passes of each array of a group", "tree", 2, 1, PARAPET_COOPERATION_ALONE},
};

/* The reports to one rank. */
typedef struct reports {
    int64_t count, last, whole; /* reports, the bytes of the last, and how many said that all is done */
    bool is_backward, is_beyond;
} reports;

static launch run;
static reports own;
static int64_t cancelled_at; /* the report at which the last rank asks to stop; 0: none */

static int note(void *context, int64_t done, int64_t total)
{
    (void)context;
    own.is_backward = own.is_backward || done < own.last;
    own.is_beyond = own.is_beyond || done > total;
    own.whole += done == total;
    own.last = done;
    own.count++;
    return own.count == cancelled_at && run.rank == run.ranks - 1;
}

static void write_source(parapet_store *store, const char *path)
{
    static int32_t field[SHARD * SHARDS];
    int64_t shape = SHARD * SHARDS, chunks = CHUNK, shards = SHARD, start = 0, count = run.rank == 0 ? shape : 0;
    parapet_array_spec spec = {
        .type = PARAPET_INT32, .ndim = 1, .shape = &shape, .chunks = &chunks, .shards = &shards, .codec = "none"};
    parapet_part part = {.ndim = 1, .start = &start, .count = &count, .data = field};
    parapet_array *array = NULL;
    int64_t i;
    for (i = 0; i < shape; i++)
        field[i] = (int32_t)i * 31 + 7;
    if (!LAUNCH_OK(&run, parapet_array_create(&array, store, path, &spec)))
        return;
    (void)LAUNCH_OK(&run, parapet_array_write(array, &part, 1));
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
}

/* More objects than a rank looks at between two reports. */
static void write_many(parapet_store *store)
{
    static int32_t field[300 * 8];
    int64_t shape = 300 * (int64_t)run.ranks, chunks = 1, start = 0, count = run.rank == 0 ? shape : 0;
    parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 1, .shape = &shape, .chunks = &chunks, .unsharded = 1};
    parapet_part part = {.ndim = 1, .start = &start, .count = &count, .data = field};
    parapet_array *array = NULL;
    int64_t i;
    for (i = 0; i < shape; i++)
        field[i] = (int32_t)i + 1;
    if (!LAUNCH_OK(&run, parapet_array_create(&array, store, "many", &spec)))
        return;
    (void)LAUNCH_OK(&run, parapet_array_write(array, &part, 1));
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
}

/* Each shard of the target is a work unit. */
static parapet_status copy(parapet_store *store, const progress_case *of, const char *target)
{
    parapet_copy_request request = {.source = store,
                                    .source_path = of->path,
                                    .target = store,
                                    .target_path = target,
                                    .changes = {.chunks = "512", .shards = "8192"},
                                    .unit_bytes = SHARD * sizeof(int32_t),
                                    .no_probe = 1,
                                    .passes = of->passes,
                                    .verify = of->verify,
                                    .cooperation = of->cooperation};
    return parapet_copy(&request, NULL);
}

static void run_case(parapet_store *store, const progress_case *of, int number)
{
    char target[32], text[200];
    launch_case_begin(&run, (uint64_t)number);
    (void)snprintf(target, sizeof target, "copy-%d", number);
    own = (reports){0};
    (void)LAUNCH_OK(&run, copy(store, of, target));
    (void)snprintf(text, sizeof text,
                   "%s: %" PRId64 " reports, the last of %" PRId64 " bytes, %" PRId64 " of them of all%s%s", of->name,
                   own.count, own.last, own.whole, own.is_backward ? ", backward" : "",
                   own.is_beyond ? ", beyond the total" : "");
    if (run.rank == 0)
        printf("%s\n", text);
    launch_expect(&run, own.whole == 1 && !own.is_backward && !own.is_beyond, text);
    (void)launch_case_end(&run, text);
}

/* ---- Cancelled, and resumed ---- */

enum { WIDE_SHARD = 64 * CHUNK, WIDE_SHARDS = 5, WIDE_EDGE = 3 * CHUNK, WIDE = WIDE_SHARD * WIDE_SHARDS + WIDE_EDGE };

/* Some of it is fill value, and some is not written at all; the last shard is not full. */
static void write_wide(parapet_store *store)
{
    static int32_t field[WIDE];
    int64_t shape = WIDE, chunks = CHUNK, shards = WIDE_SHARD, start = 0, count = run.rank == 0 ? WIDE - CHUNK : 0;
    parapet_array_spec spec = {
        .type = PARAPET_INT32, .ndim = 1, .shape = &shape, .chunks = &chunks, .shards = &shards, .codec = "none"};
    parapet_part part = {.ndim = 1, .start = &start, .count = &count, .data = field};
    parapet_array *array = NULL;
    int64_t i;
    for (i = 0; i < WIDE; i++)
        field[i] = i / CHUNK % 7 == 3 ? 0 : (int32_t)i + 1;
    if (!LAUNCH_OK(&run, parapet_array_create(&array, store, "wide", &spec)))
        return;
    (void)LAUNCH_OK(&run, parapet_array_write(array, &part, 1));
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
}

static parapet_status copy_wide(parapet_store *store, const char *target, parapet_cooperation cooperation, int resume,
                                parapet_copy_result *result)
{
    parapet_copy_request request = {.source = store,
                                    .source_path = "wide",
                                    .target = store,
                                    .target_path = target,
                                    .changes = {.chunks = "512", .shards = "65536"},
                                    .unit_bytes = WIDE_SHARD * sizeof(int32_t),
                                    .memory_bytes = 6 << 20,
                                    .no_probe = 1,
                                    .passes = 1,
                                    .resume = resume,
                                    .verify = resume,
                                    .cooperation = cooperation};
    *result = (parapet_copy_result){0};
    return parapet_copy(&request, result);
}

/* Whether it was cancelled, on all ranks alike; then it is resumed and verified. */
static bool cancel_and_resume(parapet_store *store, parapet_cooperation cooperation, int64_t at, int64_t *resumed)
{
    parapet_copy_result result;
    parapet_status status;
    char target[40];
    (void)snprintf(target, sizeof target, "cancelled-%d-%" PRId64, (int)cooperation, at);
    own = (reports){0};
    cancelled_at = at;
    status = copy_wide(store, target, cooperation, 0, &result);
    cancelled_at = 0;
    launch_expect(&run, status == PARAPET_OK || status == PARAPET_ERR_CANCELLED, parapet_error_message());
    if (status != PARAPET_ERR_CANCELLED)
        return false;
    own = (reports){0};
    (void)LAUNCH_OK(&run, copy_wide(store, target, cooperation, 1, &result));
    *resumed += result.templates_resumed;
    return true;
}

static void run_cancelled(parapet_store *store, parapet_cooperation cooperation, int number)
{
    int64_t at = 1, resumed = 0;
    char text[100];
    launch_case_begin(&run, (uint64_t)number);
    while (cancel_and_resume(store, cooperation, at, &resumed))
        at += 1 + at / 2;
    (void)snprintf(text, sizeof text, "cancelled up to report %" PRId64 ", %" PRId64 " templates resumed", at,
                   resumed);
    if (run.rank == 0)
        printf("%s\n", text);
    launch_expect(&run, at > 1 && resumed > 0, text);
    (void)launch_case_end(&run, text);
}

int main(int argc, char **argv)
{
    parapet_store_options options = {.threads = 1, .progress = note};
    parapet_store *store = NULL;
    char path[600];
    size_t i;
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    options.servers = run.ranks;
    (void)snprintf(path, sizeof path, "%s/progress", run.folder);
    if (LAUNCH_OK(&run, parapet_store_open(&store, MPI_COMM_WORLD, path, PARAPET_CREATE, &options))) {
        write_source(store, "tree/a");
        write_source(store, "tree/b");
        write_many(store);
        write_wide(store);
        for (i = 0; i < sizeof cases / sizeof cases[0]; i++)
            run_case(store, &cases[i], (int)i);
        (void)LAUNCH_OK(&run, parapet_store_close(&store));
    }
    options.elide_fill = 1;
    if (LAUNCH_OK(&run, parapet_store_open(&store, MPI_COMM_WORLD, path, PARAPET_UPDATE, &options))) {
        run_cancelled(store, PARAPET_COOPERATION_TOGETHER, (int)i);
        run_cancelled(store, PARAPET_COOPERATION_ALONE, (int)i + 1);
        (void)LAUNCH_OK(&run, parapet_store_close(&store));
    }
    return launch_finish(&run);
}
