/* Series on many ranks: four arrays that ranks hold in different ways, time chunks of 1, 10 and 64, rows that fit in
 * memory and rows eight times as large; read by other ranks afterwards, and gone on with on other numbers of ranks in
 * mid-row. Runs under the launcher:
 *
 *     parallel_series STEPS
 *     parallel_series beside STORE STEPS STEPS_PER_ROW MEMORY_BYTES    only writes, for a reader beside */
#include <parapet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch.h"
#include "tree.h"

#define ARRAYS 4
#define NDIM_MOST 4

/* One way to run. */
typedef struct scene {
    launch *run;
    int64_t steps, steps_per_row, scale, memory_bytes;
    bool is_staged; /* expected */
    char folder[600];
    parapet_store *store;
    parapet_series *series;
} scene;

static const char *const names[ARRAYS] = {"u", "v", "w", "energy"};
static const int ndims[ARRAYS] = {3, 3, 4, 1};

/* Without the steps; shards are of a whole multiple of chunks, and do not divide the arrays. */
static const int64_t base_shapes[ARRAYS][3] = {{24, 20}, {18, 28}, {3, 10, 12}, {0}};
static const int64_t base_shards[ARRAYS][3] = {{8, 8}, {8, 16}, {2, 6, 8}, {0}};

static int64_t side_of(const scene *of, int array, int d)
{
    return base_shapes[array][d] * (d == ndims[array] - 2 ? of->scale : 1);
}

/* Large arrays have larger shards, too. */
static int64_t shard_side_of(const scene *of, int array, int d)
{
    return base_shards[array][d] * (d == ndims[array] - 2 && of->scale > 1 ? 6 : 1);
}

/* Every number is exact in float32. */
static float value_of(int array, int64_t step, int64_t element)
{
    return (float)(4000000 * array + 1000 * step + element % 997);
}

/* ---- What a rank has of a step ---- */

typedef struct held {
    int64_t start[NDIM_MOST], count[NDIM_MOST];
    float *data;
    parapet_part part;
} held;

static void split(int64_t length, int rank, int ranks, int64_t *start, int64_t *count)
{
    *start = length * rank / ranks;
    *count = length * (rank + 1) / ranks - *start;
}

/* u in blocks of rows, v in blocks of columns, w in blocks of its last dimension, energy on the last rank; other
 * turns those around. */
static void hold(const scene *of, int array, int rank, int ranks, bool is_other, held *part)
{
    int dimensions = ndims[array] - 1, d, cut = array == 0 ? 0 : dimensions - 1;
    size_t elements = 1;
    if (is_other && dimensions > 0)
        cut = (cut + 1) % dimensions;
    for (d = 0; d < dimensions; d++) {
        part->start[d] = 0;
        part->count[d] = side_of(of, array, d);
        if (d == cut)
            split(side_of(of, array, d), rank, ranks, &part->start[d], &part->count[d]);
        elements *= (size_t)part->count[d];
    }
    if (dimensions == 0 && rank != (is_other ? 0 : ranks - 1))
        elements = 0;
    part->data = elements > 0 ? malloc(elements * sizeof *part->data) : NULL;
    part->part = (parapet_part){.ndim = dimensions,
                                .start = dimensions > 0 ? part->start : NULL,
                                .count = dimensions > 0 ? part->count : NULL,
                                .data = part->data};
}

/* Calls visit with every element of a part and its number in the array. */
typedef void (*element_visitor)(void *context, float *element, int array, int64_t number);

static void visit(const scene *of, int array, held *part, element_visitor act, void *context)
{
    int dimensions = ndims[array] - 1, d;
    int64_t at[NDIM_MOST] = {0}, index = 0, number;
    for (d = 0; d < dimensions; d++)
        if (part->count[d] == 0)
            return;
    for (;;) {
        for (number = 0, d = 0; d < dimensions; d++)
            number = number * side_of(of, array, d) + part->start[d] + at[d];
        act(context, &part->data[index++], array, number);
        for (d = dimensions - 1; d >= 0 && ++at[d] == part->count[d]; d--)
            at[d] = 0;
        if (d < 0)
            return;
    }
}

static void put_element(void *context, float *element, int array, int64_t number)
{
    *element = value_of(array, *(int64_t *)context, number);
}

/* rank of ranks appends a step. */
static parapet_status append(scene *of, int64_t step, int rank, int ranks)
{
    parapet_step steps[ARRAYS] = {{0}};
    held parts[ARRAYS];
    parapet_status status;
    int i;
    for (i = 0; i < ARRAYS; i++) {
        hold(of, i, rank, ranks, false, &parts[i]);
        steps[i].parts = &parts[i].part;
        steps[i].part_count = parts[i].data != NULL;
        if (parts[i].data != NULL)
            visit(of, i, &parts[i], put_element, &step);
    }
    status = parapet_series_append(of->series, 0.25 * (double)step, steps);
    for (i = 0; i < ARRAYS; i++)
        free(parts[i].data);
    return status;
}

/* ---- Making and opening ---- */

static parapet_status create(scene *of)
{
    static const char *const dimensions[ARRAYS][NDIM_MOST] = {
        {"time", "y", "x"}, {"time", "y2", "x2"}, {"time", "z", "y3", "x3"}, {"time"}};
    int64_t shapes[ARRAYS][NDIM_MOST] = {{0}}, chunks[ARRAYS][NDIM_MOST], shards[ARRAYS][NDIM_MOST];
    parapet_array_spec specs[ARRAYS];
    parapet_series_spec spec = {.count = ARRAYS,
                                .names = names,
                                .specs = specs,
                                .attributes = "{\"title\": \"a test\", \"Conventions\": \"CF-1.10\"}",
                                .coordinate_attributes = "{\"units\": \"hours since 2000-01-01\"}"};
    int i, d;
    for (i = 0; i < ARRAYS; i++) {
        chunks[i][0] = shards[i][0] = of->steps_per_row;
        for (d = 1; d < ndims[i]; d++) {
            shapes[i][d] = side_of(of, i, d - 1);
            shards[i][d] = shard_side_of(of, i, d - 1);
            chunks[i][d] = shards[i][d] / 2;
        }
        specs[i] = (parapet_array_spec){.type = PARAPET_FLOAT32,
                                        .ndim = ndims[i],
                                        .shape = shapes[i],
                                        .chunks = chunks[i],
                                        .shards = shards[i],
                                        .dimension_names = dimensions[i]};
    }
    return parapet_series_create(&of->series, of->store, "", &spec);
}

static bool open_store(scene *of, MPI_Comm comm)
{
    parapet_store_options options = {.memory_bytes = of->memory_bytes, .durability = PARAPET_DURABILITY_LEAVE};
    parapet_status status = parapet_store_open(&of->store, comm, of->folder, PARAPET_CREATE, &options);
    return launch_ok(of->run, status, "parapet_store_open");
}

static int64_t shards_of_row(const scene *of)
{
    int64_t total = 0, count;
    int i, d;
    for (i = 0; i < ARRAYS; i++) {
        for (count = 1, d = 0; d < ndims[i] - 1; d++)
            count *= (side_of(of, i, d) + shard_side_of(of, i, d) - 1) / shard_side_of(of, i, d);
        total += count;
    }
    return total;
}

/* ---- Checking ---- */

typedef struct checking {
    int64_t step, wrong;
} checking;

static void check_element(void *context, float *element, int array, int64_t number)
{
    checking *check = context;
    if (*element != value_of(array, check->step, number))
        check->wrong++;
}

/* Reads one step of an array as other ranks had it. */
static void read_step(scene *of, parapet_array *array, int index, checking *check)
{
    int64_t start[NDIM_MOST] = {check->step}, count[NDIM_MOST] = {1};
    parapet_part part = {.ndim = ndims[index], .start = start, .count = count};
    held mine;
    hold(of, index, of->run->rank, of->run->ranks, true, &mine);
    memcpy(start + 1, mine.start, (size_t)(ndims[index] - 1) * sizeof start[0]);
    memcpy(count + 1, mine.count, (size_t)(ndims[index] - 1) * sizeof count[0]);
    part.data = mine.data;
    if (LAUNCH_OK(of->run, parapet_array_read(array, &part, mine.data != NULL)) && mine.data != NULL)
        visit(of, index, &mine, check_element, check);
    free(mine.data);
}

static void check_coordinate(scene *of)
{
    parapet_array *array = NULL;
    double *found = calloc((size_t)of->steps, sizeof *found);
    int64_t start = 0, wrong = 0, step;
    parapet_part part = {.ndim = 1, .start = &start, .count = &of->steps, .data = found};
    if (found != NULL && LAUNCH_OK(of->run, parapet_array_open(&array, of->store, "time")) &&
        LAUNCH_OK(of->run, parapet_array_read(array, &part, 1)))
        for (step = 0; step < of->steps; step++)
            wrong += found[step] != 0.25 * (double)step;
    launch_expect(of->run, wrong == 0, "the values of the coordinate");
    (void)LAUNCH_OK(of->run, parapet_array_close(&array));
    free(found);
}

static void check_all(scene *of)
{
    checking check = {0};
    int i;
    if (!open_store(of, MPI_COMM_WORLD))
        return;
    for (i = 0; i < ARRAYS; i++) {
        parapet_array *array = NULL;
        parapet_array_info info;
        if (!LAUNCH_OK(of->run, parapet_array_open(&array, of->store, names[i])))
            continue;
        launch_expect(of->run, parapet_array_get_info(array, &info) == PARAPET_OK && info.shape[0] == of->steps,
                      "all steps in every array");
        for (check.step = 0; check.step < of->steps; check.step += 1 + of->steps / 25)
            read_step(of, array, i, &check);
        (void)LAUNCH_OK(of->run, parapet_array_close(&array));
    }
    launch_expect(of->run, check.wrong == 0, "the values that were appended");
    check_coordinate(of);
    (void)LAUNCH_OK(of->run, parapet_store_close(&of->store));
}

static void check_info(scene *of, int64_t step)
{
    parapet_series_info info;
    launch_expect(of->run, parapet_series_get_info(of->series, &info) == PARAPET_OK, "an answer");
    launch_expect(of->run, info.steps == step + 1, "one step more");
    launch_expect(of->run, info.steps_committed == (step + 1) / of->steps_per_row * of->steps_per_row,
                  "full rows that are committed");
    if (of->steps_per_row > 1)
        launch_expect(of->run, info.is_staged == of->is_staged, "open steps where they belong");
}

/* Each shard is written once, by whichever rank. */
static void check_counts(scene *of)
{
    int64_t rows = (of->steps + of->steps_per_row - 1) / of->steps_per_row, written[1];
    parapet_series_info info = {0};
    (void)parapet_series_get_info(of->series, &info);
    written[0] = info.shards_written;
    launch_sum(written, 1);
    if (written[0] != rows * shards_of_row(of))
        fprintf(stderr, "%lld shards written, %lld expected\n", (long long)written[0],
                (long long)(rows * shards_of_row(of)));
    launch_expect(of->run, written[0] == rows * shards_of_row(of), "every shard written once");
}

static void run_scene(scene *of)
{
    int64_t step;
    bool is_fine = open_store(of, MPI_COMM_WORLD) && LAUNCH_OK(of->run, create(of));
    for (step = 0; step < of->steps && is_fine; step++) {
        is_fine = LAUNCH_OK(of->run, append(of, step, of->run->rank, of->run->ranks));
        if (is_fine)
            check_info(of, step);
    }
    if (is_fine && LAUNCH_OK(of->run, parapet_series_flush(of->series)))
        check_counts(of);
    (void)LAUNCH_OK(of->run, parapet_series_close(&of->series));
    (void)LAUNCH_OK(of->run, parapet_store_close(&of->store));
    if (is_fine)
        check_all(of);
}

/* ---- On other numbers of ranks ---- */

/* The first ranks append until there are so many steps; the others wait. */
static void go_on(scene *of, int ranks, int64_t to, bool is_first)
{
    MPI_Comm some;
    parapet_series_info info = {0};
    parapet_store_options options = {.memory_bytes = of->memory_bytes, .durability = PARAPET_DURABILITY_LEAVE};
    parapet_status status;
    int rank = of->run->rank;
    MPI_Comm_split(MPI_COMM_WORLD, rank < ranks, rank, &some);
    if (rank < ranks) {
        status = parapet_store_open(&of->store, some, of->folder, PARAPET_CREATE, &options);
        if (status == PARAPET_OK)
            status = is_first ? create(of) : parapet_series_open(&of->series, of->store, "/");
        if (status == PARAPET_OK)
            status = parapet_series_get_info(of->series, &info);
        for (; info.steps < to && status == PARAPET_OK; info.steps++)
            status = append(of, info.steps, rank, ranks);
        if (status == PARAPET_OK)
            status = parapet_series_close(&of->series);
        if (status != PARAPET_OK)
            fprintf(stderr, "%d ranks: %s\n", ranks, parapet_error_message());
        launch_expect(of->run, status == PARAPET_OK, "steps on some of the ranks");
        (void)parapet_store_close(&of->store);
    }
    launch_barrier();
    MPI_Comm_free(&some);
}

static void run_on_other_ranks(scene *of)
{
    static const int numbers[] = {4, 1, 3, 7, 2};
    int64_t to = 0;
    int i;
    for (i = 0; to < of->steps; i++) {
        int ranks = numbers[i % 5] < of->run->ranks ? numbers[i % 5] : of->run->ranks;
        to = to + 7 < of->steps ? to + 7 : of->steps;
        go_on(of, ranks, to, i == 0);
    }
    check_all(of);
}

/* ---- Chunks that need most of memory_bytes when they are written ---- */

/* A row is gone on with in mid-row: there, old and new of a chunk are in memory together. */
#define LARGE_CHUNK 8192
#define LARGE_ROW 4

static parapet_status open_large(scene *of)
{
    int64_t shape[2] = {0, of->run->ranks * of->scale * LARGE_CHUNK}, chunk[2] = {LARGE_ROW, LARGE_CHUNK};
    static const char *const name = "u";
    parapet_array_spec array = {.type = PARAPET_FLOAT32, .ndim = 2, .shape = shape, .chunks = chunk, .shards = chunk};
    parapet_series_spec spec = {.count = 1, .names = &name, .specs = &array};
    parapet_status status = parapet_series_open(&of->series, of->store, "");
    return status == PARAPET_ERR_NOT_FOUND ? parapet_series_create(&of->series, of->store, "", &spec) : status;
}

static void append_large(scene *of, int64_t first, int64_t steps)
{
    int64_t count = of->scale * LARGE_CHUNK, start = of->run->rank * count, step, i;
    float *data = malloc((size_t)count * sizeof *data);
    parapet_part part = {.ndim = 1, .start = &start, .count = &count, .data = data};
    parapet_step one = {.parts = &part, .part_count = 1};
    bool is_fine = data != NULL && open_store(of, MPI_COMM_WORLD) && LAUNCH_OK(of->run, open_large(of));
    for (step = first; step < first + steps && is_fine; step++) {
        for (i = 0; i < count; i++)
            data[i] = value_of(0, step, start + i);
        is_fine = LAUNCH_OK(of->run, parapet_series_append(of->series, (double)step, &one));
    }
    (void)LAUNCH_OK(of->run, parapet_series_close(&of->series));
    (void)LAUNCH_OK(of->run, parapet_store_close(&of->store));
    free(data);
}

static void check_large(scene *of)
{
    int64_t width = of->scale * LARGE_CHUNK, start[2] = {0, of->run->rank * width}, count[2] = {LARGE_ROW, width}, i;
    float *found = calloc((size_t)(LARGE_ROW * width), sizeof *found);
    parapet_part part = {.ndim = 2, .start = start, .count = count, .data = found};
    parapet_array *array = NULL;
    int64_t wrong = 0;
    if (found != NULL && open_store(of, MPI_COMM_WORLD) &&
        LAUNCH_OK(of->run, parapet_array_open(&array, of->store, "u")) &&
        LAUNCH_OK(of->run, parapet_array_read(array, &part, 1)))
        for (i = 0; i < LARGE_ROW * width; i++)
            wrong += found[i] != value_of(0, i / width, start[1] + i % width);
    launch_expect(of->run, wrong == 0, "the values that were appended");
    (void)LAUNCH_OK(of->run, parapet_array_close(&array));
    (void)LAUNCH_OK(of->run, parapet_store_close(&of->store));
    free(found);
}

static void run_large_chunks(scene *of)
{
    append_large(of, 0, LARGE_ROW / 2);
    append_large(of, LARGE_ROW / 2, LARGE_ROW / 2);
    check_large(of);
}

static void run_case(scene *of, const char *description, void (*act)(scene *of))
{
    of->run->failures = 0;
    launch_case_begin(of->run, (uint64_t)of->steps_per_row);
    (void)snprintf(of->folder, sizeof of->folder, "%s/series", of->run->folder);
    act(of);
    (void)launch_case_end(of->run, description);
    launch_barrier();
    if (of->run->rank == 0)
        tree_remove(of->folder);
    launch_barrier();
}

static void run_all(launch *run, int64_t steps)
{
    static const int64_t rows[] = {1, 10, 64};
    /* On any number of ranks a row of 64 steps is eight times the least memory_bytes. */
    scene large = {.run = run, .steps = 70, .steps_per_row = 64, .scale = 24 * run->ranks, .memory_bytes = 1 << 20};
    scene moved = {.run = run, .steps = 50, .steps_per_row = 10, .scale = 1};
    /* Chunks of a rank: what is left of the second row fits in half of memory_bytes, and does not. */
    scene tight = {.run = run, .scale = 5, .memory_bytes = 1 << 20};
    scene tighter = {.run = run, .scale = 16, .memory_bytes = 1 << 20};
    int i;
    for (i = 0; i < 3; i++) {
        scene small = {.run = run, .steps = steps, .steps_per_row = rows[i], .scale = 1};
        run_case(&small, "rows in memory", run_scene);
    }
    large.is_staged = true;
    run_case(&large, "rows eight times as large as memory_bytes", run_scene);
    run_case(&moved, "other numbers of ranks in mid-row", run_on_other_ranks);
    run_case(&tight, "rows in memory beside large chunks", run_large_chunks);
    run_case(&tighter, "rows in logs beside large chunks", run_large_chunks);
}

static void run_beside(launch *run, char **argv)
{
    scene of = {.run = run, .scale = 1};
    int64_t step;
    of.steps = strtoll(argv[3], NULL, 0);
    of.steps_per_row = strtoll(argv[4], NULL, 0);
    of.memory_bytes = strtoll(argv[5], NULL, 0);
    of.scale = of.memory_bytes > 0 ? 24 * run->ranks : 1;
    (void)snprintf(of.folder, sizeof of.folder, "%s", argv[2]);
    launch_case_begin(run, 0);
    if (open_store(&of, MPI_COMM_WORLD) && LAUNCH_OK(run, create(&of)))
        for (step = 0; step < of.steps; step++)
            (void)LAUNCH_OK(run, append(&of, step, run->rank, run->ranks));
    (void)LAUNCH_OK(run, parapet_series_close(&of.series));
    (void)LAUNCH_OK(run, parapet_store_close(&of.store));
    (void)launch_case_end(run, "a writer beside readers");
}

int main(int argc, char **argv)
{
    launch run;
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    if (argc == 6 && strcmp(argv[1], "beside") == 0)
        run_beside(&run, argv);
    else
        run_all(&run, argc > 1 ? strtoll(argv[1], NULL, 0) : 60);
    return launch_finish(&run);
}
