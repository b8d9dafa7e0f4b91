/* Several ranks, or several parts of one, read the same elements: more has to be sent than a window holds. Every rank
 * reads the whole array, the same box, boxes that overlap, and one box many times, of chunks that are decoded, that
 * are read in bands, and that are verified on the way; in little memory and in plenty, where each chunk is decoded
 * once. Buffers stay within the plan, the plan within the limit, and a refusal names a limit that is enough. */
#include <parapet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comm/direct.h"
#include "launch.h"

enum { ROWS = 48, COLUMNS = 2000, PARTS = 5, PATTERNS = 5, CHUNKS_MOST = ROWS * COLUMNS / 40 };

typedef struct subject {
    const char *path;
    int64_t chunks[2], shards[2];
    const char *codec;
    int no_checksum;
} subject;

static const subject subjects[] = {
    {"packed", {8, 100}, {16, 1000}, "zstd:1", 0},
    {"fine", {2, 20}, {48, 2000}, "zstd:1", 0},
    {"plain", {48, 2000}, {48, 2000}, "none", 1},
    {"checked", {24, 2000}, {48, 2000}, "none", 0},
};
enum { SUBJECTS = sizeof subjects / sizeof subjects[0] };

static launch run;
static uint32_t elements[ROWS * COLUMNS];
static uint32_t found[PARTS][ROWS * COLUMNS];
static const int64_t shape[2] = {ROWS, COLUMNS};

static void write_array(parapet_store *store, const subject *of)
{
    int64_t start[2] = {0};
    parapet_array_spec spec = {.type = PARAPET_UINT32,
                               .ndim = 2,
                               .shape = shape,
                               .chunks = of->chunks,
                               .shards = of->shards,
                               .codec = of->codec,
                               .no_checksum = of->no_checksum};
    parapet_part part = {.ndim = 2, .start = start, .count = shape, .data = elements};
    parapet_array *array = NULL;
    if (LAUNCH_OK(&run, parapet_array_create(&array, store, of->path, &spec)))
        (void)LAUNCH_OK(&run, parapet_array_write(array, &part, run.rank == 0));
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
}

/* ---- What is read ---- */

typedef struct request {
    int64_t start[PARTS][2], count[PARTS][2];
    parapet_part parts[PARTS];
    int part_count;
} request;

static void add(request *made, int64_t row, int64_t column, int64_t rows, int64_t columns)
{
    int i = made->part_count++;
    memcpy(made->start[i], (int64_t[]){row, column}, sizeof made->start[i]);
    memcpy(made->count[i], (int64_t[]){rows, columns}, sizeof made->count[i]);
    memset(found[i], 0xA5, sizeof found[i]);
    made->parts[i] = (parapet_part){.ndim = 2, .start = made->start[i], .count = made->count[i], .data = found[i]};
}

static void make_request(request *made, int pattern)
{
    int i;
    made->part_count = 0;
    switch (pattern) {
    case 0:
        add(made, 0, 0, ROWS, COLUMNS);
        break;
    case 1:
        add(made, 5, 37, 25, 1500);
        break;
    case 2:
        add(made, 2 * run.rank, 11 * run.rank, ROWS / 2, COLUMNS / 2);
        break;
    case 3: /* a small part of a shard */
        add(made, 1, 3, 14, 250);
        break;
    default: /* a few times more than a window holds, by one rank alone */
        for (i = 0; i < PARTS && run.rank == run.ranks - 1; i++)
            add(made, i, 0, 40, 1900);
        break;
    }
}

static bool is_right(const request *made, int part)
{
    const int64_t *start = made->start[part], *count = made->count[part];
    int64_t row;
    for (row = 0; row < count[0]; row++)
        if (memcmp(found[part] + row * count[1], elements + (start[0] + row) * COLUMNS + start[1],
                   (size_t)count[1] * sizeof elements[0]) != 0)
            return false;
    return true;
}

/* ---- How often chunks are decoded ---- */

/* Chunks that some rank reads elements of. */
static int64_t count_touched(const subject *of, const request *made)
{
    static int64_t is_touched[CHUNKS_MOST];
    int64_t columns = COLUMNS / of->chunks[1], row, column, count = 0;
    int i;
    memset(is_touched, 0, sizeof is_touched);
    for (i = 0; i < made->part_count; i++) {
        const int64_t *start = made->start[i], *extent = made->count[i];
        for (row = start[0] / of->chunks[0]; row * of->chunks[0] < start[0] + extent[0]; row++)
            for (column = start[1] / of->chunks[1]; column * of->chunks[1] < start[1] + extent[1]; column++)
                is_touched[row * columns + column] = 1;
    }
    launch_sum(is_touched, CHUNKS_MOST);
    for (i = 0; i < CHUNKS_MOST; i++)
        count += is_touched[i] > 0;
    return count;
}

/* Of chunks that are decoded whole. What is copied directly may have to be done again by messages. */
static void check_decoded(const subject *of, const request *made, const parapet_store_options *options,
                          int64_t decoded)
{
    int64_t touched;
    if (strcmp(of->codec, "none") == 0 || options->transport == PARAPET_TRANSPORT_DIRECT)
        return;
    touched = count_touched(of, made);
    launch_sum(&decoded, 1);
    launch_expect(&run, options->memory_bytes > 0 || decoded == touched, "each chunk decoded once");
}

static parapet_status read_once(const subject *of, const request *made, const parapet_store_options *options)
{
    char url[600];
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    parapet_statistics done = {0};
    parapet_status status;
    (void)snprintf(url, sizeof url, "%s/same.zarr", run.folder);
    status = LAUNCH_AGREED(&run, parapet_store_open(&store, MPI_COMM_WORLD, url, PARAPET_READ, options));
    if (status != PARAPET_OK)
        return status;
    status = LAUNCH_AGREED(&run, parapet_array_open(&array, store, of->path));
    if (status == PARAPET_OK)
        status = LAUNCH_AGREED(&run, parapet_array_read(array, made->parts, made->part_count));
    (void)parapet_store_get_statistics(store, &done);
    if (status == PARAPET_OK)
        check_decoded(of, made, options, done.chunks_decoded);
    launch_expect(&run, done.memory_peak_bytes <= done.memory_planned_bytes, "buffers within the plan");
    launch_expect(&run, options->memory_bytes == 0 || done.memory_planned_bytes <= options->memory_bytes,
                  "a plan within memory_bytes");
    if (array != NULL)
        (void)parapet_array_close(&array);
    (void)parapet_store_close(&store);
    return status;
}

/* ---- In how much memory ---- */

/* A refusal names a limit that is enough. */
static void read_pattern(const subject *of, int pattern, parapet_store_options options)
{
    bool was_refused = false;
    request made;
    parapet_status status;
    int i;
    make_request(&made, pattern);
    do
        status = read_once(of, &made, &options);
    while (launch_raise_limit(&run, status, &options.memory_bytes, &was_refused));
    launch_expect(&run, status == PARAPET_OK, "a read that succeeds with the limit that was named");
    for (i = 0; i < made.part_count; i++)
        launch_expect(&run, is_right(&made, i), "the elements that were written");
}

/* By messages, or into the memory of the other ranks, of which one is refused on the way. */
static void choose_transport(int number, bool is_direct, parapet_store_options *options)
{
    options->transport = is_direct ? PARAPET_TRANSPORT_DIRECT : PARAPET_TRANSPORT_MESSAGES;
    pp_direct_fail_at(is_direct && run.rank == 0 ? number % 11 : -1, number % 2 == 0);
}

static void run_case(int number, bool is_direct)
{
    static const int64_t limits[] = {1 << 20, 0};
    int of = number % SUBJECTS, pattern = number / SUBJECTS % PATTERNS, limit = number / SUBJECTS / PATTERNS;
    parapet_store_options options = {.memory_bytes = limits[limit], .servers = pattern % 2 + 1};
    char words[80];
    if (number % 5 == 4)
        options.io_thread = PARAPET_IO_THREAD_NONE;
    (void)snprintf(words, sizeof words, "%s, pattern %d, %lld bytes%s", subjects[of].path, pattern,
                   (long long)limits[limit], is_direct ? ", direct" : "");
    launch_case_begin(&run, (uint64_t)number);
    choose_transport(number, is_direct, &options);
    read_pattern(&subjects[of], pattern, options);
    pp_direct_fail_at(-1, false);
    (void)launch_case_end(&run, words);
}

int main(int argc, char **argv)
{
    char url[600];
    parapet_store *store = NULL;
    int i;
    launch_start(&run, &argc, &argv, MPI_THREAD_MULTIPLE);
    for (i = 0; i < ROWS * COLUMNS; i++)
        elements[i] = (uint32_t)i * 2654435761u;
    (void)snprintf(url, sizeof url, "%s/same.zarr", run.folder);
    launch_case_begin(&run, 0);
    if (LAUNCH_OK(&run, parapet_store_open(&store, MPI_COMM_WORLD, url, PARAPET_CREATE, NULL)))
        for (i = 0; i < SUBJECTS; i++)
            write_array(store, &subjects[i]);
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
    (void)launch_case_end(&run, "written");
    for (i = 0; i < 2 * SUBJECTS * PATTERNS * 2; i++)
        run_case(i / 2, i % 2 != 0);
    return launch_finish(&run);
}
