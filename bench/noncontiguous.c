/* The bare limit and Parapet, on the patterns of pattern.h.
 *
 *   fpp       a file per rank, its boxes as they lie in memory, 8 MiB at a time, then fsync
 *   parapet   words: chunks=64x64x64 shards=128x128x128 (without them: the library's choice), plain=1 (no checksum),
 *             level=3 (the default: one collective call), and any option of a store, such as holes=skip
 *
 * level=2 reads by one local call, level=0 by one local call for each run. Writing is always collective: there are no
 * local writes. Boxes are parts, and points are runs of the flat index. */
#include "own_file.h"
#include "pattern.h"

#include <parapet.h>
#include <stdlib.h>
#include <string.h>

static const char *const own_words[] = {"level", "chunks", "shards", "plain", "few", NULL};

static void fpp_write(const bench_case *c)
{
    bench_clock_start();
    bench_own_file_write(c, ".", 0);
    bench_clock_stop();
}

static void fpp_read(const bench_case *c)
{
    bench_clock_start();
    bench_own_file_read(c, ".", 0);
    bench_clock_stop();
}

static void must(parapet_status status, const char *what)
{
    if (status != PARAPET_OK)
        bench_die(what, parapet_error_message());
}

static int is_own_word(const char *name)
{
    for (const char *const *word = own_words; *word != NULL; word++)
        if (strcmp(*word, name) == 0)
            return 1;
    return 0;
}

/* Every word that is not ours is an option of the store. */
static void set_options(const bench_case *c, parapet_store_options *options)
{
    for (int i = 0; i < c->word_count; i++) {
        char name[64];
        size_t length = strcspn(c->words[i], "=");
        if (length >= sizeof name || c->words[i][length] != '=')
            bench_die(c->words[i], "not of the form name=value");
        memcpy(name, c->words[i], length);
        name[length] = '\0';
        if (!is_own_word(name))
            must(parapet_store_options_set(options, name, c->words[i] + length + 1), "an option");
    }
}

/* Numbers as in 64x64x64; NULL: the word is not there. */
static const int64_t *find_extents(const bench_pattern *pattern, const char *name, int64_t *extents)
{
    const char *text = bench_option(&pattern->head, name, NULL);
    char *rest = NULL;
    if (text == NULL)
        return NULL;
    for (int d = 0; d < pattern->ndim; d++) {
        extents[d] = strtoll(d == 0 ? text : rest + 1, &rest, 10);
        if (*rest != (d + 1 < pattern->ndim ? 'x' : '\0'))
            bench_die(text, "a number for each dimension is wanted");
    }
    return extents;
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

static void close_all(parapet_store *store, parapet_array *array)
{
    must(parapet_array_close(&array), "closing the array");
    must(parapet_store_close(&store), "closing the store");
}

static parapet_part part_of(const bench_pattern *pattern, const bench_box *box)
{
    return (parapet_part){.ndim = pattern->ndim, .start = box->start, .count = box->count, .data = box->data};
}

static parapet_part *make_parts(const bench_pattern *pattern)
{
    parapet_part *parts = calloc((size_t)pattern->box_count, sizeof *parts);
    if (parts == NULL)
        bench_die("parts", "no memory");
    for (int b = 0; b < pattern->box_count; b++)
        parts[b] = part_of(pattern, &pattern->boxes[b]);
    return parts;
}

/* What a rank has, as it is handed over. */
typedef struct holdings {
    int part_count;
    parapet_part *parts;
    parapet_runs runs; /* of points: has a count if there are any */
} holdings;

static parapet_runs make_runs(const bench_pattern *pattern)
{
    int64_t *starts = calloc((size_t)pattern->point_count, sizeof *starts);
    int64_t *lengths = calloc((size_t)pattern->point_count, sizeof *lengths);
    if (starts == NULL || lengths == NULL)
        bench_die("runs", "no memory");
    for (int64_t i = 0; i < pattern->point_count; i++) {
        starts[i] = pattern->points[i] * BENCH_POINT_DOUBLES;
        lengths[i] = BENCH_POINT_DOUBLES;
    }
    return (parapet_runs){
        .count = pattern->point_count, .starts = starts, .lengths = lengths, .data = pattern->head.data};
}

static holdings make_holdings(const bench_pattern *pattern)
{
    holdings own = {.part_count = pattern->box_count};
    if (pattern->points != NULL)
        own.runs = make_runs(pattern);
    else
        own.parts = make_parts(pattern);
    return own;
}

static void free_holdings(holdings *own)
{
    free((void *)(uintptr_t)own->runs.starts);
    free((void *)(uintptr_t)own->runs.lengths);
    free(own->parts);
}

static void write_holdings(parapet_array *array, const holdings *own)
{
    must(own->runs.count > 0 ? parapet_array_write_runs(array, &own->runs)
                             : parapet_array_write(array, own->parts, own->part_count),
         "writing");
}

static void read_together(parapet_array *array, const holdings *own)
{
    must(own->runs.count > 0 ? parapet_array_read_runs(array, &own->runs)
                             : parapet_array_read(array, own->parts, own->part_count),
         "reading together");
}

static void read_alone(parapet_array *array, const holdings *own)
{
    must(own->runs.count > 0 ? parapet_array_read_runs_local(array, &own->runs)
                             : parapet_array_read_local(array, own->parts, own->part_count),
         "reading alone");
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
    const bench_pattern *pattern = bench_pattern_of(c);
    int64_t chunks[BENCH_MOST_NDIM], shards[BENCH_MOST_NDIM];
    holdings own = make_holdings(pattern);
    parapet_store *store = open_store(c, PARAPET_CREATE);
    parapet_array *array = NULL;
    parapet_array_spec spec = {.type = PARAPET_FLOAT64,
                               .ndim = pattern->ndim,
                               .shape = pattern->shape,
                               .chunks = find_extents(pattern, "chunks", chunks),
                               .shards = find_extents(pattern, "shards", shards),
                               .codec = "none",
                               .no_checksum = atoi(bench_option(c, "plain", "0"))};
    must(parapet_array_create(&array, store, "a", &spec), "making the array");
    bench_clock_start();
    write_holdings(array, &own);
    bench_clock_stop();
    count_crossed(store);
    close_all(store, array);
    free_holdings(&own);
}

static void read_run(const bench_pattern *pattern, const bench_box *run, void *array)
{
    parapet_part part = part_of(pattern, run);
    must(parapet_array_read_local(array, &part, 1), "reading a run");
}

static void parapet_bench_read(const bench_case *c)
{
    const bench_pattern *pattern = bench_pattern_of(c);
    holdings own = make_holdings(pattern);
    parapet_store *store = open_store(c, PARAPET_READ);
    parapet_array *array = NULL;
    int level = atoi(bench_option(c, "level", "3"));
    must(parapet_array_open(&array, store, "a"), "opening the array");
    bench_clock_start();
    if (level == 0)
        bench_pattern_few_runs(pattern, read_run, array);
    else if (level == 2)
        read_alone(array, &own);
    else
        read_together(array, &own);
    bench_clock_stop();
    close_all(store, array);
    free_holdings(&own);
}

int main(int argc, char **argv)
{
    static const bench_method methods[] = {{.name = "fpp", .write = fpp_write, .read = fpp_read},
                                           {.name = "parapet",
                                            .write = parapet_bench_write,
                                            .read = parapet_bench_read,
                                            .crossed = parapet_bench_crossed},
                                           {0}};
    return bench_pattern_main(argc, argv, methods);
}
