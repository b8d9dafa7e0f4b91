/* The bare limits and Parapet, on the case of case.h.
 *
 *   fpp          a file per rank, its block as it lies in memory, 8 MiB at a time, then fsync
 *   fpp_direct   the same with O_DIRECT
 *   parapet      words: chunks=64x64x64 shards=128x128x128, and any option of a store, such as transport=2 */
#include "own_file.h"

#include <fcntl.h>
#include <parapet.h>
#include <string.h>

static void fpp_write(const bench_case *c)
{
    bench_own_file_write(c, ".", 0);
}

static void fpp_read(const bench_case *c)
{
    bench_own_file_read(c, ".", 0);
}

static void fpp_direct_write(const bench_case *c)
{
    bench_own_file_write(c, ".", O_DIRECT);
}

static void fpp_direct_read(const bench_case *c)
{
    bench_own_file_read(c, ".", O_DIRECT);
}

static void must(parapet_status status, const char *what)
{
    if (status != PARAPET_OK)
        bench_die(what, parapet_error_message());
}

/* Every word that is not about the array is an option of the store. */
static void set_options(const bench_case *c, parapet_store_options *options)
{
    for (int i = 0; i < c->word_count; i++) {
        char name[64];
        size_t length = strcspn(c->words[i], "=");
        if (length >= sizeof name || c->words[i][length] != '=')
            bench_die(c->words[i], "not of the form name=value");
        memcpy(name, c->words[i], length);
        name[length] = '\0';
        if (strcmp(name, "chunks") != 0 && strcmp(name, "shards") != 0)
            must(parapet_store_options_set(options, name, c->words[i] + length + 1), "an option");
    }
}

static parapet_store *open_store(const bench_case *c, parapet_mode mode)
{
    char path[BENCH_PATH_BYTES];
    parapet_store *store = NULL;
    parapet_store_options options = {0};
    set_options(c, &options);
    bench_path(c, "parapet.zarr", path);
    must(parapet_store_open(&store, MPI_COMM_WORLD, path, mode, &options), "opening the store");
    return store;
}

static int64_t crossed_bytes;

static int64_t parapet_bench_crossed(void)
{
    return crossed_bytes;
}

static void count_crossed(parapet_store *store)
{
    parapet_statistics statistics;
    must(parapet_store_get_statistics(store, &statistics), "statistics");
    crossed_bytes = statistics.message_bytes + statistics.direct_bytes;
}

static void parapet_bench_write(const bench_case *c)
{
    int64_t chunks[3], shards[3];
    parapet_store *store = open_store(c, PARAPET_CREATE);
    parapet_array *array = NULL;
    parapet_array_spec spec = {
        .type = PARAPET_FLOAT64, .ndim = 3, .shape = c->shape, .chunks = chunks, .shards = shards, .codec = "none"};
    parapet_part part = {.ndim = 3, .start = c->start, .count = c->count, .data = c->data};
    bench_parse_triple(bench_option(c, "chunks", "64x64x64"), chunks);
    bench_parse_triple(bench_option(c, "shards", "128x128x128"), shards);
    must(parapet_array_create(&array, store, "a", &spec), "making the array");
    must(parapet_array_write(array, &part, 1), "writing");
    count_crossed(store);
    must(parapet_array_close(&array), "closing the array");
    must(parapet_store_close(&store), "closing the store");
}

static void parapet_bench_read(const bench_case *c)
{
    parapet_store *store = open_store(c, PARAPET_READ);
    parapet_array *array = NULL;
    parapet_part part = {.ndim = 3, .start = c->start, .count = c->count, .data = c->data};
    must(parapet_array_open(&array, store, "a"), "opening the array");
    must(parapet_array_read(array, &part, 1), "reading");
    must(parapet_array_close(&array), "closing the array");
    must(parapet_store_close(&store), "closing the store");
}

int main(int argc, char **argv)
{
    static const bench_method methods[] = {{.name = "fpp", .write = fpp_write, .read = fpp_read},
                                           {.name = "fpp_direct", .write = fpp_direct_write, .read = fpp_direct_read},
                                           {.name = "parapet",
                                            .write = parapet_bench_write,
                                            .read = parapet_bench_read,
                                            .crossed = parapet_bench_crossed},
                                           {0}};
    return bench_main(argc, argv, methods);
}
