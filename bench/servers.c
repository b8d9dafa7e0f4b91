/* How well many servers are used: calls in a row on stores whose disks have given speeds, or none at all.
 *
 *   mpiexec -n RANKS bench_servers DIRECTORY SHAPE MESH [name=value ...]
 *
 * SHAPE and MESH are written as 512x512x512 and 2x2x2. Arrays of float32; each rank of the mesh holds one block. The
 * words, with what they are otherwise:
 *
 *   store=throttled   directory: as it is; null: nothing is kept, and nothing read
 *   rate=16e6         bytes a second of each server's disk (throttled)
 *   slow=0+1          for each of these numbers a new store, of whose servers so many, the last ones, are slow; 0
 *   factor=0.5        how fast a slow one is, compared with the others
 *   change=5          in that call, half-way, one server becomes slow, and stays so; 0: none
 *   calls=8           of writing, and then as many of reading
 *   reads=8           other than calls
 *   copies=0          then so many copies of the first array within the store, into chunks of another shape
 *   arrays=1          that one call writes, all from the same memory, or reads into it
 *   order=natural     shards as told (shards=64x64x128, chunks=64x64x64); traditional: whole planes in row-major
 * order holds=even        most: rank 0 holds seven eighths of the array, and the others share the rest
 *
 * Any other word is an option of the store, such as owners=nearest. Prints for every call
 *
 *   call write|read|copy SLOW NUMBER SECONDS IDEAL-SECONDS      of all disks at work all the time; 0: no limit
 *
 * and for every server, of the calls that wrote and of those that read,
 *
 *   speed write|read SLOW SERVER BYTES-A-SECOND GIVEN      as parapet_statistics tell it, and as it was given at the
 * end
 *
 * Seconds are from the first rank's start to the last one's end, without launching, opening and creating. */
#include <errno.h>
#include <inttypes.h>
#include <parapet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "array/open.h"
#include "array/store_handle.h"
#include "case.h"
#include "store/store.h"
#include "stores/null.h"
#include "stores/throttled.h"

enum { MOST_ARRAYS = 16 };

typedef struct bed {
    bench_case c;
    parapet_store_options options;
    const char *kind; /* of the store */
    double rate, factor;
    int calls, reads, copies, change, array_count;
    int slow; /* of the servers; of this store */
    float *data;
    pp_store *inner, *backend;
    parapet_store *store;
    int server; /* the number of this one among the servers; -1: it is none */
    parapet_part part;
    parapet_array *arrays[MOST_ARRAYS];
    parapet_array_parts list[MOST_ARRAYS];
} bed;

static bed used;

static void must(parapet_status status, const char *what)
{
    if (status != PARAPET_OK)
        bench_die(what, parapet_error_message());
}

/* ---- Words ---- */

static const char *const own_words[] = {"store", "rate",  "slow",   "factor", "change", "calls", "reads",
                                        "order", "holds", "arrays", "shards", "chunks", "copies"};

static int is_own(const char *name)
{
    for (size_t i = 0; i < sizeof own_words / sizeof own_words[0]; i++)
        if (strcmp(own_words[i], name) == 0)
            return 1;
    return 0;
}

static void set_options(bed *b)
{
    for (int i = 0; i < b->c.word_count; i++) {
        char name[64];
        size_t length = strcspn(b->c.words[i], "=");
        if (length >= sizeof name || b->c.words[i][length] != '=')
            bench_die(b->c.words[i], "not of the form name=value");
        memcpy(name, b->c.words[i], length);
        name[length] = '\0';
        if (!is_own(name))
            must(parapet_store_options_set(&b->options, name, b->c.words[i] + length + 1), "an option");
    }
}

static int whole_number(const bed *b, const char *name, const char *otherwise)
{
    return (int)strtol(bench_option(&b->c, name, otherwise), NULL, 10);
}

static int is_word(const bed *b, const char *name, const char *otherwise, const char *value)
{
    return strcmp(bench_option(&b->c, name, otherwise), value) == 0;
}

static void read_words(bed *b)
{
    set_options(b);
    b->kind = bench_option(&b->c, "store", "throttled");
    b->rate = strtod(bench_option(&b->c, "rate", "16e6"), NULL);
    b->factor = strtod(bench_option(&b->c, "factor", "0.5"), NULL);
    b->calls = whole_number(b, "calls", "8");
    b->reads = strcmp(b->kind, "null") == 0 ? 0 : whole_number(b, "reads", bench_option(&b->c, "calls", "8"));
    b->copies = whole_number(b, "copies", "0");
    b->change = whole_number(b, "change", "0");
    b->array_count = whole_number(b, "arrays", "1");
    if (b->array_count < 1 || b->array_count > MOST_ARRAYS)
        bench_die("arrays", "1 to 16 of them");
}

/* ---- What each rank holds ---- */

static void place_even(bench_case *c, const char *mesh_text)
{
    int64_t mesh[3], position = c->rank;
    bench_parse_triple(mesh_text, mesh);
    if (mesh[0] * mesh[1] * mesh[2] != c->rank_count)
        bench_die(mesh_text, "the mesh does not have as many places as there are ranks");
    for (int d = 2; d >= 0; d--) {
        int64_t place = position % mesh[d];
        c->start[d] = c->shape[d] * place / mesh[d];
        c->count[d] = c->shape[d] * (place + 1) / mesh[d] - c->start[d];
        position /= mesh[d];
    }
}

/* The planes of the last eighth go to the other ranks in turn. */
static void place_most(bench_case *c)
{
    int64_t most = c->shape[0] * 7 / 8, rest = c->shape[0] - most, others = c->rank_count - 1;
    memcpy(c->count, c->shape, sizeof c->count);
    c->count[0] = c->rank_count == 1 ? c->shape[0] : most;
    if (c->rank > 0) {
        c->start[0] = most + rest * (c->rank - 1) / others;
        c->count[0] = most + rest * c->rank / others - c->start[0];
    }
}

static float value_at(const bench_case *c, int64_t number)
{
    return (float)(c->rank * 7919 + number % 65521);
}

static void prepare_block(bed *b, const char *shape, const char *mesh)
{
    bench_case *c = &b->c;
    bench_parse_triple(shape, c->shape);
    if (is_word(b, "holds", "even", "most"))
        place_most(c);
    else
        place_even(c, mesh);
    c->bytes = (size_t)(c->count[0] * c->count[1] * c->count[2]) * sizeof *b->data;
    b->data = malloc(c->bytes > 0 ? c->bytes : 1);
    if (b->data == NULL)
        bench_die("the block of a rank", "no memory");
    for (size_t i = 0; i < c->bytes / sizeof *b->data; i++)
        b->data[i] = value_at(c, (int64_t)i);
    b->part = (parapet_part){.ndim = 3, .start = c->start, .count = c->count, .data = b->data};
}

static void check_block(const bed *b)
{
    for (size_t i = 0; i < b->c.bytes / sizeof *b->data; i++)
        if (b->data[i] != value_at(&b->c, (int64_t)i))
            bench_die("reading", "what was read is not what was written");
}

/* ---- The store ---- */

static double speed_of(const bed *b, int server, int slow)
{
    return server >= b->store->server_count - slow ? b->factor * b->rate : b->rate;
}

static void set_speed(bed *b, int slow)
{
    pp_throttle throttle = {.bytes_per_second = b->server >= 0 ? speed_of(b, b->server, slow) : 0};
    if (strcmp(b->kind, "throttled") == 0)
        pp_store_throttled_set(b->backend, &throttle);
}

static void open_folder(bed *b)
{
    pp_posix_options posix = {.create = true, .not_durable = b->options.durability == PARAPET_DURABILITY_LEAVE};
    char path[BENCH_PATH_BYTES];
    bench_path(&b->c, "servers.zarr", path);
    if (b->c.rank == 0)
        must(pp_store_posix_build(&b->inner, path, &posix), "the directory");
    bench_wait_for_all();
    if (b->c.rank != 0)
        must(pp_store_posix_build(&b->inner, path, &posix), "the directory");
    b->backend = b->inner;
    if (strcmp(b->kind, "null") == 0)
        must(pp_store_null_build(&b->backend, b->inner), "the null store");
    else if (strcmp(b->kind, "throttled") == 0)
        must(pp_store_throttled_build(&b->backend, b->inner, &(pp_throttle){0}), "the throttled store");
    else if (strcmp(b->kind, "directory") != 0)
        bench_die(b->kind, "no such store: throttled, directory or null");
}

static void find_server(bed *b)
{
    b->server = -1;
    for (int i = 0; i < b->store->server_count; i++)
        if (b->store->servers[i] == b->c.rank)
            b->server = i;
}

/* In traditional order there are as many objects as servers, or more, so that none is larger than 16 MiB. */
static void describe_array(const bed *b, parapet_array_spec *spec, int64_t chunks[3], int64_t shards[3])
{
    int64_t objects = b->store->server_count;
    bench_parse_triple(bench_option(&b->c, "chunks", "64x64x64"), chunks);
    bench_parse_triple(bench_option(&b->c, "shards", "64x64x128"), shards);
    *spec = (parapet_array_spec){.type = PARAPET_FLOAT32,
                                 .ndim = 3,
                                 .shape = b->c.shape,
                                 .chunks = chunks,
                                 .shards = shards,
                                 .codec = "none",
                                 .overwrite = 1};
    if (!is_word(b, "order", "natural", "traditional"))
        return;
    while ((b->c.shape[0] + objects - 1) / objects * b->c.shape[1] * b->c.shape[2] > (int64_t)4 << 20)
        objects *= 2;
    chunks[0] = (b->c.shape[0] + objects - 1) / objects;
    chunks[1] = chunks[2] = 0;
    spec->shards = NULL;
    spec->unsharded = spec->no_checksum = 1;
}

static void open_arrays(bed *b)
{
    int64_t chunks[3], shards[3];
    parapet_array_spec spec;
    open_folder(b);
    must(pp_store_open_over(&b->store, MPI_COMM_WORLD, b->backend, PARAPET_CREATE, &b->options), "opening the store");
    find_server(b);
    describe_array(b, &spec, chunks, shards);
    for (int i = 0; i < b->array_count; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "a%d", i);
        must(parapet_array_create(&b->arrays[i], b->store, name, &spec), "making an array");
        b->list[i] = (parapet_array_parts){.array = b->arrays[i], .parts = &b->part, .part_count = 1};
    }
}

static void close_arrays(bed *b)
{
    set_speed(b, 0);
    for (int i = 0; i < b->array_count; i++)
        must(parapet_array_close(&b->arrays[i]), "closing an array");
    must(parapet_store_close(&b->store), "closing the store");
    if (b->backend != b->inner)
        pp_store_free(b->backend);
    pp_store_free(b->inner);
    bench_wait_for_all();
}

/* ---- Calls ---- */

static double bytes_of_call(const bed *b)
{
    return (double)(b->c.shape[0] * b->c.shape[1] * b->c.shape[2]) * sizeof *b->data * b->array_count;
}

static double sum_of_speeds(const bed *b, int slow)
{
    double sum = 0;
    for (int i = 0; i < b->store->server_count; i++)
        sum += speed_of(b, i, slow);
    return strcmp(b->kind, "throttled") == 0 ? sum : 0;
}

/* Half of what the call would take if nothing changed. */
static double half_way_seconds(const bed *b)
{
    return bytes_of_call(b) / sum_of_speeds(b, 0) / 2;
}

static double ideal_seconds(const bed *b, int slow, int changes)
{
    double sum = sum_of_speeds(b, slow), before;
    if (sum <= 0 || !changes)
        return sum > 0 ? bytes_of_call(b) / sum : 0;
    before = half_way_seconds(b);
    return before + (bytes_of_call(b) - before * sum_of_speeds(b, 0)) / sum;
}

static void *slow_down(void *context)
{
    bed *b = context;
    double seconds = half_way_seconds(b);
    struct timespec left = {.tv_sec = (time_t)seconds};
    left.tv_nsec = (long)(1e9 * (seconds - (double)left.tv_sec));
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        continue;
    set_speed(b, 1);
    return NULL;
}

static void write_all(const bench_case *c)
{
    (void)c;
    must(parapet_arrays_write(used.list, used.array_count), "writing");
}

static void write_and_slow_down(const bench_case *c)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, slow_down, &used) != 0)
        bench_die("the change of speed", "no thread");
    write_all(c);
    (void)pthread_join(thread, NULL);
}

static void read_all(const bench_case *c)
{
    (void)c;
    must(parapet_arrays_read(used.list, used.array_count), "reading");
}

static void report_call(const bed *b, const char *work, int number, double seconds, double ideal)
{
    if (b->c.rank == 0)
        printf("call %s %d %d %.6f %.6f\n", work, b->slow, number, seconds, ideal);
}

/* The speed of every server in the calls since before, told by rank 0; 0: it stored nothing. */
static void report_speeds(const bed *b, const char *work, const parapet_statistics *before)
{
    parapet_statistics after;
    double own, *all = calloc((size_t)b->c.rank_count, sizeof *all), seconds;
    must(parapet_store_get_statistics(b->store, &after), "statistics");
    own = (double)(after.read_bytes + after.written_bytes - before->read_bytes - before->written_bytes);
    seconds = after.storage_seconds - before->storage_seconds;
    own = seconds > 0 ? own / seconds : 0;
    bench_wait_for_all();
    MPI_Gather(&own, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < b->store->server_count && b->c.rank == 0; i++)
        printf("speed %s %d %d %.0f %.0f\n", work, b->slow, i, all[b->store->servers[i]], speed_of(b, i, b->slow));
    free(all);
}

static void write_calls(bed *b)
{
    parapet_statistics before;
    must(parapet_store_get_statistics(b->store, &before), "statistics");
    for (int i = 1; i <= b->calls; i++) {
        int changes = i == b->change;
        double seconds;
        if (changes)
            b->slow = 1;
        seconds = bench_time_of(changes ? write_and_slow_down : write_all, &b->c);
        report_call(b, "write", i, seconds, ideal_seconds(b, b->slow, changes));
    }
    report_speeds(b, "write", &before);
}

static void read_calls(bed *b)
{
    parapet_statistics before;
    must(parapet_store_get_statistics(b->store, &before), "statistics");
    for (int i = 1; i <= b->reads; i++) {
        memset(b->data, 0xff, b->c.bytes);
        report_call(b, "read", i, bench_time_of(read_all, &b->c), ideal_seconds(b, b->slow, 0));
        check_block(b);
    }
    if (b->reads > 0)
        report_speeds(b, "read", &before);
}

static void print_extents(char *text, size_t bytes, int64_t first, int64_t second, int64_t third)
{
    (void)snprintf(text, bytes, "%" PRId64 ",%" PRId64 ",%" PRId64, first, second, third);
}

/* The target has chunks of half the extent in the first dimension and twice that in the last; units that a rank does
 * from beginning to end are a 64th of the array. */
static void copy_first(const bench_case *c)
{
    int64_t chunks[3], shards[3];
    char chunk_words[96], shard_words[96];
    parapet_array_spec spec;
    parapet_copy_request request = {.source = used.store,
                                    .source_path = "a0",
                                    .target = used.store,
                                    .target_path = "copy",
                                    .changes = {.chunks = chunk_words, .shards = shard_words},
                                    .unit_bytes = (int64_t)bytes_of_call(&used) / used.array_count / 64,
                                    .overwrite = 1,
                                    .no_probe = 1};
    (void)c;
    describe_array(&used, &spec, chunks, shards);
    print_extents(chunk_words, sizeof chunk_words, chunks[0] / 2, chunks[1], 2 * chunks[2]);
    print_extents(shard_words, sizeof shard_words, shards[0], shards[1], shards[2]);
    must(parapet_copy(&request, NULL), "copying");
}

/* Each byte is read once and written once, by some rank: all have to be servers. */
static void copy_calls(bed *b)
{
    for (int i = 1; i <= b->copies; i++) {
        double ideal = 2 * ideal_seconds(b, b->slow, 0) / b->array_count;
        report_call(b, "copy", i, bench_time_of(copy_first, &b->c), ideal);
    }
}

/* A store for each number of slow servers. */
static void run_all(bed *b)
{
    const char *text = bench_option(&b->c, "slow", "0");
    char *rest;
    for (;; text = rest + 1) {
        b->slow = (int)strtol(text, &rest, 10);
        open_arrays(b);
        set_speed(b, b->slow);
        write_calls(b);
        read_calls(b);
        copy_calls(b);
        close_arrays(b);
        if (*rest != '+')
            return;
    }
}

int main(int argc, char **argv)
{
    int thread_level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &thread_level);
    if (argc < 4)
        bench_die(argv[0], "usage: DIRECTORY SHAPE MESH [name=value ...]");
    MPI_Comm_rank(MPI_COMM_WORLD, &used.c.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &used.c.rank_count);
    used.c.directory = argv[1];
    used.c.words = argv + 4;
    used.c.word_count = argc - 4;
    read_words(&used);
    prepare_block(&used, argv[2], argv[3]);
    run_all(&used);
    free(used.data);
    MPI_Finalize();
    return 0;
}
