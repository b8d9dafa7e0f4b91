/* How often each call asks storage and the other ranks for something: reads, flushes, renames and agreements, for one
 * array and for many, with few and with many chunks in a shard, sealed and not. What a call takes may grow with the
 * arrays only as fast as the table below says, and with the chunks of a shard not at all. No time passes: after half
 * a second those who hold groups let go of them, and take them again. Runs under the launcher:
 *
 *     parallel_counts ARRAYS...      for so many arrays at a time; prints what docs/results/counts.md holds */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/store_handle.h"
#include "comm/endpoint.h"
#include "hand_clock.h"
#include "launch.h"
#include "shim.h"

enum { SHARDS = 2, SPARSE_READS = 10 };

typedef struct counts {
    int64_t requests; /* ranged reads of stored objects */
    int64_t flushes, renames;
    int64_t agreements;
} counts;

/* What a call may take: so much, and so much more for each array. Only reads may grow with the chunks of a shard. */
typedef struct limit {
    const char *call;
    counts fixed, each;
    double chunk_reads; /* for each chunk of each array */
} limit;

/* Each directory is flushed once in a call, and so many flushes of an array's directories and files are left: of two
 * shards, of the one or two directories that they change, and in a checkpoint of two documents, a manifest and a
 * page. */
static const limit limits[] = {
    {"create", {1, 1, 0, 4}, {0, 2, 1, 0}, 0},
    {"first write", {0, 0, 0, 6}, {0, 4, 2, 0}, 0},
    {"rewrite", {0, 0, 0, 6}, {0, 3, 2, 0}, 0},
    {"open", {0, 0, 0, 3}, {1, 0, 0, 0}, 0},
    {"read one chunk, ten times", {0, 0, 0, 40}, {20, 0, 0, 0}, 0},
    {"read all", {0, 0, 0, 4}, {4, 0, 0, 0}, 1.0 / 64},
    {"seal", {0, 0, 0, 0}, {4, 9, 4, 8}, 1},
    {"open, sealed", {0, 0, 0, 3}, {2, 0, 0, 0}, 0},
    {"read one chunk, ten times, sealed", {0, 0, 0, 40}, {22, 0, 0, 0}, 0},
    {"read all, sealed", {4, 0, 0, 4}, {4, 0, 0, 0}, 1.0 / 64},
    {"rewrite, sealed", {0, 0, 0, 9}, {2, 9, 4, 0}, 0},
    {"first checkpoint", {4, 16, 6, 8}, {1, 11, 6, 0}, 0},
    {"second checkpoint", {5, 16, 6, 8}, {1, 11, 6, 0}, 0},
    {"third checkpoint", {8, 16, 6, 8}, {2, 11, 6, 0}, 0},
    {"restore", {8, 0, 0, 16}, {8, 0, 0, 0}, 1.0 / 64 + 1.0 / 4096},
};

typedef struct bed {
    launch *run;
    int arrays, chunks; /* of a shard */
    const char *sealed; /* "" or ", sealed" */
    parapet_store *store;
    int64_t shape[1], chunk[1], shard[1], start[1], count[1];
    unsigned char *data;
    parapet_part part;
    char (*names)[16];
    const char **paths;
    parapet_array_spec *specs;
    parapet_array **handles;
    parapet_array_parts *list;
    parapet_checkpoint_item *items;
    shim_plan plan;
    counts before;
} bed;

/* ---- Counting ---- */

static counts count_here(const bed *used)
{
    parapet_statistics statistics = {0};
    (void)parapet_store_get_statistics(used->store, &statistics);
    return (counts){.requests = statistics.read_requests,
                    .flushes = used->plan.counts[SHIM_FLUSH],
                    .renames = used->plan.counts[SHIM_RENAME],
                    .agreements = used->run->ranks > 1 ? pp_comm_endpoint(used->store->comm)->round : 0};
}

static void begin(bed *used)
{
    launch_barrier();
    used->before = count_here(used);
}

static const limit *find_limit(const char *call)
{
    size_t i;
    for (i = 0; i < sizeof limits / sizeof limits[0]; i++)
        if (strcmp(limits[i].call, call) == 0)
            return &limits[i];
    return NULL;
}

static void hold(bed *used, const char *call, const char *what, int64_t found, int64_t most)
{
    char text[200];
    (void)snprintf(text, sizeof text, "at most %lld %s in \"%s\" of %d arrays with shards of %d chunks, not %lld",
                   (long long)most, what, call, used->arrays, used->chunks, (long long)found);
    launch_expect(used->run, found <= most, text);
}

static void hold_all(bed *used, const char *call, const counts *found)
{
    const limit *most = find_limit(call);
    int64_t n = used->arrays;
    launch_expect(used->run, most != NULL, call);
    if (most == NULL)
        return;
    hold(used, call, "reads", found->requests,
         most->fixed.requests + n * most->each.requests +
             (int64_t)((double)n * SHARDS * used->chunks * most->chunk_reads));
    hold(used, call, "flushes", found->flushes, most->fixed.flushes + n * most->each.flushes);
    hold(used, call, "renames", found->renames, most->fixed.renames + n * most->each.renames);
    hold(used, call, "agreements", found->agreements, most->fixed.agreements + n * most->each.agreements);
}

/* Ends what begin began: all ranks together. */
static counts end(bed *used, const char *name)
{
    counts now = count_here(used);
    int64_t sums[3] = {now.requests - used->before.requests, now.flushes - used->before.flushes,
                       now.renames - used->before.renames};
    counts found = {.agreements = now.agreements - used->before.agreements};
    char call[64];
    launch_sum(sums, 3);
    found.requests = sums[0];
    found.flushes = sums[1];
    found.renames = sums[2];
    (void)snprintf(call, sizeof call, "%s%s", name, used->sealed);
    if (used->run->rank == 0)
        printf("| %d | %d | %s | %lld | %lld | %lld | %lld |\n", used->arrays, used->chunks, call,
               (long long)found.requests, (long long)found.flushes, (long long)found.renames,
               (long long)found.agreements);
    hold_all(used, call, &found);
    return found;
}

/* ---- The bed ---- */

static void *memory_for(size_t count, size_t bytes)
{
    void *memory = calloc(count, bytes);
    if (memory == NULL)
        abort();
    return memory;
}

/* Chunks of one element each: what is counted does not depend on how large they are. */
static void describe_arrays(bed *used)
{
    const launch *run = used->run;
    int64_t elements = (int64_t)SHARDS * used->chunks;
    int i;
    used->shape[0] = elements;
    used->chunk[0] = 1;
    used->shard[0] = used->chunks;
    used->start[0] = elements * run->rank / run->ranks;
    used->count[0] = elements * (run->rank + 1) / run->ranks - used->start[0];
    used->part = (parapet_part){.ndim = 1, .start = used->start, .count = used->count, .data = used->data};
    for (i = 0; i < used->arrays; i++) {
        (void)snprintf(used->names[i], sizeof used->names[i], "a%d", i);
        used->paths[i] = used->names[i];
        used->specs[i] = (parapet_array_spec){.type = PARAPET_UINT8,
                                              .ndim = 1,
                                              .shape = used->shape,
                                              .chunks = used->chunk,
                                              .shards = used->shard,
                                              .codec = "none"};
        used->items[i] = (parapet_checkpoint_item){
            .name = used->names[i], .spec = &used->specs[i], .parts = &used->part, .part_count = 1};
    }
}

static void make_bed(bed *used, launch *run, int arrays, int chunks)
{
    size_t count = (size_t)arrays;
    *used = (bed){.run = run, .arrays = arrays, .chunks = chunks, .sealed = "", .plan = {.fail_at = -1}};
    used->data = memory_for((size_t)SHARDS * (size_t)chunks, 1);
    memset(used->data, run->rank + 1, (size_t)SHARDS * (size_t)chunks);
    used->names = memory_for(count, sizeof used->names[0]);
    used->paths = memory_for(count, sizeof used->paths[0]);
    used->specs = memory_for(count, sizeof used->specs[0]);
    used->handles = memory_for(count, sizeof used->handles[0]);
    used->list = memory_for(count, sizeof used->list[0]);
    used->items = memory_for(count, sizeof used->items[0]);
    describe_arrays(used);
}

static void clear_bed(bed *used)
{
    free(used->data);
    free(used->names);
    free(used->paths);
    free(used->specs);
    free(used->handles);
    free(used->list);
    free(used->items);
}

static bool open_store(bed *used)
{
    char place[600];
    (void)snprintf(place, sizeof place, "%s/counts_%d_%d.zarr", used->run->folder, used->arrays, used->chunks);
    return LAUNCH_OK(used->run, parapet_store_open(&used->store, MPI_COMM_WORLD, place, PARAPET_CREATE, NULL));
}

static void list_parts(bed *used, const parapet_part *part, int part_count)
{
    int i;
    for (i = 0; i < used->arrays; i++)
        used->list[i] = (parapet_array_parts){.array = used->handles[i], .parts = part, .part_count = part_count};
}

/* ---- Arrays ---- */

static void write_all(bed *used, const char *name)
{
    list_parts(used, &used->part, 1);
    begin(used);
    (void)LAUNCH_OK(used->run, parapet_arrays_write(used->list, used->arrays));
    (void)end(used, name);
}

/* Rank 0 wants one chunk of each array, then another one, and so on all over the arrays. */
static counts read_sparsely(bed *used)
{
    unsigned char value = 0;
    int64_t start = 0, count = 1;
    parapet_part part = {.ndim = 1, .start = &start, .count = &count, .data = &value};
    int i;
    list_parts(used, &part, used->run->rank == 0 ? 1 : 0);
    begin(used);
    for (i = 0; i < SPARSE_READS; i++) {
        start = (int64_t)SHARDS * used->chunks * i / SPARSE_READS;
        (void)LAUNCH_OK(used->run, parapet_arrays_read(used->list, used->arrays));
    }
    return end(used, "read one chunk, ten times");
}

static counts read_all(bed *used)
{
    list_parts(used, &used->part, 1);
    begin(used);
    (void)LAUNCH_OK(used->run, parapet_arrays_read(used->list, used->arrays));
    return end(used, "read all");
}

/* The servers share many arrays, which takes an agreement more than one array does. */
static void create(bed *used)
{
    int64_t before = used->plan.counts[SHIM_RENAME], ranks = used->run->ranks;
    counts found;
    begin(used);
    (void)LAUNCH_OK(used->run,
                    parapet_arrays_create(used->handles, used->store, used->paths, used->specs, used->arrays));
    found = end(used, "create");
    if (used->arrays == 1)
        hold(used, "create", "agreements", found.agreements, 3);
    else
        hold(used, "create", "renames by one rank", used->plan.counts[SHIM_RENAME] - before,
             (used->arrays + ranks - 1) / ranks);
}

/* One call for each array: there is none for many. */
static void seal(bed *used)
{
    int i;
    begin(used);
    for (i = 0; i < used->arrays; i++)
        (void)LAUNCH_OK(used->run, parapet_array_seal(used->handles[i]));
    (void)end(used, "seal");
}

static void open_again(bed *used)
{
    (void)LAUNCH_OK(used->run, parapet_arrays_close(used->handles, used->arrays));
    begin(used);
    (void)LAUNCH_OK(used->run, parapet_arrays_open(used->handles, used->store, used->paths, used->arrays));
    (void)end(used, "open");
}

/* A seal may cost a tenth of the reads that there are without it. */
static void compare_reads(bed *used, const counts plain[2], const counts sealed[2])
{
    hold(used, "read one chunk, ten times, sealed", "tenths of reads", 10 * sealed[0].requests,
         11 * plain[0].requests);
    hold(used, "read all, sealed", "tenths of reads", 10 * sealed[1].requests, 11 * plain[1].requests);
}

static void use_arrays(bed *used)
{
    counts plain[2], sealed[2];
    create(used);
    write_all(used, "first write");
    write_all(used, "rewrite");
    open_again(used);
    plain[0] = read_sparsely(used);
    plain[1] = read_all(used);
    seal(used);
    used->sealed = ", sealed";
    open_again(used);
    sealed[0] = read_sparsely(used);
    sealed[1] = read_all(used);
    write_all(used, "rewrite");
    used->sealed = "";
    compare_reads(used, plain, sealed);
    (void)LAUNCH_OK(used->run, parapet_arrays_close(used->handles, used->arrays));
}

/* ---- Checkpoints ---- */

/* The servers share the documents of many arrays, as they share the shards. */
static void put(bed *used, const char *name)
{
    parapet_checkpoint *checkpoint = NULL;
    int64_t before = used->plan.counts[SHIM_RENAME];
    counts found;
    begin(used);
    if (LAUNCH_OK(used->run, parapet_checkpoint_begin(&checkpoint, used->store, "restart", NULL)) &&
        LAUNCH_OK(used->run, parapet_checkpoint_put(checkpoint, used->items, used->arrays)))
        (void)LAUNCH_OK(used->run, parapet_checkpoint_commit(&checkpoint, NULL));
    found = end(used, name);
    if (used->arrays >= 100)
        hold(used, name, "renames by one rank", used->plan.counts[SHIM_RENAME] - before, found.renames / 2);
}

static void get(bed *used)
{
    parapet_restore *restore = NULL;
    begin(used);
    if (LAUNCH_OK(used->run, parapet_restore_open(&restore, used->store, "restart", 0)) &&
        LAUNCH_OK(used->run, parapet_restore_get(restore, used->items, used->arrays)))
        (void)LAUNCH_OK(used->run, parapet_restore_close(&restore));
    (void)end(used, "restore");
}

static void use_checkpoints(bed *used)
{
    put(used, "first checkpoint");
    put(used, "second checkpoint");
    put(used, "third checkpoint"); /* removes the first */
    get(used);
}

/* ---- A write that fails ---- */

static parapet_status write_some(bed *used, int first, int count)
{
    list_parts(used, &used->part, 1);
    return parapet_arrays_write(used->list + first, count);
}

/* Flushes of all ranks in a write of the last array. */
static int64_t count_flushes(bed *used)
{
    int64_t flushes = -used->plan.counts[SHIM_FLUSH];
    (void)LAUNCH_OK(used->run, write_some(used, used->arrays - 1, 1));
    flushes += used->plan.counts[SHIM_FLUSH];
    launch_sum(&flushes, 1);
    return flushes;
}

/* The first of the ranks that has something to rename, cannot. Sets how many shards the others have renamed. */
static parapet_status fail_to_rename(bed *used, int64_t *renamed)
{
    parapet_status status = PARAPET_OK;
    int rank;
    for (rank = 0; rank < used->run->ranks && status == PARAPET_OK; rank++) {
        *renamed = -used->plan.counts[SHIM_RENAME];
        if (rank == used->run->rank)
            used->plan.fail_at = used->plan.counts[SHIM_RENAME];
        status = write_some(used, 0, used->arrays - 1);
        used->plan.fail_at = -1;
        *renamed += used->plan.counts[SHIM_RENAME] - used->plan.failures;
        launch_sum(renamed, 1);
    }
    return status;
}

static void close_arrays(bed *used)
{
    int i;
    for (i = 0; i < used->arrays; i++)
        (void)LAUNCH_OK(used->run, parapet_array_close(&used->handles[i]));
}

/* What the others have renamed is flushed by the next call that succeeds, although that writes another array. */
static void run_failing_case(launch *run)
{
    bed used;
    int64_t before, renamed = 0;
    launch_case_begin(run, 1);
    make_bed(&used, run, 9, 16);
    used.plan.call = SHIM_RENAME;
    used.plan.error_number = ENOSPC;
    shim_arm(&used.plan);
    if (open_store(&used) &&
        LAUNCH_OK(run, parapet_arrays_create(used.handles, used.store, used.paths, used.specs, used.arrays)) &&
        LAUNCH_OK(run, write_some(&used, 0, used.arrays))) {
        before = count_flushes(&used);
        launch_expect(run, fail_to_rename(&used, &renamed) == PARAPET_ERR_NO_SPACE, "a write that cannot rename");
        launch_expect(run, renamed > 0, "others could");
        launch_expect(run, count_flushes(&used) - before >= renamed / SHARDS, "what was renamed is flushed");
        launch_expect(run, count_flushes(&used) == before, "and that only once");
        close_arrays(&used);
        (void)LAUNCH_OK(run, parapet_store_close(&used.store));
    }
    shim_arm(NULL);
    clear_bed(&used);
    (void)launch_case_end(run, "a rank that cannot rename");
}

static void run_case(launch *run, int arrays, int chunks)
{
    bed used;
    char description[80];
    (void)snprintf(description, sizeof description, "%d arrays with shards of %d chunks", arrays, chunks);
    launch_case_begin(run, (uint64_t)(arrays * 10000 + chunks));
    make_bed(&used, run, arrays, chunks);
    shim_arm(&used.plan);
    if (open_store(&used)) {
        use_arrays(&used);
        use_checkpoints(&used);
        (void)LAUNCH_OK(run, parapet_store_close(&used.store));
    }
    shim_arm(NULL);
    clear_bed(&used);
    (void)launch_case_end(run, description);
}

int main(int argc, char **argv)
{
    launch run;
    int i;
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    hand_clock_take(false);
    if (run.rank == 0)
        printf("| arrays | chunks of a shard | call | reads | flushes | renames | agreements |\n"
               "|---|---|---|---|---|---|---|\n");
    for (i = 1; i < argc; i++) {
        run_case(&run, atoi(argv[i]), 16);
        run_case(&run, atoi(argv[i]), 4096);
    }
    run_failing_case(&run);
    return launch_finish(&run);
}
