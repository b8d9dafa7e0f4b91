/* Reads by one rank alone.
 *
 *     parallel_local boxes     random boxes of many kinds of arrays against the elements' numbers, a different number
 *                              of reads on every rank; refusals; damage; memory; other jobs
 *     parallel_local beside    threads read while all ranks write, resize, seal and set attributes of the same array:
 *                              every shard is of one version, and of one that there was meanwhile
 *
 * With a third word "single", MPI is started for one thread. MPI is never called by a local read. */
#include <fcntl.h>
#include <parapet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch.h"
#include "no_mpi.h"

enum { PLANES = 20, ROWS = 60, COLUMNS = 500, PARTS = 4, LOCAL_BYTES = 1 << 20 };

static launch run;
static char url[600];
static uint32_t elements[PLANES * ROWS * COLUMNS];
static const int64_t shape[3] = {PLANES, ROWS, COLUMNS};

/* Only this rank's: launch_ok would wait for the others. */
static bool is_ok(parapet_status status, const char *what)
{
    if (status != PARAPET_OK)
        (void)fprintf(stderr, "rank %d: %s: %s\n", run.rank, what, parapet_error_message());
    return status == PARAPET_OK;
}

static parapet_status read_alone(parapet_array *array, const parapet_part *parts, int count)
{
    parapet_status status;
    no_mpi_forbid(true);
    status = parapet_array_read_local(array, parts, count);
    no_mpi_forbid(false);
    return status;
}

static int64_t draw(unsigned *state, int64_t least, int64_t most)
{
    return least + (int64_t)((unsigned)rand_r(state) % (unsigned)(most - least + 1));
}

/* ---- Random boxes ---- */

typedef struct kind {
    const char *path, *codec;
    bool has_no_checksum, is_unsharded, is_sealed, is_sparse;
    int64_t chunks[3], shards[3];
} kind;

static const kind kinds[] = {
    {.path = "one", .codec = "none", .has_no_checksum = true, .is_unsharded = true, .chunks = {PLANES, 0, 0}},
    {.path = "one_checked", .codec = "none", .is_unsharded = true, .chunks = {PLANES, 0, 0}},
    {.path = "plain", .codec = "none", .has_no_checksum = true, .chunks = {3, 20, 90}, .shards = {9, 40, 0}},
    {.path = "checked", .codec = "none", .chunks = {3, 20, 90}, .shards = {9, 40, 0}},
    {.path = "packed", .codec = "zstd:1", .chunks = {4, 30, 100}, .shards = {8, 0, 200}},
    {.path = "files", .codec = "gzip:1", .is_unsharded = true, .chunks = {7, 33, 250}},
    {.path = "sealed", .codec = "zstd:1", .is_sealed = true, .chunks = {4, 30, 100}, .shards = {8, 0, 200}},
    {.path = "sealed_plain",
     .codec = "none",
     .has_no_checksum = true,
     .is_sealed = true,
     .is_unsharded = true,
     .chunks = {7, 33, 250}},
    {.path = "sparse", .codec = "zstd:1", .is_sparse = true, .chunks = {2, 10, 100}, .shards = {4, 20, 200}},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* Of a sparse array only the planes from SPARSE on are written. */
enum { SPARSE = 7 };

static void write_kind(parapet_store *store, const kind *of)
{
    int64_t start[3] = {of->is_sparse ? SPARSE : 0, 0, 0}, count[3] = {PLANES - start[0], ROWS, COLUMNS};
    parapet_array_spec spec = {.type = PARAPET_UINT32,
                               .ndim = 3,
                               .shape = shape,
                               .chunks = of->chunks,
                               .shards = of->is_unsharded ? NULL : of->shards,
                               .codec = of->codec,
                               .no_checksum = of->has_no_checksum,
                               .unsharded = of->is_unsharded,
                               .overwrite = 1};
    parapet_part part = {.ndim = 3, .start = start, .count = count, .data = elements + start[0] * ROWS * COLUMNS};
    parapet_array *array = NULL;
    if (LAUNCH_OK(&run, parapet_array_create(&array, store, of->path, &spec)) &&
        LAUNCH_OK(&run, parapet_array_write(array, &part, run.rank == 0)) && of->is_sealed)
        (void)LAUNCH_OK(&run, parapet_array_seal(array));
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
}

static void write_kinds(void)
{
    parapet_store *store = NULL;
    int i;
    for (i = 0; i < PLANES * ROWS * COLUMNS; i++)
        elements[i] = (uint32_t)i * 2654435761u;
    launch_case_begin(&run, 0);
    if (LAUNCH_OK(&run, parapet_store_open(&store, MPI_COMM_WORLD, url, PARAPET_CREATE, NULL)))
        for (i = 0; i < KINDS; i++)
            write_kind(store, &kinds[i]);
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
    (void)launch_case_end(&run, "writing");
}

static uint32_t expected(const kind *of, int64_t i, int64_t j, int64_t k)
{
    return of->is_sparse && i < SPARSE ? 0 : elements[(i * ROWS + j) * COLUMNS + k];
}

static bool is_right(const kind *of, const parapet_part *part)
{
    const uint32_t *values = part->data;
    int64_t i, j, k;
    for (i = 0; i < part->count[0]; i++)
        for (j = 0; j < part->count[1]; j++)
            for (k = 0; k < part->count[2]; k++)
                if (*values++ != expected(of, part->start[0] + i, part->start[1] + j, part->start[2] + k))
                    return false;
    return true;
}

typedef struct boxes {
    int64_t start[PARTS][3], count[PARTS][3];
    parapet_part parts[PARTS];
    uint32_t *memory[PARTS];
    int part_count;
} boxes;

static void draw_boxes(boxes *drawn, unsigned *state)
{
    int i, d;
    drawn->part_count = (int)draw(state, 0, PARTS);
    for (i = 0; i < drawn->part_count; i++) {
        for (d = 0; d < 3; d++) {
            drawn->start[i][d] = draw(state, 0, shape[d] - 1);
            drawn->count[i][d] = draw(state, 1, draw(state, 1, shape[d] - drawn->start[i][d]));
        }
        drawn->parts[i] =
            (parapet_part){.ndim = 3, .start = drawn->start[i], .count = drawn->count[i], .data = drawn->memory[i]};
    }
}

/* What one thread reads, as often as it is told. */
typedef struct reader {
    const kind *of;
    parapet_array *array;
    unsigned state;
    int reads;
    bool is_right;
    pthread_t thread;
} reader;

static bool read_once(reader *self, boxes *drawn)
{
    int i;
    draw_boxes(drawn, &self->state);
    if (!is_ok(read_alone(self->array, drawn->parts, drawn->part_count), self->of->path))
        return false;
    for (i = 0; i < drawn->part_count; i++)
        if (!is_right(self->of, &drawn->parts[i]))
            return false;
    return true;
}

static void *read_often(void *context)
{
    reader *self = context;
    boxes drawn = {0};
    int i;
    self->is_right = true;
    for (i = 0; i < PARTS; i++)
        self->is_right = self->is_right && (drawn.memory[i] = malloc(sizeof elements)) != NULL;
    for (i = 0; i < self->reads && self->is_right; i++)
        self->is_right = read_once(self, &drawn);
    for (i = 0; i < PARTS; i++)
        free(drawn.memory[i]);
    return NULL;
}

enum { READERS = 4 };

/* With several threads, each of which is its own reader. */
static void read_kind(const kind *of, parapet_array *array, int threads)
{
    reader readers[READERS];
    int i;
    for (i = 0; i < threads; i++)
        readers[i] = (reader){.of = of,
                              .array = array,
                              .state = (unsigned)(run.seed * 100 + (uint64_t)run.rank * 10) + (unsigned)i,
                              .reads = 3 + 2 * run.rank + i};
    for (i = 1; i < threads; i++)
        launch_expect(&run, pthread_create(&readers[i].thread, NULL, read_often, &readers[i]) == 0, "a thread");
    (void)read_often(&readers[0]);
    for (i = 1; i < threads; i++)
        launch_expect(&run, pthread_join(readers[i].thread, NULL) == 0, "the end of a thread");
    for (i = 0; i < threads; i++)
        launch_expect(&run, readers[i].is_right, "the elements that were written");
}

static void run_kind(const kind *of, int number, int threads)
{
    parapet_store_options options = {.local_bytes = LOCAL_BYTES, .holes = (parapet_holes)(number % 3)};
    parapet_statistics done;
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    launch_case_begin(&run, (uint64_t)number);
    if (LAUNCH_OK(&run, parapet_store_open(&store, MPI_COMM_WORLD, url, PARAPET_READ, &options)) &&
        LAUNCH_OK(&run, parapet_array_open(&array, store, of->path)))
        read_kind(of, array, threads);
    if (LAUNCH_OK(&run, parapet_store_get_statistics(store, &done))) {
        launch_expect(&run, done.local_peak_bytes > 0 && done.local_peak_bytes <= LOCAL_BYTES, "local_bytes at most");
        launch_expect(&run, done.memory_peak_bytes == 0, "nothing of memory_bytes");
    }
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
    (void)launch_case_end(&run, of->path);
}

/* ---- Neighbours ---- */

/* Requests that reading so many planes of the only chunk takes, which has to be read whole. */
static int64_t count_requests(parapet_store *store, parapet_array *array, int64_t planes)
{
    static uint32_t values[PLANES * ROWS * COLUMNS];
    int64_t start[3] = {0}, count[3] = {planes, ROWS, COLUMNS};
    parapet_part part = {.ndim = 3, .start = start, .count = count, .data = values};
    parapet_statistics before, after;
    launch_expect(&run,
                  is_ok(parapet_store_get_statistics(store, &before), "statistics") &&
                      is_ok(read_alone(array, &part, 1), "read") &&
                      is_ok(parapet_store_get_statistics(store, &after), "statistics") &&
                      memcmp(values, elements, (size_t)(planes * ROWS * COLUMNS) * sizeof values[0]) == 0,
                  "planes of the chunk");
    return after.read_requests - before.read_requests;
}

/* Who wants little of what it has to read leaves it in the page cache, for the other ranks of the node: in pieces
 * that do not go round it. */
static void run_neighbours(void)
{
    parapet_store_options options = {.local_bytes = 16 * LOCAL_BYTES};
    const int64_t pieces = (PLANES * ROWS * COLUMNS * 4 + 4) / (512 << 10) + 1;
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    launch_case_begin(&run, 40);
    if (LAUNCH_OK(&run, parapet_store_open(&store, MPI_COMM_WORLD, url, PARAPET_READ, &options)) &&
        LAUNCH_OK(&run, parapet_array_open(&array, store, "one_checked"))) {
        launch_expect(&run, count_requests(store, array, PLANES) == 1, "one request for all of it");
        launch_expect(&run, count_requests(store, array, PLANES / 2 + 1) == 1, "one request if most is wanted");
        launch_expect(&run, count_requests(store, array, PLANES / 2) == (run.ranks > 1 ? pieces : 1),
                      "several requests if half is wanted, and there are others");
    }
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
    (void)launch_case_end(&run, "neighbours");
}

/* ---- Refusals ---- */

static bool says(const char *text)
{
    return strstr(parapet_error_message(), text) != NULL;
}

static void refuse_arguments(parapet_array *array)
{
    uint32_t value;
    int64_t start[3] = {PLANES, 0, 0}, count[3] = {1, 1, 1};
    parapet_part part = {.ndim = 3, .start = start, .count = count, .data = &value};
    launch_expect(&run, read_alone(NULL, &part, 1) == PARAPET_ERR_ARGUMENT, "no array");
    launch_expect(&run, read_alone(array, NULL, 1) == PARAPET_ERR_ARGUMENT, "no parts");
    launch_expect(&run, read_alone(array, &part, 1) == PARAPET_ERR_ARGUMENT && says("part 0 reaches from 20"),
                  "a part outside the array");
    part.ndim = 2;
    launch_expect(&run, read_alone(array, &part, 1) == PARAPET_ERR_ARGUMENT, "a part of two dimensions");
    launch_expect(&run, read_alone(array, NULL, 0) == PARAPET_OK, "nothing to read");
}

/* The sentence names a limit; with that it works, on a store of this rank's own. */
static void read_with_limit(int64_t limit, int64_t *named)
{
    static uint32_t values[PLANES * ROWS * COLUMNS];
    int64_t start[3] = {0};
    parapet_part part = {.ndim = 3, .start = start, .count = shape, .data = values};
    parapet_store_options options = {.local_bytes = limit};
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    const char *found;
    *named = 0;
    if (!is_ok(parapet_store_open(&store, MPI_COMM_SELF, url, PARAPET_READ, &options), "open") ||
        !is_ok(parapet_array_open(&array, store, "files_large"), "open"))
        launch_expect(&run, false, "a store of one rank");
    else if (read_alone(array, &part, 1) == PARAPET_ERR_MEMORY &&
             (found = strstr(parapet_error_message(), "local_bytes is only")) != NULL &&
             (found = strstr(found, "at least ")) != NULL)
        *named = strtoll(found + strlen("at least "), NULL, 10);
    else
        launch_expect(&run, memcmp(values, elements, sizeof values) == 0, "the elements that were written");
    parapet_array_close(&array);
    parapet_store_close(&store);
}

static void run_refusals(void)
{
    static const kind large = {
        .path = "files_large", .codec = "zstd:1", .is_unsharded = true, .chunks = {PLANES, 0, 0}};
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    int64_t named, none;
    launch_case_begin(&run, 50);
    if (LAUNCH_OK(&run, parapet_store_open(&store, MPI_COMM_WORLD, url, PARAPET_UPDATE, NULL))) {
        write_kind(store, &large);
        if (LAUNCH_OK(&run, parapet_array_open(&array, store, "packed")))
            refuse_arguments(array);
    }
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
    read_with_limit(LOCAL_BYTES, &named);
    launch_expect(&run, named > LOCAL_BYTES, "PARAPET_ERR_MEMORY, and the limit that would do");
    read_with_limit(named, &none);
    launch_expect(&run, none == 0, "no refusal with the limit that was named");
    (void)launch_case_end(&run, "refusals");
}

/* ---- Damage ---- */

/* One element near the start, one bit near the end of a chunk that is streamed: only the last band tells. */
static void run_damage(void)
{
    uint32_t value = 0;
    int64_t start[3] = {0, 0, 7}, count[3] = {1, 1, 1};
    parapet_part part = {.ndim = 3, .start = start, .count = count, .data = &value};
    parapet_store_options options = {.local_bytes = LOCAL_BYTES};
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    char name[700], byte = 0;
    int file;
    (void)snprintf(name, sizeof name, "%s/one_checked/c/0/0/0", url);
    launch_case_begin(&run, 60);
    if (LAUNCH_OK(&run, parapet_store_open(&store, MPI_COMM_WORLD, url, PARAPET_READ, &options)) &&
        LAUNCH_OK(&run, parapet_array_open(&array, store, "one_checked"))) {
        launch_expect(&run, read_alone(array, &part, 1) == PARAPET_OK && value == elements[7], "an element");
        launch_barrier();
        if (run.rank == 0) {
            file = open(name, O_RDWR);
            launch_expect(&run, file >= 0 && pread(file, &byte, 1, 2000000) == 1, "a byte to flip");
            byte = (char)(byte ^ 1);
            launch_expect(&run, pwrite(file, &byte, 1, 2000000) == 1 && close(file) == 0, "a flipped bit");
        }
        launch_barrier();
        if (run.rank == run.ranks - 1)
            launch_expect(&run, read_alone(array, &part, 1) == PARAPET_ERR_CORRUPT && says("one_checked/c/0/0/0"),
                          "PARAPET_ERR_CORRUPT, and where");
    }
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
    (void)launch_case_end(&run, "damage");
}

/* ---- Other jobs ---- */

static const kind aged = {.path = "aged", .codec = "zstd:1", .chunks = {4, 30, 100}, .shards = {8, 0, 200}};

/* Rank 0 as another job, with a store of its own. */
static void change_as_other(void (*change)(parapet_store *other))
{
    parapet_store *other = NULL;
    launch_barrier();
    if (run.rank == 0) {
        launch_expect(&run, is_ok(parapet_store_open(&other, MPI_COMM_SELF, url, PARAPET_UPDATE, NULL), "other"),
                      "another job");
        change(other);
        parapet_store_close(&other);
    }
    launch_barrier();
}

static void resize_first(parapet_store *other, int64_t planes)
{
    int64_t other_shape[3] = {planes, ROWS, COLUMNS};
    parapet_array *array = NULL;
    launch_expect(&run,
                  is_ok(parapet_array_open(&array, other, aged.path), "open") &&
                      is_ok(parapet_array_resize(array, other_shape), "resize"),
                  "another shape");
    parapet_array_close(&array);
}

static void grow(parapet_store *other)
{
    resize_first(other, 2 * PLANES);
}

static void shrink(parapet_store *other)
{
    resize_first(other, PLANES - 1);
}

/* With a document of the same bytes. */
static void replace(parapet_store *other)
{
    parapet_array_spec spec = {.type = PARAPET_UINT32,
                               .ndim = 3,
                               .shape = shape,
                               .chunks = aged.chunks,
                               .shards = aged.shards,
                               .codec = aged.codec,
                               .overwrite = 1};
    parapet_array *array = NULL;
    launch_expect(&run, is_ok(parapet_array_create(&array, other, aged.path, &spec), "create"), "another array");
    parapet_array_close(&array);
}

/* Every rank finds out by itself. */
static void run_aged(const char *what, void (*change)(parapet_store *other), parapet_status wanted)
{
    uint32_t value = 0;
    int64_t start[3] = {0, 0, 7}, count[3] = {1, 1, 1};
    parapet_part part = {.ndim = 3, .start = start, .count = count, .data = &value};
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    launch_case_begin(&run, 65);
    if (LAUNCH_OK(&run, parapet_store_open(&store, MPI_COMM_WORLD, url, PARAPET_UPDATE, NULL))) {
        write_kind(store, &aged);
        if (LAUNCH_OK(&run, parapet_array_open(&array, store, aged.path))) {
            launch_expect(&run, read_alone(array, &part, 1) == PARAPET_OK && value == elements[7], "an element");
            change_as_other(change);
            launch_expect(&run, read_alone(array, &part, 1) == wanted, "what has become of the array");
        }
    }
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
    (void)launch_case_end(&run, what);
}

static void run_others(void)
{
    run_aged("grown", grow, PARAPET_OK);
    run_aged("shrunk", shrink, PARAPET_ERR_STALE);
    run_aged("replaced", replace, PARAPET_ERR_STALE);
}

/* ---- Beside collective calls ---- */

enum { BED_ROWS = 48, BED_COLUMNS = 64, SHARD_ROWS = 8, ROUNDS = 12, VERSION = 1000000 };

typedef struct bed {
    parapet_array *array;
    atomic_int begun, done; /* versions whose write has begun, and has returned, on this rank */
    atomic_bool is_over, has_failed;
    atomic_int reads;
} bed;

/* Every shard has the elements of one version, from least to most. */
static bool is_whole(const int32_t *values, const int64_t *start, const int64_t *count, int least, int most)
{
    int64_t i, j;
    int version = -1;
    for (i = 0; i < count[0]; i++)
        for (j = 0; j < count[1]; j++) {
            int32_t value = values[i * count[1] + j];
            bool is_new = j == 0 && (i == 0 || (start[0] + i) % SHARD_ROWS == 0);
            if (is_new)
                version = value / VERSION;
            if (value / VERSION != version || version < least || version > most ||
                value % VERSION != (start[0] + i) * BED_COLUMNS + start[1] + j)
                return false;
        }
    return true;
}

static void read_beside(bed *with, unsigned *state)
{
    int32_t values[BED_ROWS * BED_COLUMNS];
    int64_t start[2] = {draw(state, 0, BED_ROWS - 1), draw(state, 0, BED_COLUMNS - 1)};
    int64_t count[2] = {draw(state, 1, BED_ROWS - start[0]), draw(state, 1, BED_COLUMNS - start[1])};
    parapet_part part = {.ndim = 2, .start = start, .count = count, .data = values};
    int least = atomic_load(&with->done);
    if (is_ok(read_alone(with->array, &part, 1), "beside") &&
        is_whole(values, start, count, least, atomic_load(&with->begun)))
        atomic_fetch_add(&with->reads, 1);
    else
        atomic_store(&with->has_failed, true);
}

static void *read_until_over(void *context)
{
    bed *with = context;
    unsigned state = (unsigned)(uintptr_t)&state;
    while (!atomic_load(&with->is_over) && !atomic_load(&with->has_failed))
        read_beside(with, &state);
    return NULL;
}

static void write_version(bed *with, int version)
{
    int32_t values[BED_ROWS * BED_COLUMNS];
    int64_t first = BED_ROWS * run.rank / run.ranks, end = BED_ROWS * (run.rank + 1) / run.ranks, i;
    int64_t start[2] = {first, 0}, count[2] = {end - first, BED_COLUMNS};
    parapet_part part = {.ndim = 2, .start = start, .count = count, .data = values};
    for (i = 0; i < count[0] * BED_COLUMNS; i++)
        values[i] = (int32_t)(version * VERSION + first * BED_COLUMNS + i);
    atomic_store(&with->begun, version);
    (void)LAUNCH_OK(&run, parapet_array_write(with->array, &part, 1));
    atomic_store(&with->done, version);
}

static void check_together(bed *with, int version)
{
    static int32_t values[BED_ROWS * BED_COLUMNS];
    int64_t start[2] = {0, 0}, count[2] = {BED_ROWS, BED_COLUMNS};
    parapet_part part = {.ndim = 2, .start = start, .count = count, .data = values};
    if (LAUNCH_OK(&run, parapet_array_read(with->array, &part, 1)))
        launch_expect(&run, is_whole(values, start, count, version, version), "the version that was written");
}

static void change(bed *with, int round)
{
    int64_t larger[2] = {3 * BED_ROWS, BED_COLUMNS}, smaller[2] = {BED_ROWS, BED_COLUMNS};
    write_version(with, round + 1);
    check_together(with, round + 1);
    if (round % 3 == 0)
        (void)LAUNCH_OK(&run, parapet_array_seal(with->array));
    if (round % 4 == 1)
        (void)LAUNCH_OK(&run, parapet_array_resize(with->array, larger));
    if (round % 4 == 3)
        (void)LAUNCH_OK(&run, parapet_array_resize(with->array, smaller));
    if (round % 3 == 2)
        (void)LAUNCH_OK(&run, parapet_array_attribute_set(with->array, "round", round % 2 ? "1" : "2"));
    if (round % 6 == 3)
        (void)LAUNCH_OK(&run, parapet_array_unseal(with->array));
}

static void change_and_read(bed *with, int threads)
{
    pthread_t readers[READERS];
    int i;
    write_version(with, 0);
    for (i = 0; i < threads; i++)
        launch_expect(&run, pthread_create(&readers[i], NULL, read_until_over, with) == 0, "a thread");
    for (i = 0; i < ROUNDS; i++)
        change(with, i);
    while (atomic_load(&with->reads) < 10 && !atomic_load(&with->has_failed))
        (void)usleep(1000);
    atomic_store(&with->is_over, true);
    for (i = 0; i < threads; i++)
        launch_expect(&run, pthread_join(readers[i], NULL) == 0, "the end of a thread");
    launch_expect(&run, !atomic_load(&with->has_failed), "whole shards, old or new");
}

static void run_beside(const char *codec)
{
    int64_t bed_shape[2] = {BED_ROWS, BED_COLUMNS}, chunks[2] = {4, 32}, shards[2] = {SHARD_ROWS, 0};
    parapet_array_spec spec = {.type = PARAPET_INT32,
                               .ndim = 2,
                               .shape = bed_shape,
                               .chunks = chunks,
                               .shards = shards,
                               .codec = codec,
                               .overwrite = 1};
    parapet_store_options options = {.durability = PARAPET_DURABILITY_LEAVE};
    parapet_store *store = NULL;
    bed with = {0};
    launch_case_begin(&run, 70);
    if (LAUNCH_OK(&run, parapet_store_open(&store, MPI_COMM_WORLD, url, PARAPET_CREATE, &options)) &&
        LAUNCH_OK(&run, parapet_array_create(&with.array, store, "bed", &spec)))
        change_and_read(&with, run.ranks < 4 ? 3 : 2);
    (void)LAUNCH_OK(&run, parapet_array_close(&with.array));
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
    (void)launch_case_end(&run, codec);
}

static void run_kinds(bool has_threads)
{
    int i;
    write_kinds();
    for (i = 0; i < KINDS; i++)
        run_kind(&kinds[i], i, has_threads ? 1 + i % READERS : 1);
    run_neighbours();
    run_refusals();
    run_damage();
    run_others();
}

int main(int argc, char **argv)
{
    bool is_single = argc > 2 && strcmp(argv[2], "single") == 0;
    launch_start(&run, &argc, &argv, is_single ? MPI_THREAD_SINGLE : MPI_THREAD_FUNNELED);
    (void)snprintf(url, sizeof url, "%s/local.zarr", run.folder);
    if (argc > 1 && strcmp(argv[1], "beside") == 0) {
        run_beside("none");
        run_beside("zstd:1");
    } else {
        run_kinds(!is_single);
    }
    launch_case_begin(&run, 80);
    launch_expect(&run, no_mpi_count() == 0, "no call of MPI in a local read");
    (void)launch_case_end(&run, "MPI");
    return launch_finish(&run);
}
