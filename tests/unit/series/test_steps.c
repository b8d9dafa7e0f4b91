/* Series: steps that append to several arrays at once, kept in memory or in a log until a row of shards is full; what
 * a crash at any operation leaves. One process, storage in memory. */
#include "support.h"

#include "array/store_queries.h"
#include "stored.h"
#include "stores/faulty.h"

#define FILL (-7)
#define HEIGHT 6
#define WIDTH 5
#define ARRAYS 3

/* A field of two dimensions, one of one dimension, and a number: a scalar for each step. */
static const char *const names[ARRAYS] = {"u", "profile", "energy"};

typedef struct subject {
    int64_t steps_per_row, steps_per_chunk;
    bool is_staged;
} subject;

static int32_t value_of(int64_t step, int64_t i, int64_t j)
{
    return (int32_t)(10000 * step + 100 * i + j);
}

static double coordinate_of(int64_t step)
{
    return 0.5 * (double)step;
}

static void fill_specs(const subject *of, parapet_array_spec specs[ARRAYS])
{
    static const int32_t fill = FILL;
    static const int64_t shapes[ARRAYS][3] = {{0, HEIGHT, WIDTH}, {0, HEIGHT}, {0}};
    static const int64_t cells[ARRAYS][2] = {{4, 3}, {4}, {0}};
    static int64_t chunks[ARRAYS][3], shards[ARRAYS][3];
    int i, d;
    for (i = 0; i < ARRAYS; i++) {
        specs[i] = (parapet_array_spec){.type = PARAPET_INT32, .ndim = ARRAYS - i, .shape = shapes[i]};
        specs[i].chunks = chunks[i];
        specs[i].shards = shards[i];
        specs[i].codec = "none";
        specs[i].fill_value = &fill;
        chunks[i][0] = of->steps_per_chunk;
        shards[i][0] = of->steps_per_row;
        for (d = 1; d < specs[i].ndim; d++)
            chunks[i][d] = shards[i][d] = cells[i][d - 1];
    }
}

static parapet_status create(parapet_series **series, parapet_store *store, const char *path, const subject *of)
{
    static const char *const dimensions[3] = {NULL, "y", "x"};
    parapet_array_spec specs[ARRAYS];
    parapet_series_spec spec = {.count = ARRAYS,
                                .names = names,
                                .specs = specs,
                                .attributes = "{\"title\": \"a run\"}",
                                .coordinate_attributes = "{\"units\": \"hours since 2000-01-01\"}"};
    fill_specs(of, specs);
    specs[0].dimension_names = dimensions;
    return parapet_series_create(series, store, path, &spec);
}

/* A step in several parts: the field in four, one of which is transposed in memory. */
static parapet_status append(parapet_series *series, int64_t step)
{
    static int32_t above[2][WIDTH], left[4][2], right[3][4], profile[HEIGHT], energy;
    int64_t i, j, transposed[2] = {4, 16};
    parapet_part field[3] = {{.ndim = 2, .start = (int64_t[]){0, 0}, .count = (int64_t[]){2, WIDTH}, .data = above},
                             {.ndim = 2, .start = (int64_t[]){2, 0}, .count = (int64_t[]){4, 2}, .data = left},
                             {.ndim = 2,
                              .start = (int64_t[]){2, 2},
                              .count = (int64_t[]){4, 3},
                              .data = right,
                              .strides_bytes = transposed}};
    parapet_part line = {.ndim = 1, .start = (int64_t[]){0}, .count = (int64_t[]){HEIGHT}, .data = profile};
    parapet_part number = {.data = &energy};
    parapet_step steps[ARRAYS] = {{field, 3, {0}}, {&line, 1, {0}}, {&number, 1, {0}}};
    for (i = 0; i < HEIGHT; i++) {
        profile[i] = value_of(step, i, 50);
        for (j = 0; j < WIDTH; j++)
            *(i < 2 ? &above[i][j] : j < 2 ? &left[i - 2][j] : &right[j - 2][i - 2]) = value_of(step, i, j);
    }
    energy = value_of(step, 77, 77);
    return parapet_series_append(series, coordinate_of(step), steps);
}

static int64_t length_of(parapet_array *array)
{
    parapet_array_info info;
    assert_ok(parapet_array_get_info(array, &info));
    return info.shape[0];
}

static void check_field(const int32_t *found, int64_t steps, int64_t columns, int64_t rows, int64_t base)
{
    int64_t t, i, j;
    for (t = 0; t < steps; t++)
        for (i = 0; i < rows; i++)
            for (j = 0; j < columns; j++)
                assert_int_equal(*found++, value_of(t, rows == 1 ? base : i, columns == 1 ? base : j));
}

/* What readers of single arrays find; the length is that of the consolidated metadata. */
static void check_values(parapet_store *store, const char *path, int64_t steps)
{
    static int32_t found[100 * HEIGHT * WIDTH];
    static const int64_t start[3] = {0, 0, 0};
    const int64_t count[3] = {steps, HEIGHT, WIDTH}, sides[ARRAYS][2] = {{WIDTH, HEIGHT}, {1, HEIGHT}, {1, 1}};
    parapet_array *array = NULL;
    double times[100];
    char name[64];
    int i;
    for (i = 0; i < ARRAYS; i++) {
        parapet_part part = {.ndim = 3 - i, .start = start, .count = count, .data = found};
        (void)snprintf(name, sizeof name, "%s/%s", path, names[i]);
        assert_ok(parapet_array_open(&array, store, name));
        assert_int_equal(length_of(array), steps);
        assert_ok(parapet_array_read(array, &part, 1));
        check_field(found, steps, sides[i][0], sides[i][1], i == 1 ? 50 : 77);
        assert_ok(parapet_array_close(&array));
    }
    (void)snprintf(name, sizeof name, "%s/time", path);
    assert_ok(parapet_array_open(&array, store, name));
    assert_int_equal(length_of(array), steps);
    assert_ok(
        parapet_array_read(array, &(parapet_part){.ndim = 1, .start = start, .count = &steps, .data = times}, 1));
    for (i = 0; i < steps; i++)
        assert_true(times[i] == coordinate_of(i));
    assert_ok(parapet_array_close(&array));
}

/* The lengths in the consolidated metadata; all must be the same. */
static int64_t consolidated_steps(pp_store *backend, const char *path)
{
    char key[64], *text = NULL;
    size_t bytes;
    pp_json *json = NULL, *metadata;
    int64_t steps = -1, other;
    int i;
    (void)snprintf(key, sizeof key, "%s/zarr.json", path);
    assert_ok(pp_store_read_all(backend, key, 1 << 20, &text, &bytes));
    assert_ok(pp_json_parse_own(&json, text, bytes));
    metadata = pp_json_member(pp_json_member(json, "consolidated_metadata"), "metadata");
    for (i = 0; i <= ARRAYS; i++) {
        pp_json *shape = pp_json_member(pp_json_member(metadata, i < ARRAYS ? names[i] : "time"), "shape");
        assert_true(pp_json_get_i64(pp_json_element(shape, 0), &other));
        assert_true(steps < 0 || steps == other);
        steps = other;
    }
    pp_json_free(json);
    pp_free(text);
    return steps;
}

static parapet_series_info info_of(parapet_series *series)
{
    parapet_series_info info;
    assert_ok(parapet_series_get_info(series, &info));
    return info;
}

static void append_many(parapet_series *series, int64_t from, int64_t to)
{
    int64_t step;
    for (step = from; step < to; step++)
        assert_ok(append(series, step));
}

/* Shards of u, profile and energy in one row. */
static const int64_t shards_of_row = 4 + 2 + 1;

static void test_series__steps_are_committed_with_full_rows_and_each_shard_is_written_once(void **state)
{
    static const subject subjects[] = {{1, 1, false}, {10, 10, false}, {10, 5, false}, {64, 1, false}};
    size_t i;
    (void)state;
    for (i = 0; i < sizeof subjects / sizeof subjects[0]; i++) {
        const subject *of = &subjects[i];
        int64_t steps = 70, step, full;
        parapet_store *store;
        parapet_series *series;
        stored_open(&store, NULL);
        assert_ok(create(&series, store, "runs/one", of));
        for (step = 0; step < steps; step++) {
            assert_ok(append(series, step));
            full = (step + 1) / of->steps_per_row * of->steps_per_row;
            assert_int_equal(info_of(series).steps, step + 1);
            assert_int_equal(info_of(series).steps_committed, full);
            assert_int_equal(consolidated_steps(store->backend, "runs/one"), full);
            assert_int_equal(info_of(series).shards_written, full / of->steps_per_row * shards_of_row);
        }
        assert_int_equal(info_of(series).is_staged, 0);
        assert_ok(parapet_series_close(&series));
        assert_null(series);
        assert_int_equal(consolidated_steps(store->backend, "runs/one"), steps);
        check_values(store, "runs/one", steps);
        stored_close(&store);
    }
}

static void test_series__a_row_that_was_flushed_is_written_again_without_reading(void **state)
{
    subject of = {8, 4, false};
    parapet_store *store;
    parapet_series *series;
    int64_t decoded;
    (void)state;
    stored_open(&store, NULL);
    assert_ok(create(&series, store, "s", &of));
    append_many(series, 0, 11);
    assert_ok(parapet_series_flush(series));
    assert_int_equal(info_of(series).steps_committed, 11);
    assert_int_equal(info_of(series).shards_written, 2 * shards_of_row);
    check_values(store, "s", 11);
    assert_ok(parapet_series_flush(series));
    assert_int_equal(info_of(series).shards_written, 2 * shards_of_row);
    decoded = stored_statistics(store).chunks_decoded;
    append_many(series, 11, 16);
    assert_int_equal(stored_statistics(store).chunks_decoded - decoded, 1); /* of the coordinate */
    assert_int_equal(info_of(series).shards_written, 3 * shards_of_row);
    assert_ok(parapet_series_close(&series));
    check_values(store, "s", 16);
    stored_close(&store);
}

static void test_series__goes_on_in_mid_row_after_it_was_closed(void **state)
{
    subject of = {8, 8, false};
    parapet_store *store;
    parapet_series *series;
    int64_t steps = 0;
    (void)state;
    stored_open(&store, NULL);
    assert_ok(create(&series, store, "s", &of));
    while (steps < 30) {
        append_many(series, steps, steps + 3);
        steps += 3;
        assert_ok(parapet_series_close(&series));
        check_values(store, "s", steps);
        assert_ok(parapet_series_open(&series, store, "s"));
        assert_int_equal(info_of(series).steps, steps);
        assert_int_equal(info_of(series).steps_per_row, 8);
        assert_string_equal(info_of(series).names[1], "profile");
        assert_string_equal(info_of(series).dimension, "time");
    }
    assert_ok(parapet_series_close(&series));
    stored_close(&store);
}

static void test_series__attributes_and_other_arrays_stay(void **state)
{
    subject of = {1, 1, false};
    parapet_store *store;
    parapet_series *series;
    parapet_array *array;
    parapet_group *group;
    char *json;
    const char *names_of_x[1] = {"x"};
    parapet_array_spec spec = {
        .type = PARAPET_FLOAT32, .ndim = 1, .shape = (int64_t[]){WIDTH}, .dimension_names = names_of_x};
    (void)state;
    stored_open(&store, NULL);
    assert_ok(create(&series, store, "s", &of));
    assert_ok(parapet_array_create(&array, store, "s/x", &spec));
    assert_ok(parapet_array_close(&array));
    assert_ok(append(series, 0));
    assert_true(stored_contains(store, "s/zarr.json", "\"x\""));
    assert_ok(parapet_group_open(&group, store, "s"));
    assert_ok(parapet_group_attribute_get(group, NULL, &json));
    assert_string_equal(json, "{\"title\":\"a run\"}");
    parapet_free(json);
    assert_ok(parapet_group_attribute_set(group, "history", "\"changed beside the run\""));
    assert_ok(parapet_group_close(&group));
    assert_ok(append(series, 1));
    assert_ok(parapet_series_close(&series));
    assert_true(stored_contains(store, "s/zarr.json", "changed beside the run"));
    assert_true(stored_contains(store, "s/time/zarr.json", "hours since 2000-01-01"));
    assert_true(stored_contains(store, "s/u/zarr.json", "\"time\""));
    check_values(store, "s", 2);
    stored_close(&store);
}

/* What the group says of the series is the series' own: a handle that was opened before does not know it. */
static void test_series__an_older_handle_of_the_group_does_not_take_steps_back(void **state)
{
    subject of = {1, 1, false};
    parapet_store *store;
    parapet_series *series;
    parapet_group *group;
    (void)state;
    stored_open(&store, NULL);
    assert_ok(create(&series, store, "s", &of));
    assert_ok(parapet_group_open(&group, store, "s"));
    append_many(series, 0, 3);
    assert_ok(parapet_series_close(&series));
    assert_ok(parapet_group_attribute_set(group, "history", "\"changed after the run\""));
    assert_ok(parapet_group_consolidate(group));
    assert_ok(parapet_group_close(&group));
    assert_ok(parapet_series_open(&series, store, "s"));
    assert_int_equal(info_of(series).steps, 3);
    assert_ok(append(series, 3));
    assert_ok(parapet_series_close(&series));
    check_values(store, "s", 4);
    stored_close(&store);
}

static void test_series__is_never_made_over_an_array_that_is_there(void **state)
{
    subject of = {1, 1, false};
    parapet_store *store;
    parapet_series *series;
    parapet_array *array;
    parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 1, .shape = (int64_t[]){4}};
    int attempt;
    (void)state;
    stored_open(&store, NULL);
    assert_ok(parapet_array_create(&array, store, "s/profile", &spec));
    assert_ok(parapet_array_close(&array));
    for (attempt = 0; attempt < 2; attempt++)
        assert_fails(create(&series, store, "s", &of), PARAPET_ERR_EXISTS, "s/profile");
    assert_ok(parapet_array_open(&array, store, "s/profile"));
    assert_int_equal(length_of(array), 4);
    assert_ok(parapet_array_close(&array));
    stored_close(&store);
}

static void test_series__goes_on_beside_directories_that_are_not_zarr(void **state)
{
    subject of = {1, 1, false};
    pp_write_request request = {.key = "s/plots/first.png", .staging = "s/plots", .is_small = true};
    parapet_store *store;
    parapet_series *series;
    (void)state;
    stored_open(&store, NULL);
    assert_ok(create(&series, store, "s", &of));
    assert_ok(append(series, 0));
    request.budget = &store->budget;
    assert_ok(pp_store_write_all(store->backend, &request, "picture", 7, PP_PUBLISH_REPLACE));
    assert_ok(append(series, 1));
    assert_ok(parapet_series_close(&series));
    assert_ok(parapet_series_open(&series, store, "s"));
    assert_ok(parapet_series_close(&series));
    check_values(store, "s", 2);
    stored_close(&store);
}

/* ---- Rows that do not fit in memory ---- */

/* A row of this takes more than half of the least memory_bytes. */
static const subject large_row = {4096, 64, true};
static const parapet_store_options little = {.memory_bytes = 1 << 20};

/* Without threads, since thousands of runs are made. */
static parapet_store_options options_of(const subject *of)
{
    return (parapet_store_options){.memory_bytes = of->is_staged ? 1 << 20 : 0, .io_thread = PARAPET_IO_THREAD_NONE};
}

static void test_series__a_row_that_is_too_large_for_memory_is_kept_in_a_log(void **state)
{
    parapet_store *store;
    parapet_series *series;
    char *text;
    (void)state;
    stored_open(&store, &little);
    assert_ok(create(&series, store, "s", &large_row));
    append_many(series, 0, 20);
    assert_int_equal(info_of(series).is_staged, 1);
    assert_true(stored_has(store, "s/__parapet/open/0"));
    assert_ok(parapet_series_print(series, &text));
    assert_non_null(strstr(text, "kept in s/__parapet/open/0"));
    assert_non_null(strstr(text, "A crash now loses 20"));
    parapet_free(text);
    assert_ok(parapet_series_flush(series));
    check_values(store, "s", 20);
    append_many(series, 20, 40);
    assert_ok(parapet_series_close(&series));
    check_values(store, "s", 40);
    assert_false(stored_has(store, "s/__parapet/open/0"));
    stored_close(&store);
}

static void test_series__a_large_row_is_written_shard_by_shard_with_the_same_bytes(void **state)
{
    static stored_image in_memory, staged;
    parapet_store *store;
    parapet_series *series;
    (void)state;
    stored_open(&store, NULL);
    assert_ok(create(&series, store, "s", &large_row));
    append_many(series, 0, 4096);
    assert_int_equal(info_of(series).is_staged, 0);
    assert_int_equal(info_of(series).shards_written, shards_of_row);
    assert_ok(parapet_series_close(&series));
    stored_image_take(&in_memory, store, "s");
    stored_close(&store);
    stored_open(&store, &little);
    assert_ok(create(&series, store, "s", &large_row));
    append_many(series, 0, 4096);
    assert_int_equal(info_of(series).is_staged, 1);
    assert_int_equal(info_of(series).steps_committed, 4096);
    assert_int_equal(info_of(series).shards_written, shards_of_row);
    assert_true(stored_statistics(store).memory_peak_bytes <= 1 << 20);
    assert_ok(parapet_series_close(&series));
    stored_image_take(&staged, store, "s");
    stored_image_assert_equal(&in_memory, 0, &staged, 0);
    stored_image_free(&in_memory);
    stored_image_free(&staged);
    stored_close(&store);
}

/* The first step has one small part; later ones more than the memory that was taken for the row. */
static void test_series__a_row_that_grows_beyond_its_first_step_moves_to_the_log(void **state)
{
    static const parapet_step nothing[ARRAYS];
    subject of = {64, 8, false};
    parapet_store *store;
    parapet_series *series;
    parapet_array *array;
    int32_t found[42 * HEIGHT * WIDTH];
    (void)state;
    stored_open(&store, NULL);
    assert_ok(create(&series, store, "s", &of));
    assert_ok(parapet_series_append(series, 0, nothing));
    assert_int_equal(info_of(series).is_staged, 0);
    append_many(series, 1, 10);
    assert_int_equal(info_of(series).is_staged, 0); /* memory comes in pages */
    append_many(series, 10, 41);
    assert_int_equal(info_of(series).is_staged, 1);
    assert_ok(parapet_series_append(series, coordinate_of(41), nothing));
    assert_ok(parapet_series_close(&series));
    assert_ok(parapet_array_open(&array, store, "s/u"));
    assert_ok(parapet_array_read(
        array,
        &(parapet_part){
            .ndim = 3, .start = (int64_t[]){0, 0, 0}, .count = (int64_t[]){42, HEIGHT, WIDTH}, .data = found},
        1));
    assert_int_equal(found[0], FILL);
    assert_int_equal(found[HEIGHT * WIDTH], value_of(1, 0, 0));
    assert_int_equal(found[41 * HEIGHT * WIDTH - 1], value_of(40, HEIGHT - 1, WIDTH - 1));
    assert_int_equal(found[42 * HEIGHT * WIDTH - 1], FILL);
    assert_ok(parapet_array_close(&array));
    stored_close(&store);
}

/* What was taken for a first step that fails is there for the next one, and is not taken again. */
static void test_series__a_first_step_that_is_refused_again_and_again_takes_no_more_memory(void **state)
{
    static const subject endless_row = {INT64_C(1) << 20, 64, true};
    long live = pp_memory_live_count();
    parapet_store *store;
    parapet_series *series;
    size_t used = 0;
    int attempt;
    (void)state;
    stored_open(&store, &little);
    assert_ok(create(&series, store, "s", &endless_row));
    for (attempt = 0; attempt < 3; attempt++) {
        assert_fails(append(series, 0), PARAPET_ERR_MEMORY, "too small to keep");
        assert_true(attempt == 0 || pp_budget_used(pp_store_budget(store)) == used);
        used = pp_budget_used(pp_store_budget(store));
    }
    assert_ok(parapet_series_close(&series));
    stored_close(&store);
    assert_int_equal(pp_memory_live_count(), live);
}

/* What the lists of such a row take does not fit 63 bits: the limit that is named must not be a small one. */
static void test_series__the_limit_named_for_a_row_without_end_does_not_wrap(void **state)
{
    static const subject endless_row = {INT64_C(1) << 52, INT64_C(1) << 30, true};
    parapet_store *store;
    parapet_series *series;
    const char *named;
    (void)state;
    stored_open(&store, &little);
    assert_ok(create(&series, store, "s", &endless_row));
    assert_fails(append(series, 0), PARAPET_ERR_MEMORY, "too small to keep");
    named = strstr(parapet_error_message(), "at least ");
    assert_non_null(named);
    assert_true(strtoull(named + strlen("at least "), NULL, 10) == INT64_MAX);
    assert_ok(parapet_series_close(&series));
    stored_close(&store);
}

/* Each step alone had room, but not what the row has of one shard: the limit that is named is enough. */
static void test_series__a_row_of_uneven_steps_is_refused_with_a_limit_that_suffices(void **state)
{
    enum { ROW = 8, MOST = 100 << 10 };
    static const int64_t lengths[3] = {15 << 10, MOST, 15 << 10};
    static int32_t values[MOST];
    parapet_store_options options = {.memory_bytes = 1 << 20};
    int64_t shape[2] = {0, MOST}, cells[2] = {1, 1 << 10}, shards[2] = {ROW, MOST}, start = 0, count;
    const char *name = "u", *named;
    parapet_array_spec array = {.type = PARAPET_INT32, .ndim = 2, .shape = shape, .chunks = cells, .shards = shards};
    parapet_series_spec spec = {.count = 1, .names = &name, .specs = &array};
    parapet_part part = {.ndim = 1, .start = &start, .count = &count, .data = values};
    parapet_step step = {&part, 1, {0}};
    parapet_store *store;
    parapet_series *series;
    int attempt, i;
    (void)state;
    for (attempt = 0; attempt < 2; attempt++) {
        stored_open(&store, &options);
        assert_ok(parapet_series_create(&series, store, "s", &spec));
        for (i = 0; i < 3; i++) {
            count = lengths[i];
            assert_ok(parapet_series_append(series, i, &step));
        }
        if (attempt == 0) {
            assert_fails(parapet_series_flush(series), PARAPET_ERR_MEMORY, "the part of one shard that a rank holds");
            named = strstr(parapet_error_message(), "at least ");
            assert_non_null(named);
            options.memory_bytes = strtoll(named + strlen("at least "), NULL, 10);
            assert_int_equal(parapet_series_close(&series), PARAPET_ERR_MEMORY);
        } else {
            assert_ok(parapet_series_flush(series));
            assert_ok(parapet_series_close(&series));
        }
        stored_close(&store);
    }
}

/* Steps of an array whose other dimensions are empty have a coordinate, and nothing else. */
static void test_series__an_array_without_elements_has_steps(void **state)
{
    int64_t shape[2] = {0, 0}, start = 0, count = 0;
    const char *name = "u";
    parapet_array_spec array = {.type = PARAPET_INT32, .ndim = 2, .shape = shape};
    parapet_series_spec spec = {.count = 1, .names = &name, .specs = &array};
    parapet_part part = {.ndim = 1, .start = &start, .count = &count};
    parapet_step step = {&part, 1, {0}};
    parapet_store *store;
    parapet_series *series;
    (void)state;
    stored_open(&store, NULL);
    assert_ok(parapet_series_create(&series, store, "s", &spec));
    assert_ok(parapet_series_append(series, 0, &step));
    assert_ok(parapet_series_append(series, 1, &step));
    assert_ok(parapet_series_close(&series));
    assert_ok(parapet_series_open(&series, store, "s"));
    assert_int_equal(info_of(series).steps, 2);
    assert_ok(parapet_series_close(&series));
    stored_close(&store);
}

/* What was noted of rows that are committed does not grow without end. */
static void test_series__the_log_of_records_begins_anew(void **state)
{
    enum { MANY = 64, STEPS = 80 };
    static char texts[MANY][16];
    static const int64_t shape[1] = {0}, one[1] = {1};
    const char *many_names[MANY];
    parapet_array_spec specs[MANY];
    parapet_step steps[MANY];
    int32_t value = 7;
    parapet_part part = {.data = &value};
    parapet_series_spec spec = {.count = MANY, .names = many_names, .specs = specs};
    parapet_store *store;
    parapet_series *series;
    size_t most = 0, bytes;
    int i;
    (void)state;
    for (i = 0; i < MANY; i++) {
        (void)snprintf(texts[i], sizeof texts[i], "a%d", i);
        many_names[i] = texts[i];
        specs[i] =
            (parapet_array_spec){.type = PARAPET_INT32, .ndim = 1, .shape = shape, .chunks = one, .shards = one};
        steps[i] = (parapet_step){&part, 1, {0}};
    }
    stored_open(&store, NULL);
    assert_ok(parapet_series_create(&series, store, "s", &spec));
    for (i = 0; i < STEPS; i++) {
        assert_ok(parapet_series_append(series, i, steps));
        pp_free(stored_get(store, "s/time/__parapet/changes", &bytes));
        most = bytes > most ? bytes : most;
    }
    assert_true(bytes < most);
    assert_true(most < 200 << 10);
    assert_ok(parapet_series_close(&series));
    assert_false(stored_has(store, "s/time/__parapet/changes"));
    assert_ok(parapet_series_open(&series, store, "s"));
    assert_int_equal(info_of(series).steps, STEPS);
    assert_ok(parapet_series_close(&series));
    stored_close(&store);
}

/* ---- What is refused ---- */

static void test_series__refuses_what_is_no_series(void **state)
{
    subject of = {2, 2, false};
    const char *twice[2] = {"u", "u"}, *coordinate[1] = {"time"}, *deep[1] = {"a/b"};
    const char *wrong_dimension[3] = {"t", "y", "x"};
    parapet_array_spec specs[ARRAYS];
    parapet_series_spec spec = {.names = names, .specs = specs};
    parapet_store *store;
    parapet_series *series;
    (void)state;
    stored_open(&store, NULL);
    fill_specs(&of, specs);
    assert_fails(parapet_series_create(&series, store, "s", NULL), PARAPET_ERR_ARGUMENT, "needs a spec");
    assert_fails(parapet_series_create(&series, store, "s", &spec), PARAPET_ERR_ARGUMENT, "at least one array");
    spec.count = 2;
    spec.names = twice;
    assert_fails(parapet_series_create(&series, store, "s", &spec), PARAPET_ERR_ARGUMENT, "two arrays \"u\"");
    spec.count = 1;
    spec.names = coordinate;
    assert_fails(parapet_series_create(&series, store, "s", &spec), PARAPET_ERR_ARGUMENT, "the coordinate");
    spec.names = deep;
    assert_fails(parapet_series_create(&series, store, "s", &spec), PARAPET_ERR_ARGUMENT, "one component");
    spec.names = names;
    specs[0].dimension_names = wrong_dimension;
    assert_fails(parapet_series_create(&series, store, "s", &spec), PARAPET_ERR_ARGUMENT, "\"t\"");
    specs[0].dimension_names = NULL;
    specs[0].shape = (int64_t[]){1, HEIGHT, WIDTH};
    assert_fails(parapet_series_create(&series, store, "s", &spec), PARAPET_ERR_ARGUMENT, "shape[0] must be 0");
    fill_specs(&of, specs);
    spec.count = 2;
    specs[1].shards = (int64_t[]){4, 4};
    assert_fails(parapet_series_create(&series, store, "s", &spec), PARAPET_ERR_ARGUMENT, "cover 4 steps");
    assert_null(series);
    assert_false(stored_has(store, "s/zarr.json"));
    assert_fails(parapet_series_open(&series, store, "s"), PARAPET_ERR_NOT_FOUND, "\"s\"");
    assert_fails(parapet_series_open(&series, store, ""), PARAPET_ERR_NOT_FOUND, "not a series");
    assert_ok(create(&series, store, "s", &of));
    assert_ok(parapet_series_close(&series));
    assert_fails(create(&series, store, "s", &of), PARAPET_ERR_EXISTS, "series");
    stored_close(&store);
}

/* Steps of a row that is not full are kept when the row is written again. */
static void test_series__goes_on_from_what_was_sealed(void **state)
{
    const subject of = {.steps_per_row = 4, .steps_per_chunk = 2};
    parapet_store *store = NULL;
    parapet_series *series = NULL;
    parapet_array *array = NULL;
    size_t bytes;
    char *row;
    (void)state;
    stored_open(&store, NULL);
    assert_ok(create(&series, store, "s", &of));
    assert_ok(append(series, 0));
    assert_ok(append(series, 1));
    assert_ok(parapet_series_close(&series));
    assert_ok(parapet_array_open(&array, store, "s/u"));
    assert_ok(parapet_array_seal(array));
    assert_ok(parapet_array_close(&array));
    row = stored_get(store, "s/u/c/0/1/0", &bytes);
    assert_ok(pp_store_remove(store->backend, "s/u/c/0/1/0"));
    assert_fails(parapet_series_open(&series, store, "s"), PARAPET_ERR_MISSING, "s/u/c/0/1/0 is missing");
    stored_put(store, "s/u/c/0/1/0", row, bytes);
    pp_free(row);
    assert_ok(parapet_series_open(&series, store, "s"));
    assert_ok(append(series, 2));
    assert_ok(parapet_series_close(&series));
    check_values(store, "s", 3);
    stored_close(&store);
}

static void test_series__refuses_a_step_that_is_wrong_and_goes_on(void **state)
{
    subject of = {2, 2, false};
    int32_t data[WIDTH] = {0};
    parapet_part outside = {.ndim = 2, .start = (int64_t[]){HEIGHT, 0}, .count = (int64_t[]){1, WIDTH}, .data = data};
    parapet_part wrong_type = {
        .ndim = 2, .start = (int64_t[]){0, 0}, .count = (int64_t[]){1, WIDTH}, .data = data, .type = PARAPET_FLOAT32};
    parapet_step steps[ARRAYS] = {{&outside, 1, {0}}};
    parapet_store *store;
    parapet_series *series;
    (void)state;
    stored_open(&store, NULL);
    assert_ok(create(&series, store, "s", &of));
    assert_ok(append(series, 0));
    assert_fails(parapet_series_append(series, 1, NULL), PARAPET_ERR_ARGUMENT, "a step for each array");
    assert_fails(parapet_series_append(series, 1, steps), PARAPET_ERR_ARGUMENT, "s/u");
    steps[0].parts = &wrong_type;
    assert_fails(parapet_series_append(series, 1, steps), PARAPET_ERR_ARGUMENT, "float32");
    steps[0].reserved[1] = 1;
    assert_fails(parapet_series_append(series, 1, steps), PARAPET_ERR_ARGUMENT, "reserved");
    assert_int_equal(info_of(series).steps, 1);
    append_many(series, 1, 3);
    assert_fails(parapet_store_close(&store), PARAPET_ERR_ARGUMENT, "");
    assert_ok(parapet_series_close(&series));
    check_values(store, "s", 3);
    stored_close(&store);
}

/* Without ndim, the count of the steps, of rows and of columns would be taken for one of rows and of columns: 1 x
 * HEIGHT elements stored of HEIGHT x WIDTH. */
static void test_series__refuses_a_step_with_the_dimension_of_the_steps(void **state)
{
    subject of = {2, 2, false};
    int32_t data[HEIGHT * WIDTH] = {0};
    int64_t start[3] = {1, 0, 0}, count[3] = {1, 4, 5};
    parapet_part part = {.start = start, .count = count, .data = data};
    parapet_step steps[ARRAYS] = {{&part, 1, {0}}};
    parapet_store *store;
    parapet_series *series;
    (void)state;
    stored_open(&store, NULL);
    assert_ok(create(&series, store, "s", &of));
    assert_ok(append(series, 0));
    assert_fails(parapet_series_append(series, 1, steps), PARAPET_ERR_ARGUMENT,
                 "part 0 has 0 dimensions (ndim), but a step of this array has 2");
    part.ndim = 3;
    assert_fails(parapet_series_append(series, 1, steps), PARAPET_ERR_ARGUMENT,
                 "part 0 has 3 dimensions (ndim), but a step of this array has 2");
    steps[2] = steps[0];
    steps[0] = (parapet_step){0};
    part.ndim = 0;
    assert_fails(parapet_series_append(series, 1, steps), PARAPET_ERR_ARGUMENT, "start or a count");
    part.ndim = 1;
    assert_fails(parapet_series_append(series, 1, steps), PARAPET_ERR_ARGUMENT,
                 "part 0 has 1 dimensions (ndim), but a step of this array has 0");
    assert_int_equal(info_of(series).steps, 1);
    assert_ok(parapet_series_close(&series));
    check_values(store, "s", 1);
    stored_close(&store);
}

/* ---- Crashes ---- */

#define CRASH_STEPS 9

static bool is_full; /* every operation; else some */

typedef struct bed {
    pp_store *inner, *faulty;
    pp_fault_plan plan;
    parapet_store *store;
    int64_t acknowledged, next; /* steps: a crash leaves one of these */
    bool is_created;
} bed;

/* Makes, appends and flushes until something fails. */
static void run(bed *work, const subject *of)
{
    parapet_store_options options = options_of(of);
    parapet_series *series = NULL;
    parapet_status status;
    int64_t step;
    work->acknowledged = work->next = 0;
    if (pp_store_open_over(&work->store, MPI_COMM_NULL, work->faulty, PARAPET_CREATE, &options) != PARAPET_OK)
        return;
    status = create(&series, work->store, "s", of);
    work->is_created = status == PARAPET_OK;
    for (step = 0; step < CRASH_STEPS && status == PARAPET_OK; step++) {
        work->next = step + 1;
        status = append(series, step);
        if (status == PARAPET_OK && step % 3 == 1)
            status = parapet_series_flush(series);
        if (series != NULL)
            work->acknowledged = info_of(series).steps_committed;
    }
    if (status == PARAPET_OK && parapet_series_close(&series) == PARAPET_OK)
        work->acknowledged = CRASH_STEPS;
    (void)parapet_series_close(&series);
    assert_ok(parapet_store_close(&work->store));
}

/* A step that nobody wrote shows fill values, not what the crash left there. */
static void check_hole(parapet_store *store, parapet_series **series)
{
    static const parapet_step nothing[ARRAYS];
    int64_t steps = info_of(*series).steps, i;
    int32_t found[HEIGHT * WIDTH];
    parapet_array *array;
    assert_ok(parapet_series_append(*series, 0, nothing));
    assert_ok(parapet_series_close(series));
    assert_ok(parapet_array_open(&array, store, "s/u"));
    assert_ok(parapet_array_read(
        array,
        &(parapet_part){
            .ndim = 3, .start = (int64_t[]){steps, 0, 0}, .count = (int64_t[]){1, HEIGHT, WIDTH}, .data = found},
        1));
    for (i = 0; i < HEIGHT * WIDTH; i++)
        assert_int_equal(found[i], FILL);
    assert_ok(parapet_array_close(&array));
}

/* A fresh program finds whole steps, all that were acknowledged, and goes on. */
static void resume(bed *work, const subject *of, bool has_hole, long at)
{
    parapet_store_options options = options_of(of);
    parapet_store *store;
    parapet_series *series;
    parapet_status status;
    int64_t steps;
    assert_ok(pp_store_open_over(&store, MPI_COMM_NULL, work->inner, PARAPET_CREATE, &options));
    status = parapet_series_open(&series, store, "s");
    if (status == PARAPET_ERR_NOT_FOUND && !work->is_created)
        status = create(&series, store, "s", of);
    if (status != PARAPET_OK)
        fail_msg("operation %ld: %s: %s", at, parapet_status_name(status), parapet_error_message());
    steps = info_of(series).steps_committed;
    if (steps != work->acknowledged && steps != work->next)
        fail_msg("operation %ld: %lld steps instead of %lld or %lld", at, (long long)steps,
                 (long long)work->acknowledged, (long long)work->next);
    assert_int_equal(consolidated_steps(work->inner, "s"), steps);
    check_values(store, "s", steps);
    if (has_hole) {
        check_hole(store, &series);
    } else {
        append_many(series, steps, CRASH_STEPS + 3);
        assert_ok(parapet_series_close(&series));
        check_values(store, "s", CRASH_STEPS + 3);
    }
    assert_ok(parapet_store_close(&store));
}

static bool crash_at(const subject *of, pp_fault_plan plan, bool has_hole)
{
    bed work = {.plan = plan};
    long live = pp_memory_live_count();
    bool is_reached;
    assert_ok(pp_store_memory_build(&work.inner, NULL));
    assert_ok(pp_store_faulty_build(&work.faulty, work.inner, &work.plan));
    run(&work, of);
    is_reached = work.plan.failures > 0;
    resume(&work, of, has_hole, plan.fail_at);
    pp_store_free(work.faulty);
    pp_store_free(work.inner);
    assert_int_equal(pp_memory_live_count(), live);
    return is_reached;
}

static void test_series__a_crash_at_any_operation_loses_only_what_was_not_committed(void **state)
{
    static const subject subjects[] = {{1, 1, false}, {4, 2, false}, {8, 8, false}, {4096, 64, true}};
    long points = 0;
    size_t i;
    int form;
    (void)state;
    for (i = 0; i < sizeof subjects / sizeof subjects[0]; i++)
        for (form = 0; form < 4; form++) {
            pp_fault_plan plan = {.fail_forever = true, .is_torn = form == 1, .fail_after = form == 2};
            for (; crash_at(&subjects[i], plan, form == 3); points++)
                plan.fail_at += is_full ? 1 : 23 * TEST_THINNING;
            assert_true(plan.fail_at > 100);
        }
    printf("%ld crashes\n", points);
}

/* A failure that passes: what was not acknowledged can be tried again, and nothing is lost. */
static bool fail_once(const subject *of, long at)
{
    parapet_store_options options = options_of(of);
    bed work = {.plan = {.fail_at = -1}};
    parapet_series *series = NULL;
    parapet_status status = PARAPET_OK;
    bool is_reached;
    int64_t steps;
    assert_ok(pp_store_memory_build(&work.inner, NULL));
    assert_ok(pp_store_faulty_build(&work.faulty, work.inner, &work.plan));
    assert_ok(pp_store_open_over(&work.store, MPI_COMM_NULL, work.faulty, PARAPET_CREATE, &options));
    assert_ok(create(&series, work.store, "s", of));
    work.plan = (pp_fault_plan){.fail_at = at};
    while ((steps = info_of(series).steps) < CRASH_STEPS && series != NULL) {
        status = append(series, steps);
        if (status == PARAPET_OK && steps % 3 == 1)
            status = parapet_series_flush(series);
        if (status != PARAPET_OK && strstr(parapet_error_message(), "half-way") != NULL) {
            (void)parapet_series_close(&series);
            assert_ok(parapet_series_open(&series, work.store, "s"));
        }
    }
    is_reached = work.plan.failures > 0;
    work.plan.fail_at = -1;
    assert_ok(parapet_series_close(&series));
    check_values(work.store, "s", CRASH_STEPS);
    assert_ok(parapet_store_close(&work.store));
    pp_store_free(work.faulty);
    pp_store_free(work.inner);
    return is_reached;
}

static void test_series__goes_on_after_a_failure_that_passes(void **state)
{
    static const subject subjects[] = {{1, 1, false}, {4, 2, false}, {4096, 64, true}};
    size_t i;
    (void)state;
    for (i = 0; i < sizeof subjects / sizeof subjects[0]; i++) {
        long at = 0;
        while (fail_once(&subjects[i], at))
            at += is_full ? 1 : 11;
        assert_true(at > 100);
    }
}

/* ---- A commit that fails when it is visible already, and a crash while the step is tried once more ---- */

enum { OTHER = 40 }; /* a step whose values the second try has */

static int64_t first_of(parapet_store *store, const char *name, int ndim)
{
    static const int64_t start[3] = {0, 0, 0}, count[3] = {1, 1, 1};
    parapet_array *array = NULL;
    int32_t found = -1;
    assert_ok(parapet_array_open(&array, store, name));
    assert_ok(
        parapet_array_read(array, &(parapet_part){.ndim = ndim, .start = start, .count = count, .data = &found}, 1));
    assert_ok(parapet_array_close(&array));
    return found;
}

/* One step, if there is one, of the first try or of the second, in all arrays. */
static void check_one_try(bed *work, const subject *of, long at, long then)
{
    parapet_store_options options = options_of(of);
    parapet_store *store;
    parapet_series *series;
    int64_t steps;
    assert_ok(pp_store_open_over(&store, MPI_COMM_NULL, work->inner, PARAPET_CREATE, &options));
    assert_ok(parapet_series_open(&series, store, "s"));
    if ((steps = info_of(series).steps_committed) > 0) {
        int64_t of_try = first_of(store, "s/u", 3) == value_of(0, 0, 0) ? 0 : OTHER;
        if (steps != 1 || first_of(store, "s/u", 3) != value_of(of_try, 0, 0) ||
            first_of(store, "s/profile", 2) != value_of(of_try, 0, 50) ||
            first_of(store, "s/energy", 1) != value_of(of_try, 77, 77))
            fail_msg("operations %ld and %ld: a step of two tries", at, then);
    }
    assert_ok(parapet_series_close(&series));
    assert_ok(parapet_store_close(&store));
}

/* false: there are no more such operations, of the second try or of the first. */
static bool try_twice(const subject *of, long at, long then, bool *is_first_over)
{
    parapet_store_options options = options_of(of);
    bed work = {.plan = {.fail_at = -1}};
    parapet_series *series = NULL;
    bool is_reached = false;
    assert_ok(pp_store_memory_build(&work.inner, NULL));
    assert_ok(pp_store_faulty_build(&work.faulty, work.inner, &work.plan));
    assert_ok(pp_store_open_over(&work.store, MPI_COMM_NULL, work.faulty, PARAPET_CREATE, &options));
    assert_ok(create(&series, work.store, "s", of));
    work.plan = (pp_fault_plan){.fail_at = at, .fail_after = true};
    *is_first_over = append(series, 0) == PARAPET_OK && work.plan.failures == 0;
    if (info_of(series).steps == 0) {
        work.plan = (pp_fault_plan){.fail_at = then, .fail_forever = true};
        is_reached = append(series, OTHER) != PARAPET_OK;
    }
    (void)parapet_series_close(&series);
    assert_ok(parapet_store_close(&work.store));
    check_one_try(&work, of, at, then);
    pp_store_free(work.faulty);
    pp_store_free(work.inner);
    return is_reached;
}

static void test_series__a_step_that_is_tried_again_is_of_one_try_after_a_crash(void **state)
{
    static const subject of = {1, 1, false};
    bool is_over = false;
    long at, then, tries = 0;
    (void)state;
    for (at = 0; !is_over; at += is_full ? 1 : TEST_THINNING)
        for (then = 0; try_twice(&of, at, then, &is_over); then += is_full ? 1 : 11)
            tries++;
    printf("%ld second tries\n", tries);
    assert_true(tries > 50);
}

/* full: a crash at every operation. */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_series__a_step_that_is_tried_again_is_of_one_try_after_a_crash),
        cmocka_unit_test(test_series__steps_are_committed_with_full_rows_and_each_shard_is_written_once),
        cmocka_unit_test(test_series__a_row_that_was_flushed_is_written_again_without_reading),
        cmocka_unit_test(test_series__goes_on_in_mid_row_after_it_was_closed),
        cmocka_unit_test(test_series__attributes_and_other_arrays_stay),
        cmocka_unit_test(test_series__an_older_handle_of_the_group_does_not_take_steps_back),
        cmocka_unit_test(test_series__is_never_made_over_an_array_that_is_there),
        cmocka_unit_test(test_series__goes_on_beside_directories_that_are_not_zarr),
        cmocka_unit_test(test_series__a_row_that_is_too_large_for_memory_is_kept_in_a_log),
        cmocka_unit_test(test_series__a_large_row_is_written_shard_by_shard_with_the_same_bytes),
        cmocka_unit_test(test_series__a_row_that_grows_beyond_its_first_step_moves_to_the_log),
        cmocka_unit_test(test_series__a_first_step_that_is_refused_again_and_again_takes_no_more_memory),
        cmocka_unit_test(test_series__the_limit_named_for_a_row_without_end_does_not_wrap),
        cmocka_unit_test(test_series__a_row_of_uneven_steps_is_refused_with_a_limit_that_suffices),
        cmocka_unit_test(test_series__an_array_without_elements_has_steps),
        cmocka_unit_test(test_series__the_log_of_records_begins_anew),
        cmocka_unit_test(test_series__refuses_what_is_no_series),
        cmocka_unit_test(test_series__goes_on_from_what_was_sealed),
        cmocka_unit_test(test_series__refuses_a_step_that_is_wrong_and_goes_on),
        cmocka_unit_test(test_series__refuses_a_step_with_the_dimension_of_the_steps),
        cmocka_unit_test(test_series__a_crash_at_any_operation_loses_only_what_was_not_committed),
        cmocka_unit_test(test_series__goes_on_after_a_failure_that_passes),
    };
    is_full = argc > 1 && strcmp(argv[1], "full") == 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
