/* Servers that have nothing left take shards from others: everything is stored once and to the last byte as without,
 * whoever is slow and however data travels; a slow server holds nobody; and there are few messages more. The same in
 * calls of several arrays, of parts of shards, within little memory, and after a call was cancelled by a server that
 * had just taken something.
 *
 *     test_taking */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/array_handle.h"
#include "array/open.h"
#include "delay.h"
#include "launch.h"
#include "store/store.h"
#include "tree.h"
#include "watch.h"

enum { SHARD = 4096, CHUNK = 512, SHARDS_PER_RANK = 12, ARRAYS_MOST = 3, CRUMB = 16, TRIES = 3 };

#define FAST_SECONDS 0.001 /* before each operation of storage */
#define SLOW_SECONDS 0.006
#define GAIN_MOST 0.8 /* of what the slow server waits for storage alone; the ideal is about half of it */

typedef struct taking_case {
    const char *name;
    int slow; /* rank; -1: none */
    parapet_transport transport;
    parapet_io_thread io_thread;
    int64_t threads;
    int64_t servers;      /* 0: all ranks */
    bool is_crowded;      /* rank 0 holds all of the array */
    int arrays;           /* in one call; 0: one */
    bool is_partial;      /* most of what is written is there already, and some of each rank's part stays */
    bool is_cancelled;    /* the first call, when a rank hears that its share has grown */
    int64_t memory_bytes; /* 0: plenty */
    int64_t deadline_seconds;
    bool is_crumbled; /* a rank has hundreds of parts of every shard */
} taking_case;

static const taking_case cases[] = {
    {"nobody is slow", -1, PARAPET_TRANSPORT_DIRECT, PARAPET_IO_THREAD_OWN, 1, .servers = 0},
    {"the first is slow", 0, PARAPET_TRANSPORT_MESSAGES, PARAPET_IO_THREAD_OWN, 1, .servers = 0},
    {"the last is slow", -2, PARAPET_TRANSPORT_DIRECT, PARAPET_IO_THREAD_OWN, 2, .servers = 0},
    {"the last is slow, without threads", -2, PARAPET_TRANSPORT_MESSAGES, PARAPET_IO_THREAD_NONE, 1, .servers = 0},
    {"two servers", 0, PARAPET_TRANSPORT_MESSAGES, PARAPET_IO_THREAD_OWN, 1, .servers = 2},
    {"one rank has it all", 0, PARAPET_TRANSPORT_DIRECT, PARAPET_IO_THREAD_OWN, 1, .is_crowded = true},
    {"three arrays", -2, PARAPET_TRANSPORT_MESSAGES, PARAPET_IO_THREAD_OWN, 1, .arrays = 3},
    {"parts of shards", 0, PARAPET_TRANSPORT_DIRECT, PARAPET_IO_THREAD_OWN, 1, .is_partial = true},
    {"little memory, a deadline", -2, PARAPET_TRANSPORT_MESSAGES, PARAPET_IO_THREAD_OWN, 1, .memory_bytes = 1 << 20,
     .deadline_seconds = 300},
    {"hundreds of parts in a shard", 0, PARAPET_TRANSPORT_DIRECT, PARAPET_IO_THREAD_OWN, 1, .is_crumbled = true},
    {"cancelled first", 0, PARAPET_TRANSPORT_MESSAGES, PARAPET_IO_THREAD_OWN, 1, .is_cancelled = true},
};

typedef struct outcome {
    double write, read;           /* seconds of the slowest rank */
    double write_held, read_held; /* of these, what storage held the rank that it held longest */
    int64_t owned, taken, most_owned, messages;
} outcome;

static const char *const names[ARRAYS_MOST] = {"a", "b", "c"};
static launch run;
static int32_t *field;
static bool is_taking;
static atomic_int_least64_t operations; /* of storage, by this rank */
static int64_t first_total;             /* that progress was told of; -1: nobody is to be cancelled */

static int64_t element_count(void)
{
    return (int64_t)SHARD * SHARDS_PER_RANK * run.ranks;
}

/* A part of every rank, which begins and ends inside a shard. */
static void find_part(const taking_case *of, int rank, int64_t *start, int64_t *count)
{
    int64_t each = (int64_t)SHARD * SHARDS_PER_RANK, end;
    *start = rank == 0 ? 0 : rank * each - SHARD / 4;
    end = rank == run.ranks - 1 ? element_count() : (rank + 1) * each - SHARD / 4;
    if (of->is_crowded) {
        *start = 0;
        end = rank == 0 ? element_count() : 0;
    }
    *count = end - *start;
}

static bool is_slow(const taking_case *of)
{
    return run.rank == (of->slow == -2 ? run.ranks - 1 : of->slow);
}

/* ---- One run ---- */

static double slowest(double seconds)
{
    return (double)launch_largest((int64_t)(1e9 * seconds)) * 1e-9;
}

static void count_operation(void *context, const char *operation)
{
    (void)context;
    (void)operation;
    (void)atomic_fetch_add(&operations, 1);
}

static double seconds_of_operation(const taking_case *of)
{
    return is_slow(of) ? SLOW_SECONDS : FAST_SECONDS;
}

/* Seconds of the slowest rank, and how long storage held the one that it held longest, since all began together. */
static double measure(const taking_case *of, double begin, double *held)
{
    double seconds = slowest(watch_clock() - begin);
    *held = slowest((double)atomic_exchange(&operations, 0) * seconds_of_operation(of));
    return seconds;
}

static double begin_together(void)
{
    watch_meet();
    (void)atomic_exchange(&operations, 0);
    return watch_clock();
}

static void fill_part(int64_t start, int64_t count, int32_t salt)
{
    int64_t i;
    for (i = 0; i < count; i++)
        field[i] = (int32_t)(start + i) * 31 + salt;
}

static bool has_values(int64_t start, int64_t count)
{
    int64_t i;
    for (i = 0; i < count; i++)
        if (field[i] != (int32_t)(start + i) * 31 + 7)
            return false;
    return true;
}

static parapet_statistics statistics_of(parapet_store *store)
{
    parapet_statistics own;
    launch_expect(&run, parapet_store_get_statistics(store, &own) == PARAPET_OK, "statistics");
    launch_expect(&run, own.memory_peak_bytes <= own.memory_planned_bytes || own.shards_owned == 0,
                  "no more memory than was planned");
    return own;
}

static void count_all(const parapet_statistics *before, const parapet_statistics *after, outcome *out)
{
    int64_t sums[] = {after->shards_owned - before->shards_owned, after->shards_taken - before->shards_taken,
                      after->messages_sent - before->messages_sent};
    out->most_owned = launch_largest(sums[0]);
    launch_sum(sums, 3);
    out->owned = sums[0];
    out->taken = sums[1];
    out->messages = sums[2];
}

/* A server that has taken shards has more to do than at first. */
static int cancel_taker(void *context, int64_t done, int64_t total)
{
    (void)context;
    (void)done;
    if (first_total < 0)
        return 0;
    first_total = first_total == 0 ? total : first_total;
    return total > first_total;
}

static int count_arrays(const taking_case *of)
{
    return of->arrays > 0 ? of->arrays : 1;
}

typedef struct crumbs {
    int64_t *starts;
    parapet_part *parts;
    int count;
} crumbs;

/* The part of a rank as one, or as many small ones. */
static void crumble(const taking_case *of, const parapet_part *whole, crumbs *made)
{
    static const int64_t count = CRUMB;
    int64_t most = *whole->count / CRUMB, i;
    *made = (crumbs){.count = of->is_crumbled ? (int)most : *whole->count > 0};
    made->starts = malloc((size_t)(most + 1) * sizeof made->starts[0]);
    made->parts = calloc((size_t)most + 1, sizeof made->parts[0]);
    launch_expect(&run, made->starts != NULL && made->parts != NULL, "memory");
    made->parts[0] = *whole;
    for (i = 0; i < most && of->is_crumbled; i++) {
        made->starts[i] = *whole->start + i * CRUMB;
        made->parts[i] =
            (parapet_part){.ndim = 1, .start = &made->starts[i], .count = &count, .data = field + i * CRUMB};
    }
}

static bool make_arrays(const taking_case *of, parapet_store *store, parapet_array_parts *list, const crumbs *made)
{
    int64_t shape = element_count(), chunks = CHUNK, shards = SHARD;
    parapet_array_spec spec = {
        .type = PARAPET_INT32, .ndim = 1, .shape = &shape, .chunks = &chunks, .shards = &shards, .codec = "none"};
    bool is_made = true;
    int i;
    for (i = 0; i < count_arrays(of) && is_made; i++) {
        parapet_array *array = NULL;
        is_made = LAUNCH_OK(&run, parapet_array_create(&array, store, names[i], &spec));
        list[i] = (parapet_array_parts){.array = array, .parts = made->parts, .part_count = made->count};
    }
    return is_made;
}

/* The arrays get the same values, and are written from the same memory. */
static void prepare_case(const taking_case *of, const parapet_array_parts *list, int64_t *start, int64_t *count)
{
    parapet_status status;
    if (of->is_partial) {
        fill_part(*start, *count, 9);
        (void)LAUNCH_OK(&run, parapet_arrays_write(list, count_arrays(of)));
        *start += SHARD / 8;
        *count -= SHARD / 2;
    }
    fill_part(*start, *count, 7);
    if (of->is_cancelled) {
        first_total = 0;
        status = LAUNCH_AGREED(&run, parapet_arrays_write(list, count_arrays(of)));
        launch_expect(&run, status == (is_taking ? PARAPET_ERR_CANCELLED : PARAPET_OK), "cancelled by who took some");
    }
    first_total = -1;
}

static void write_and_read(const taking_case *of, parapet_store *store, outcome *out)
{
    int64_t start, count;
    parapet_part part = {.ndim = 1, .start = &start, .count = &count, .data = field};
    parapet_array_parts list[ARRAYS_MOST] = {{0}};
    parapet_statistics before, after;
    crumbs made;
    double begin;
    int i;
    find_part(of, run.rank, &start, &count);
    crumble(of, &part, &made);
    if (!make_arrays(of, store, list, &made))
        return;
    prepare_case(of, list, &start, &count);
    before = statistics_of(store);
    begin = begin_together();
    (void)LAUNCH_OK(&run, parapet_arrays_write(list, count_arrays(of)));
    out->write = measure(of, begin, &out->write_held);
    fill_part(start, count, 0);
    begin = begin_together();
    (void)LAUNCH_OK(&run, parapet_arrays_read(list, count_arrays(of)));
    out->read = measure(of, begin, &out->read_held);
    launch_expect(&run, has_values(start, count), "the values that were written");
    after = statistics_of(store);
    count_all(&before, &after, out);
    for (i = 0; i < count_arrays(of); i++)
        (void)LAUNCH_OK(&run, parapet_array_close(&list[i].array));
    free(made.starts);
    free(made.parts);
}

static outcome run_store(const taking_case *of, parapet_ownership ownership, const char *path)
{
    parapet_store_options options = {.transport = of->transport,
                                     .ownership = ownership,
                                     .io_thread = of->io_thread,
                                     .threads = of->threads,
                                     .servers = of->servers > 0 ? of->servers : run.ranks,
                                     .memory_bytes = of->memory_bytes,
                                     .deadline_seconds = of->deadline_seconds,
                                     .progress = cancel_taker};
    delay_plan plan = {.seconds = seconds_of_operation(of), .record = count_operation};
    pp_posix_options posix = {.not_durable = true, .create = true};
    pp_store *inner = NULL, *delayed = NULL;
    parapet_store *store = NULL;
    outcome out = {0};
    is_taking = ownership == PARAPET_OWNERSHIP_DYNAMIC;
    if (run.rank == 0)
        launch_expect(&run, pp_store_posix_build(&inner, path, &posix) == PARAPET_OK, "a directory");
    watch_meet();
    if (run.rank != 0)
        launch_expect(&run, pp_store_posix_build(&inner, path, &posix) == PARAPET_OK, "a directory");
    launch_expect(&run, delay_store_build(&delayed, inner, &plan) == PARAPET_OK, "a store");
    if (LAUNCH_OK(&run, pp_store_open_over(&store, MPI_COMM_WORLD, delayed, PARAPET_CREATE, &options)))
        write_and_read(of, store, &out);
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
    pp_store_free(delayed);
    pp_store_free(inner);
    watch_meet();
    return out;
}

/* ---- What is stored ---- */

static size_t load(const char *path, const char *array, int64_t shard, unsigned char *bytes, size_t most)
{
    char name[700];
    size_t count = 0;
    FILE *file;
    (void)snprintf(name, sizeof name, "%s/%s/c/%lld", path, array, (long long)shard);
    if ((file = fopen(name, "rb")) == NULL)
        return 0;
    count = fread(bytes, 1, most, file);
    (void)fclose(file);
    return count;
}

static void compare_shards(const char *left, const char *right, const char *array)
{
    enum { MOST = 2 * SHARD * sizeof(int32_t) };
    static unsigned char a[MOST], b[MOST];
    int64_t shard;
    if (run.rank != 0)
        return;
    for (shard = 0; shard < (int64_t)SHARDS_PER_RANK * run.ranks; shard++) {
        size_t bytes = load(left, array, shard, a, MOST);
        launch_expect(&run, bytes > 0 && bytes == load(right, array, shard, b, MOST) && memcmp(a, b, bytes) == 0,
                      "a shard with the same bytes");
    }
}

/* ---- Cases ---- */

/* Several arrays are read into the same memory, which is a race of the caller, if one that does no harm here. */
static bool is_raced(const taking_case *of)
{
#if defined(__SANITIZE_THREAD__)
    return of->arrays > 1;
#else
    (void)of;
    return false;
#endif
}

/* Cases that are about what is stored, not about time. */
static bool is_about_contents(const taking_case *of)
{
    return of->arrays > 0 || of->is_partial || of->is_cancelled || of->is_crumbled || of->memory_bytes > 0;
}

/* One rank is slow: shards move, and storage holds nobody as long. What the clock says is printed only: beside other
 * work it tells more of that. */
static bool has_gained(const taking_case *of, const outcome *kept, const outcome *moved)
{
    if (of->slow == -1 || is_about_contents(of))
        return true;
    return moved->write_held <= GAIN_MOST * kept->write_held && moved->read_held <= GAIN_MOST * kept->read_held;
}

static void check_counts(const taking_case *of, const outcome *kept, const outcome *moved)
{
    int64_t shards = (int64_t)SHARDS_PER_RANK * run.ranks * count_arrays(of), levels = 0;
    int64_t servers = of->servers > 0 ? of->servers : run.ranks;
    while ((INT64_C(1) << levels) < servers)
        levels++;
    launch_expect(&run, kept->owned == 2 * shards && moved->owned == 2 * shards, "every shard served once a call");
    launch_expect(&run, kept->taken == 0, "nothing taken unless that is asked for");
    launch_expect(&run, of->slow == -1 || moved->taken > 0, "shards taken from the slow server");
    launch_expect(&run, moved->taken <= 4 * shards, "hardly a shard taken twice");
    launch_expect(&run,
                  of->transport == PARAPET_TRANSPORT_MESSAGES ||
                      moved->messages - kept->messages <= 4 * moved->taken + 4 * servers * (4 + levels) + 64,
                  "a few messages for each shard that moved, and servers x log(servers)");
}

static void run_case(const taking_case *of, int number)
{
    char kept_path[600], moved_path[600], text[300];
    outcome kept = {0}, moved = {0};
    int i, array;
    launch_case_begin(&run, (uint64_t)number);
    (void)snprintf(kept_path, sizeof kept_path, "%s/kept-%d", run.folder, number);
    (void)snprintf(moved_path, sizeof moved_path, "%s/moved-%d", run.folder, number);
    for (i = 0; i == 0 || (i < TRIES && !has_gained(of, &kept, &moved)); i++) {
        if (run.rank == 0) {
            tree_remove(kept_path);
            tree_remove(moved_path);
        }
        watch_meet();
        kept = run_store(of, PARAPET_OWNERSHIP_LOCALITY, kept_path);
        moved = run_store(of, PARAPET_OWNERSHIP_DYNAMIC, moved_path);
        check_counts(of, &kept, &moved);
        for (array = 0; array < count_arrays(of); array++)
            compare_shards(kept_path, moved_path, names[array]);
    }
    (void)snprintf(
        text, sizeof text,
        "%s: write %.2f -> %.2f s (held %.2f -> %.2f), read %.2f -> %.2f s (%.2f -> %.2f), %lld shards taken",
        of->name, kept.write, moved.write, kept.write_held, moved.write_held, kept.read, moved.read, kept.read_held,
        moved.read_held, (long long)moved.taken);
    if (run.rank == 0)
        printf("%s\n", text);
    launch_expect(&run, has_gained(of, &kept, &moved), text);
    (void)launch_case_end(&run, text);
}

int main(int argc, char **argv)
{
    size_t i;
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    field = malloc((size_t)element_count() * sizeof field[0]);
    launch_expect(&run, field != NULL, "memory");
    for (i = 0; field != NULL && i < sizeof cases / sizeof cases[0]; i++)
        if (!is_raced(&cases[i]))
            run_case(&cases[i], (int)i);
    free(field);
    return launch_finish(&run);
}
