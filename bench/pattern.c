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

static void visit_points(const bench_pattern *pattern, int64_t step, bench_visit visit, void *context)
{
    for (int64_t i = 0; i < pattern->point_count; i += step) {
        bench_box run = {.start = {pattern->points[i], 0},
                         .count = {1, BENCH_POINT_DOUBLES},
                         .data = pattern->head.data + i * BENCH_POINT_DOUBLES};
        visit(pattern, &run, context);
    }
}

static void visit_boxes(const bench_pattern *pattern, bench_visit visit, void *context)
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

void bench_pattern_runs(const bench_pattern *pattern, bench_visit visit, void *context)
{
    visit_points(pattern, 1, visit, context);
    visit_boxes(pattern, visit, context);
}

void bench_pattern_few_runs(const bench_pattern *pattern, bench_visit visit, void *context)
{
    visit_points(pattern, pattern->step, visit, context);
    visit_boxes(pattern, visit, context);
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

/* Each number below a power of two once, in an order that looks random: every step can be undone. */
static int64_t map(int64_t number, int bits)
{
    uint64_t mask = (UINT64_C(1) << bits) - 1, mixed = (uint64_t)number;
    for (int round = 0; round < 3; round++) {
        mixed = (mixed * UINT64_C(0x9e3779b97f4a7c15) + 0x632be5ab) & mask;
        mixed ^= mixed >> (bits / 2 + 1);
    }
    return (int64_t)mixed;
}

static int compare_numbers(const void *a, const void *b)
{
    int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;
    return (one > other) - (one < other);
}

static void build_unstruc(bench_pattern *pattern, int64_t count)
{
    int64_t first, few = strtoll(bench_option(&pattern->head, "few", "0"), NULL, 10) / pattern->head.rank_count;
    int bits = 0;
    while (INT64_C(1) << bits < count)
        bits++;
    if (INT64_C(1) << bits != count)
        bench_die("unstruc", "the number of points must be a power of two");
    pattern->ndim = 2;
    pattern->shape[0] = count;
    pattern->shape[1] = BENCH_POINT_DOUBLES;
    cut(count, pattern->head.rank_count, pattern->head.rank, &first, &pattern->point_count);
    pattern->step = few > 0 && few < pattern->point_count ? pattern->point_count / few : 1;
    pattern->points = calloc((size_t)pattern->point_count, sizeof pattern->points[0]);
    if (pattern->points == NULL)
        bench_die("the points of a rank", "no memory");
    for (int64_t i = 0; i < pattern->point_count; i++)
        pattern->points[i] = map(first + i, bits);
    qsort(pattern->points, (size_t)pattern->point_count, sizeof pattern->points[0], compare_numbers);
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
        build_unstruc(pattern, edge);
    else
        bench_die(name, "no such pattern");
}

static void allocate(bench_pattern *pattern)
{
    double *next;
    pattern->head.bytes = (size_t)pattern->point_count * BENCH_POINT_DOUBLES * sizeof(double);
    for (int b = 0; b < pattern->box_count; b++)
        pattern->head.bytes += (size_t)bench_box_elements(pattern, &pattern->boxes[b]) * sizeof(double);
    next = pattern->head.data = bench_pages(pattern->head.bytes);
    if (next == NULL)
        bench_die("what a rank has", "no memory");
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
    bench_pattern_few_runs(pattern, check_run, &wrong);
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
