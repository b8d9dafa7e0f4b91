/* What parapet_error_message says after calls that fail and calls that succeed. */
#include <parapet.h>
#include <stdio.h>
#include <string.h>

#include "support.h"

static int count_child(void *context, const char *name, parapet_node_kind kind)
{
    (void)name;
    (void)kind;
    ++*(int *)context;
    return 0;
}

/* A call that fails in between, so that each success has a sentence to take away. */
static void fail_first(parapet_store *store)
{
    parapet_array *missing = NULL;
    assert_int_equal(parapet_array_open(&missing, store, "nowhere"), PARAPET_ERR_NOT_FOUND);
    assert_string_not_equal(parapet_error_message(), "");
}

#define ASSERT_SILENT(store, call)                                                                                   \
    do {                                                                                                             \
        fail_first(store);                                                                                           \
        assert_int_equal(call, PARAPET_OK);                                                                          \
        assert_string_equal(parapet_error_message(), "");                                                            \
    } while (0)

static void test_outcome__no_sentence_is_left_after_a_success(void **state)
{
    int64_t shape[1] = {4}, larger[1] = {8}, start[1] = {0};
    int32_t values[4] = {1, 2, 3, 4};
    parapet_array_spec spec = {.ndim = 1, .type = PARAPET_INT32, .shape = shape};
    parapet_part part = {.ndim = 1, .start = start, .count = shape, .data = values};
    parapet_check_summary summary;
    parapet_statistics statistics;
    parapet_array_info info;
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    parapet_group *group = NULL;
    char *text = NULL;
    int children = 0;
    (void)state;
    assert_ok(parapet_store_open(&store, MPI_COMM_NULL, "memory:outcome", PARAPET_CREATE, NULL));
    ASSERT_SILENT(store, parapet_group_open(&group, store, ""));
    ASSERT_SILENT(store, parapet_array_create(&array, store, "a", &spec));
    ASSERT_SILENT(store, parapet_array_write(array, &part, 1));
    ASSERT_SILENT(store, parapet_array_read(array, &part, 1));
    ASSERT_SILENT(store, parapet_array_resize(array, larger));
    ASSERT_SILENT(store, parapet_array_seal(array));
    ASSERT_SILENT(store, parapet_array_check(array, PARAPET_CHECK_DATA, NULL, NULL, &summary));
    ASSERT_SILENT(store, parapet_array_attribute_set(array, "units", "\"m\""));
    ASSERT_SILENT(store, parapet_array_get_info(array, &info));
    ASSERT_SILENT(store, parapet_group_list(group, count_child, &children));
    assert_int_equal(children, 1);
    ASSERT_SILENT(store, parapet_group_consolidate(group));
    ASSERT_SILENT(store, parapet_store_get_statistics(store, &statistics));
    ASSERT_SILENT(store, parapet_store_options_print(store, &text));
    parapet_free(text);
    ASSERT_SILENT(store, parapet_array_unseal(array));
    assert_ok(parapet_array_close(&array));
    assert_string_equal(parapet_error_message(), "");
    assert_ok(parapet_group_close(&group));
    fail_first(store);
    assert_ok(parapet_store_close(&store));
    assert_non_null(strstr(parapet_error_message(), "nowhere")); /* for programs that clean up before they print */
}

/* A copy that is refused closes its source on its way out: the sentence is still that of the failure. */
static void test_outcome__what_is_closed_after_a_failure_keeps_the_sentence(void **state)
{
    parapet_copy_request request = {.source_path = "a", .target_path = "b", .changes = {.chunks = "3,3"}};
    int64_t shape[1] = {4};
    parapet_array_spec spec = {.ndim = 1, .type = PARAPET_INT32, .shape = shape};
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    (void)state;
    assert_ok(parapet_store_open(&store, MPI_COMM_NULL, "memory:kept", PARAPET_CREATE, NULL));
    assert_ok(parapet_array_create(&array, store, "a", &spec));
    assert_ok(parapet_array_close(&array));
    request.source = request.target = store;
    assert_int_equal(parapet_copy(&request, NULL), PARAPET_ERR_ARGUMENT);
    assert_non_null(strstr(parapet_error_message(), "3,3"));
    assert_ok(parapet_store_close(&store));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outcome__no_sentence_is_left_after_a_success),
        cmocka_unit_test(test_outcome__what_is_closed_after_a_failure_keeps_the_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
