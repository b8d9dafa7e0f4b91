/* Reads all of a two-dimensional array of doubles, block by block, and prints "SECONDS BLOCKS-READ BLOCKS-IN-ALL".
 *
 *   bench_access STORE ARRAY ROWSxCOLUMNS MEMORY [EVERY]
 *
 * One call of parapet_array_read per block, blocks in C order, within MEMORY ("64MiB"). With EVERY only each
 * so-many-th block is read: an odd number visits all columns of blocks even when there are a power of two of them.
 * The value of an element must be its index in C order, which is checked at the corners of each block. */
#include <inttypes.h>
#include <parapet.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct job {
    const char *path;
    int64_t shape[2], block[2];
    int64_t every;
    double *data;
    parapet_store *store;
    parapet_array *array;
} job;

static void die(const char *what)
{
    fprintf(stderr, "bench: access: %s: %s\n", what, parapet_error_message());
    exit(1);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void open_array(job *j, const char *url, const char *memory)
{
    parapet_store_options options = {0};
    parapet_array_info info;
    if (parapet_store_options_set(&options, "memory_bytes", memory) != PARAPET_OK ||
        parapet_store_open(&j->store, MPI_COMM_NULL, url, PARAPET_READ, &options) != PARAPET_OK ||
        parapet_array_open(&j->array, j->store, j->path) != PARAPET_OK ||
        parapet_array_get_info(j->array, &info) != PARAPET_OK)
        die("open");
    if (info.ndim != 2 || info.type != PARAPET_FLOAT64)
        die("not a two-dimensional array of doubles");
    for (int d = 0; d < 2; d++) {
        j->shape[d] = info.shape[d];
        if (j->block[d] < 1 || info.shape[d] % j->block[d] != 0)
            die("blocks must divide the array");
    }
}

static void read_block(const job *j, int64_t number)
{
    int64_t columns = j->shape[1] / j->block[1];
    int64_t start[2] = {number / columns * j->block[0], number % columns * j->block[1]};
    parapet_part part = {.ndim = 2, .start = start, .count = j->block, .data = j->data};
    double first = (double)(start[0] * j->shape[1] + start[1]);
    double across = (double)((j->block[0] - 1) * j->shape[1] + j->block[1] - 1);
    if (parapet_array_read(j->array, &part, 1) != PARAPET_OK)
        die("read");
    if (j->data[0] != first || j->data[j->block[0] * j->block[1] - 1] != first + across)
        die("a block holds other values than were written");
}

int main(int argc, char **argv)
{
    job j = {0};
    int64_t blocks, done = 0;
    double started;
    if (argc < 5 || sscanf(argv[3], "%" SCNd64 "x%" SCNd64, &j.block[0], &j.block[1]) != 2) {
        fprintf(stderr, "usage: bench_access STORE ARRAY ROWSxCOLUMNS MEMORY [EVERY]\n");
        return 2;
    }
    j.path = argv[2];
    j.every = argc > 5 ? atoll(argv[5]) : 1;
    open_array(&j, argv[1], argv[4]);
    j.data = calloc((size_t)(j.block[0] * j.block[1]), sizeof *j.data);
    if (j.data == NULL || j.every < 1)
        die("memory");
    blocks = j.shape[0] / j.block[0] * (j.shape[1] / j.block[1]);
    started = now(); /* a sample is multiplied, and opening is not part of what it stands for */
    for (int64_t number = 0; number < blocks; number += j.every, done++)
        read_block(&j, number);
    if (parapet_array_close(&j.array) != PARAPET_OK || parapet_store_close(&j.store) != PARAPET_OK)
        die("close");
    printf("%.6f %" PRId64 " %" PRId64 "\n", now() - started, done, blocks);
    free(j.data);
    return 0;
}
