/* Rows of a series whose steps differ from each other in how they are cut, and rows in a log that is damaged. One
 * process, storage in memory. */
#include "support.h"

#include "stored.h"

enum { WIDTH = 6, ROW = 16 };

static const char *const names[2] = {"u", "v"};

static int32_t value_of(int64_t step, int64_t i, int array)
{
    return (int32_t)(1000 * step + 10 * i + array);
}

/* Two arrays of one shard in each row, so that pieces are as the parts are. */
static void create(parapet_series **series, parapet_store *store)
{
    int64_t shape[2] = {0, WIDTH}, chunks[2] = {1, WIDTH}, shards[2] = {ROW, WIDTH};
    parapet_array_spec array = {.type = PARAPET_INT32, .ndim = 2, .shape = shape, .chunks = chunks, .shards = shards};
    parapet_series_spec spec = {.count = 2, .names = names, .specs = (parapet_array_spec[]){array, array}};
    assert_ok(parapet_series_create(series, store, "s", &spec));
}

/* Where the parts of a step end: of u, then of v; 0: there are no more. */
typedef struct cut {
    int64_t ends[2][4];
} cut;

static void append(parapet_series *series, int64_t step, const cut *at)
{
    int32_t values[2][WIDTH];
    int64_t starts[2][4], counts[2][4], i;
    parapet_part parts[2][4];
    parapet_step steps[2] = {{parts[0], 0, {0}}, {parts[1], 0, {0}}};
    int array;
    for (array = 0; array < 2; array++) {
        int64_t before = 0;
        for (i = 0; i < WIDTH; i++)
            values[array][i] = value_of(step, i, array);
        for (i = 0; at->ends[array][i] > 0; before = at->ends[array][i++]) {
            starts[array][i] = before;
            counts[array][i] = at->ends[array][i] - before;
            parts[array][i] = (parapet_part){
                .ndim = 1, .start = &starts[array][i], .count = &counts[array][i], .data = &values[array][before]};
            steps[array].part_count++;
        }
    }
    assert_ok(parapet_series_append(series, (double)step, steps));
}

static int64_t end_of(const cut *at, int array)
{
    int64_t i, end = 0;
    for (i = 0; at->ends[array][i] > 0; i++)
        end = at->ends[array][i];
    return end;
}

static void check_values(parapet_store *store, const cut *cuts, int64_t count)
{
    static int32_t found[ROW][WIDTH];
    int64_t step, i, start[2] = {0, 0}, extents[2] = {count, WIDTH};
    parapet_part part = {.ndim = 2, .start = start, .count = extents, .data = found};
    parapet_array *array;
    int k;
    for (k = 0; k < 2; k++) {
        assert_ok(parapet_array_open(&array, store, k == 0 ? "s/u" : "s/v"));
        assert_ok(parapet_array_read(array, &part, 1));
        for (step = 0; step < count; step++)
            for (i = 0; i < WIDTH; i++)
                assert_int_equal(found[step][i], i < end_of(&cuts[step], k) ? value_of(step, i, k) : 0);
        assert_ok(parapet_array_close(&array));
    }
}

/* Each step continues the one before it, or differs from it in one thing. */
static void test_rows__of_steps_that_are_cut_differently_are_whole(void **state)
{
    static const cut cuts[] = {
        {{{6}, {6}}},    {{{6}, {6}}},    {{{6}, {6}}},       /* the same */
        {{{3, 6}, {6}}}, {{{3, 6}, {6}}}, {{{4, 6}, {6}}},    /* other places */
        {{{4}, {6}}},    {{{4, 6}, {0}}}, {{{4, 6}, {2, 6}}}, /* another array, fewer and more parts */
        {{{0}, {0}}},    {{{6}, {6}}},    {{{0}, {6}}},       /* nothing */
        {{{6}, {0}}},    {{{6}, {0}}},
    };
    enum { COUNT = sizeof cuts / sizeof cuts[0] };
    parapet_series *series;
    parapet_store *store;
    int64_t step;
    (void)state;
    stored_open(&store, NULL);
    create(&series, store);
    for (step = 0; step < COUNT; step++)
        append(series, step, &cuts[step]);
    assert_ok(parapet_series_close(&series));
    check_values(store, cuts, COUNT);
    stored_close(&store);
}

/* ---- Rows in a log ---- */

enum { SHARDS = 3, SHARD_WIDTH = 30000, LARGE_WIDTH = SHARDS * SHARD_WIDTH, LARGE_ROW = 4 };

static const char open_steps[] = "s/__parapet/open/0";

/* One step is larger than what goes to storage at once; a row, than half of the memory. */
static void create_large(parapet_series **series, parapet_store **store)
{
    static const parapet_store_options little = {.memory_bytes = 1 << 20, .io_thread = PARAPET_IO_THREAD_NONE};
    int64_t shape[2] = {0, LARGE_WIDTH}, chunks[2] = {1, SHARD_WIDTH / 10}, shards[2] = {LARGE_ROW, SHARD_WIDTH};
    const char *name = "u";
    parapet_array_spec array = {
        .type = PARAPET_INT32, .ndim = 2, .shape = shape, .chunks = chunks, .shards = shards, .codec = "none"};
    parapet_series_spec spec = {.count = 1, .names = &name, .specs = &array};
    stored_open(store, &little);
    assert_ok(parapet_series_create(series, *store, "s", &spec));
}

static parapet_status append_large(parapet_series *series, int64_t step, bool is_empty)
{
    static int32_t values[LARGE_WIDTH];
    int64_t start = 0, count = LARGE_WIDTH, i;
    parapet_part part = {.ndim = 1, .start = &start, .count = &count, .data = values};
    parapet_step one = {&part, is_empty ? 0 : 1, {0}};
    for (i = 0; i < LARGE_WIDTH; i++)
        values[i] = value_of(step, i, 0);
    return parapet_series_append(series, (double)step, &one);
}

static void check_large(parapet_store *store, int64_t step, bool is_empty)
{
    static int32_t found[LARGE_WIDTH];
    int64_t start[2] = {step, 0}, count[2] = {1, LARGE_WIDTH}, i;
    parapet_part part = {.ndim = 2, .start = start, .count = count, .data = found};
    parapet_array *array;
    assert_ok(parapet_array_open(&array, store, "s/u"));
    assert_ok(parapet_array_read(array, &part, 1));
    for (i = 0; i < LARGE_WIDTH; i++)
        assert_int_equal(found[i], is_empty ? 0 : value_of(step, i, 0));
    assert_ok(parapet_array_close(&array));
}

static void test_rows__in_a_log_hold_steps_that_are_large_and_steps_without_parts(void **state)
{
    parapet_series_info info;
    parapet_series *series;
    parapet_store *store;
    int64_t step;
    (void)state;
    create_large(&series, &store);
    for (step = 0; step < 3; step++)
        assert_ok(append_large(series, step, step == 1));
    assert_ok(parapet_series_get_info(series, &info));
    assert_int_equal(info.is_staged, 1);
    assert_ok(parapet_series_close(&series));
    for (step = 0; step < 3; step++)
        check_large(store, step, step == 1);
    stored_close(&store);
}

/* What a log has become that was changed behind the series. */
static void damage_log(parapet_store *store, int manner)
{
    size_t bytes;
    char *log = stored_get(store, open_steps, &bytes);
    size_t piece = SHARD_WIDTH * sizeof(int32_t); /* behind which its checksum is, twice */
    assert_true(log != NULL && bytes > piece + 8);
    if (manner == 0)
        log[100] ^= 4;
    else if (manner == 1)
        log[piece + 6] ^= 4;
    stored_put(store, open_steps, log, manner == 2 ? bytes - 1 : bytes);
    pp_free(log);
}

static void test_rows__in_a_damaged_log_are_not_committed(void **state)
{
    parapet_series_info info;
    parapet_series *series;
    parapet_store *store;
    int manner;
    (void)state;
    for (manner = 0; manner < 3; manner++) {
        create_large(&series, &store);
        assert_ok(append_large(series, 0, false));
        damage_log(store, manner);
        assert_fails(parapet_series_flush(series), PARAPET_ERR_CORRUPT, "does not match its checksum");
        assert_ok(parapet_series_get_info(series, &info));
        assert_int_equal(info.steps_committed, 0);
        assert_int_equal(parapet_series_close(&series), PARAPET_ERR_CORRUPT);
        assert_ok(parapet_series_open(&series, store, "s"));
        assert_ok(append_large(series, 0, false));
        assert_ok(parapet_series_close(&series));
        check_large(store, 0, false);
        stored_close(&store);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows__of_steps_that_are_cut_differently_are_whole),
        cmocka_unit_test(test_rows__in_a_log_hold_steps_that_are_large_and_steps_without_parts),
        cmocka_unit_test(test_rows__in_a_damaged_log_are_not_committed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
