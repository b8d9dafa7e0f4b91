/* What one call costs when there is next to nothing to store: 16 doubles of each rank in each array.
 *
 *   mpiexec -n RANKS bench_small WORK DIRECTORY ARRAYS
 *
 *   write        one call of parapet_arrays_write for all arrays, the same elements each time
 *   read         one call of parapet_arrays_read for all of them
 *   attribute    parapet_array_attribute_set, of the first array
 *   append       parapet_series_append and flush, one step of a series of all arrays
 *   checkpoint   begin, put of all arrays, commit; two generations are kept
 *   nothing      only what the others do before and after their calls
 *
 * and three ways to make 256 KiB of each rank durable, and a read; they have nothing to do with ARRAYS:
 *
 *   shards       one call of parapet_array_write of an array in which each rank has a shard
 *   alone        each rank has opened the same array as a process of its own, and writes its shard
 *   bare         each rank writes a file of its own, and flushes it
 *   element      parapet_array_read of one element of a chunk of 2 MiB with a checksum, of an array that stays open
 *
 * Each line of standard input is a number of calls to make now; the answer is "SECONDS MESSAGES" of one of them: from
 * the first rank's start to the last one's end, and how many messages the ranks sent each other, all together, those
 * of MPI's own collectives not counted. So two programs, compiled against two libraries, can take turns call by call;
 * this one uses only what the API has had for long. */
#include <errno.h>
#include <fcntl.h>
#include <parapet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "case.h"

#define EDGE 16
#define KEPT 2
#define SHARD_ELEMENTS 32768
#define CHUNK_ELEMENTS 8192
#define LARGE_CHUNK_ELEMENTS 262144
#define LARGE_CHUNKS 4

typedef struct job {
    int rank, ranks, count;
    int64_t shape[2], chunks[2], start[2], extent[2];
    double data[EDGE];
    const char *directory;
    char path[BENCH_PATH_BYTES]; /* of the store */
    double *block;               /* what does not fit into data */
    parapet_store *store, *alone;
    parapet_series *series;
    char (*names)[16];
    const char **paths;
    parapet_array **arrays;
    parapet_array_spec *specs;
    parapet_part part;
    parapet_array_parts *list;
    parapet_step *steps;
    parapet_checkpoint_item *items;
} job;

typedef struct work {
    const char *name;
    void (*prepare)(job *all);
    void (*call)(job *all, int number);
    void (*finish)(job *all);
} work;

/* The library's calls come here instead of to MPI: what a program defines goes before what a library does. */
static long long sent;

__attribute__((visibility("default"))) int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag,
                                                     MPI_Comm comm, MPI_Request *request)
{
    sent++;
    return PMPI_Isend(data, count, type, to, tag, comm, request);
}

__attribute__((visibility("default"))) int MPI_Issend(const void *data, int count, MPI_Datatype type, int to, int tag,
                                                      MPI_Comm comm, MPI_Request *request)
{
    sent++;
    return PMPI_Issend(data, count, type, to, tag, comm, request);
}

static void must(parapet_status status, const char *what)
{
    if (status != PARAPET_OK)
        bench_die(what, parapet_error_message());
}

static void *zeros(int count, size_t bytes)
{
    void *data = calloc((size_t)count, bytes);
    if (data == NULL)
        bench_die("lists", "no memory");
    return data;
}

/* Steps have one dimension less than the arrays of a series, whose first grows. */
static void describe(job *all, int first_dimension)
{
    int64_t *shape = all->shape + first_dimension;
    all->shape[0] = 1;
    all->shape[1] = all->ranks * EDGE;
    all->chunks[0] = 1;
    all->chunks[1] = all->shape[1];
    all->start[0] = 0;
    all->start[1] = all->rank * EDGE;
    all->extent[0] = 1;
    all->extent[1] = EDGE;
    all->part = (parapet_part){.ndim = 2 - first_dimension,
                               .start = all->start + first_dimension,
                               .count = all->extent + first_dimension,
                               .data = all->data};
    for (int i = 0; i < all->count; i++) {
        (void)snprintf(all->names[i], sizeof all->names[i], "a%d", i);
        all->paths[i] = all->names[i];
        all->specs[i] = (parapet_array_spec){.type = PARAPET_FLOAT64,
                                             .ndim = 2 - first_dimension,
                                             .shape = shape,
                                             .chunks = all->chunks + first_dimension,
                                             .codec = "none"};
    }
}

static void allocate(job *all)
{
    all->names = zeros(all->count, sizeof all->names[0]);
    all->paths = zeros(all->count, sizeof all->paths[0]);
    all->arrays = zeros(all->count, sizeof all->arrays[0]);
    all->specs = zeros(all->count, sizeof all->specs[0]);
    all->list = zeros(all->count, sizeof all->list[0]);
    all->steps = zeros(all->count, sizeof all->steps[0]);
    all->items = zeros(all->count, sizeof all->items[0]);
}

/* ---- Arrays ---- */

static void write_arrays(job *all, int number)
{
    all->data[0] = (double)number;
    must(parapet_arrays_write(all->list, all->count), "writing");
}

static void read_arrays(job *all, int number)
{
    (void)number;
    must(parapet_arrays_read(all->list, all->count), "reading");
}

static void create_arrays(job *all)
{
    describe(all, 1);
    must(parapet_arrays_create(all->arrays, all->store, all->paths, all->specs, all->count), "creating");
    for (int i = 0; i < all->count; i++)
        all->list[i] = (parapet_array_parts){.array = all->arrays[i], .parts = &all->part, .part_count = 1};
    write_arrays(all, 0);
}

static void close_arrays(job *all)
{
    must(parapet_arrays_close(all->arrays, all->count), "closing");
}

static void set_attribute(job *all, int number)
{
    char text[16];
    (void)snprintf(text, sizeof text, "%d", number);
    must(parapet_array_attribute_set(all->arrays[0], "step", text), "setting an attribute");
}

static void do_nothing(job *all, int number)
{
    (void)all;
    (void)number;
}

/* ---- Series ---- */

static void create_series(job *all)
{
    describe(all, 0);
    all->shape[0] = 0;
    all->part = (parapet_part){.ndim = 1, .start = all->start + 1, .count = all->extent + 1, .data = all->data};
    must(parapet_series_create(&all->series, all->store, "run",
                               &(parapet_series_spec){.count = all->count, .names = all->paths, .specs = all->specs}),
         "creating a series");
    for (int i = 0; i < all->count; i++)
        all->steps[i] = (parapet_step){.parts = &all->part, .part_count = 1};
}

static void append_step(job *all, int number)
{
    must(parapet_series_append(all->series, (double)number, all->steps), "appending");
    must(parapet_series_flush(all->series), "flushing");
}

static void close_series(job *all)
{
    must(parapet_series_close(&all->series), "closing the series");
}

/* ---- Checkpoints ---- */

static void list_items(job *all)
{
    describe(all, 1);
    for (int i = 0; i < all->count; i++)
        all->items[i] = (parapet_checkpoint_item){
            .name = all->paths[i], .spec = &all->specs[i], .parts = &all->part, .part_count = 1};
}

static void commit_checkpoint(job *all, int number)
{
    parapet_checkpoint *checkpoint = NULL;
    (void)number;
    must(parapet_checkpoint_begin(&checkpoint, all->store, "restart", &(parapet_checkpoint_options){.keep = KEPT}),
         "beginning");
    must(parapet_checkpoint_put(checkpoint, all->items, all->count), "putting");
    must(parapet_checkpoint_commit(&checkpoint, NULL), "committing");
}

/* ---- A shard of each rank ---- */

static void describe_shards(job *all)
{
    all->block = zeros(SHARD_ELEMENTS, sizeof *all->block);
    all->shape[0] = (int64_t)all->ranks * SHARD_ELEMENTS;
    all->start[0] = (int64_t)all->rank * SHARD_ELEMENTS;
    all->extent[0] = SHARD_ELEMENTS;
    all->part = (parapet_part){.ndim = 1, .start = all->start, .count = all->extent, .data = all->block};
}

static void create_array(job *all, int64_t chunk, const int64_t *shards)
{
    parapet_array_spec spec = {
        .type = PARAPET_FLOAT64, .ndim = 1, .shape = all->shape, .chunks = &chunk, .shards = shards, .codec = "none"};
    must(parapet_array_create(&all->arrays[0], all->store, "a", &spec), "creating");
}

static void write_shards(job *all, int number)
{
    all->block[0] = (double)number;
    must(parapet_array_write(all->arrays[0], &all->part, 1), "writing");
}

static void create_shards(job *all)
{
    const int64_t shard = SHARD_ELEMENTS;
    describe_shards(all);
    create_array(all, CHUNK_ELEMENTS, &shard);
    write_shards(all, 0);
}

static void close_array(job *all)
{
    must(parapet_array_close(&all->arrays[0]), "closing");
    free(all->block);
}

static void open_alone(job *all)
{
    create_shards(all);
    must(parapet_array_close(&all->arrays[0]), "closing");
    must(parapet_store_open(&all->alone, MPI_COMM_SELF, all->path, PARAPET_UPDATE, NULL), "opening the store alone");
    must(parapet_array_open(&all->arrays[0], all->alone, "a"), "opening alone");
}

static void close_alone(job *all)
{
    close_array(all);
    must(parapet_store_close(&all->alone), "closing the store of one rank");
}

static void write_bare(job *all, int number)
{
    const size_t bytes = SHARD_ELEMENTS * sizeof *all->block;
    char path[BENCH_PATH_BYTES];
    int file;
    (void)snprintf(path, sizeof path, "%s/rank-%d.bin", all->directory, all->rank);
    all->block[0] = (double)number;
    file = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0666);
    if (file < 0 || pwrite(file, all->block, bytes, 0) != (ssize_t)bytes || fsync(file) != 0 || close(file) != 0)
        bench_die(path, strerror(errno));
}

static void free_block(job *all)
{
    free(all->block);
}

/* ---- An element of a large chunk ---- */

static void create_large(job *all)
{
    all->block = zeros(LARGE_CHUNKS * LARGE_CHUNK_ELEMENTS, sizeof *all->block);
    all->shape[0] = LARGE_CHUNKS * LARGE_CHUNK_ELEMENTS;
    all->start[0] = 0;
    all->extent[0] = all->shape[0];
    all->part = (parapet_part){.ndim = 1, .start = all->start, .count = all->extent, .data = all->block};
    create_array(all, LARGE_CHUNK_ELEMENTS, NULL);
    for (int64_t i = 0; i < all->shape[0]; i++)
        all->block[i] = (double)i;
    must(parapet_array_write(all->arrays[0], &all->part, 1), "writing");
    all->extent[0] = 1;
    all->part.data = all->data;
}

static void read_element(job *all, int number)
{
    all->start[0] = (int64_t)number * 700001 % all->shape[0]; /* mostly of another chunk than the one before */
    must(parapet_array_read(all->arrays[0], &all->part, 1), "reading");
    if (all->data[0] != (double)all->start[0])
        bench_die("reading", "another element than was asked for");
}

/* ---- Timing ---- */

/* How many calls are asked for on standard input, on every rank; 0 at its end. Ranks that wait leave the cores alone.
 */
static int next_calls(const job *all)
{
    char line[64];
    int calls = 0;
    if (all->rank == 0 && fgets(line, sizeof line, stdin) != NULL)
        calls = atoi(line);
    if (all->ranks == 1)
        return calls;
    bench_wait_long_for_all();
    MPI_Bcast(&calls, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return calls;
}

static double time_call(job *all, const work *kind)
{
    static int number;
    double ends[2], extremes[2];
    MPI_Barrier(MPI_COMM_WORLD);
    ends[0] = -bench_now();
    kind->call(all, ++number);
    ends[1] = bench_now();
    bench_wait_for_all(); /* who has ended leaves the cores to the others */
    MPI_Allreduce(ends, extremes, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return extremes[0] + extremes[1];
}

static double cpu_seconds(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static void time_calls(job *all, const work *kind, int calls)
{
    double seconds = 0, own[2] = {-cpu_seconds(), -(double)sent}, sums[2];
    for (int i = 0; i < calls; i++)
        seconds += time_call(all, kind);
    own[0] += cpu_seconds();
    own[1] += (double)sent;
    MPI_Allreduce(own, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (all->rank == 0)
        (void)printf("%.9f %.9f %.2f\n", seconds / calls, sums[0] / calls, sums[1] / calls);
    (void)fflush(stdout);
}

static const work *find_work(const char *name)
{
    static const work kinds[] = {{"write", create_arrays, write_arrays, close_arrays},
                                 {"read", create_arrays, read_arrays, close_arrays},
                                 {"attribute", create_arrays, set_attribute, close_arrays},
                                 {"append", create_series, append_step, close_series},
                                 {"checkpoint", list_items, commit_checkpoint, NULL},
                                 {"nothing", create_arrays, do_nothing, close_arrays},
                                 {"shards", create_shards, write_shards, close_array},
                                 {"alone", open_alone, write_shards, close_alone},
                                 {"bare", describe_shards, write_bare, free_block},
                                 {"element", create_large, read_element, close_array}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    bench_die(name, "no such work");
}

int main(int argc, char **argv)
{
    parapet_store_options options = {.memory_bytes = INT64_C(1) << 30};
    const work *kind;
    job all = {0};
    int calls, provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    if (argc != 4)
        bench_die(argv[0], "usage: WORK DIRECTORY ARRAYS");
    kind = find_work(argv[1]);
    all.count = atoi(argv[3]);
    MPI_Comm_rank(MPI_COMM_WORLD, &all.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &all.ranks);
    allocate(&all);
    all.directory = argv[2];
    (void)snprintf(all.path, sizeof all.path, "%s/small.zarr", argv[2]);
    must(parapet_store_open(&all.store, MPI_COMM_WORLD, all.path, PARAPET_CREATE, &options), "opening the store");
    kind->prepare(&all);
    while ((calls = next_calls(&all)) > 0)
        time_calls(&all, kind, calls);
    if (kind->finish != NULL)
        kind->finish(&all);
    must(parapet_store_close(&all.store), "closing the store");
    MPI_Finalize();
    return 0;
}
