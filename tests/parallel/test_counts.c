/* How often each call asks storage and the other ranks for something: reads, flushes, renames, unlinks, lists and
 * agreements, for one array and for many, with few and with many chunks in a shard, sealed and not. What a call takes
 * may grow with the arrays only as fast as the table below says, and with the chunks of a shard not at all. No time
 * passes: after half a second those who hold groups let go of them, and take them again. Runs under the launcher:
 *
 *     parallel_counts ARRAYS...      for so many arrays at a time; prints what docs/results/counts.md holds
 *
 * Changes (resizing, replacing, appending, steps of a series, and what gc does when they are interrupted) have a
 * tenth of the arrays, and at least one; that one also has many chunks. */
#include <errno.h>
#include <parapet_store.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/store_handle.h"
#include "comm/endpoint.h"
#include "hand_clock.h"
#include "launch.h"
#include "shim.h"

enum { SHARDS = 2, SPARSE_READS = 10, STEPS = 10, STEP_CHUNKS = 16 };

#define COORDINATE "time"

enum { READS, FLUSHES, RENAMES, UNLINKS, LISTS, AGREEMENTS, KINDS };

/* Reads: ranged ones of stored objects. Lists: opening a directory for it, each entry, and the end of them. */
static const char *const kinds[KINDS] = {"reads", "flushes", "renames", "unlinks", "lists", "agreements"};

typedef struct counts {
    int64_t of[KINDS];
} counts;

/* What a call may take: so much, and so much more for each array. Only reads may grow with the chunks of a shard. */
typedef struct limit {
    const char *call;
    int64_t fixed[KINDS], each[KINDS];
    double chunk_reads; /* for each chunk of each array */
} limit;

/* Each directory is flushed once in a call, and so many flushes of an array's directories and files are left: of two
 * shards, of the one or two directories that they change, and in a checkpoint of two documents, a manifest and a
 * page. Where several ranks hold locks, how often one is removed depends on who lets go of it last. */
static const limit limits[] = {
    {"create", {1, 1, 0, 6, 0, 4}, {0, 2, 1, 0, 10, 0}, 0},
    {"first write", {0, 0, 0, 0, 0, 6}, {0, 4, 2, 0, 0, 0}, 0},
    {"rewrite", {0, 0, 0, 0, 0, 6}, {0, 3, 2, 0, 0, 0}, 0},
    {"open", {0, 0, 0, 0, 0, 3}, {1, 0, 0, 0, 0, 0}, 0},
    {"read one chunk, ten times", {0, 0, 0, 0, 0, 40}, {20, 0, 0, 0, 0, 0}, 0},
    {"read all", {0, 0, 0, 0, 0, 4}, {4, 0, 0, 0, 0, 0}, 1.0 / 64},
    {"seal", {0, 0, 0, 0, 0, 0}, {4, 9, 4, 2, 0, 8}, 1},
    {"open, sealed", {0, 0, 0, 0, 0, 3}, {2, 0, 0, 0, 0, 0}, 0},
    {"read one chunk, ten times, sealed", {0, 0, 0, 0, 0, 40}, {22, 0, 0, 0, 0, 0}, 0},
    {"read all, sealed", {4, 0, 0, 0, 0, 4}, {4, 0, 0, 0, 0, 0}, 1.0 / 64},
    {"rewrite, sealed", {0, 0, 0, 0, 0, 9}, {2, 9, 4, 6, 5, 0}, 0},
    {"first checkpoint", {4, 16, 6, 10, 32, 8}, {1, 11, 6, 0, 1, 0}, 0},
    {"second checkpoint", {5, 16, 6, 10, 41, 8}, {1, 11, 6, 0, 1, 0}, 0},
    {"third checkpoint", {8, 16, 6, 17, 65, 8}, {2, 11, 6, 12, 42, 0}, 0},
    {"restore", {8, 0, 0, 0, 6, 16}, {8, 0, 0, 0, 0, 0}, 1.0 / 64 + 1.0 / 4096},
    /* From here on, what calls took when they were first counted. */
    {"resize, shorter", {0, 0, 0, 0, 0, 0}, {5, 6, 3, 5, 13, 4}, 0.25},
    {"resize, longer", {0, 0, 0, 0, 0, 0}, {2, 2, 1, 2, 0, 4}, 0},
    {"resize, shorter, sealed", {1, 0, 0, 3, 5, 0}, {8, 12, 5, 8, 13, 4}, 0.75},
    {"gc, unfinished resizes", {1, 1, 0, 2, 23, 4}, {1, 1, 0, 1, 26, 0}, 0},
    {"overwrite", {5, 0, 0, 2, 0, 7}, {3, 7, 2, 10, 41, 0}, 0},
    {"overwrite, sealed", {5, 0, 0, 5, 6, 7}, {3, 7, 2, 12, 45, 0}, 0},
    {"copy", {0, 2, 1, 0, 0, 0}, {10, 46, 5, 20, 75, 37}, 1},
    {"replace by a copy", {0, 0, 0, 0, 0, 0}, {14, 58, 11, 35, 100, 37}, 1},
    {"gc", {2, 2, 0, 4, 49, 4}, {2, 0, 0, 0, 21, 0}, 0},
    {"gc, a generation without a record", {5, 4, 0, 13, 113, 4}, {3, 0, 0, 9, 63, 0}, 0},
    {"remove", {0, 0, 0, 0, 0, 0}, {7, 7, 1, 12, 60, 9}, 0},
    {"append, inside a shard", {32, 15, 6, 6, 25, 104}, {3, 4, 2, 0, 3, 22}, 0.5},
    {"append", {27, 16, 7, 6, 25, 110}, {12, 5, 3, 0, 3, 22}, 0},
    {"append, sealed", {30, 22, 9, 13, 35, 110}, {14, 11, 5, 1, 3, 22}, 0},
    {"gc, an append that was not decided", {34, 19, 5, 24, 345, 35}, {5, 6, 3, 0, 105, 1}, 0.5},
    {"gc, an append that was decided", {25, 13, 2, 24, 327, 34}, {12, 0, 0, 0, 87, 1}, 0},
    {"create series, rows of 1", {5, 11, 4, 4, 27, 13}, {1, 2, 1, 0, 11, 0}, 0},
    {"ten steps, rows of 1", {39, 75, 30, 20, 70, 100}, {10, 61, 30, 0, 10, 0}, 0},
    {"step and flush, rows of 1", {4, 7, 3, 2, 7, 11}, {1, 6, 3, 0, 1, 0}, 0},
    {"another step and flush, rows of 1", {4, 7, 3, 2, 7, 11}, {1, 6, 3, 0, 1, 0}, 0},
    {"close series, rows of 1", {0, 0, 0, 7, 0, 4}, {0, 0, 0, 3, 0, 0}, 0},
    {"open series, rows of 1", {5, 4, 1, 3, 7, 14}, {2, 0, 0, 0, 1, 0}, 0},
    {"create series, rows of 10", {5, 11, 4, 4, 27, 13}, {1, 2, 1, 0, 11, 0}, 0},
    {"ten steps, rows of 10", {3, 12, 3, 2, 7, 29}, {1, 7, 3, 0, 1, 0}, 0},
    {"step and flush, rows of 10", {4, 7, 3, 2, 7, 12}, {1, 6, 3, 0, 1, 0}, 0},
    {"another step and flush, rows of 10", {7, 9, 4, 4, 14, 12}, {2, 5, 3, 0, 2, 0}, 0},
    {"close series, rows of 10", {0, 0, 0, 7, 0, 4}, {0, 0, 0, 3, 0, 0}, 0},
    {"open series, rows of 10", {5, 4, 1, 3, 7, 14}, {2, 0, 0, 0, 1, 0}, 0},
};

typedef struct bed {
    launch *run;
    int arrays, chunks; /* of a shard */
    const char *state;  /* "", ", sealed" or ", rows of 10" */
    parapet_store *store;
    int64_t shape[1], chunk[1], shard[1], start[1], count[1];
    unsigned char *data;
    parapet_part part;
    char (*names)[16]; /* the last one is the coordinate's */
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
    const long *asked = used->plan.counts;
    parapet_statistics statistics = {0};
    (void)parapet_store_get_statistics(used->store, &statistics);
    return (counts){{[READS] = statistics.read_requests,
                     [FLUSHES] = asked[SHIM_FLUSH],
                     [RENAMES] = asked[SHIM_RENAME],
                     [UNLINKS] = asked[SHIM_UNLINK],
                     [LISTS] = asked[SHIM_LIST],
                     [AGREEMENTS] = used->run->ranks > 1 ? pp_comm_endpoint(used->store->comm)->round : 0}};
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
    const limit *allowed = find_limit(call);
    int64_t n = used->arrays, most;
    int kind;
    launch_expect(used->run, allowed != NULL, call);
    for (kind = 0; kind < KINDS && allowed != NULL; kind++) {
        most = allowed->fixed[kind] + n * allowed->each[kind];
        if (kind == READS)
            most += (int64_t)((double)n * SHARDS * used->chunks * allowed->chunk_reads);
        hold(used, call, kinds[kind], found->of[kind], most);
    }
}

static void print_heading(void)
{
    int kind;
    printf("| arrays | chunks of a shard | call |");
    for (kind = 0; kind < KINDS; kind++)
        printf(" %s |", kinds[kind]);
    printf("\n|---|---|---|---|---|---|---|---|---|\n");
}

static void print_row(const bed *used, const char *call, const counts *found)
{
    int kind;
    printf("| %d | %d | %s |", used->arrays, used->chunks, call);
    for (kind = 0; kind < KINDS; kind++)
        printf(" %lld |", (long long)found->of[kind]);
    printf("\n");
}

/* Ends what begin began: all ranks together. Every rank has its own agreements, which are the same. */
static counts end(bed *used, const char *name)
{
    counts found = count_here(used);
    char call[64];
    int kind;
    for (kind = 0; kind < KINDS; kind++)
        found.of[kind] -= used->before.of[kind];
    launch_sum(found.of, AGREEMENTS);
    (void)snprintf(call, sizeof call, "%s%s", name, used->state);
    if (used->run->rank == 0)
        print_row(used, call, &found);
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

/* Each array has so many elements, of which each rank holds a part. */
static void share_out(bed *used, int64_t elements)
{
    const launch *run = used->run;
    used->shape[0] = elements;
    used->start[0] = elements * run->rank / run->ranks;
    used->count[0] = elements * (run->rank + 1) / run->ranks - used->start[0];
}

/* Chunks of one element each: what is counted does not depend on how large they are. */
static void describe_arrays(bed *used)
{
    static const char *const dimensions[1] = {COORDINATE};
    int i;
    share_out(used, (int64_t)SHARDS * used->chunks);
    used->chunk[0] = 1;
    used->shard[0] = used->chunks;
    (void)snprintf(used->names[used->arrays], sizeof used->names[0], COORDINATE);
    used->part = (parapet_part){.ndim = 1, .start = used->start, .count = used->count, .data = used->data};
    for (i = 0; i < used->arrays; i++) {
        (void)snprintf(used->names[i], sizeof used->names[i], "a%d", i);
        used->paths[i] = used->names[i];
        used->specs[i] = (parapet_array_spec){.type = PARAPET_UINT8,
                                              .ndim = 1,
                                              .shape = used->shape,
                                              .chunks = used->chunk,
                                              .shards = used->shard,
                                              .dimension_names = dimensions,
                                              .codec = "none"};
        used->items[i] = (parapet_checkpoint_item){
            .name = used->names[i], .spec = &used->specs[i], .parts = &used->part, .part_count = 1};
    }
}

static void make_bed(bed *used, launch *run, int arrays, int chunks)
{
    size_t count = (size_t)arrays, bytes = ((size_t)SHARDS + 1) * (size_t)chunks;
    *used = (bed){.run = run, .arrays = arrays, .chunks = chunks, .state = "", .plan = {.fail_at = -1}};
    used->data = memory_for(bytes, 1);
    memset(used->data, run->rank + 1, bytes);
    used->names = memory_for(count + 1, sizeof used->names[0]);
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

static bool open_store(bed *used, const char *name)
{
    char place[600];
    (void)snprintf(place, sizeof place, "%s/%s_%d_%d.zarr", used->run->folder, name, used->arrays, used->chunks);
    return LAUNCH_OK(used->run, parapet_store_open(&used->store, MPI_COMM_WORLD, place, PARAPET_CREATE, NULL));
}

static void list_parts(bed *used, const parapet_part *part, int part_count)
{
    int i;
    for (i = 0; i < used->arrays; i++)
        used->list[i] = (parapet_array_parts){.array = used->handles[i], .parts = part, .part_count = part_count};
}

/* ---- Arrays ---- */

static void fill(bed *used)
{
    list_parts(used, &used->part, 1);
    (void)LAUNCH_OK(used->run, parapet_arrays_write(used->list, used->arrays));
}

static void write_all(bed *used, const char *name)
{
    begin(used);
    fill(used);
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

static counts create(bed *used, const char *name)
{
    begin(used);
    (void)LAUNCH_OK(used->run,
                    parapet_arrays_create(used->handles, used->store, used->paths, used->specs, used->arrays));
    return end(used, name);
}

/* The servers share many arrays, which takes an agreement more than one array does. */
static void create_new(bed *used)
{
    int64_t before = used->plan.counts[SHIM_RENAME], ranks = used->run->ranks;
    counts found = create(used, "create");
    if (used->arrays == 1)
        hold(used, "create", "agreements", found.of[AGREEMENTS], 3);
    else
        hold(used, "create", "renames by one rank", used->plan.counts[SHIM_RENAME] - before,
             (used->arrays + ranks - 1) / ranks);
}

/* One call for each array: there is none for many. */
static void seal_each(bed *used)
{
    int i;
    for (i = 0; i < used->arrays; i++)
        (void)LAUNCH_OK(used->run, parapet_array_seal(used->handles[i]));
}

static void seal(bed *used)
{
    begin(used);
    seal_each(used);
    (void)end(used, "seal");
}

static void close_all(bed *used)
{
    (void)LAUNCH_OK(used->run, parapet_arrays_close(used->handles, used->arrays));
}

static void open_again(bed *used)
{
    close_all(used);
    begin(used);
    (void)LAUNCH_OK(used->run, parapet_arrays_open(used->handles, used->store, used->paths, used->arrays));
    (void)end(used, "open");
}

/* A seal may cost a tenth of the reads that there are without it. */
static void compare_reads(bed *used, const counts plain[2], const counts sealed[2])
{
    hold(used, "read one chunk, ten times, sealed", "tenths of reads", 10 * sealed[0].of[READS],
         11 * plain[0].of[READS]);
    hold(used, "read all, sealed", "tenths of reads", 10 * sealed[1].of[READS], 11 * plain[1].of[READS]);
}

static void use_arrays(bed *used)
{
    counts plain[2], sealed[2];
    create_new(used);
    write_all(used, "first write");
    write_all(used, "rewrite");
    open_again(used);
    plain[0] = read_sparsely(used);
    plain[1] = read_all(used);
    seal(used);
    used->state = ", sealed";
    open_again(used);
    sealed[0] = read_sparsely(used);
    sealed[1] = read_all(used);
    write_all(used, "rewrite");
    used->state = "";
    compare_reads(used, plain, sealed);
    close_all(used);
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
        hold(used, name, "renames by one rank", used->plan.counts[SHIM_RENAME] - before, found.of[RENAMES] / 2);
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

/* ---- What an interruption leaves ---- */

/* From its n-th call of this kind on, rank 0 is refused them: what it has begun stays, as after a kill. */
static void refuse(bed *used, shim_call call, int64_t n)
{
    used->plan.call = call;
    used->plan.error_number = ENOSPC;
    used->plan.forever = true;
    used->plan.fail_at = used->run->rank == 0 ? used->plan.counts[call] + n : -1;
}

static void expect_interrupted(bed *used, parapet_status status, const char *what)
{
    used->plan.fail_at = -1;
    used->plan.forever = false;
    launch_expect(used->run, launch_agreed(used->run, status, what) != PARAPET_OK, what);
}

typedef struct left {
    const char *reason;
    int count, others;
} left;

static int take_left(void *context, const char *key, const char *reason)
{
    left *found = context;
    (void)key;
    if (strcmp(reason, found->reason) == 0)
        found->count++;
    else
        found->others++;
    return 0;
}

/* So many things are left, all for this reason. */
static void collect(bed *used, const char *name, const char *reason, int count)
{
    left found = {.reason = reason};
    begin(used);
    (void)LAUNCH_OK(used->run, parapet_store_collect(used->store, "", 0, take_left, &found));
    (void)end(used, name);
    launch_expect(used->run, found.count == count && found.others == 0, name);
}

/* ---- Arrays, one after the other ---- */

static void resize_each(bed *used, int64_t elements)
{
    int i;
    for (i = 0; i < used->arrays; i++)
        (void)LAUNCH_OK(used->run, parapet_array_resize(used->handles[i], &elements));
}

static void resize(bed *used, const char *name, int64_t elements)
{
    begin(used);
    resize_each(used, elements);
    (void)end(used, name);
}

/* A shard goes, and half of the other. */
static void resize_there_and_back(bed *used)
{
    resize(used, "resize, shorter", used->chunks / 2);
    resize(used, "resize, longer", used->shape[0]);
    fill(used);
    seal_each(used);
    used->state = ", sealed";
    resize(used, "resize, shorter", used->chunks / 2);
    used->state = "";
    resize_each(used, used->shape[0]);
    fill(used);
}

/* The shard that is cut off cannot be removed. */
static void interrupt_resizing(bed *used)
{
    const int64_t elements = used->chunks;
    int i;
    for (i = 0; i < used->arrays; i++) {
        refuse(used, SHIM_UNLINK, 0);
        expect_interrupted(used, parapet_array_resize(used->handles[i], &elements), "resizing");
    }
    close_all(used);
    collect(used, "gc, unfinished resizes", "cut off by a resize that did not finish", used->arrays);
}

static void overwrite(bed *used)
{
    counts found;
    int i;
    for (i = 0; i < used->arrays; i++)
        used->specs[i].overwrite = 1;
    found = create(used, "overwrite");
    if (used->arrays == 1)
        hold(used, "overwrite", "agreements", found.of[AGREEMENTS], 3);
    fill(used);
    for (i = 0; i < used->arrays; i++)
        used->specs[i].overwrite = 0;
}

static void copy_each(bed *used, const char *name, bool overwrite)
{
    int i;
    begin(used);
    for (i = 0; i < used->arrays; i++) {
        char path[32];
        parapet_copy_request request = {.source = used->store,
                                        .source_path = used->paths[i],
                                        .target = used->store,
                                        .target_path = path,
                                        .overwrite = overwrite,
                                        .no_probe = 1};
        (void)snprintf(path, sizeof path, "copies/%s", used->paths[i]);
        (void)LAUNCH_OK(used->run, parapet_copy(&request, NULL));
    }
    (void)end(used, name);
}

static void remove_each(bed *used)
{
    int i;
    begin(used);
    for (i = 0; i < used->arrays; i++)
        (void)LAUNCH_OK(used->run, parapet_store_remove(used->store, used->paths[i], 0, 0, NULL, NULL));
    (void)end(used, "remove");
}

static void interrupt_checkpoint(bed *used)
{
    parapet_checkpoint *checkpoint = NULL;
    if (LAUNCH_OK(used->run, parapet_checkpoint_begin(&checkpoint, used->store, "restart", NULL)) &&
        LAUNCH_OK(used->run, parapet_checkpoint_put(checkpoint, used->items, used->arrays))) {
        refuse(used, SHIM_UNLINK, 0);
        expect_interrupted(used, parapet_checkpoint_abort(&checkpoint), "removing a generation");
        collect(used, "gc, a generation without a record", "a generation that was never committed", 1);
    }
}

static void change_arrays(bed *used)
{
    (void)LAUNCH_OK(used->run,
                    parapet_arrays_create(used->handles, used->store, used->paths, used->specs, used->arrays));
    fill(used);
    resize_there_and_back(used);
    interrupt_resizing(used);
    overwrite(used);
    seal_each(used);
    close_all(used);
    used->state = ", sealed";
    overwrite(used);
    used->state = "";
    close_all(used);
    copy_each(used, "copy", false);
    copy_each(used, "replace by a copy", true);
    collect(used, "gc", "", 0);
    interrupt_checkpoint(used);
    remove_each(used);
}

/* ---- Appends ---- */

static void put_array(bed *used, const char *path, const parapet_array_spec *spec, const parapet_part *part)
{
    parapet_array *array = NULL;
    (void)LAUNCH_OK(used->run, parapet_array_create(&array, used->store, path, spec));
    (void)LAUNCH_OK(used->run, parapet_array_write(array, part, 1));
    (void)LAUNCH_OK(used->run, parapet_array_close(&array));
}

/* Its coordinate begins with this number. */
static void put_group(bed *used, const char *group, int64_t first, int64_t elements)
{
    int64_t *numbers = memory_for((size_t)elements, sizeof numbers[0]);
    parapet_array_spec spec = used->specs[0];
    parapet_part part = used->part;
    char path[64];
    int i;
    share_out(used, elements);
    for (i = 0; i < used->count[0]; i++)
        numbers[i] = first + used->start[0] + i;
    for (i = 0; i <= used->arrays; i++) {
        if (i == used->arrays) {
            spec.type = PARAPET_INT64;
            part.data = numbers;
        }
        (void)snprintf(path, sizeof path, "%s/%s", group, used->names[i]);
        put_array(used, path, &spec, &part);
    }
    free(numbers);
}

static void seal_target(bed *used)
{
    parapet_array *array = NULL;
    char path[64];
    int i;
    for (i = 0; i <= used->arrays; i++) {
        (void)snprintf(path, sizeof path, "target/%s", used->names[i]);
        (void)LAUNCH_OK(used->run, parapet_array_open(&array, used->store, path));
        (void)LAUNCH_OK(used->run, parapet_array_seal(array));
        (void)LAUNCH_OK(used->run, parapet_array_close(&array));
    }
}

static void consolidate_target(bed *used)
{
    parapet_group *group = NULL;
    (void)LAUNCH_OK(used->run, parapet_group_open(&group, used->store, "target"));
    (void)LAUNCH_OK(used->run, parapet_group_consolidate(group));
    (void)LAUNCH_OK(used->run, parapet_group_close(&group));
}

static parapet_status append_source(bed *used, int number)
{
    char source[32];
    parapet_copy_request request = {.source = used->store,
                                    .source_path = source,
                                    .target = used->store,
                                    .target_path = "target",
                                    .append = COORDINATE};
    (void)snprintf(source, sizeof source, "source%d", number);
    return parapet_copy(&request, NULL);
}

/* Returns how many renames rank 0 made. */
static int64_t append(bed *used, const char *name, int number)
{
    int64_t before = used->plan.counts[SHIM_RENAME];
    begin(used);
    (void)LAUNCH_OK(used->run, append_source(used, number));
    (void)end(used, name);
    return used->plan.counts[SHIM_RENAME] - before;
}

/* All that is left to do is to remove the record. */
static void interrupt_decided_append(bed *used, int number)
{
    refuse(used, SHIM_UNLINK, 0);
    expect_interrupted(used, append_source(used, number), "appending");
    collect(used, "gc, an append that was decided", "an append was interrupted, and is complete now", 1);
}

/* The last renames are of the coordinate's document, which decides, and twice of the group's. */
static void interrupt_undecided_append(bed *used, int number, int64_t renames)
{
    refuse(used, SHIM_RENAME, renames - 3);
    expect_interrupted(used, append_source(used, number), "appending");
    collect(used, "gc, an append that was not decided", "an append was interrupted, and is undone now", 1);
}

/* Sources of half a shard, and of two. The second half of one is appended inside a shard. */
static void put_sources(bed *used)
{
    const int64_t half = used->chunks / 2, whole = (int64_t)SHARDS * used->chunks;
    const int64_t elements[] = {half, whole, whole, half, half};
    int64_t first = whole - half;
    char group[32];
    int i;
    put_group(used, "target", 0, first);
    for (i = 0; i < 5; i++) {
        (void)snprintf(group, sizeof group, "source%d", i);
        put_group(used, group, first, elements[i]);
        first += elements[i];
    }
}

static void use_appends(bed *used)
{
    int64_t renames;
    put_sources(used);
    consolidate_target(used);
    renames = append(used, "append, inside a shard", 0);
    (void)append(used, "append", 1);
    seal_target(used);
    consolidate_target(used);
    (void)append(used, "append, sealed", 2);
    (void)LAUNCH_OK(used->run, append_source(used, 3));
    interrupt_undecided_append(used, 4, renames);
    interrupt_decided_append(used, 4);
}

/* ---- Series ---- */

static parapet_series *create_series(bed *used, int rows)
{
    int64_t shape[2] = {0, SHARDS * STEP_CHUNKS}, chunks[2] = {1, 1}, shards[2] = {rows, STEP_CHUNKS};
    parapet_array_spec *specs = memory_for((size_t)used->arrays, sizeof specs[0]);
    parapet_series_spec spec = {.count = used->arrays, .names = used->paths, .specs = specs};
    parapet_series *series = NULL;
    int i;
    for (i = 0; i < used->arrays; i++)
        specs[i] = (parapet_array_spec){
            .type = PARAPET_UINT8, .ndim = 2, .shape = shape, .chunks = chunks, .shards = shards, .codec = "none"};
    begin(used);
    (void)LAUNCH_OK(used->run, parapet_series_create(&series, used->store, "series", &spec));
    (void)end(used, "create series");
    free(specs);
    return series;
}

/* Rows that are full are written, and others, too, if is_flushed. */
static void take_steps(bed *used, parapet_series *series, int count, bool is_flushed)
{
    parapet_step *steps = memory_for((size_t)used->arrays, sizeof steps[0]);
    parapet_series_info info = {0};
    int i;
    for (i = 0; i < used->arrays; i++)
        steps[i] = (parapet_step){.parts = &used->part, .part_count = 1};
    (void)LAUNCH_OK(used->run, parapet_series_get_info(series, &info));
    for (i = 0; i < count; i++)
        (void)LAUNCH_OK(used->run, parapet_series_append(series, (double)(info.steps + i), steps));
    if (is_flushed)
        (void)LAUNCH_OK(used->run, parapet_series_flush(series));
    free(steps);
}

static void use_series(bed *used, int rows)
{
    parapet_series *series;
    share_out(used, SHARDS * STEP_CHUNKS);
    series = create_series(used, rows);
    if (series == NULL)
        return;
    begin(used);
    take_steps(used, series, STEPS, false);
    (void)end(used, "ten steps");
    begin(used);
    take_steps(used, series, 1, true);
    (void)end(used, "step and flush");
    begin(used);
    take_steps(used, series, 1, true);
    (void)end(used, "another step and flush");
    begin(used);
    (void)LAUNCH_OK(used->run, parapet_series_close(&series));
    (void)end(used, "close series");
    begin(used);
    (void)LAUNCH_OK(used->run, parapet_series_open(&series, used->store, "series"));
    (void)end(used, "open series");
    (void)LAUNCH_OK(used->run, parapet_series_close(&series));
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
    if (open_store(&used, "failing") &&
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

static void use(bed *used)
{
    use_arrays(used);
    use_checkpoints(used);
}

static void change(bed *used)
{
    change_arrays(used);
    use_appends(used);
}

static void use_rows_of_1(bed *used)
{
    used->state = ", rows of 1";
    use_series(used, 1);
}

static void use_rows_of_10(bed *used)
{
    used->state = ", rows of 10";
    use_series(used, 10);
}

static void run_case(launch *run, const char *name, void (*work)(bed *used), int arrays, int chunks)
{
    bed used;
    char description[80];
    (void)snprintf(description, sizeof description, "%s of %d arrays with shards of %d chunks", name, arrays, chunks);
    launch_case_begin(run, (uint64_t)(arrays * 10000 + chunks));
    make_bed(&used, run, arrays, chunks);
    shim_arm(&used.plan);
    if (open_store(&used, name)) {
        work(&used);
        (void)LAUNCH_OK(run, parapet_store_close(&used.store));
    }
    shim_arm(NULL);
    clear_bed(&used);
    (void)launch_case_end(run, description);
}

static void run_cases(launch *run, int arrays)
{
    int fewer = arrays < 10 ? 1 : arrays / 10;
    run_case(run, "counts", use, arrays, 16);
    run_case(run, "counts", use, arrays, 4096);
    run_case(run, "changes", change, fewer, 16);
    if (fewer == 1)
        run_case(run, "changes", change, fewer, 4096);
    run_case(run, "series", use_rows_of_1, fewer, STEP_CHUNKS);
    run_case(run, "series", use_rows_of_10, fewer, STEPS * STEP_CHUNKS);
}

int main(int argc, char **argv)
{
    launch run;
    int i;
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    hand_clock_take(false);
    if (run.rank == 0)
        print_heading();
    for (i = 1; i < argc; i++)
        run_cases(&run, atoi(argv[i]));
    run_failing_case(&run);
    return launch_finish(&run);
}
