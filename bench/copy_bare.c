/* The bare limit of a copy: reads files and writes them again, with nothing in between, and prints the seconds.
 *
 *   bench_copy_bare METHOD TARGET SOURCE...
 *
 * METHOD is buffered or direct (O_DIRECT on both sides). Every SOURCE becomes one file in the directory TARGET. All
 * is read and written 8 MiB at a time by one thread, in order, and flushed to the device at the end. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "pages.h"

#define BLOCK_BYTES ((size_t)4096)

static void die(const char *what)
{
    fprintf(stderr, "bench: copy_bare: ");
    perror(what);
    exit(1);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void write_all(int file, const unsigned char *piece, size_t bytes)
{
    while (bytes > 0) {
        ssize_t moved = write(file, piece, bytes);
        if (moved <= 0)
            die("write");
        piece += moved;
        bytes -= (size_t)moved;
    }
}

/* What direct writing cannot take: the end of a file, after the last whole block. */
static void write_rest(int file, const unsigned char *piece, size_t bytes)
{
    if (bytes == 0)
        return;
    if (fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_DIRECT) != 0)
        die("fcntl");
    write_all(file, piece, bytes);
}

/* Returns the target, still open: it is flushed when all files are written, as one large file would be. */
static int copy_file(const char *source, const char *target, int flags, unsigned char *piece)
{
    int from = open(source, O_RDONLY | flags);
    int to = open(target, O_CREAT | O_TRUNC | O_WRONLY | flags, 0666);
    ssize_t moved;
    if (from < 0 || to < 0)
        die(from < 0 ? source : target);
    while ((moved = read(from, piece, BENCH_PIECE_BYTES)) > 0) {
        size_t rest = flags != 0 ? (size_t)moved % BLOCK_BYTES : 0;
        write_all(to, piece, (size_t)moved - rest);
        write_rest(to, piece + (size_t)moved - rest, rest);
    }
    if (moved < 0)
        die(source);
    close(from);
    return to;
}

int main(int argc, char **argv)
{
    unsigned char *piece = bench_pages(BENCH_PIECE_BYTES);
    int *targets = calloc((size_t)argc, sizeof *targets);
    bool is_direct = argc > 1 && strcmp(argv[1], "direct") == 0;
    double started = now();
    if (argc < 4 || (!is_direct && strcmp(argv[1], "buffered") != 0)) {
        fprintf(stderr, "usage: bench_copy_bare buffered|direct TARGET SOURCE...\n");
        return 2;
    }
    if (piece == NULL || targets == NULL)
        die("memory");
    for (int i = 3; i < argc; i++) {
        char path[4096];
        (void)snprintf(path, sizeof path, "%s/%d.bin", argv[2], i - 3);
        targets[i] = copy_file(argv[i], path, is_direct ? O_DIRECT : 0, piece);
    }
    for (int i = 3; i < argc; i++)
        if (fsync(targets[i]) != 0 || close(targets[i]) != 0)
            die("fsync");
    printf("%.6f\n", now() - started);
    free(targets);
    free(piece);
    return 0;
}
