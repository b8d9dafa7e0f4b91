/* Ranks that read whole chunks by themselves: nothing is sent, every rank reads from each shard that it wants some
 * of, and no chunk is decoded twice. And what keeps them from it: chunks that are wanted in part or by several ranks,
 * a rank that wants more than its share, ranks that are no servers, other owners. In memory, chunks that are stored
 * as they are may be wanted in part, as long as ranks read at most twice what they want. What is read is the same.
 * Nor are threads for storage in memory started by more ranks than have a processor for one. */
#include <dirent.h>
#include <parapet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "launch.h"

/* A column of chunks for each rank; shards are as wide as the array. */
enum { ROWS = 8, CHUNK_ROWS = 2, SHARD_ROWS = 4, WIDTH = 512 << 10, SHARDS = ROWS / SHARD_ROWS };

typedef struct wanted {
    const char *name;
    int64_t start[2], count[2]; /* of this rank; count 0: nothing */
} wanted;

/* Over all ranks. */
typedef struct counts {
    int64_t sent, sent_bytes, direct_bytes, shards, decoded, missing;
} counts;

enum { COUNTS = sizeof(counts) / sizeof(int64_t) };

typedef struct subject {
    const char *path, *codec;
    bool is_sealed;
    int64_t rows; /* that are written */
} subject;

static const subject subjects[] = {
    {"plain", "none", false, ROWS}, {"packed", "zstd:1", true, ROWS}, {"sparse", "none", false, SHARD_ROWS}};
enum { SUBJECTS = sizeof subjects / sizeof subjects[0] };

static launch run;
static int64_t shape[2];
static unsigned char *data;

static unsigned char value_at(int64_t row, int64_t column)
{
    return (unsigned char)(1 + (row * 31 + column / 5) % 250);
}

/* ---- Writing ---- */

typedef struct own_column {
    int64_t chunks[2], shards[2], start[2], count[2];
    parapet_array_spec spec;
    parapet_part part;
} own_column;

/* What this rank writes, in `data`. */
static void describe(own_column *made, const subject *of)
{
    int64_t row, column;
    *made = (own_column){.chunks = {CHUNK_ROWS, WIDTH},
                         .shards = {SHARD_ROWS, shape[1]},
                         .start = {0, (int64_t)run.rank * WIDTH},
                         .count = {of->rows, WIDTH}};
    made->spec = (parapet_array_spec){.type = PARAPET_UINT8,
                                      .ndim = 2,
                                      .shape = shape,
                                      .chunks = made->chunks,
                                      .shards = made->shards,
                                      .codec = of->codec};
    made->part = (parapet_part){.ndim = 2, .start = made->start, .count = made->count, .data = data};
    for (row = 0; row < of->rows; row++)
        for (column = 0; column < WIDTH; column++)
            data[row * WIDTH + column] = value_at(row, made->start[1] + column);
}

static void write_array(parapet_store *store, const subject *of)
{
    parapet_array *array = NULL;
    own_column own;
    describe(&own, of);
    if (LAUNCH_OK(&run, parapet_array_create(&array, store, of->path, &own.spec)) &&
        LAUNCH_OK(&run, parapet_array_write(array, &own.part, 1)) && of->is_sealed)
        (void)LAUNCH_OK(&run, parapet_array_seal(array));
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
}

/* ---- Reading ---- */

static void check_values(const subject *of, const wanted *what)
{
    int64_t row, column;
    bool is_right = true;
    for (row = 0; row < what->count[0]; row++)
        for (column = 0; column < what->count[1]; column++) {
            int64_t at = what->start[0] + row;
            unsigned char value = at < of->rows ? value_at(at, what->start[1] + column) : 0;
            is_right = is_right && data[row * what->count[1] + column] == value;
        }
    launch_expect(&run, is_right, what->name);
}

static counts read_part(const subject *of, const wanted *what, const parapet_store_options *options)
{
    parapet_part part = {.ndim = 2, .start = what->start, .count = what->count, .data = data};
    parapet_statistics seen = {0};
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    counts all;
    char url[600];
    (void)snprintf(url, sizeof url, "%s/own.zarr", run.folder);
    memset(data, 255, (size_t)(what->count[0] * what->count[1]));
    if (LAUNCH_OK(&run, parapet_store_open(&store, MPI_COMM_WORLD, url, PARAPET_READ, options)) &&
        LAUNCH_OK(&run, parapet_array_open(&array, store, of->path)) &&
        LAUNCH_OK(&run, parapet_array_read(array, &part, what->count[0] > 0)))
        check_values(of, what);
    (void)parapet_store_get_statistics(store, &seen);
    launch_expect(&run, seen.memory_peak_bytes <= seen.memory_planned_bytes, "buffers within the plan");
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
    all = (counts){.sent = seen.messages_sent,
                   .sent_bytes = seen.message_bytes,
                   .direct_bytes = seen.direct_bytes,
                   .shards = seen.shards_owned,
                   .decoded = seen.chunks_decoded,
                   .missing = seen.chunks_missing};
    launch_sum((int64_t *)&all, COUNTS);
    return all;
}

/* ---- Cases ---- */

static wanted column_of_rank(void)
{
    return (wanted){"its own column", {0, (int64_t)run.rank * WIDTH}, {ROWS, WIDTH}};
}

/* Every rank reads what it wants, of so many columns of chunks in all, and nobody sends anything. */
static void expect_alone(const subject *of, const wanted *what, int64_t columns, const parapet_store_options *options)
{
    counts all = read_part(of, what, options);
    int64_t chunks = of->rows / CHUNK_ROWS * columns;
    launch_expect(&run, all.sent == 0 && all.sent_bytes == 0 && all.direct_bytes == 0, "nothing sent");
    launch_expect(&run, all.shards == SHARDS * run.ranks, "every rank reads from every shard");
    launch_expect(&run, all.decoded == chunks, "as many chunks decoded as ranks want");
    launch_expect(&run, all.missing == ROWS / CHUNK_ROWS * columns - chunks, "every chunk that is not stored");
}

static void expect_self_service(const subject *of, const parapet_store_options *options)
{
    wanted what = column_of_rank();
    expect_alone(of, &what, run.ranks, options);
}

/* Each shard that is wanted has one owner; `crosses`: which has to hand out something, if there are several ranks. */
static void expect_owners(const subject *of, const wanted *what, const parapet_store_options *options, bool crosses)
{
    counts all = read_part(of, what, options);
    launch_expect(&run, all.shards <= SHARDS, what->name);
    launch_expect(&run, !crosses || run.ranks == 1 || all.sent + all.direct_bytes > 0, "something sent");
}

static void run_owners(const subject *of, parapet_store_options options)
{
    wanted all = {"a row of chunks, on every rank", {0, 0}, {CHUNK_ROWS, shape[1]}};
    wanted one = {"the whole array, on the last rank", {0, 0}, {ROWS, shape[1]}};
    wanted own = column_of_rank();
    bool is_stored = of->rows == ROWS;
    one.count[0] = run.rank == run.ranks - 1 ? ROWS : 0;
    expect_owners(of, &all, &options, is_stored);
    expect_owners(of, &one, &options, is_stored);
    options.owners = PARAPET_OWNERS_IN_TURN;
    expect_owners(of, &own, &options, is_stored);
    options.owners = PARAPET_OWNERS_NEAREST;
    options.sharing = PARAPET_SHARING_STEALING;
    expect_owners(of, &own, &options, is_stored);
    options.sharing = PARAPET_SHARING_EQUAL;
    options.servers = 1;
    expect_owners(of, &own, &options, is_stored);
}

static void run_parts(const subject *of, const parapet_store_options *options)
{
    wanted part = column_of_rank(), beside = column_of_rank();
    bool may_read_again = launch_is_in_memory(&run) && strcmp(of->codec, "none") == 0, is_stored = of->rows == ROWS;
    part.name = "all but an element of its column";
    part.count[1] -= run.rank == 0;
    beside.name = "parts of two chunks";
    beside.start[1] += WIDTH / 8;
    beside.count[1] -= run.rank == run.ranks - 1 ? WIDTH / 8 : 0;
    if (may_read_again) {
        expect_alone(of, &part, run.ranks, options);
        expect_alone(of, &beside, 2 * run.ranks - 1, options);
    } else {
        expect_owners(of, &part, options, is_stored);
        expect_owners(of, &beside, options, is_stored);
    }
    beside.name = "a quarter of two chunks";
    beside.start[1] += WIDTH / 8 * 5;
    beside.count[1] = run.rank == run.ranks - 1 ? WIDTH / 4 : WIDTH / 2;
    expect_owners(of, &beside, options, is_stored);
}

static int count_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int count = 0;
    while (tasks != NULL && readdir(tasks) != NULL)
        count++;
    if (tasks != NULL)
        (void)closedir(tasks);
    return count;
}

static void write_subjects(parapet_store *store)
{
    bool has_processor = pp_thread_processors() >= 2 * run.ranks;
    int i, threads = count_threads();
    int64_t started;
    for (i = 0; i < SUBJECTS; i++)
        write_array(store, &subjects[i]);
    started = launch_largest(count_threads() - threads);
    launch_expect(&run, (started > 0) == (has_processor || !launch_is_in_memory(&run)), "threads where they pay");
}

/* A restore is a read. */
static void run_restore(parapet_store *store)
{
    wanted what = column_of_rank();
    parapet_statistics before = {0}, after = {0};
    parapet_checkpoint *checkpoint = NULL;
    parapet_restore *restore = NULL;
    parapet_checkpoint_item item = {.name = "a", .part_count = 1};
    own_column own;
    launch_case_begin(&run, 0);
    describe(&own, &subjects[0]);
    item.spec = &own.spec;
    item.parts = &own.part;
    if (LAUNCH_OK(&run, parapet_checkpoint_begin(&checkpoint, store, "restart", NULL)) &&
        LAUNCH_OK(&run, parapet_checkpoint_put(checkpoint, &item, 1)) &&
        LAUNCH_OK(&run, parapet_checkpoint_commit(&checkpoint, NULL)) &&
        LAUNCH_OK(&run, parapet_restore_open(&restore, store, "restart", 0))) {
        (void)parapet_store_get_statistics(store, &before);
        memset(data, 255, (size_t)ROWS * WIDTH);
        (void)LAUNCH_OK(&run, parapet_restore_get(restore, &item, 1));
        (void)parapet_store_get_statistics(store, &after);
        check_values(&subjects[0], &what);
        launch_expect(&run,
                      after.messages_sent == before.messages_sent && after.direct_bytes == before.direct_bytes &&
                          after.shards_owned == before.shards_owned + SHARDS,
                      "a restore in which nothing is sent");
        (void)LAUNCH_OK(&run, parapet_restore_close(&restore));
    }
    (void)launch_case_end(&run, "restored");
}

static void run_case(int number)
{
    const subject *of = &subjects[number % SUBJECTS];
    parapet_store_options options = {.transport = number / SUBJECTS % 2 == 0 ? PARAPET_TRANSPORT_DIRECT
                                                                             : PARAPET_TRANSPORT_MESSAGES};
    if (number / SUBJECTS == 2)
        options.io_thread = PARAPET_IO_THREAD_NONE;
    launch_case_begin(&run, (uint64_t)number);
    expect_self_service(of, &options);
    run_parts(of, &options);
    if (number / SUBJECTS < 2)
        run_owners(of, options);
    (void)launch_case_end(&run, of->path);
}

int main(int argc, char **argv)
{
    char url[600];
    parapet_store *store = NULL;
    int i;
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    shape[0] = ROWS;
    shape[1] = (int64_t)run.ranks * WIDTH;
    data = malloc((size_t)(shape[0] * shape[1]));
    (void)snprintf(url, sizeof url, "%s/own.zarr", run.folder);
    launch_case_begin(&run, 0);
    if (LAUNCH_OK(&run, parapet_store_open(&store, MPI_COMM_WORLD, url, PARAPET_CREATE, NULL)))
        write_subjects(store);
    (void)launch_case_end(&run, "written");
    run_restore(store);
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
    for (i = 0; i < 3 * SUBJECTS; i++)
        run_case(i);
    free(data);
    return launch_finish(&run);
}
