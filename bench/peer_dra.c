/* Disk Resident Arrays of Global Arrays, on the case of case.h. The data lives in a global array that is
 * distributed as the case asks, so that no copy from the user's memory is counted.
 *
 *   dra   words: request=64x64x64 */
#include "case.h"

#include <dra.h>
#include <ga.h>
#include <glob.h>
#include <macdecls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int global_array;

static void must_be_zero(int code, const char *what)
{
    if (code != 0)
        bench_die(what, "DRA failed");
}

/* The first index of every block along each dimension, as NGA_Create_irreg wants them. */
static void fill_map(const bench_case *c, int *map, int blocks[3])
{
    for (int d = 0; d < 3; d++) {
        blocks[d] = (int)(c->shape[d] / c->count[d]);
        for (int b = 0; b < blocks[d]; b++)
            *map++ = b * (int)c->count[d];
    }
}

static void create_global_array(bench_case *c)
{
    static char name[] = "a";
    int shape[3], blocks[3], low[3], high[3], pitch[2], *map = calloc((size_t)c->rank_count * 3 + 3, sizeof *map);
    for (int d = 0; d < 3; d++)
        shape[d] = (int)c->shape[d];
    if (map == NULL)
        bench_die("the map of the global array", "no memory");
    fill_map(c, map, blocks);
    global_array = NGA_Create_irreg(C_DBL, 3, shape, name, blocks, map);
    free(map);
    if (global_array == 0)
        bench_die("the global array", "GA failed");
    NGA_Distribution(global_array, c->rank, low, high);
    for (int d = 0; d < 3; d++)
        if (low[d] != c->start[d] || high[d] != c->start[d] + c->count[d] - 1)
            bench_die("the global array", "is not distributed as asked");
    NGA_Access(global_array, low, high, &c->data, pitch);
    if (pitch[0] != c->count[1] || pitch[1] != c->count[2])
        bench_die("the global array", "the block is not densely packed");
}

static void prepare(bench_case *c)
{
    double total = (double)c->bytes * c->rank_count;
    GA_Initialize();
    if (!MA_init(C_DBL, 1 << 20, 1 << 24))
        bench_die("MA_init", "failed");
    must_be_zero(DRA_Init(4, 2 * total, 4 * total, 1e9), "DRA_Init");
    create_global_array(c);
}

/* DRA leaves flushing to the system; it wrote a file per process and one with its own facts. */
static void flush_files(const bench_case *c, const char *path)
{
    char pattern[BENCH_PATH_BYTES + 1];
    glob_t files;
    GA_Sync();
    (void)snprintf(pattern, sizeof pattern, "%s*", path);
    if (glob(pattern, 0, NULL, &files) != 0)
        bench_die(pattern, "no file of DRA");
    for (size_t i = (size_t)c->rank; i < files.gl_pathc; i += (size_t)c->rank_count)
        bench_flush(files.gl_pathv[i]);
    globfree(&files);
}

static void write_array(const bench_case *c)
{
    static char name[] = "a";
    char path[BENCH_PATH_BYTES];
    int64_t numbers[3];
    dra_size_t shape[3], request_shape[3];
    int array, request;
    bench_path(c, "dra", path);
    bench_parse_triple(bench_option(c, "request", "64x64x64"), numbers);
    for (int d = 0; d < 3; d++) {
        shape[d] = (dra_size_t)c->shape[d];
        request_shape[d] = (dra_size_t)numbers[d];
    }
    must_be_zero(NDRA_Create(C_DBL, 3, shape, name, path, DRA_RW, request_shape, &array), "creating");
    must_be_zero(NDRA_Write(global_array, array, &request), "writing");
    must_be_zero(DRA_Wait(request), "waiting");
    must_be_zero(DRA_Close(array), "closing");
    flush_files(c, path);
}

static void read_array(const bench_case *c)
{
    char path[BENCH_PATH_BYTES];
    int array, request;
    bench_path(c, "dra", path);
    must_be_zero(DRA_Open(path, DRA_R, &array), "opening");
    must_be_zero(NDRA_Read(global_array, array, &request), "reading");
    must_be_zero(DRA_Wait(request), "waiting");
    must_be_zero(DRA_Close(array), "closing");
}

static void finish(const bench_case *c)
{
    (void)c;
    GA_Destroy(global_array);
    DRA_Terminate();
    GA_Terminate();
}

int main(int argc, char **argv)
{
    static const bench_method methods[] = {
        {.name = "dra", .write = write_array, .read = read_array, .prepare = prepare, .finish = finish}, {0}};
    return bench_main(argc, argv, methods);
}
