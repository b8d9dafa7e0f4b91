/* Changing the shape: what is cut off never comes back, also when the cutting was interrupted at any operation. */
#include "support.h"

#include "array/resize.h"
#include "stored.h"
#include "stores/faulty.h"

#define FILL (-7)
#define SIDE 20

/* Shards of 6 x 6 with chunks of 3 x 2, so that edges fall inside shards and inside chunks. */
static parapet_array_spec spec_of(bool unsharded)
{
    static const int32_t fill = FILL;
    static const int64_t shape[2] = {SIDE, SIDE}, chunks[2] = {3, 2}, shards[2] = {6, 6};
    return (parapet_array_spec){.type = PARAPET_INT32,
                                .ndim = 2,
                                .shape = shape,
                                .chunks = chunks,
                                .shards = shards,
                                .unsharded = unsharded,
                                .fill_value = &fill};
}

static int32_t value_of(int64_t i, int64_t j)
{
    return (int32_t)(1000 * i + j);
}

static void write_all(parapet_array *array)
{
    static int32_t values[SIDE][SIDE];
    parapet_part part = {.ndim = 2, .start = (int64_t[]){0, 0}, .count = (int64_t[]){SIDE, SIDE}, .data = values};
    int64_t i, j;
    for (i = 0; i < SIDE; i++)
        for (j = 0; j < SIDE; j++)
            values[i][j] = value_of(i, j);
    assert_ok(parapet_array_write(array, &part, 1));
}

/* The array has this shape, its own values in the first rows and columns, and fill elsewhere. */
static void assert_contents(parapet_array *array, const int64_t shape[2], int64_t rows, int64_t columns)
{
    parapet_array_info info;
    int32_t *found = malloc((size_t)(shape[0] * shape[1]) * sizeof *found + 1);
    parapet_part part = {.ndim = 2, .start = (int64_t[]){0, 0}, .count = shape, .data = found};
    int64_t i, j;
    assert_ok(parapet_array_get_info(array, &info));
    assert_int_equal(info.shape[0], shape[0]);
    assert_int_equal(info.shape[1], shape[1]);
    assert_ok(parapet_array_read(array, &part, 1));
    for (i = 0; i < shape[0]; i++)
        for (j = 0; j < shape[1]; j++)
            assert_int_equal(found[i * shape[1] + j], i < rows && j < columns ? value_of(i, j) : FILL);
    free(found);
}

static void create_written(parapet_store **store, parapet_array **array, bool unsharded)
{
    parapet_array_spec spec = spec_of(unsharded);
    stored_open(store, NULL);
    assert_ok(parapet_array_create(array, *store, "a", &spec));
    write_all(*array);
}

static size_t count_shards(parapet_store *store)
{
    static stored_image image;
    size_t count;
    stored_image_take(&image, store, "a/c");
    count = image.count;
    stored_image_free(&image);
    return count;
}

static void test_resize__growing_shows_fill_and_writes_no_shard(void **state)
{
    static stored_image before, after;
    parapet_store *store;
    parapet_array *array;
    (void)state;
    create_written(&store, &array, false);
    stored_image_take(&before, store, "a/c");
    assert_ok(parapet_array_resize(array, (int64_t[]){31, 29}));
    stored_image_take(&after, store, "a/c");
    stored_image_assert_equal(&before, 0, &after, 0);
    assert_contents(array, (int64_t[]){31, 29}, SIDE, SIDE);
    stored_image_free(&before);
    stored_image_free(&after);
    assert_ok(parapet_array_close(&array));
    stored_close(&store);
}

static void check_shrink_and_grow(bool unsharded, int64_t rows, int64_t columns)
{
    int64_t small[2] = {rows, columns}, large[2] = {SIDE + 3, SIDE + 3};
    parapet_store *store;
    parapet_array *array;
    create_written(&store, &array, unsharded);
    assert_ok(parapet_array_resize(array, small));
    assert_contents(array, small, rows, columns);
    assert_ok(parapet_array_close(&array));
    assert_ok(parapet_array_open(&array, store, "a"));
    assert_contents(array, small, rows, columns);
    assert_ok(parapet_array_resize(array, large));
    assert_contents(array, large, rows, columns);
    assert_false(stored_contains(store, "a/zarr.json", "_parapet"));
    assert_ok(parapet_array_close(&array));
    stored_close(&store);
}

static void test_resize__shrinking_then_growing_shows_fill(void **state)
{
    static const int64_t sizes[] = {0, 1, 2, 3, 5, 6, 7, 12, 19, 20};
    long live = pp_memory_live_count();
    size_t i, j;
    (void)state;
    for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (j = 0; j < sizeof sizes / sizeof sizes[0]; j++) {
            check_shrink_and_grow(false, sizes[i], sizes[j]);
            check_shrink_and_grow(true, sizes[i], sizes[j]);
        }
    }
    assert_int_equal(pp_memory_live_count(), live);
}

static void test_resize__shrinking_removes_shards_outside_and_rewrites_only_the_edge(void **state)
{
    parapet_statistics before, after;
    parapet_store *store;
    parapet_array *array;
    (void)state;
    create_written(&store, &array, false);
    assert_int_equal(count_shards(store), 16);
    before = stored_statistics(store);
    assert_ok(parapet_array_resize(array, (int64_t[]){12, SIDE})); /* on a boundary of shards */
    after = stored_statistics(store);
    assert_int_equal(count_shards(store), 8);
    assert_int_equal(after.chunks_encoded - before.chunks_encoded, 0);
    assert_int_equal(after.chunks_copied - before.chunks_copied, 0);
    before = after;
    assert_ok(parapet_array_resize(array, (int64_t[]){12, 9})); /* inside a chunk of the second column */
    after = stored_statistics(store);
    assert_int_equal(count_shards(store), 4);
    assert_int_equal(after.chunks_decoded - before.chunks_decoded, 4); /* columns 8 and 9 */
    assert_int_equal(after.chunks_encoded - before.chunks_encoded, 4);
    assert_int_equal(after.chunks_copied - before.chunks_copied, 4); /* columns 6 and 7; 10 and 11 are gone */
    assert_ok(parapet_array_close(&array));
    stored_close(&store);
}

static void test_resize__of_an_array_never_written_writes_no_shard(void **state)
{
    parapet_array_spec spec = spec_of(false);
    parapet_store *store;
    parapet_array *array;
    (void)state;
    stored_open(&store, NULL);
    assert_ok(parapet_array_create(&array, store, "a", &spec));
    assert_ok(parapet_array_resize(array, (int64_t[]){7, 7}));
    assert_contents(array, (int64_t[]){7, 7}, 0, 0);
    assert_false(stored_has(store, "a/c/0/0"));
    assert_false(stored_has(store, "a/c/1/1"));
    assert_ok(parapet_array_close(&array));
    stored_close(&store);
}

static void test_resize__takes_the_seal_off(void **state)
{
    parapet_array_info info;
    parapet_store *store;
    parapet_array *array;
    (void)state;
    create_written(&store, &array, false);
    assert_ok(parapet_array_seal(array));
    assert_ok(parapet_array_resize(array, (int64_t[]){7, 7}));
    assert_ok(parapet_array_get_info(array, &info));
    assert_false(info.is_sealed);
    assert_contents(array, (int64_t[]){7, 7}, 7, 7);
    assert_false(stored_has(store, "a/__parapet/seal"));
    assert_ok(parapet_array_seal(array));
    assert_ok(parapet_array_close(&array));
    stored_reopen(&store, PARAPET_UPDATE, &(parapet_store_options){.require_sealed = 1});
    assert_ok(parapet_array_open(&array, store, "a"));
    assert_contents(array, (int64_t[]){7, 7}, 7, 7);
    assert_ok(parapet_array_close(&array));
    stored_close(&store);
}

static void test_resize__refuses_what_cannot_be_and_changes_nothing(void **state)
{
    static stored_image before, after;
    parapet_store *store;
    parapet_array *array;
    (void)state;
    create_written(&store, &array, false);
    stored_image_take(&before, store, "a");
    assert_fails(parapet_array_resize(array, (int64_t[]){-1, 5}), PARAPET_ERR_ARGUMENT, "-1");
    assert_fails(parapet_array_resize(array, (int64_t[]){INT64_MAX, 5}), PARAPET_ERR_ARGUMENT, "63 bits");
    assert_fails(parapet_array_resize(array, (int64_t[]){INT64_C(1) << 40, INT64_C(1) << 40}), PARAPET_ERR_ARGUMENT,
                 "63 bits");
    assert_fails(parapet_array_resize(array, NULL), PARAPET_ERR_ARGUMENT, "shape");
    assert_fails(parapet_array_resize(NULL, (int64_t[]){1}), PARAPET_ERR_ARGUMENT, "array");
    stored_image_take(&after, store, "a");
    stored_image_assert_equal(&before, 0, &after, 0);
    assert_contents(array, (int64_t[]){SIDE, SIDE}, SIDE, SIDE);
    stored_image_free(&before);
    stored_image_free(&after);
    assert_ok(parapet_array_close(&array));
    stored_reopen(&store, PARAPET_READ, NULL);
    assert_ok(parapet_array_open(&array, store, "a"));
    assert_fails(parapet_array_resize(array, (int64_t[]){5, 5}), PARAPET_ERR_ARGUMENT, "open for reading");
    assert_ok(parapet_array_close(&array));
    stored_close(&store);
}

static void test_resize__of_a_scalar_is_nothing(void **state)
{
    parapet_array_spec spec = {.type = PARAPET_INT32};
    int32_t value = 5, found = 0;
    parapet_store *store;
    parapet_array *array;
    (void)state;
    stored_open(&store, NULL);
    assert_ok(parapet_array_create(&array, store, "a", &spec));
    assert_ok(parapet_array_write(array, &(parapet_part){.data = &value}, 1));
    assert_ok(parapet_array_resize(array, NULL));
    assert_ok(parapet_array_read(array, &(parapet_part){.data = &found}, 1));
    assert_int_equal(found, 5);
    assert_ok(parapet_array_close(&array));
    stored_close(&store);
}

/* ---- Interruptions ---- */

typedef parapet_status (*completion)(parapet_array *array, const int64_t shape[2]);

static parapet_status complete_by_growing(parapet_array *array, const int64_t shape[2])
{
    (void)shape;
    return parapet_array_resize(array, (int64_t[]){SIDE, SIDE});
}

static parapet_status complete_by_writing(parapet_array *array, const int64_t shape[2])
{
    int32_t value = value_of(0, 0);
    parapet_part part = {.ndim = 2, .start = (int64_t[]){0, 0}, .count = (int64_t[]){1, 1}, .data = &value};
    parapet_status status = parapet_array_write(array, &part, 1);
    (void)shape;
    return status == PARAPET_OK ? complete_by_growing(array, shape) : status;
}

static parapet_status complete_by_sealing(parapet_array *array, const int64_t shape[2])
{
    parapet_status status = parapet_array_seal(array);
    return status == PARAPET_OK ? complete_by_growing(array, shape) : status;
}

/* An attribute in between must keep the mark. */
static parapet_status complete_by_shrinking_further(parapet_array *array, const int64_t shape[2])
{
    parapet_status status = parapet_array_attribute_set(array, "between", "1");
    if (status == PARAPET_OK)
        status = parapet_array_resize(array, (int64_t[]){shape[0], shape[1]});
    return status == PARAPET_OK ? complete_by_growing(array, shape) : status;
}

/* Storage is gone from operation `at` on; then a new process finds what is left. Returns whether it was reached. */
static bool interrupt_at(long at, bool fails_after, completion complete)
{
    static const int64_t small[2] = {7, 10}, large[2] = {SIDE, SIDE};
    pp_fault_plan plan = {.fail_at = -1, .status = PARAPET_ERR_IO};
    parapet_store *store, *over;
    parapet_array *array;
    parapet_array_info info;
    pp_store *faulty;
    parapet_status status;
    create_written(&store, &array, false);
    assert_ok(parapet_array_close(&array));
    assert_ok(pp_store_faulty_build(&faulty, store->backend, &plan));
    assert_ok(pp_store_open_over(&over, MPI_COMM_NULL, faulty, PARAPET_UPDATE, NULL));
    assert_ok(parapet_array_open(&array, over, "a"));
    plan = (pp_fault_plan){.fail_at = at, .fail_forever = true, .fail_after = fails_after, .status = PARAPET_ERR_IO};
    status = parapet_array_resize(array, small);
    assert_ok(parapet_array_close(&array));
    assert_ok(parapet_store_close(&over));
    pp_store_free(faulty);
    assert_ok(parapet_array_open(&array, store, "a"));
    assert_ok(parapet_array_get_info(array, &info));
    if (info.shape[0] == SIDE) {
        assert_int_not_equal(status, PARAPET_OK);
        assert_contents(array, large, SIDE, SIDE);
    } else {
        assert_contents(array, small, 7, 10);
        assert_ok(complete(array, small));
        assert_contents(array, large, 7, 10);
        assert_false(stored_contains(store, "a/zarr.json", "trim"));
    }
    assert_ok(parapet_array_close(&array));
    stored_close(&store);
    return status != PARAPET_OK;
}

static void check_interruptions(completion complete)
{
    long at, reached = 0;
    int after;
    for (after = 0; after < 2; after++)
        for (at = 0; interrupt_at(at, after == 1, complete); at++)
            reached++;
    assert_true(reached > 40);
}

static void test_resize__interrupted_shrinking_is_completed_by_growing(void **state)
{
    (void)state;
    check_interruptions(complete_by_growing);
}

static void test_resize__interrupted_shrinking_is_completed_by_writing(void **state)
{
    (void)state;
    check_interruptions(complete_by_writing);
}

static void test_resize__interrupted_shrinking_is_completed_by_sealing(void **state)
{
    (void)state;
    check_interruptions(complete_by_sealing);
}

static void test_resize__interrupted_shrinking_outlives_an_attribute(void **state)
{
    (void)state;
    check_interruptions(complete_by_shrinking_further);
}

/* The mark of a cut that did not finish, as no resize writes it. */
static void test_resize__a_mark_that_says_nothing_of_the_dimensions_is_refused(void **state)
{
    static const struct {
        const char *mark, *sentence;
    } cases[] = {
        {"[true]", "does not list the dimensions"},
        {"{\"0\":true}", "does not list the dimensions"},
        {"[true,1]", "a list of true and false"},
    };
    size_t i;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        parapet_store *store;
        parapet_array *array;
        char *text, *changed = NULL, *attributes;
        size_t bytes;
        create_written(&store, &array, false);
        assert_ok(parapet_array_close(&array));
        text = stored_get(store, "a/zarr.json", &bytes);
        attributes = strstr(text, "\"attributes\"");
        assert_non_null(attributes);
        attributes = strchr(attributes, '{') + 1;
        assert_ok(pp_allocate_array(&changed, bytes + 100, 1));
        (void)snprintf(changed, bytes + 100, "%.*s\"_parapet\":{\"trim\":%s}%s", (int)(attributes - text), text,
                       cases[i].mark, attributes);
        stored_put_text(store, "a/zarr.json", changed);
        assert_ok(parapet_array_open(&array, store, "a"));
        assert_fails(parapet_array_resize(array, (int64_t[]){SIDE, SIDE}), PARAPET_ERR_FORMAT, cases[i].sentence);
        assert_true(count_shards(store) == 16);
        assert_ok(parapet_array_close(&array));
        stored_close(&store);
        pp_free(changed);
        pp_free(text);
    }
}

/* ---- Layers ---- */

/* An array of 4 x 4 elements in shards of 2 x 2, with keys of this encoding and of ours. */
static void put_document(parapet_store *store, const char *path, const char *keys)
{
    pp_text key = {0}, text = {0};
    pp_text_add(&key, "%s/zarr.json", path);
    pp_text_add(&text,
                "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[4,4],\"data_type\":\"int32\",\"chunk_grid\":"
                "{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[2,2]}},\"chunk_key_encoding\":%s,"
                "\"fill_value\":0,\"codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}]}",
                keys);
    stored_put(store, key.data, text.data, text.bytes);
    pp_text_free(&key);
    pp_text_free(&text);
}

static bool has_layer(const parapet_array *array, int64_t layer)
{
    bool has_some;
    assert_ok(pp_array_has_layer(array, layer, &has_some));
    return has_some;
}

/* Only what lies where shards can be counts, and only keys that lie in layers are looked for. */
static void test_resize__layers_are_found_and_removed_by_their_keys(void **state)
{
    static const struct {
        const char *keys, *shard;
        bool is_layered;
    } cases[] = {
        {"{\"name\":\"default\"}", "a/c/1/0", true},
        {"{\"name\":\"default\",\"configuration\":{\"separator\":\".\"}}", "a/c.1.0", false},
        {"{\"name\":\"v2\",\"configuration\":{\"separator\":\"/\"}}", "a/1/0", false},
    };
    parapet_store *store;
    parapet_array *array;
    size_t i;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        stored_open(&store, NULL);
        put_document(store, "a", cases[i].keys);
        stored_put_text(store, cases[i].shard, "a shard");
        stored_put_text(store, "a/c/0/0/below", "somebody's");
        assert_ok(parapet_array_open(&array, store, "a"));
        assert_false(has_layer(array, 0));
        assert_int_equal(has_layer(array, 1), cases[i].is_layered);
        assert_ok(pp_array_remove_layer(array, 1));
        assert_int_equal(stored_has(store, cases[i].shard), !cases[i].is_layered);
        assert_true(stored_has(store, "a/c/0/0/below"));
        assert_ok(parapet_array_close(&array));
        stored_close(&store);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resize__layers_are_found_and_removed_by_their_keys),
        cmocka_unit_test(test_resize__growing_shows_fill_and_writes_no_shard),
        cmocka_unit_test(test_resize__shrinking_then_growing_shows_fill),
        cmocka_unit_test(test_resize__shrinking_removes_shards_outside_and_rewrites_only_the_edge),
        cmocka_unit_test(test_resize__of_an_array_never_written_writes_no_shard),
        cmocka_unit_test(test_resize__takes_the_seal_off),
        cmocka_unit_test(test_resize__refuses_what_cannot_be_and_changes_nothing),
        cmocka_unit_test(test_resize__of_a_scalar_is_nothing),
        cmocka_unit_test(test_resize__interrupted_shrinking_is_completed_by_growing),
        cmocka_unit_test(test_resize__interrupted_shrinking_is_completed_by_writing),
        cmocka_unit_test(test_resize__interrupted_shrinking_is_completed_by_sealing),
        cmocka_unit_test(test_resize__a_mark_that_says_nothing_of_the_dimensions_is_refused),
        cmocka_unit_test(test_resize__interrupted_shrinking_outlives_an_attribute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
