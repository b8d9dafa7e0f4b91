/* Times one way of writing or reading an N^3 array of doubles on one process, and prints the seconds.
 *
 *   bench_serial METHOD DIRECTORY DATA N CHUNK SHARD [CODEC [THREADS]]
 *
 * DATA is a file of N^3 doubles, mapped before the clock starts. Writing includes everything up to durable data:
 * open, write, fsync, close. Methods: bare-write, bare-write-direct, bare-read, bare-read-direct (the same bytes
 * in one file, 8 MiB at a time), parapet-write, parapet-read (and compared with DATA after the clock stopped). */
#include <fcntl.h>
#include <parapet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "pages.h"

typedef struct job {
    const char *method, *directory, *codec;
    int64_t shape[3], chunks[3], shards[3];
    int64_t threads;
    size_t bytes;
    unsigned char *data;   /* what is written, or expected */
    unsigned char *target; /* what is read into */
} job;

static void die(const char *what)
{
    fprintf(stderr, "bench_serial: %s: %s\n", what, parapet_error_message());
    exit(1);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void bare_path(const job *j, char path[4096])
{
    (void)snprintf(path, 4096, "%s/bare.bin", j->directory);
}

static void bare_write(const job *j, int flags)
{
    char path[4096];
    size_t done = 0;
    int file;
    bare_path(j, path);
    file = open(path, O_CREAT | O_TRUNC | O_WRONLY | flags, 0666);
    if (file < 0)
        die(path);
    while (done < j->bytes) {
        size_t piece = j->bytes - done < BENCH_PIECE_BYTES ? j->bytes - done : BENCH_PIECE_BYTES;
        ssize_t moved = pwrite(file, j->data + done, piece, (off_t)done);
        if (moved <= 0)
            die("pwrite");
        done += (size_t)moved;
    }
    if (fsync(file) != 0 || close(file) != 0)
        die("fsync");
}

static void bare_read(const job *j, int flags)
{
    char path[4096];
    size_t done = 0;
    int file;
    bare_path(j, path);
    file = open(path, O_RDONLY | flags);
    if (file < 0)
        die(path);
    while (done < j->bytes) {
        size_t piece = j->bytes - done < BENCH_PIECE_BYTES ? j->bytes - done : BENCH_PIECE_BYTES;
        ssize_t moved = pread(file, j->target + done, piece, (off_t)done);
        if (moved <= 0)
            die("pread");
        done += (size_t)moved;
    }
    close(file);
}

static void open_store(const job *j, parapet_store **store, parapet_mode mode)
{
    char path[4096];
    parapet_store_options options = {.threads = j->threads};
    (void)snprintf(path, sizeof path, "%s/parapet.zarr", j->directory);
    if (parapet_store_open(store, MPI_COMM_NULL, path, mode, &options) != PARAPET_OK)
        die("open");
}

static void parapet_write(const job *j)
{
    int64_t start[3] = {0, 0, 0};
    parapet_store *store;
    parapet_array *array;
    parapet_array_spec spec = {.type = PARAPET_FLOAT64,
                               .ndim = 3,
                               .shape = j->shape,
                               .chunks = j->chunks,
                               .shards = j->shards,
                               .codec = j->codec,
                               .overwrite = 1};
    parapet_part part = {.ndim = 3, .start = start, .count = j->shape, .data = j->data};
    open_store(j, &store, PARAPET_CREATE);
    if (parapet_array_create(&array, store, "a", &spec) != PARAPET_OK ||
        parapet_array_write(array, &part, 1) != PARAPET_OK || parapet_array_close(&array) != PARAPET_OK ||
        parapet_store_close(&store) != PARAPET_OK)
        die("write");
}

static void parapet_read(const job *j)
{
    int64_t start[3] = {0, 0, 0};
    parapet_store *store;
    parapet_array *array;
    parapet_part part = {.ndim = 3, .start = start, .count = j->shape, .data = j->target};
    open_store(j, &store, PARAPET_READ);
    if (parapet_array_open(&array, store, "a") != PARAPET_OK || parapet_array_read(array, &part, 1) != PARAPET_OK ||
        parapet_array_close(&array) != PARAPET_OK || parapet_store_close(&store) != PARAPET_OK)
        die("read");
}

static double run(const job *j)
{
    double started = now();
    if (strcmp(j->method, "bare-write") == 0)
        bare_write(j, 0);
    else if (strcmp(j->method, "bare-write-direct") == 0)
        bare_write(j, O_DIRECT);
    else if (strcmp(j->method, "bare-read") == 0)
        bare_read(j, 0);
    else if (strcmp(j->method, "bare-read-direct") == 0)
        bare_read(j, O_DIRECT);
    else if (strcmp(j->method, "parapet-write") == 0)
        parapet_write(j);
    else if (strcmp(j->method, "parapet-read") == 0)
        parapet_read(j);
    else
        die(j->method);
    return now() - started;
}

/* Memory whose pages are all there before the clock starts. */
static void load_data(job *j, const char *path)
{
    int file = open(path, O_RDONLY);
    j->data = bench_pages(j->bytes);
    j->target = bench_pages(j->bytes);
    if (file < 0 || j->data == NULL || j->target == NULL || read(file, j->data, 0) != 0)
        die(path);
    for (size_t done = 0; done < j->bytes;) {
        ssize_t moved =
            pread(file, j->data + done, j->bytes - done < (1u << 30) ? j->bytes - done : 1u << 30, (off_t)done);
        if (moved <= 0)
            die("reading the data");
        done += (size_t)moved;
    }
    memset(j->target, 0xff, j->bytes);
    close(file);
}

int main(int argc, char **argv)
{
    job j = {0};
    int64_t edge;
    double seconds;
    if (argc < 7) {
        fprintf(stderr, "usage: bench_serial METHOD DIRECTORY DATA N CHUNK SHARD [CODEC [THREADS]]\n");
        return 2;
    }
    j.method = argv[1];
    j.directory = argv[2];
    edge = atoll(argv[4]);
    j.codec = argc > 7 ? argv[7] : "none";
    j.threads = argc > 8 ? atoll(argv[8]) : 1;
    for (int d = 0; d < 3; d++) {
        j.shape[d] = edge;
        j.chunks[d] = atoll(argv[5]);
        j.shards[d] = atoll(argv[6]);
    }
    j.bytes = (size_t)(edge * edge * edge) * sizeof(double);
    load_data(&j, argv[3]);
    seconds = run(&j);
    if (strstr(j.method, "read") != NULL && memcmp(j.data, j.target, j.bytes) != 0)
        die("what was read is not what was written");
    printf("%.6f\n", seconds);
    return 0;
}
