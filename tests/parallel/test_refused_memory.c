/* Calls that are refused memory: chunks are large or parts are many, and memory_bytes is as small as it can be. The
 * limit that a refusal names is enough at the first attempt, however servers share the work. Runs under the launcher
 * on any number of ranks:
 *
 *     parallel_refused_memory FIRST CASES
 *
 * runs the seeds from FIRST; CASES 1 repeats one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch.h"
#include "settings.h"

enum { STREAM_CASE = 500, NDIM_MOST = 5 };
#define LEAST_MEMORY_BYTES ((int64_t)1 << 20)

/* An array of bytes in one long row, of which rank r has some pieces of one length. */
typedef struct trial {
    launch *run;
    parapet_store_options options;
    char url[600];
    int ndim;
    int64_t bytes, piece_bytes, chunk_bytes, shard_bytes;
    int holder; /* of nearly all pieces; the number of ranks: all have alike */
    const char *codec;
    parapet_store *store;
    parapet_array *array;
    int64_t refusals;
} trial;

/* What one rank holds. */
typedef struct holding {
    int count;
    int64_t *starts, *counts; /* ndim of each */
    parapet_part *parts;
    unsigned char *data;
} holding;

static unsigned char value_at(int64_t byte)
{
    return (unsigned char)(byte * 37 + byte / 251 + 1);
}

static int holder_of(const trial *test, int64_t piece)
{
    if (test->holder < test->run->ranks && piece % 64 != 0)
        return test->holder;
    return (int)((piece + piece / test->run->ranks) % test->run->ranks);
}

static int64_t piece_count(const trial *test)
{
    return (test->bytes + test->piece_bytes - 1) / test->piece_bytes;
}

static void hold_piece(const trial *test, int64_t piece, holding *made)
{
    int64_t *start = made->starts + (size_t)made->count * NDIM_MOST, *count = made->counts + (start - made->starts);
    int64_t end = (piece + 1) * test->piece_bytes;
    int d;
    for (d = 0; d < test->ndim; d++)
        count[d] = 1;
    start[test->ndim - 1] = piece * test->piece_bytes;
    count[test->ndim - 1] = (end < test->bytes ? end : test->bytes) - start[test->ndim - 1];
    made->parts[made->count++] = (parapet_part){
        .ndim = test->ndim, .start = start, .count = count, .data = made->data + start[test->ndim - 1]};
}

static void hold(const trial *test, holding *made)
{
    size_t most = (size_t)piece_count(test);
    int64_t piece;
    *made = (holding){.starts = calloc(most * NDIM_MOST, sizeof(int64_t)),
                      .counts = calloc(most * NDIM_MOST, sizeof(int64_t)),
                      .parts = calloc(most, sizeof(parapet_part)),
                      .data = calloc((size_t)test->bytes, 1)};
    for (piece = 0; piece < (int64_t)most; piece++)
        if (holder_of(test, piece) == test->run->rank)
            hold_piece(test, piece, made);
}

static void let_go(holding *made)
{
    free(made->starts);
    free(made->counts);
    free(made->parts);
    free(made->data);
}

/* Puts the values of what is held, or tells whether they are there. */
static bool has_values(const trial *test, const holding *of, bool puts)
{
    int64_t piece, byte;
    for (piece = 0; piece < piece_count(test); piece++) {
        if (holder_of(test, piece) != test->run->rank)
            continue;
        for (byte = piece * test->piece_bytes; byte < test->bytes && byte < (piece + 1) * test->piece_bytes; byte++) {
            if (puts)
                of->data[byte] = value_at(byte);
            else if (of->data[byte] != value_at(byte))
                return false;
        }
    }
    return true;
}

/* ---- Calls ---- */

static bool open_handles(trial *test)
{
    return LAUNCH_OK(test->run,
                     parapet_store_open(&test->store, MPI_COMM_WORLD, test->url, PARAPET_UPDATE, &test->options)) &&
           LAUNCH_OK(test->run, parapet_array_open(&test->array, test->store, "a"));
}

static void check_memory(const trial *test)
{
    parapet_statistics seen = {0};
    launch_expect(test->run, parapet_store_get_statistics(test->store, &seen) == PARAPET_OK, "statistics");
    launch_expect(test->run, seen.memory_planned_bytes <= test->options.memory_bytes, "a plan within the limit");
    launch_expect(test->run, seen.memory_peak_bytes <= seen.memory_planned_bytes, "buffers within the plan");
}

static void close_handles(trial *test)
{
    (void)LAUNCH_OK(test->run, parapet_array_close(&test->array));
    (void)LAUNCH_OK(test->run, parapet_store_close(&test->store));
}

static bool create_array(const trial *test)
{
    int64_t shape[NDIM_MOST] = {1, 1, 1, 1, 1}, chunks[NDIM_MOST] = {1, 1, 1, 1, 1},
            shards[NDIM_MOST] = {1, 1, 1, 1, 1};
    parapet_array_spec spec = {.type = PARAPET_UINT8,
                               .ndim = test->ndim,
                               .shape = shape,
                               .chunks = chunks,
                               .shards = shards,
                               .codec = test->codec};
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    shape[test->ndim - 1] = test->bytes;
    chunks[test->ndim - 1] = test->chunk_bytes;
    shards[test->ndim - 1] = test->shard_bytes;
    return LAUNCH_OK(test->run, parapet_store_open(&store, MPI_COMM_WORLD, test->url, PARAPET_CREATE, NULL)) &&
           LAUNCH_OK(test->run, parapet_array_create(&array, store, "a", &spec)) &&
           LAUNCH_OK(test->run, parapet_array_close(&array)) && LAUNCH_OK(test->run, parapet_store_close(&store));
}

/* With as little memory as there may be, then with what was named. */
static bool move(trial *test, const holding *of, bool writes)
{
    bool was_refused = false;
    parapet_status status = PARAPET_ERR_MEMORY;
    test->options.memory_bytes = LEAST_MEMORY_BYTES + (test->options.write_back ? test->options.cache_bytes : 0);
    while (open_handles(test)) {
        status = launch_agreed(test->run,
                               (writes ? parapet_array_write : parapet_array_read)(test->array, of->parts, of->count),
                               writes ? "write" : "read");
        if (!launch_raise_limit(test->run, status, &test->options.memory_bytes, &was_refused))
            break;
        test->refusals++;
        close_handles(test);
    }
    if (!launch_ok(test->run, status, writes ? "write" : "read"))
        return false;
    check_memory(test);
    close_handles(test);
    return true;
}

/* ---- Cases ---- */

static void draw_form(trial *test, draw *from)
{
    static const char *const codecs[] = {"none", "zstd:1"};
    test->ndim = (int)draw_between(from, 1, NDIM_MOST);
    test->bytes = draw_between(from, 1, 3 << 20);
    test->chunk_bytes = (int64_t)1 << draw_between(from, 14, 22);
    test->shard_bytes = test->chunk_bytes * draw_between(from, 1, 4);
    test->piece_bytes = 1 + test->bytes / ((int64_t)1 << draw_between(from, 0, 13));
    test->holder = (int)draw_between(from, 0, 2 * test->run->ranks);
    test->codec = codecs[draw_between(from, 0, 1)];
}

static void run_case(launch *run, uint64_t seed, int64_t *refusals)
{
    draw from = draw_start(seed, STREAM_CASE);
    trial test = {.run = run};
    holding own;
    char words[900];
    launch_case_begin(run, seed);
    test.options = settings_draw(&from, run->ranks);
    draw_form(&test, &from);
    (void)snprintf(test.url, sizeof test.url, "%s/%llu", run->folder, (unsigned long long)seed);
    hold(&test, &own);
    (void)has_values(&test, &own, true);
    if (create_array(&test) && move(&test, &own, true)) {
        memset(own.data, 0, (size_t)test.bytes);
        if (move(&test, &own, false))
            launch_expect(run, has_values(&test, &own, false), "what was written");
    }
    close_handles(&test);
    let_go(&own);
    (void)snprintf(words, sizeof words,
                   "%lld bytes in pieces of %lld, chunks of %lld, shards of %lld, %s, holder %d, ",
                   (long long)test.bytes, (long long)test.piece_bytes, (long long)test.chunk_bytes,
                   (long long)test.shard_bytes, test.codec, test.holder);
    settings_print(&test.options, words + strlen(words), 600);
    (void)launch_case_end(run, words);
    *refusals += test.refusals;
}

int main(int argc, char **argv)
{
    int64_t refusals = 0;
    long cases, i;
    uint64_t first;
    launch run;
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    cases = argc > 2 ? strtol(argv[2], NULL, 10) : 1;
    for (i = 0; i < cases; i++)
        run_case(&run, first + (uint64_t)i, &refusals);
    if (run.rank == 0)
        (void)printf("%ld cases on %d ranks, %lld calls refused memory and repeated\n", cases, run.ranks,
                     (long long)refusals);
    return launch_finish(&run);
}
