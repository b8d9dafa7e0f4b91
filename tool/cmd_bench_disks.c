#include "arguments.h"
#include "base/clock.h"
#include "display.h"
#include "document.h"
#include "interrupt.h"
#include "memory.h"
#include "place.h"
#include "quantity.h"
#include "ranks.h"
#include "report.h"
#include "scratch.h"
#include "table.h"
#include "verbs.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const tool_flag flags[] = {{0, 0, NULL, NULL}};

static const tool_value values[] = {
    {0, "seconds", "--seconds N", "end writing, then reading, after this time; default 2"},
    {0, "size", "--size SIZE", "write at most this much on each rank; default 256 MiB"},
    {0, "output", "--output FILE", "write the speeds to a file, for the option weights"},
    {0, NULL, NULL, NULL},
};

enum { SHARD_BYTES_MOST = 16 << 20, CHUNK_BYTES = 1 << 20, NODE_BYTES = 65 };

/* What the storage of one rank did; of one that is no server, nothing. */
typedef struct tool_speed {
    double writing, reading; /* bytes per second */
    int64_t shards;
    int rank;
    char node[NODE_BYTES];
} tool_speed;

/* A measurement: all ranks write shards of one array together, and read them again. */
typedef struct tool_bench {
    const tool_request *request;
    char *folder; /* made for this, and removed with all that is in it */
    int64_t seconds, size_bytes;
    int64_t shard_bytes, rounds_most, rounds;
    parapet_store *store;
    parapet_array *array;
    unsigned char *data;
    tool_speed *speeds; /* of the servers, in their order */
    int server_count;
    int signal; /* that ended it on any rank; 0: none */
} tool_bench;

/* ---- Measuring ---- */

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Whole chunks, and at least one. */
static void choose_sizes(tool_bench *bench)
{
    int64_t bytes = smaller(bench->size_bytes, SHARD_BYTES_MOST) / CHUNK_BYTES * CHUNK_BYTES;
    bench->shard_bytes = bytes > 0 ? bytes : CHUNK_BYTES;
    bench->rounds_most = bench->size_bytes / bench->shard_bytes;
    bench->rounds_most = bench->rounds_most > 0 ? bench->rounds_most : 1;
}

/* File systems that compress shall gain nothing. */
static void fill_data(tool_bench *bench)
{
    uint64_t state = (uint64_t)bench->request->rank * 2 + 88172645463325252U;
    bench->data = memory_get((size_t)bench->shard_bytes);
    for (int64_t i = 0; i < bench->shard_bytes; i += (int64_t)sizeof state) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        memcpy(bench->data + i, &state, sizeof state);
    }
}

/* [collective] Servers take turns, so that server k of S has the shards k, k + S, k + 2 S and so on. */
static parapet_status create(tool_bench *bench)
{
    const tool_request *request = bench->request;
    int64_t shape = request->rank_count * bench->rounds_most * bench->shard_bytes, chunk = CHUNK_BYTES;
    parapet_array_spec spec = {
        .ndim = 1, .type = PARAPET_UINT8, .shape = &shape, .chunks = &chunk, .shards = &bench->shard_bytes};
    parapet_store_options options = request->options;
    parapet_status status;
    options.owners = PARAPET_OWNERS_IN_TURN;
    options.sharing = PARAPET_SHARING_EQUAL;
    spec.codec = "none";
    if ((status = ranks_open_store(request, &bench->store, bench->folder, PARAPET_CREATE, &options)) != PARAPET_OK)
        return status;
    return parapet_array_create(&bench->array, bench->store, "speed", &spec);
}

typedef parapet_status (*tool_transfer)(parapet_array *array, const parapet_part *parts, int part_count);

/* [collective] Every rank brings or gets one shard. */
static parapet_status transfer_round(tool_bench *bench, tool_transfer transfer, int64_t round)
{
    int64_t start = (round * bench->request->rank_count + bench->request->rank) * bench->shard_bytes;
    parapet_part part = {.ndim = 1, .start = &start, .count = &bench->shard_bytes, .data = bench->data};
    return transfer(bench->array, &part, 1);
}

/* [collective] Whether the time is over, or somebody wants it to end. */
static bool is_over(tool_bench *bench, double began)
{
    int64_t is_late = pp_clock_seconds() - began >= (double)bench->seconds;
    bench->signal = (int)ranks_most(bench->request, interrupt_signal());
    return ranks_most(bench->request, is_late) > 0 || bench->signal != 0;
}

/* [collective] Rounds until the time is over; *done: how many. */
static parapet_status transfer_rounds(tool_bench *bench, tool_transfer transfer, int64_t most, int64_t *done)
{
    double began = pp_clock_seconds();
    parapet_status status = PARAPET_OK;
    for (*done = 0; *done < most && status == PARAPET_OK && (*done == 0 || !is_over(bench, began)); (*done)++)
        status = transfer_round(bench, transfer, *done);
    return status;
}

/* [collective] How fast the storage of this rank is, by the library's own clock: as it measures servers at work. */
static parapet_status measure(tool_bench *bench, tool_transfer transfer, int64_t rounds, double *speed)
{
    parapet_statistics before = {0}, after = {0};
    double seconds, bytes;
    int64_t done;
    parapet_status status;
    (void)parapet_store_get_statistics(bench->store, &before);
    if ((status = transfer_rounds(bench, transfer, rounds, &done)) != PARAPET_OK)
        return status;
    (void)parapet_store_get_statistics(bench->store, &after);
    bench->rounds = done;
    seconds = after.storage_seconds - before.storage_seconds;
    bytes = (double)(after.read_bytes + after.written_bytes - before.read_bytes - before.written_bytes);
    *speed = bytes / (seconds > 1e-9 ? seconds : 1e-9);
    return PARAPET_OK;
}

/* What this server has written is not to be read from memory. Where the system keeps it all the same, on tmpfs for
 * example, that is what its programs will find too. */
static void forget_pages(const tool_bench *bench, int server)
{
    for (int64_t shard = server; shard < bench->rounds * bench->request->rank_count; shard += bench->server_count) {
        char *path = text_format("%s/speed/c/%" PRId64, bench->folder, shard);
        int descriptor = open(path, O_RDONLY | O_CLOEXEC);
        if (descriptor >= 0) {
            (void)posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
            (void)close(descriptor);
        }
        free(path);
    }
}

/* [collective] Keeps those of the ranks that are servers. */
static void gather_speeds(tool_bench *bench, const tool_speed *own)
{
    const tool_request *request = bench->request;
    tool_speed *all = memory_get((size_t)request->rank_count * sizeof *all);
    ranks_gather(request, own, all, sizeof *all);
    bench->server_count = 0;
    for (int rank = 0; rank < request->rank_count; rank++)
        if (all[rank].shards > 0)
            all[bench->server_count++] = all[rank];
    free(bench->speeds);
    bench->speeds = all;
}

static int server_of(const tool_bench *bench)
{
    for (int i = 0; i < bench->server_count; i++)
        if (bench->speeds[i].rank == bench->request->rank)
            return i;
    return -1;
}

/* [collective] */
static parapet_status measure_both(tool_bench *bench)
{
    tool_speed own = {.rank = bench->request->rank};
    parapet_statistics statistics = {0};
    parapet_status status;
    (void)gethostname(own.node, sizeof own.node - 1);
    if ((status = measure(bench, parapet_array_write, bench->rounds_most, &own.writing)) != PARAPET_OK)
        return status;
    (void)parapet_store_get_statistics(bench->store, &statistics);
    own.shards = statistics.shards_owned;
    gather_speeds(bench, &own);
    if (server_of(bench) >= 0)
        forget_pages(bench, server_of(bench));
    status = measure(bench, parapet_array_read, bench->rounds, &own.reading);
    gather_speeds(bench, &own);
    return status;
}

/* ---- Telling ---- */

/* Of both directions: those of the fastest server, and what all reach together, at best and in equal shares. */
typedef struct tool_speed_sum {
    double fastest, slowest, sum;
} tool_speed_sum;

static void add_speed(tool_speed_sum *sum, double speed)
{
    sum->fastest = speed > sum->fastest ? speed : sum->fastest;
    sum->slowest = sum->sum == 0 || speed < sum->slowest ? speed : sum->slowest;
    sum->sum += speed;
}

static void add_speeds(const tool_bench *bench, tool_speed_sum *writing, tool_speed_sum *reading)
{
    *writing = *reading = (tool_speed_sum){0};
    for (int i = 0; i < bench->server_count; i++) {
        add_speed(writing, bench->speeds[i].writing);
        add_speed(reading, bench->speeds[i].reading);
    }
}

static double equal_share(const tool_bench *bench, const tool_speed_sum *sum)
{
    return sum->sum > 0 ? bench->server_count * sum->slowest / sum->sum : 1;
}

static void add_row(tool_table *table, const tool_speed *speed, int server, const tool_speed_sum *sums)
{
    table_add(table, text_format("%d", server));
    table_add(table, text_format("%d", speed->rank));
    table_add(table, text_visible(speed->node));
    table_add(table, text_of_rate(speed->writing));
    table_add(table, text_format("%.0f %%", 100 * speed->writing / sums[0].fastest));
    table_add(table, text_of_rate(speed->reading));
    table_add(table, text_format("%.0f %%", 100 * speed->reading / sums[1].fastest));
}

static void print_for_people(const tool_bench *bench)
{
    static const char *const titles[] = {"server", "rank", "node", "writing", "", "reading", ""};
    static const size_t spare[] = {2};
    tool_table table = {.columns = sizeof titles / sizeof titles[0], .spare = spare, .spare_count = 1};
    tool_speed_sum sums[2];
    char *rates[2];
    add_speeds(bench, &sums[0], &sums[1]);
    for (size_t i = 0; i < table.columns; i++)
        table_add(&table, text_format("%s", titles[i]));
    for (int i = 0; i < bench->server_count; i++)
        add_row(&table, &bench->speeds[i], i, sums);
    table_print(&table, "");
    table_free(&table);
    rates[0] = text_of_rate(sums[0].sum);
    rates[1] = text_of_rate(sums[1].sum);
    printf("together      %s writing, %s reading\n", rates[0], rates[1]);
    printf("equal shares  %.0f %% of that when writing, %.0f %% when reading: all wait for the\n"
           "              slowest\n",
           100 * equal_share(bench, &sums[0]), 100 * equal_share(bench, &sums[1]));
    free(rates[0]);
    free(rates[1]);
}

static long long whole_speed(double speed)
{
    const double most = 281474976710656.0; /* 2^48, the largest that counts */
    return speed < 1 ? 1 : llround(speed < most ? speed : most);
}

static void print_for_programs(const tool_bench *bench)
{
    tool_document document = {.out = stdout};
    tool_speed_sum writing, reading;
    add_speeds(bench, &writing, &reading);
    document_open_object(&document, NULL);
    document_text(&document, "directory", bench->request->operands[0]);
    document_open_list(&document, "servers");
    for (int i = 0; i < bench->server_count; i++) {
        document_open_object(&document, NULL);
        document_integer(&document, "server", i);
        document_integer(&document, "rank", bench->speeds[i].rank);
        document_text(&document, "node", bench->speeds[i].node);
        document_integer(&document, "write_rate", whole_speed(bench->speeds[i].writing));
        document_integer(&document, "read_rate", whole_speed(bench->speeds[i].reading));
        document_close(&document);
    }
    document_close(&document);
    document_number(&document, "equal_shares_writing", equal_share(bench, &writing));
    document_number(&document, "equal_shares_reading", equal_share(bench, &reading));
    document_close(&document);
}

/* As the library reads it for the option weights. */
static bool write_weights(const tool_bench *bench, const char *path)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&text, &bytes);
    bool is_written = stream != NULL;
    if (is_written) {
        (void)fprintf(stream, "parapet weights 1\nservers %d\n", bench->server_count);
        for (int i = 0; i < bench->server_count; i++)
            (void)fprintf(stream, "server %d writing %lld reading %lld\n", i, whole_speed(bench->speeds[i].writing),
                          whole_speed(bench->speeds[i].reading));
        (void)fprintf(stream, "end\n");
        is_written = fclose(stream) == 0 && file_write(path, text);
    }
    free(text);
    return is_written;
}

static int tell(const tool_bench *bench)
{
    const char *path = request_value(bench->request, "output");
    if (bench->request->rank > 0)
        return TOOL_OK;
    if (bench->request->flags & TOOL_JSON)
        print_for_programs(bench);
    else
        print_for_people(bench);
    return path == NULL || write_weights(bench, path) ? TOOL_OK : TOOL_FAILED;
}

/* ---- Around it ---- */

/* [collective] False: already reported. */
static bool make_folder(tool_bench *bench)
{
    char path[TOOL_PLACE_BYTES] = "";
    char *made = bench->request->rank == 0 ? scratch_make(bench->request->operands[0], "bench") : NULL;
    if (made != NULL)
        (void)snprintf(path, sizeof path, "%s", made);
    free(made);
    ranks_share(bench->request, path, sizeof path);
    bench->folder = text_format("%s", path);
    return path[0] != '\0';
}

static void watch_signals(const tool_bench *bench)
{
    char *words = text_format("parapet: bench disks: interrupted; remove %s\n", bench->folder);
    interrupt_watch(bench->request, words);
    free(words);
}

/* [collective] */
static int run_in_folder(tool_bench *bench)
{
    parapet_status status;
    watch_signals(bench);
    choose_sizes(bench);
    fill_data(bench);
    if ((status = create(bench)) == PARAPET_OK)
        status = measure_both(bench);
    if (status != PARAPET_OK)
        report_status(status, bench->request->operands[0]);
    (void)parapet_array_close(&bench->array);
    (void)parapet_store_close(&bench->store);
    if (bench->request->rank == 0)
        scratch_remove(bench->folder);
    interrupt_end_orderly();
    if (bench->signal != 0)
        return TOOL_SIGNALLED + bench->signal;
    return status == PARAPET_OK ? tell(bench) : TOOL_FAILED;
}

static int run(const tool_request *request)
{
    tool_bench bench = {.request = request, .seconds = 2};
    double size = 256 << 20;
    int exit_code = TOOL_FAILED;
    if (!integer_parse(request, "seconds", 1, &bench.seconds) || !size_parse(request, "size", &size))
        return TOOL_USAGE;
    bench.size_bytes = (int64_t)(size < 1e15 ? size : 1e15);
    if (make_folder(&bench))
        exit_code = run_in_folder(&bench);
    free(bench.folder);
    free(bench.data);
    free(bench.speeds);
    return exit_code;
}

const tool_verb verb_bench_disks = {
    .name = "bench disks",
    .operands = "DIRECTORY",
    .summary = "Measures how fast the storage of every server is.",
    .details = "All ranks of a launcher write files below DIRECTORY together, flush and read\n"
               "them, and remove them. The servers are those of a job on the same ranks.\n"
               "Example:\n"
               "  mpiexec -n 64 parapet bench disks --output disks.txt /scratch/me\n"
               "  export PARAPET_SHARING=weights PARAPET_WEIGHTS=disks.txt\n",
    .exit_codes = "0 measured, 1 failed, 2 wrong usage,\n"
                  "130 and 143 interrupted by SIGINT and SIGTERM.",
    .flags = flags,
    .values = values,
    .operands_min = 1,
    .operands_max = 1,
    .is_parallel = true,
    .run = run,
};
