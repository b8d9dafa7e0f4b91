/* Calls without what they need are refused, and say what is missing. */
#include "support.h"

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
    refused(parapet_array_list(array, NULL, NULL), "visitor");
    refused(parapet_array_layout_print(array, NULL), "text");
    refused(parapet_array_write(array, NULL, 1), "");
    refused(parapet_array_read(array, NULL, -1), "");
    refused(parapet_array_resize(array, NULL), "");
    refused(parapet_array_check(array, PARAPET_CHECK_DATA, NULL, NULL, NULL), "summary");
    refused(parapet_array_check(array, (parapet_check_depth)77, NULL, NULL, &summary), "77");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arguments__of_stores_are_checked),
        cmocka_unit_test(test_arguments__of_groups_are_checked),
        cmocka_unit_test(test_arguments__of_opening_arrays_are_checked),
        cmocka_unit_test(test_arguments__of_calls_without_an_array_are_checked),
        cmocka_unit_test(test_arguments__of_calls_on_an_array_are_checked),
        cmocka_unit_test(test_arguments__arrays_of_two_stores_are_not_closed_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
