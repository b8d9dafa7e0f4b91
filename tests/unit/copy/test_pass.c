/* One pass of a copy on one rank, as its plan says it: what it takes, and what it counts. */
#include "support.h"

#include <parapet_plan.h>

#include "store/store.h"
#include "stored.h"

#define SIDE 1024

/* The number behind a key of the plan's JSON. */
static int64_t planned(const char *json, const char *key)
{
    char quoted[64];
    const char *found;
    (void)snprintf(quoted, sizeof quoted, "\"%s\": ", key);
    found = strstr(json, quoted);
    assert_non_null(found);
    return strtoll(found + strlen(quoted), NULL, 10);
}

/* Rows of 8 KiB: a chunk of the target is open for 256 of them. */
static void create_source(parapet_store *store)
{
    static double values[SIDE][SIDE];
    parapet_array_spec spec = {.type = PARAPET_FLOAT64,
                               .ndim = 2,
                               .shape = (int64_t[]){SIDE, SIDE},
                               .chunks = (int64_t[]){1, SIDE},
                               .unsharded = true,
                               .codec = "none"};
    parapet_part part = {.ndim = 2, .start = (int64_t[]){0, 0}, .count = (int64_t[]){SIDE, SIDE}, .data = values};
    parapet_array *array;
    int i, j;
    for (i = 0; i < SIDE; i++)
        for (j = 0; j < SIDE; j++)
            values[i][j] = 1 + i * SIDE + j;
    assert_ok(parapet_array_create(&array, store, "source", &spec));
    assert_ok(parapet_array_write(array, &part, 1));
    assert_ok(parapet_array_close(&array));
}

/* Four chunks of 512 KiB are open at a time. Each has a buffer, and so have those that are being written meanwhile:
 * more than everything else together. */
static void test_pass__takes_the_buffers_that_are_planned_for_overlap(void **state)
{
    parapet_store *store;
    parapet_copy_request request = {.source_path = "source",
                                    .target_path = "copy",
                                    .changes = {.chunks = "256,256", .shards = "none"},
                                    .memory_bytes = 64 << 20,
                                    .no_probe = true,
                                    .passes = 1};
    parapet_copy_result result;
    char *json = NULL;
    (void)state;
    stored_open(&store, NULL);
    create_source(store);
    request.source = request.target = store;
    assert_ok(parapet_copy_request_plan_print(&request, 1, &json, NULL));
    assert_ok(parapet_copy(&request, &result));
    assert_int_equal(planned(json, "open_chunks"), 4);
    assert_true(planned(json, "chunk_buffers") >= 8);
    assert_true(result.memory_peak_bytes >= planned(json, "all_chunk_buffers_bytes"));
    assert_true(result.memory_peak_bytes <= planned(json, "memory_bytes"));
    assert_int_equal(result.chunks_written, planned(json, "chunks_written"));
    assert_int_equal(result.read_requests, planned(json, "read_requests"));
    parapet_free(json);
    stored_close(&store);
}

/* ---- More shards side by side than are kept open ---- */

enum { EDGE = 34 };

/* 289 shards at each place in any dimension, of two layers of chunks. */
static void create_cube(parapet_store *store)
{
    static int32_t values[EDGE * EDGE * EDGE];
    int64_t shape[] = {EDGE, EDGE, EDGE}, start[] = {0, 0, 0};
    parapet_array_spec spec = {.type = PARAPET_INT32,
                               .ndim = 3,
                               .shape = shape,
                               .chunks = (int64_t[]){1, 1, 1},
                               .shards = (int64_t[]){2, 2, 2},
                               .codec = "none"};
    parapet_part part = {.ndim = 3, .start = start, .count = shape, .data = values};
    parapet_array *array;
    int i;
    for (i = 0; i < EDGE * EDGE * EDGE; i++)
        values[i] = 1 + i;
    assert_ok(parapet_array_create(&array, store, "source", &spec));
    assert_ok(parapet_array_write(array, &part, 1));
    assert_ok(parapet_array_close(&array));
}

/* Whoever changes the shard in the middle when half of it is copied. */
typedef struct intruder {
    parapet_store *store;
    const char *puts; /* NULL: removes it */
    bool is_done;
} intruder;

static int intrude(void *context, int64_t done_bytes, int64_t total_bytes)
{
    intruder *self = context;
    if (self->is_done || total_bytes == 0 || done_bytes < total_bytes / 2)
        return 0;
    self->is_done = true;
    if (self->puts != NULL)
        stored_put_text(self->store, "source/c/8/8/8", self->puts);
    else
        assert_ok(pp_store_remove(self->store->backend, "source/c/8/8/8"));
    return 0;
}

static void check_intruder(const char *puts)
{
    intruder self = {.puts = puts, .is_done = true}; /* while the source is written */
    parapet_store_options options = {
        .io_thread = PARAPET_IO_THREAD_NONE, .progress = intrude, .progress_context = &self};
    parapet_copy_request request = {.source_path = "source",
                                    .target_path = "copy",
                                    .changes = {.chunks = "34,34,34", .shards = "none"},
                                    .no_probe = true,
                                    .passes = 1};
    stored_open(&self.store, &options);
    create_cube(self.store);
    self.is_done = false;
    request.source = request.target = self.store;
    assert_fails(parapet_copy(&request, NULL), PARAPET_ERR_STALE, "replaced or removed source/c/8/8/8");
    assert_true(self.is_done);
    stored_close(&self.store);
}

static void test_pass__an_index_is_not_used_for_another_shard(void **state)
{
    (void)state;
    check_intruder("short");
    check_intruder(NULL);
}

/* ---- Several source chunks at a time ---- */

enum { STEPS = 50, LINES = 5, COLUMNS = 7 };

typedef struct steps_case {
    int64_t chunk[3], shard[3]; /* shard 0: none */
    int has_checksum, has_holes;
    const char *order, *region, *chunks;
    int64_t first, count; /* steps of the region */
    bool is_reversed;
} steps_case;

static int16_t value_at(const steps_case *its, int64_t step, int64_t line, int64_t column)
{
    int64_t chunk = step / its->chunk[0];
    if (its->has_holes && (chunk % 5 == 2 || chunk % 7 == 3))
        return 0;
    return (int16_t)(1 + (step * LINES + line) * COLUMNS + column);
}

static void create_steps(parapet_store *store, const steps_case *its)
{
    parapet_array_spec spec = {.type = PARAPET_INT16,
                               .ndim = 3,
                               .shape = (int64_t[]){STEPS, LINES, COLUMNS},
                               .chunks = its->chunk,
                               .shards = its->shard[0] > 0 ? its->shard : NULL,
                               .unsharded = its->shard[0] == 0,
                               .codec = "none",
                               .no_checksum = !its->has_checksum};
    parapet_array *array;
    int16_t values[LINES][COLUMNS];
    int64_t step, line, column;
    assert_ok(parapet_array_create(&array, store, "source", &spec));
    for (step = 0; step < STEPS; step++) {
        parapet_part part = {
            .ndim = 3, .start = (int64_t[]){step, 0, 0}, .count = (int64_t[]){1, LINES, COLUMNS}, .data = values};
        for (line = 0; line < LINES; line++)
            for (column = 0; column < COLUMNS; column++)
                values[line][column] = value_at(its, step, line, column);
        if (values[0][0] != 0)
            assert_ok(parapet_array_write(array, &part, 1));
    }
    assert_ok(parapet_array_close(&array));
}

static void check_steps(parapet_store *store, const steps_case *its)
{
    int16_t values[LINES * COLUMNS * STEPS];
    parapet_part part = {
        .ndim = 3, .start = (int64_t[]){0, 0, 0}, .count = (int64_t[]){LINES, COLUMNS, its->count}, .data = values};
    parapet_array *array;
    int64_t i, step;
    assert_ok(parapet_array_open(&array, store, "copy"));
    assert_ok(parapet_array_read(array, &part, 1));
    for (i = 0; i < LINES * COLUMNS * its->count; i++) {
        step = its->is_reversed ? its->count - 1 - i % its->count : i % its->count;
        assert_int_equal(values[i],
                         value_at(its, its->first + step, i / its->count / COLUMNS, i / its->count % COLUMNS));
    }
    assert_ok(parapet_array_close(&array));
}

static void copy_steps(const steps_case *its, parapet_io_thread io_thread)
{
    parapet_store *store;
    parapet_store_options options = {.io_thread = io_thread};
    parapet_copy_request request = {
        .source_path = "source",
        .target_path = "copy",
        .changes = {.order = its->order, .region = its->region, .chunks = its->chunks, .shards = "none"},
        .memory_bytes = 4 << 20,
        .no_probe = true,
        .passes = 1};
    parapet_copy_result result;
    char *json = NULL;
    stored_open(&store, &options);
    create_steps(store, its);
    request.source = request.target = store;
    assert_ok(parapet_copy_request_plan_print(&request, 1, &json, NULL));
    assert_true(planned(json, "item_chunks") > 1);
    assert_ok(parapet_copy(&request, &result));
    assert_true(result.memory_peak_bytes <= planned(json, "memory_bytes"));
    if (!its->has_holes)
        assert_int_equal(result.read_requests, planned(json, "read_requests"));
    check_steps(store, its);
    parapet_free(json);
    stored_close(&store);
}

/* Elements of single steps become neighbours: steps are brought to the target together, as far as they have the same
 * target chunks, are covered, and lie in the same shards. */
static void test_pass__of_steps_that_become_the_fastest_dimension(void **state)
{
    static const steps_case cases[] = {
        {.chunk = {1, 5, 7}, .order = "1,2,0", .chunks = "5,7,50", .count = STEPS},
        {.chunk = {1, 5, 7}, .order = "1,2,0", .chunks = "2,3,20", .count = STEPS, .has_holes = 1},
        {.chunk = {1, 3, 7}, .order = "1,2,0", .chunks = "2,3,20", .count = STEPS, .has_checksum = 1},
        {.chunk = {1, 5, 7}, .shard = {12, 5, 7}, .order = "1,2,0", .chunks = "2,3,17", .count = STEPS},
        {.chunk = {1, 5, 7},
         .shard = {12, 5, 7},
         .order = "1,2,-0",
         .chunks = "2,3,17",
         .count = STEPS,
         .is_reversed = true,
         .has_checksum = 1,
         .has_holes = 1},
        {.chunk = {3, 5, 7},
         .shard = {12, 5, 7},
         .order = "1,2,0",
         .region = "4:45,:,:",
         .chunks = "2,3,17",
         .first = 4,
         .count = 41,
         .has_holes = 1},
        {.chunk = {3, 5, 7},
         .order = "1,2,-0",
         .region = "4:45,:,:",
         .chunks = "5,3,41",
         .first = 4,
         .count = 41,
         .is_reversed = true},
    };
    size_t i;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        copy_steps(&cases[i], PARAPET_IO_THREAD_OWN);
        copy_steps(&cases[i], PARAPET_IO_THREAD_NONE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pass__an_index_is_not_used_for_another_shard),
        cmocka_unit_test(test_pass__of_steps_that_become_the_fastest_dimension),
        cmocka_unit_test(test_pass__takes_the_buffers_that_are_planned_for_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
