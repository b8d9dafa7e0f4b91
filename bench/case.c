#include "case.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pages.h"

_Noreturn void bench_die(const char *what, const char *why)
{
    fprintf(stderr, "bench: %s: %s\n", what, why);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

const char *bench_option(const bench_case *c, const char *name, const char *otherwise)
{
    size_t length = strlen(name);
    for (int i = 0; i < c->word_count; i++)
        if (strncmp(c->words[i], name, length) == 0 && c->words[i][length] == '=')
            return c->words[i] + length + 1;
    return otherwise;
}

void bench_parse_triple(const char *text, int64_t numbers[3])
{
    char *rest = NULL;
    numbers[0] = strtoll(text, &rest, 10);
    for (int d = 1; d < 3; d++) {
        if (*rest != 'x')
            bench_die(text, "three numbers such as 2x2x4 are wanted");
        numbers[d] = strtoll(rest + 1, &rest, 10);
    }
}

void bench_path(const bench_case *c, const char *name, char path[BENCH_PATH_BYTES])
{
    if (snprintf(path, BENCH_PATH_BYTES, "%s/%s", c->directory, name) >= BENCH_PATH_BYTES)
        bench_die(c->directory, "the name is too long");
}

void bench_flush(const char *path)
{
    int file = open(path, O_RDONLY);
    if (file < 0 || fsync(file) != 0 || close(file) != 0)
        bench_die(path, strerror(errno));
}

double bench_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void wait_for_all(useconds_t between)
{
    MPI_Request request;
    int done = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (;;) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done)
            return;
        usleep(between);
    }
}

void bench_wait_for_all(void)
{
    wait_for_all(100);
}

void bench_wait_long_for_all(void)
{
    wait_for_all(2000);
}

void bench_flush_shared(const bench_case *c, const char *path)
{
    bench_wait_for_all();
    if (c->rank == 0)
        bench_flush(path);
}

/* All ranks are on one node and share its clock. */
double bench_time_of(void (*work)(const bench_case *c), const bench_case *c)
{
    double ends[2], extremes[2];
    bench_wait_for_all();
    ends[0] = -bench_now();
    work(c);
    ends[1] = bench_now();
    bench_wait_for_all();
    MPI_Allreduce(ends, extremes, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return extremes[1] + extremes[0];
}

static double value_at(const bench_case *c, int64_t i, int64_t j, int64_t k)
{
    return (double)(((c->start[0] + i) * c->shape[1] + c->start[1] + j) * c->shape[2] + c->start[2] + k) + 0.5;
}

static void fill(const bench_case *c)
{
    double *next = c->data;
    for (int64_t i = 0; i < c->count[0]; i++)
        for (int64_t j = 0; j < c->count[1]; j++)
            for (int64_t k = 0; k < c->count[2]; k++)
                *next++ = value_at(c, i, j, k);
}

static void check(const bench_case *c, const char *method)
{
    const double *next = c->data;
    int64_t wrong = 0;
    for (int64_t i = 0; i < c->count[0]; i++)
        for (int64_t j = 0; j < c->count[1]; j++)
            for (int64_t k = 0; k < c->count[2]; k++)
                wrong += *next++ != value_at(c, i, j, k);
    if (wrong != 0)
        bench_die(method, "what was read is not what was written");
}

void bench_empty_page_cache(const bench_case *c)
{
    int file;
    if (c->rank != 0)
        return;
    sync();
    file = open("/proc/sys/vm/drop_caches", O_WRONLY);
    if (file < 0 || write(file, "3", 1) != 1)
        bench_die("cannot empty the page cache for a cold read; run as root", strerror(errno));
    close(file);
}

static void allocate(bench_case *c)
{
    c->data = bench_pages(c->bytes);
    if (c->data == NULL)
        bench_die("the block of a rank", "no memory");
}

static void place_block(bench_case *c, const char *edge, const char *mesh_text)
{
    int64_t mesh[3], position = c->rank;
    bench_parse_triple(mesh_text, mesh);
    if (mesh[0] * mesh[1] * mesh[2] != c->rank_count)
        bench_die(mesh_text, "the mesh does not have as many places as there are ranks");
    c->bytes = sizeof(double);
    for (int d = 2; d >= 0; d--) {
        c->shape[d] = strtoll(edge, NULL, 10);
        if (c->shape[d] <= 0 || c->shape[d] % mesh[d] != 0)
            bench_die(edge, "not a multiple of the mesh");
        c->count[d] = c->shape[d] / mesh[d];
        c->start[d] = position % mesh[d] * c->count[d];
        position /= mesh[d];
        c->bytes *= (size_t)c->count[d];
    }
}

const bench_method *bench_find_method(const bench_method *methods, const char *name)
{
    for (; methods->name != NULL; methods++)
        if (strcmp(methods->name, name) == 0)
            return methods;
    bench_die(name, "no such method in this program");
}

long long bench_crossed_bytes(const bench_method *method)
{
    long long own = method->crossed != NULL ? (long long)method->crossed() : -1, all = 0;
    MPI_Allreduce(&own, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    return own < 0 ? -1 : all;
}

static void run(bench_case *c, const bench_method *method)
{
    double write_seconds, read_seconds;
    long long crossed;
    (method->prepare != NULL ? method->prepare : allocate)(c);
    fill(c);
    write_seconds = bench_time_of(method->write, c);
    memset(c->data, 0xff, c->bytes);
    bench_empty_page_cache(c);
    read_seconds = bench_time_of(method->read, c);
    check(c, method->name);
    bench_wait_for_all();
    crossed = bench_crossed_bytes(method);
    if (c->rank == 0)
        printf("%.6f %.6f %lld\n", write_seconds, read_seconds, crossed);
    if (method->finish != NULL)
        method->finish(c);
}

int bench_main(int argc, char **argv, const bench_method *methods)
{
    bench_case c = {0};
    int is_ready, thread_level;
    MPI_Initialized(&is_ready);
    if (!is_ready)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &thread_level);
    if (argc < 5)
        bench_die(argv[0], "usage: METHOD DIRECTORY N MESH [name=value ...]");
    MPI_Comm_rank(MPI_COMM_WORLD, &c.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &c.rank_count);
    c.directory = argv[2];
    c.words = argv + 5;
    c.word_count = argc - 5;
    place_block(&c, argv[3], argv[4]);
    run(&c, bench_find_method(methods, argv[1]));
    MPI_Finalize();
    return 0;
}
