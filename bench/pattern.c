#include "pattern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pages.h"

#define BTIO_DOUBLES 5

int64_t bench_box_elements(const bench_pattern *pattern, const bench_box *box)
{
    int64_t count = 1;
    for (int d = 0; d < pattern->ndim; d++)
        count *= box->count[d];
    return count;
}

int64_t bench_box_offset(const bench_pattern *pattern, const bench_box *box)
{
    int64_t offset = 0;
    for (int d = 0; d < pattern->ndim; d++)
        offset = offset * pattern->shape[d] + box->start[d];
    return offset;
}

void bench_pattern_runs(const bench_pattern *pattern, bench_visit visit, void *context)
{
    for (int b = 0; b < pattern->box_count; b++) {
        const bench_box *box = &pattern->boxes[b];
        bench_box run = *box;
        run.count[0] = run.count[1] = 1;
        for (int64_t i = 0; i < box->count[0]; i++)
            for (int64_t j = 0; j < box->count[1]; j++) {
                run.start[0] = box->start[0] + i;
                run.start[1] = box->start[1] + j;
                visit(pattern, &run, context);
                run.data += bench_box_elements(pattern, &run);
            }
    }
}

/* ---- The patterns ---- */

static void allocate_boxes(bench_pattern *pattern, int count)
{
    pattern->box_count = count;
    pattern->boxes = calloc((size_t)count, sizeof pattern->boxes[0]);
    if (pattern->boxes == NULL)
        bench_die("the boxes of a rank", "no memory");
}

/* Part `index` of `parts` of an extent; the first ones are longer where it does not come out even. */
static void cut(int64_t extent, int64_t parts, int64_t index, int64_t *start, int64_t *count)
{
    int64_t rest = extent % parts;
    *count = extent / parts + (index < rest);
    *start = index * (extent / parts) + (index < rest ? index : rest);
}

static void build_dist3d(bench_pattern *pattern, int64_t edge)
{
    int mesh[3] = {0};
    int64_t position = pattern->head.rank;
    pattern->ndim = 3;
    allocate_boxes(pattern, 1);
    MPI_Dims_create(pattern->head.rank_count, 3, mesh); /* the longest side comes first */
    for (int d = 2; d >= 0; d--) {
        int64_t places = mesh[2 - d];
        pattern->shape[d] = edge;
        cut(edge, places, position % places, &pattern->boxes[0].start[d], &pattern->boxes[0].count[d]);
        position /= places;
    }
}

/* In every direction each rank has a cell in each slab, so that no rank is idle when a sweep passes through it. */
static void build_btio(bench_pattern *pattern, int64_t edge)
{
    int64_t ranks = pattern->head.rank_count, side = 1;
    while (side * side < ranks)
        side++;
    if (side * side != ranks)
        bench_die("btio", "the number of ranks must be a square");
    pattern->ndim = 4;
    allocate_boxes(pattern, (int)side);
    for (int64_t c = 0; c < side; c++) {
        int64_t cell[3] = {c, (pattern->head.rank / side + side - c) % side, (pattern->head.rank + c) % side};
        bench_box *box = &pattern->boxes[c];
        for (int d = 0; d < 3; d++) {
            pattern->shape[d] = edge;
            cut(edge, side, cell[d], &box->start[d], &box->count[d]);
        }
        pattern->shape[3] = box->count[3] = BTIO_DOUBLES;
    }
}

static void build(bench_pattern *pattern, const char *name, const char *edge_text)
{
    int64_t edge = strtoll(edge_text, NULL, 10);
    if (edge < pattern->head.rank_count)
        bench_die(edge_text, "too small for so many ranks");
    if (strcmp(name, "dist3d") == 0)
        build_dist3d(pattern, edge);
    else if (strcmp(name, "btio") == 0)
        build_btio(pattern, edge);
    else if (strcmp(name, "unstruc") == 0)
        bench_die(name, "waits for calls that take lists of indices");
    else
        bench_die(name, "no such pattern");
}

static void allocate(bench_pattern *pattern)
{
    double *next;
    pattern->head.bytes = 0;
    for (int b = 0; b < pattern->box_count; b++)
        pattern->head.bytes += (size_t)bench_box_elements(pattern, &pattern->boxes[b]) * sizeof(double);
    next = pattern->head.data = bench_pages(pattern->head.bytes);
    if (next == NULL)
        bench_die("the boxes of a rank", "no memory");
    for (int b = 0; b < pattern->box_count; b++) {
        pattern->boxes[b].data = next;
        next += bench_box_elements(pattern, &pattern->boxes[b]);
    }
}

/* ---- Values: the index of an element in C order, and a half ---- */

static void fill_run(const bench_pattern *pattern, const bench_box *run, void *context)
{
    double first = (double)bench_box_offset(pattern, run) + 0.5;
    int64_t count = bench_box_elements(pattern, run);
    (void)context;
    for (int64_t i = 0; i < count; i++)
        run->data[i] = first + (double)i;
}

static void check_run(const bench_pattern *pattern, const bench_box *run, void *wrong)
{
    double first = (double)bench_box_offset(pattern, run) + 0.5;
    int64_t count = bench_box_elements(pattern, run);
    for (int64_t i = 0; i < count; i++)
        *(int64_t *)wrong += run->data[i] != first + (double)i;
}

/* ---- The clock ---- */

static double started, stopped;

void bench_clock_start(void)
{
    bench_wait_for_all();
    started = bench_now();
}

void bench_clock_stop(void)
{
    stopped = bench_now();
}

static double seconds_of(void (*work)(const bench_case *c), const bench_case *c)
{
    double ends[2], extremes[2];
    work(c);
    ends[0] = -started;
    ends[1] = stopped;
    bench_wait_for_all();
    MPI_Allreduce(ends, extremes, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return extremes[1] + extremes[0];
}

static void run_method(bench_pattern *pattern, const bench_method *method)
{
    bench_case *c = &pattern->head;
    double write_seconds, read_seconds;
    int64_t wrong = 0;
    long long crossed;
    bench_pattern_runs(pattern, fill_run, NULL);
    write_seconds = seconds_of(method->write, c);
    memset(c->data, 0xff, c->bytes);
    bench_empty_page_cache(c);
    read_seconds = seconds_of(method->read, c);
    bench_pattern_runs(pattern, check_run, &wrong);
    if (wrong != 0)
        bench_die(method->name, "what was read is not what was written");
    bench_wait_for_all();
    crossed = bench_crossed_bytes(method);
    if (c->rank == 0)
        printf("%.6f %.6f %lld\n", write_seconds, read_seconds, crossed);
}

int bench_pattern_main(int argc, char **argv, const bench_method *methods)
{
    bench_pattern pattern = {0};
    bench_case *c = &pattern.head;
    int thread_level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &thread_level);
    if (argc < 5)
        bench_die(argv[0], "usage: METHOD DIRECTORY PATTERN N [name=value ...]");
    MPI_Comm_rank(MPI_COMM_WORLD, &c->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &c->rank_count);
    c->directory = argv[2];
    c->words = argv + 5;
    c->word_count = argc - 5;
    build(&pattern, argv[3], argv[4]);
    allocate(&pattern);
    run_method(&pattern, bench_find_method(methods, argv[1]));
    MPI_Finalize();
    return 0;
}
