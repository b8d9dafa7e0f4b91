/* The bare limit of bench/run columns: reads blocks of columns out of files in C order, one pread for each row of a
 * block, and prints "SECONDS BLOCKS-READ BLOCKS-IN-ALL".
 *
 *   bench_columns_bare DIRECTORY EDGE FILE-ROWS BLOCK-ROWS BLOCK-COLUMNS EVERY
 *
 * An array of EDGE^2 doubles whose value is their index lies in DIRECTORY/0/0, DIRECTORY/1/0 and so on, FILE-ROWS
 * rows in each: shards without checksums are such files. Blocks come in C order; only each EVERY-th is read. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct job {
    const char *directory;
    int64_t edge, file_rows, rows, columns, every;
    int *files;
    double *data;
} job;

static _Noreturn void die(const char *what, const char *why)
{
    fprintf(stderr, "bench: columns_bare: %s: %s\n", what, why);
    exit(1);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void open_files(job *j)
{
    int64_t count = j->edge / j->file_rows;
    char path[4096];
    j->files = calloc((size_t)count, sizeof *j->files);
    j->data = calloc((size_t)(j->rows * j->columns), sizeof *j->data);
    if (j->files == NULL || j->data == NULL)
        die("files", "no memory");
    for (int64_t i = 0; i < count; i++) {
        (void)snprintf(path, sizeof path, "%s/%lld/0", j->directory, (long long)i);
        j->files[i] = open(path, O_RDONLY);
        if (j->files[i] < 0)
            die(path, strerror(errno));
    }
}

static void read_block(const job *j, int64_t first_row, int64_t first_column)
{
    size_t bytes = (size_t)j->columns * sizeof(double);
    for (int64_t i = 0; i < j->rows; i++) {
        int64_t row = first_row + i, place = row % j->file_rows * j->edge + first_column;
        double *target = j->data + i * j->columns;
        if (pread(j->files[row / j->file_rows], target, bytes, (off_t)place * (off_t)sizeof(double)) !=
            (ssize_t)bytes)
            die("pread", "too short");
        if (target[0] != (double)(row * j->edge + first_column))
            die("a row", "holds other values than were written");
    }
}

int main(int argc, char **argv)
{
    job j = {0};
    int64_t across, blocks, done = 0;
    double started;
    if (argc < 7)
        die(argv[0], "usage: DIRECTORY EDGE FILE-ROWS BLOCK-ROWS BLOCK-COLUMNS EVERY");
    j = (job){.directory = argv[1], .edge = atoll(argv[2]), .file_rows = atoll(argv[3]), .rows = atoll(argv[4])};
    j.columns = atoll(argv[5]);
    j.every = atoll(argv[6]);
    if (j.rows < 1 || j.columns < 1 || j.every < 1 || j.file_rows < 1 || j.edge % j.file_rows != 0)
        die(argv[0], "numbers must be positive, and files must divide the array");
    open_files(&j);
    across = j.edge / j.columns;
    blocks = j.edge / j.rows * across;
    started = now();
    for (int64_t number = 0; number < blocks; number += j.every, done++)
        read_block(&j, number / across * j.rows, number % across * j.columns);
    printf("%.6f %lld %lld\n", now() - started, (long long)done, (long long)blocks);
    return 0;
}
