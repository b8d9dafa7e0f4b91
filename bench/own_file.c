#include "own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pages.h"

static int open_own_file(const bench_case *c, const char *folder, int flags)
{
    char name[128], path[BENCH_PATH_BYTES];
    int file;
    (void)snprintf(name, sizeof name, "%s/rank-%d.bin", folder, c->rank);
    bench_path(c, name, path);
    file = open(path, flags, 0666);
    if (file < 0)
        bench_die(path, strerror(errno));
    return file;
}

static size_t piece_at(const bench_case *c, size_t done)
{
    return c->bytes - done < BENCH_PIECE_BYTES ? c->bytes - done : BENCH_PIECE_BYTES;
}

void bench_own_file_write(const bench_case *c, const char *folder, int flags)
{
    int file = open_own_file(c, folder, O_CREAT | O_TRUNC | O_WRONLY | flags);
    for (size_t done = 0; done < c->bytes;) {
        ssize_t moved = pwrite(file, (const char *)c->data + done, piece_at(c, done), (off_t)done);
        if (moved <= 0)
            bench_die("pwrite", strerror(errno));
        done += (size_t)moved;
    }
    if (fsync(file) != 0 || close(file) != 0)
        bench_die("fsync", strerror(errno));
}

void bench_own_file_read(const bench_case *c, const char *folder, int flags)
{
    int file = open_own_file(c, folder, O_RDONLY | flags);
    for (size_t done = 0; done < c->bytes;) {
        ssize_t moved = pread(file, (char *)c->data + done, piece_at(c, done), (off_t)done);
        if (moved <= 0)
            bench_die("pread", strerror(errno));
        done += (size_t)moved;
    }
    close(file);
}
