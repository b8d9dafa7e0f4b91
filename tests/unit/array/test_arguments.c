/* Calls without what they need are refused, and say what is missing. */
#include "support.h"

#include <parapet_plan.h>

#include "stored.h"

static const int64_t shape[] = {8};
static const parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 1, .shape = shape};

#define refused(call, word) assert_fails(call, PARAPET_ERR_ARGUMENT, word)

static void test_arguments__of_stores_are_checked(void **state)
{
    parapet_statistics statistics;
    parapet_store *store = NULL;
    char *text;
    (void)state;
    refused(parapet_store_open(NULL, MPI_COMM_NULL, "memory:test", PARAPET_READ, NULL), "pointer for the store");
    refused(parapet_store_open(&store, MPI_COMM_NULL, NULL, PARAPET_READ, NULL), "url");
    refused(parapet_store_open(&store, MPI_COMM_NULL, "", PARAPET_READ, NULL), "url");
    refused(parapet_store_open(&store, MPI_COMM_NULL, "memory:test", (parapet_mode)77, NULL), "mode");
    assert_null(store);
    refused(parapet_store_get_statistics(NULL, &statistics), "store");
    refused(parapet_store_options_print(NULL, &text), "store");
    refused(parapet_launch_get(NULL), "pointer");
    assert_ok(parapet_store_close(NULL));
    assert_ok(parapet_store_close(&store));
}

static int visit_child(void *context, const char *name, parapet_node_kind kind)
{
    (void)context;
    (void)name;
    (void)kind;
    return 0;
}

static void test_arguments__of_groups_are_checked(void **state)
{
    parapet_group *group = NULL;
    parapet_store *store;
    char *json;
    (void)state;
    stored_open(&store, NULL);
    refused(parapet_group_create(NULL, store, "a", NULL), "group");
    refused(parapet_group_create(&group, NULL, "a", NULL), "group");
    refused(parapet_group_open(NULL, store, "a"), "group");
    refused(parapet_group_open(&group, NULL, "a"), "group");
    refused(parapet_group_create(&group, store, NULL, NULL), "path");
    refused(parapet_group_open(&group, store, NULL), "path");
    assert_null(group);
    refused(parapet_group_list(NULL, visit_child, NULL), "group");
    refused(parapet_group_consolidate(NULL), "group");
    refused(parapet_group_attribute_set(NULL, "name", "1"), "group");
    refused(parapet_group_attribute_get(NULL, "name", &json), "group");
    assert_ok(parapet_group_close(NULL));
    assert_ok(parapet_group_close(&group));
    assert_ok(parapet_group_create(&group, store, "a", NULL));
    refused(parapet_group_list(group, NULL, NULL), "visitor");
    refused(parapet_group_attribute_set(group, NULL, "1"), "name");
    refused(parapet_group_attribute_get(group, "name", NULL), "");
    assert_ok(parapet_group_close(&group));
    stored_close(&store);
}

static void test_arguments__of_opening_arrays_are_checked(void **state)
{
    const char *const paths[] = {"a", "b"};
    const parapet_array_spec specs[] = {spec, spec};
    parapet_array *arrays[2] = {NULL, NULL};
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    refused(parapet_array_create(NULL, store, "a", &spec), "handle");
    refused(parapet_array_create(arrays, NULL, "a", &spec), "store");
    refused(parapet_array_create(arrays, store, "a", NULL), "spec");
    refused(parapet_array_create(arrays, store, NULL, &spec), "path");
    refused(parapet_array_open(NULL, store, "a"), "handle");
    refused(parapet_array_open(arrays, NULL, "a"), "store");
    refused(parapet_arrays_create(arrays, store, NULL, specs, 2), "path");
    refused(parapet_arrays_create(arrays, store, paths, NULL, 2), "spec");
    refused(parapet_arrays_create(arrays, store, paths, specs, -1), "count");
    refused(parapet_arrays_open(arrays, store, NULL, 2), "path");
    refused(parapet_arrays_open(arrays, store, paths, -1), "count");
    refused(parapet_arrays_open(arrays, NULL, paths, 2), "store");
    assert_ok(parapet_arrays_create(arrays, store, paths, specs, 0));
    assert_ok(parapet_arrays_create(arrays, store, NULL, NULL, 0));
    refused(parapet_array_create(arrays, store, NULL, &(parapet_array_spec){.ndim = -1}), "path");
    assert_ok(parapet_array_close(NULL));
    assert_ok(parapet_arrays_close(NULL, 2));
    assert_ok(parapet_arrays_close(arrays, 2));
    stored_close(&store);
}

static int visit_box(void *context, const int64_t *start, const int64_t *count)
{
    (void)context;
    (void)start;
    (void)count;
    return 0;
}

static void test_arguments__of_calls_without_an_array_are_checked(void **state)
{
    parapet_check_summary summary;
    parapet_array_info info;
    char *text;
    (void)state;
    refused(parapet_array_get_info(NULL, &info), "array");
    refused(parapet_array_list(NULL, visit_box, NULL), "array");
    refused(parapet_array_layout_print(NULL, &text), "array");
    refused(parapet_array_write(NULL, NULL, 0), "array");
    refused(parapet_array_read(NULL, NULL, 0), "array");
    refused(parapet_array_read_local(NULL, NULL, 0), "array");
    refused(parapet_arrays_write(NULL, 1), "array");
    refused(parapet_arrays_read(NULL, -1), "array");
    refused(parapet_array_resize(NULL, shape), "array");
    refused(parapet_array_seal(NULL), "array");
    refused(parapet_array_unseal(NULL), "array");
    refused(parapet_array_flush(NULL), "array");
    refused(parapet_store_flush(NULL), "store");
    refused(parapet_array_attribute_set(NULL, "name", "1"), "array");
    refused(parapet_array_attribute_get(NULL, "name", &text), "array");
    refused(parapet_array_check(NULL, PARAPET_CHECK_DATA, NULL, NULL, &summary), "array");
}

static void test_arguments__of_calls_on_an_array_are_checked(void **state)
{
    parapet_check_summary summary;
    parapet_array *array;
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    assert_ok(parapet_array_create(&array, store, "a", &spec));
    refused(parapet_array_get_info(array, NULL), "result");
    refused(parapet_store_get_statistics(store, NULL), "");
    refused(parapet_array_list(array, NULL, NULL), "visitor");
    refused(parapet_array_layout_print(array, NULL), "text");
    refused(parapet_array_write(array, NULL, 1), "");
    refused(parapet_array_read(array, NULL, -1), "");
    refused(parapet_array_read_local(array, NULL, -1), "");
    refused(parapet_array_resize(array, NULL), "");
    refused(parapet_array_check(array, PARAPET_CHECK_DATA, NULL, NULL, NULL), "summary");
    refused(parapet_array_check(array, (parapet_check_depth)77, NULL, NULL, &summary), "77");
    assert_ok(parapet_array_close(&array));
    stored_close(&store);
}

static int end_at_box(void *context, const int64_t *start, const int64_t *count)
{
    (void)start;
    (void)count;
    ++*(int *)context;
    return 1;
}

static int end_at_finding(void *context, const parapet_finding *finding)
{
    (void)finding;
    ++*(int *)context;
    return 1;
}

static void test_visitors__may_end_a_listing_or_a_check(void **state)
{
    static const int64_t start[] = {0};
    const int32_t values[8] = {1};
    parapet_part part = {.ndim = 1, .start = start, .count = shape, .data = (void *)(uintptr_t)values};
    parapet_check_summary summary;
    parapet_array *array;
    parapet_store *store;
    int boxes = 0, findings = 0;
    (void)state;
    stored_open(&store, NULL);
    assert_ok(parapet_array_create(&array, store, "a", &spec));
    assert_ok(parapet_array_write(array, &part, 1));
    assert_fails(parapet_array_list(array, end_at_box, &boxes), PARAPET_ERR_CANCELLED, "visitor");
    stored_put_text(store, "a/c/0", "torn");
    assert_fails(parapet_array_check(array, PARAPET_CHECK_DATA, end_at_finding, &findings, &summary),
                 PARAPET_ERR_CANCELLED, "visitor");
    assert_int_equal(boxes, 1);
    assert_int_equal(findings, 1);
    assert_ok(parapet_array_close(&array));
    stored_close(&store);
}

static void test_arguments__arrays_of_two_stores_are_not_closed_together(void **state)
{
    parapet_array *arrays[2];
    parapet_store *store, *other;
    (void)state;
    stored_open(&store, NULL);
    assert_ok(parapet_store_open(&other, MPI_COMM_NULL, "memory:test", PARAPET_UPDATE, NULL));
    assert_ok(parapet_array_create(&arrays[0], store, "a", &spec));
    assert_ok(parapet_array_open(&arrays[1], other, "a"));
    refused(parapet_arrays_close(arrays, 2), "different stores");
    assert_ok(parapet_array_close(&arrays[1]));
    assert_ok(parapet_arrays_close(arrays, 2));
    assert_ok(parapet_store_close(&other));
    stored_close(&store);
}

/* ---- what specs, lists and requests say ---- */

static void test_arguments__of_specs_are_checked(void **state)
{
    static const int64_t square[] = {2, 2}, negative[] = {2, -1};
    static const char *const empty[] = {"x", ""}, *const absent[] = {NULL, "y"}, *const twice[] = {"x", "x"};
    parapet_array_spec two = {.type = PARAPET_INT32, .ndim = 2};
    parapet_array *array = NULL;
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    refused(parapet_array_create(&array, store, "a", &two), "no shape");
    two.shape = negative;
    refused(parapet_array_create(&array, store, "a", &two), "0 or more");
    two.shape = square;
    two.dimension_names = empty;
    refused(parapet_array_create(&array, store, "a", &two), "is empty");
    two.dimension_names = absent;
    refused(parapet_array_create(&array, store, "a", &two), "is empty");
    two.dimension_names = twice;
    refused(parapet_array_create(&array, store, "a", &two), "both");
    refused(parapet_array_create(&array, store, "a", &(parapet_array_spec){.ndim = PARAPET_MAX_NDIM + 1}), "ndim");
    stored_close(&store);
}

/* Fields that are true or false take nothing else, and reserved ones only zero. */
static void test_arguments__of_specs_that_are_no_words_are_checked(void **state)
{
    const parapet_array_spec cases[] = {
        {.type = PARAPET_INT32, .ndim = 1, .shape = shape, .unsharded = 2},
        {.type = PARAPET_INT32, .ndim = 1, .shape = shape, .no_checksum = -1},
        {.type = PARAPET_INT32, .ndim = 1, .shape = shape, .overwrite = 7},
        {.type = PARAPET_INT32, .ndim = 1, .shape = shape, .reserved = {1}},
    };
    static const char *const words[] = {"unsharded", "no_checksum", "overwrite", "reserved"};
    parapet_array *array = NULL;
    parapet_store *store;
    size_t i;
    (void)state;
    stored_open(&store, NULL);
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++)
        refused(parapet_array_create(&array, store, "a", &cases[i]), words[i]);
    assert_null(array);
    stored_close(&store);
}

/* Elements without a name have the fill value that was given; there is a limit to their size. */
static void test_arguments__the_fill_value_of_raw_elements_is_kept(void **state)
{
    static const unsigned char fill[3] = {1, 2, 3};
    parapet_array_spec raw = {
        .type = PARAPET_RAW, .ndim = 1, .shape = shape, .element_bytes = sizeof fill, .fill_value = fill};
    unsigned char found[8][3] = {{0}};
    parapet_part part = {.ndim = 1, .start = (int64_t[]){0}, .count = shape, .data = found};
    parapet_array *array;
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    assert_ok(parapet_array_create(&array, store, "a", &raw));
    assert_ok(parapet_array_read(array, &part, 1));
    assert_memory_equal(found[7], fill, sizeof fill);
    refused(parapet_array_read_points(array, &(parapet_points){.ndim = 1, .type = PARAPET_INT32}),
            "nothing is converted");
    assert_ok(parapet_array_close(&array));
    raw.element_bytes = (size_t)2 << 20;
    raw.fill_value = NULL;
    assert_fails(parapet_array_create(&array, store, "b", &raw), PARAPET_ERR_UNSUPPORTED,
                 "elements of 2097152 bytes");
    stored_close(&store);
}

static void test_arguments__of_urls_are_checked(void **state)
{
    parapet_store *store = NULL;
    (void)state;
    assert_fails(parapet_store_open(&store, MPI_COMM_NULL, "http://there/is/none", PARAPET_READ, NULL),
                 PARAPET_ERR_UNSUPPORTED, "only directories");
    assert_null(store);
}

static void test_arguments__of_lists_of_arrays_are_checked(void **state)
{
    parapet_array_parts list[2] = {{0}, {0}};
    parapet_array *arrays[2];
    parapet_store *store, *other;
    (void)state;
    stored_open(&store, NULL);
    assert_ok(parapet_store_open(&other, MPI_COMM_NULL, "memory:test", PARAPET_UPDATE, NULL));
    assert_ok(parapet_array_create(&arrays[0], store, "a", &spec));
    assert_ok(parapet_array_open(&arrays[1], other, "a"));
    refused(parapet_arrays_write(list, 1), "array");
    list[0].array = arrays[0];
    refused(parapet_arrays_write(list, 2), "has no array");
    refused(parapet_arrays_read(list, 2), "has no array");
    list[1].array = arrays[1];
    refused(parapet_arrays_write(list, 2), "different stores");
    list[1].array = arrays[0];
    refused(parapet_arrays_write(list, 2), "twice");
    list[0].reserved[0] = 1;
    refused(parapet_arrays_read(list, 1), "entry 0 of the list");
    list[0].reserved[0] = 0;
    assert_ok(parapet_arrays_write(NULL, 0));
    assert_ok(parapet_arrays_read(NULL, 0));
    assert_ok(parapet_array_close(&arrays[1]));
    assert_ok(parapet_array_close(&arrays[0]));
    assert_ok(parapet_store_close(&other));
    stored_close(&store);
}

static void check_points(parapet_array *array)
{
    static const int64_t first[] = {3};
    int32_t value = 5;
    parapet_points points = {.ndim = 2, .count = 1, .coordinates = first, .data = &value};
    refused(parapet_array_write_points(array, &points), "dimensions");
    points.ndim = 1;
    points.count = -1;
    refused(parapet_array_write_points(array, &points), "-1");
    points.count = 1;
    points.coordinates = NULL;
    refused(parapet_array_read_points(array, &points), "no coordinates");
    points.coordinates = first;
    points.type = PARAPET_FLOAT64;
    refused(parapet_array_read_points_local(array, &points), "nothing is converted");
    points.type = (parapet_type)77;
    refused(parapet_array_read_points_local(array, &points), "without a name");
    points.type = PARAPET_INT32;
    points.data = NULL;
    refused(parapet_array_write_points(array, &points), "no data");
    points.data = &value;
    assert_ok(parapet_array_write_points(array, &points));
    refused(parapet_array_read_points_local(NULL, &points), "array");
    points.count = 0;
    points.coordinates = NULL;
    assert_ok(parapet_array_read_points_local(array, &points));
    points.reserved[0] = 1;
    refused(parapet_array_read_points_local(array, &points), "reserved");
    assert_ok(parapet_array_read_points(array, NULL)); /* as a rank does that wants none */
}

static void check_runs(parapet_array *array)
{
    static const int64_t first[] = {3};
    int32_t value = 0;
    parapet_runs runs = {.count = -1, .starts = first, .data = &value};
    refused(parapet_array_read_runs(array, &runs), "-1");
    runs.count = 1;
    runs.starts = NULL;
    refused(parapet_array_read_runs_local(array, &runs), "no starts");
    runs.starts = first;
    runs.data = NULL;
    refused(parapet_array_read_runs(array, &runs), "no data");
    runs.data = &value;
    refused(parapet_array_read_runs_local(NULL, &runs), "array");
    assert_ok(parapet_array_read_runs_local(array, &runs));
    assert_int_equal(value, 5);
    runs.type = PARAPET_INT64;
    refused(parapet_array_read_runs_local(array, &runs), "nothing is converted");
    runs.reserved[0] = 1;
    refused(parapet_array_read_runs_local(array, &runs), "reserved");
    assert_ok(parapet_array_read_runs(array, NULL));
    assert_ok(parapet_array_read_runs_local(array, &(parapet_runs){0}));
}

/* Where the shards at the edge count, too, there are more elements than numbers. */
static void check_vast(parapet_store *store)
{
    static const int64_t vast[] = {(INT64_C(1) << 62) + 1, 1}, chunks[] = {1024, 2}, shards[] = {1 << 20, 2};
    static const int64_t first[] = {0};
    int8_t value = 0;
    parapet_array_spec of = {.type = PARAPET_INT8, .ndim = 2, .shape = vast, .chunks = chunks, .shards = shards};
    parapet_runs runs = {.count = 1, .starts = first, .data = &value};
    parapet_array *array;
    assert_ok(parapet_array_create(&array, store, "vast", &of));
    assert_fails(parapet_array_read_runs_local(array, &runs), PARAPET_ERR_UNSUPPORTED, "use parts");
    assert_ok(parapet_array_close(&array));
}

static void test_arguments__of_points_and_runs_are_checked(void **state)
{
    parapet_array *array, *scalar;
    parapet_store *store;
    int32_t value = 7;
    parapet_points point = {.count = 1, .data = &value};
    (void)state;
    stored_open(&store, NULL);
    assert_ok(parapet_array_create(&array, store, "a", &spec));
    check_points(array);
    check_runs(array);
    assert_ok(parapet_array_create(&scalar, store, "b", &(parapet_array_spec){.type = PARAPET_INT32}));
    assert_ok(parapet_array_write_points(scalar, &point)); /* which needs no coordinates */
    assert_ok(parapet_array_close(&scalar));
    assert_ok(parapet_array_close(&array));
    check_vast(store);
    stored_close(&store);
}

static void test_arguments__of_transfer_plans_are_checked(void **state)
{
    static const int64_t other[] = {9};
    parapet_transfer_plan_request request = {.spec = spec, .distribution = {.ndim = 2}};
    char *text = NULL;
    (void)state;
    refused(parapet_transfer_plan_print(&request, &text, NULL), "dimensions");
    request.distribution.ndim = 1;
    request.distribution.shape = other;
    refused(parapet_transfer_plan_print(&request, &text, NULL), "distribution");
    request.distribution.shape = shape;
    request.memory_bytes = -1;
    refused(parapet_transfer_plan_print(&request, &text, NULL), "0 or more");
    request.memory_bytes = 0;
    request.threads = -1;
    refused(parapet_transfer_plan_print(&request, &text, NULL), "0 or more");
    request.threads = 0;
    request.servers = -1;
    refused(parapet_transfer_plan_print(&request, &text, NULL), "0 or more");
    request.servers = 0;
    request.server = -2;
    refused(parapet_transfer_plan_print(&request, &text, NULL), "");
    request.server = 1000;
    refused(parapet_transfer_plan_print(&request, &text, NULL), "");
    assert_null(text);
}

static void test_version__is_that_of_the_header(void **state)
{
    (void)state;
    assert_int_equal(parapet_version_number(), PARAPET_VERSION_NUMBER);
    assert_true(strlen(parapet_version()) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arguments__of_stores_are_checked),
        cmocka_unit_test(test_arguments__of_groups_are_checked),
        cmocka_unit_test(test_arguments__of_opening_arrays_are_checked),
        cmocka_unit_test(test_arguments__of_calls_without_an_array_are_checked),
        cmocka_unit_test(test_arguments__of_calls_on_an_array_are_checked),
        cmocka_unit_test(test_visitors__may_end_a_listing_or_a_check),
        cmocka_unit_test(test_arguments__arrays_of_two_stores_are_not_closed_together),
        cmocka_unit_test(test_arguments__of_specs_are_checked),
        cmocka_unit_test(test_arguments__of_specs_that_are_no_words_are_checked),
        cmocka_unit_test(test_arguments__the_fill_value_of_raw_elements_is_kept),
        cmocka_unit_test(test_arguments__of_urls_are_checked),
        cmocka_unit_test(test_arguments__of_lists_of_arrays_are_checked),
        cmocka_unit_test(test_arguments__of_points_and_runs_are_checked),
        cmocka_unit_test(test_arguments__of_transfer_plans_are_checked),
        cmocka_unit_test(test_version__is_that_of_the_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
