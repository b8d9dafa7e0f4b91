/* Servers that have nothing left take shards from others: everything is stored once and to the last byte as without,
 * whoever is slow and however data travels; a slow server serves less; and there are few messages more. The same in
 * calls of several arrays, of parts of shards, within little memory, and after a call was cancelled by a server that
 * had just taken something. The storage of a slow server does not go on until others have served some of its shards.
 *
 *     test_stealing */
#include <parapet_store.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/array_handle.h"
#include "array/open.h"
#include "delay.h"
#include "launch.h"
#include "store/store.h"
#include "watch.h"

enum { SHARD = 4096, CHUNK = 512, SHARDS_PER_RANK = 12, RANKS_MOST = 16, ARRAYS_MOST = 3, CRUMB = 16 };

/* A server without threads answers nobody while its storage waits: then each operation waits for a moment only. */
#define MOMENT_SECONDS 0.05
#define TAKEN_LEAST 0.2 /* of the shards of the slow server; it gives about half of them to the first that asks */

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

typedef enum phase { PREPARING, WRITING, READING, PHASES } phase;

/* What all ranks know of a case. */
typedef struct common {
    atomic_int servers[PHASES][ARRAYS_MOST][SHARDS_PER_RANK * RANKS_MOST]; /* where nobody takes: 1 + rank; 0 again
                                                                              when another one has served it */
    atomic_long slow[PHASES], given[PHASES]; /* shards of the slow server, and of them those that others serve */
    atomic_bool is_taken[PHASES];            /* enough of them */
} common;

typedef struct outcome {
    int64_t owned, taken, messages;
} outcome;

static const char *const names[ARRAYS_MOST] = {"a", "b", "c"};
static launch run;
static int32_t *field;
static bool is_taking;
static common *all;
static const taking_case *now;
static atomic_int under_way; /* a phase; PHASES: none */
static atomic_bool is_in_vain;
static int64_t first_total; /* that progress was given; -1: nobody is to be cancelled */

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

static int slow_rank(const taking_case *of)
{
    return of->slow == -2 ? run.ranks - 1 : of->slow;
}

static bool is_slow(const taking_case *of)
{
    return run.rank == slow_rank(of);
}

/* ---- One run ---- */

/* Which shard of which array; false: it is none. */
static bool find_shard(const char *key, int *array, int64_t *shard)
{
    const char *at = strstr(key, "/c/");
    if (at == NULL || at != key + 1 || key[0] < 'a' || key[0] >= 'a' + ARRAYS_MOST)
        return false;
    *array = key[0] - 'a';
    *shard = strtoll(at + strlen("/c/"), NULL, 10);
    return true;
}

/* Whose storage serves what is known from the run before, in which nobody takes. */
static void note_server(void *context, const char *operation, const char *key)
{
    int of = atomic_load(&under_way), slow = 1 + slow_rank(now), array;
    atomic_int *server;
    int64_t shard;
    (void)context;
    (void)operation;
    if (of == PHASES || !find_shard(key, &array, &shard))
        return;
    server = &all->servers[of][array][shard];
    if (!is_taking && atomic_exchange(server, 1 + run.rank) == 0 && is_slow(now))
        (void)atomic_fetch_add(&all->slow[of], 1);
    if (!is_taking || is_slow(now) || !atomic_compare_exchange_strong(server, &slow, 0))
        return;
    if ((double)(1 + atomic_fetch_add(&all->given[of], 1)) >= TAKEN_LEAST * (double)atomic_load(&all->slow[of]))
        atomic_store(&all->is_taken[of], true);
}

static void wait_for_takers(void *context, const char *operation, const char *key)
{
    bool is_brief = now->io_thread == PARAPET_IO_THREAD_NONE;
    int of = atomic_load(&under_way), array;
    int64_t shard;
    (void)context;
    (void)operation;
    if (!is_taking || of == PHASES || !is_slow(now) || !find_shard(key, &array, &shard) || atomic_load(&is_in_vain))
        return;
    if (!delay_until(&all->is_taken[of], is_brief ? MOMENT_SECONDS : DELAY_PATIENCE_SECONDS) && !is_brief)
        atomic_store(&is_in_vain, true);
}

/* Together. */
static void begin_phase(phase of)
{
    watch_meet();
    atomic_store(&under_way, (int)of);
}

static void end_phase(void)
{
    atomic_store(&under_way, PHASES);
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
    if (total > first_total)
        atomic_store(&all->is_taken[PREPARING], true);
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
        begin_phase(PREPARING);
        status = LAUNCH_AGREED(&run, parapet_arrays_write(list, count_arrays(of)));
        end_phase();
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
    int i;
    find_part(of, run.rank, &start, &count);
    crumble(of, &part, &made);
    if (!make_arrays(of, store, list, &made))
        return;
    prepare_case(of, list, &start, &count);
    before = statistics_of(store);
    begin_phase(WRITING);
    (void)LAUNCH_OK(&run, parapet_arrays_write(list, count_arrays(of)));
    end_phase();
    fill_part(start, count, 0);
    begin_phase(READING);
    (void)LAUNCH_OK(&run, parapet_arrays_read(list, count_arrays(of)));
    end_phase();
    launch_expect(&run, has_values(start, count), "the values that were written");
    after = statistics_of(store);
    count_all(&before, &after, out);
    for (i = 0; i < count_arrays(of); i++)
        (void)LAUNCH_OK(&run, parapet_array_close(&list[i].array));
    free(made.starts);
    free(made.parts);
}

static outcome run_store(const taking_case *of, parapet_sharing sharing, const char *path)
{
    parapet_store_options options = {.transport = of->transport,
                                     .sharing = sharing,
                                     .io_thread = of->io_thread,
                                     .threads = of->threads,
                                     .servers = of->servers > 0 ? of->servers : run.ranks,
                                     .memory_bytes = of->memory_bytes,
                                     .deadline_seconds = of->deadline_seconds,
                                     .progress = cancel_taker};
    delay_plan plan = {.wait = wait_for_takers, .record = note_server};
    pp_posix_options posix = {.not_durable = true, .create = true};
    pp_store *inner = NULL, *delayed = NULL;
    parapet_store *store = NULL;
    outcome out = {0};
    is_taking = sharing == PARAPET_SHARING_STEALING;
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
    outcome kept, moved;
    int array;
    now = of;
    launch_case_begin(&run, (uint64_t)number);
    (void)snprintf(kept_path, sizeof kept_path, "%s/kept-%d", run.folder, number);
    (void)snprintf(moved_path, sizeof moved_path, "%s/moved-%d", run.folder, number);
    if (run.rank == 0)
        memset(all, 0, sizeof *all);
    kept = run_store(of, PARAPET_SHARING_EQUAL, kept_path);
    moved = run_store(of, PARAPET_SHARING_STEALING, moved_path);
    check_counts(of, &kept, &moved);
    for (array = 0; array < count_arrays(of); array++)
        compare_shards(kept_path, moved_path, names[array]);
    (void)snprintf(text, sizeof text,
                   "%s: others serve %ld of %ld shards when it writes and %ld of %ld when it reads", of->name,
                   atomic_load(&all->given[WRITING]), atomic_load(&all->slow[WRITING]),
                   atomic_load(&all->given[READING]), atomic_load(&all->slow[READING]));
    if (run.rank == 0)
        printf("%s, %lld taken\n", text, (long long)moved.taken);
    launch_expect(
        &run, of->slow == -1 || (atomic_load(&all->is_taken[WRITING]) && atomic_load(&all->is_taken[READING])), text);
    launch_expect(&run, !atomic_load(&is_in_vain), "that other servers take from the slow one");
    (void)launch_case_end(&run, text);
}

int main(int argc, char **argv)
{
    size_t i;
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    all = launch_share(&run, sizeof *all);
    atomic_store(&under_way, PHASES);
    field = malloc((size_t)element_count() * sizeof field[0]);
    launch_expect(&run, field != NULL, "memory");
    for (i = 0; field != NULL && i < sizeof cases / sizeof cases[0]; i++)
        if (!is_raced(&cases[i]))
            run_case(&cases[i], (int)i);
    free(field);
    return launch_finish(&run);
}
