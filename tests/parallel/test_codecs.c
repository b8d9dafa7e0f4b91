/* Every codec, in shards and not, by direct copies and by messages, with one thread and three: written by all ranks
 * together, really compressed by all of them, and read back by others than those who wrote. */
#include <math.h>
#include <parapet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch.h"
#include "tree.h"

enum { NDIM = 3, PLANES = 66, ROWS = 60, COLUMNS = 62 };

typedef struct codec_case {
    const char *codec;
    const char *first_bytes; /* of everything it encodes */
    size_t first_count;
} codec_case;

static const codec_case codecs[] = {
    {"none", NULL, 0},
    {"zstd:1", "\x28\xb5\x2f\xfd", 4},
    {"zstd:9", "\x28\xb5\x2f\xfd", 4},
    {"gzip:1", "\x1f\x8b", 2},
    {"gzip:6", "\x1f\x8b", 2},
    {"blosc:lz4:5:shuffle", "\x02\x01", 2},
    {"blosc:zstd:3:bitshuffle", "\x02\x01", 2},
    {"blosc:blosclz:5:noshuffle", "\x02\x01", 2},
};

static const int64_t shape[NDIM] = {PLANES, ROWS, COLUMNS}, chunks[NDIM] = {16, 16, 32}, shards[NDIM] = {32, 32, 64};
/* Of the chunk grid: 5 x 4 x 2. */
static const int64_t chunk_count = 40;
static const int64_t raw_bytes = 40 * 16 * 16 * 32 * (int64_t)sizeof(double);

static launch run;

/* Rows of a rank in every plane; no multiple of a chunk. */
static void rows_of(int rank, int64_t *start, int64_t *count)
{
    int64_t first = (int64_t)ROWS * rank / run.ranks, end = (int64_t)ROWS * (rank + 1) / run.ranks;
    start[0] = start[2] = 0;
    start[1] = first;
    count[0] = PLANES;
    count[1] = end - first;
    count[2] = COLUMNS;
}

/* Smooth, and with few digits. */
static double value_at(const int64_t *start, const int64_t *count, int64_t element)
{
    int64_t k = element % count[2], j = start[1] + element / count[2] % count[1], i = element / count[2] / count[1];
    return floor(1000 * sin(0.05 * (double)i) * cos(0.07 * (double)j) + (double)k);
}

static int64_t elements_of(const int64_t *count)
{
    return count[0] * count[1] * count[2];
}

static void write_rows(parapet_array *array)
{
    int64_t start[NDIM], count[NDIM], i;
    parapet_part part = {.ndim = NDIM, .start = start, .count = count};
    double *data;
    rows_of(run.rank, start, count);
    part.data = data = malloc((size_t)elements_of(count) * sizeof data[0] + 1);
    for (i = 0; i < elements_of(count); i++)
        data[i] = value_at(start, count, i);
    (void)LAUNCH_OK(&run, parapet_array_write(array, &part, 1));
    free(data);
}

static void read_rows_of_next(parapet_array *array)
{
    int64_t start[NDIM], count[NDIM], i, wrong = 0;
    parapet_part part = {.ndim = NDIM, .start = start, .count = count};
    double *data;
    rows_of((run.rank + 1) % run.ranks, start, count);
    part.data = data = calloc((size_t)elements_of(count) + 1, sizeof data[0]);
    (void)LAUNCH_OK(&run, parapet_array_read(array, &part, 1));
    for (i = 0; i < elements_of(count); i++)
        wrong += data[i] != value_at(start, count, i);
    launch_expect(&run, wrong == 0, "what was written");
    free(data);
}

/* The first chunk of every object stands at its beginning. */
static void check_first_bytes(const char *folder, const char *name, const codec_case *of)
{
    char path[1200], first[8] = {0};
    FILE *file;
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "rb");
    launch_expect(&run, file != NULL && fread(first, 1, sizeof first, file) == sizeof first, "an object");
    if (file != NULL)
        (void)fclose(file);
    launch_expect(&run, memcmp(first, of->first_bytes, of->first_count) == 0, "the codec's first bytes");
}

static void check_objects(const char *folder, const codec_case *of, bool is_sharded)
{
    tree stored = {0};
    int64_t bytes = 0, objects = 0;
    size_t i;
    char text[96];
    if (run.rank != 0)
        return;
    tree_take(&stored, folder);
    for (i = 0; i < stored.count; i++) {
        if (strncmp(stored.files[i].name, "a/c/", 4) != 0)
            continue;
        objects++;
        bytes += (int64_t)stored.files[i].bytes;
        if (of->first_count > 0)
            check_first_bytes(folder, stored.files[i].name, of);
    }
    tree_clear(&stored);
    (void)snprintf(text, sizeof text, "%lld objects, %lld bytes of %lld", (long long)objects, (long long)bytes,
                   (long long)raw_bytes);
    launch_expect(&run, objects == (is_sharded ? 6 : chunk_count), text);
    launch_expect(&run, of->first_count > 0 ? bytes < raw_bytes * 6 / 10 : bytes >= raw_bytes, text);
}

/* Nobody encodes for others: each chunk once, on the ranks that own shards. */
static void check_statistics(parapet_store *store, parapet_transport transport)
{
    parapet_statistics own;
    int64_t sums[6];
    launch_expect(&run, parapet_store_get_statistics(store, &own) == PARAPET_OK, "statistics");
    sums[0] = own.chunks_encoded;
    sums[1] = own.shards_owned > 0 && own.chunks_encoded > 0;
    sums[2] = own.shards_owned > 0;
    sums[3] = own.direct_bytes;
    sums[4] = own.message_bytes;
    sums[5] = own.chunks_decoded;
    launch_sum(sums, 6);
    launch_expect(&run, sums[0] == chunk_count, "every chunk is encoded once");
    launch_expect(&run, sums[1] == sums[2] && (run.ranks < 4 || sums[1] == 4), "every server encodes");
    launch_expect(&run, sums[5] == chunk_count, "every chunk is decoded once");
    launch_expect(&run, transport == 2 ? sums[3] == 0 && sums[4] > 0 : sums[3] + sums[4] > 0, "the transport");
}

static void run_case(const codec_case *of, bool is_sharded, parapet_transport transport, int64_t threads)
{
    static uint64_t number;
    parapet_store_options options = {.owners = PARAPET_OWNERS_IN_TURN,
                                     .transport = transport,
                                     .threads = threads,
                                     .durability = PARAPET_DURABILITY_LEAVE};
    parapet_array_spec spec = {.type = PARAPET_FLOAT64,
                               .ndim = NDIM,
                               .shape = shape,
                               .chunks = chunks,
                               .shards = is_sharded ? shards : NULL,
                               .unsharded = !is_sharded,
                               .codec = of->codec};
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    char path[600], description[128];
    launch_case_begin(&run, number);
    (void)snprintf(path, sizeof path, "%s/codec-%d", run.folder, (int)number++);
    (void)snprintf(description, sizeof description, "%s, %s, transport %d, %d threads", of->codec,
                   is_sharded ? "sharded" : "unsharded", (int)transport, (int)threads);
    if (LAUNCH_OK(&run, parapet_store_open(&store, MPI_COMM_WORLD, path, PARAPET_CREATE, &options)) &&
        LAUNCH_OK(&run, parapet_array_create(&array, store, "a", &spec))) {
        write_rows(array);
        read_rows_of_next(array);
        check_statistics(store, transport);
        check_objects(path, of, is_sharded);
    }
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
    (void)launch_case_end(&run, description);
}

int main(int argc, char **argv)
{
    size_t i;
    int form;
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    for (i = 0; i < sizeof codecs / sizeof codecs[0]; i++)
        for (form = 0; form < 8; form++)
            run_case(&codecs[i], (form & 1) == 0, (form & 2) == 0 ? 1 : 2, (form & 4) == 0 ? 1 : 3);
    return launch_finish(&run);
}
