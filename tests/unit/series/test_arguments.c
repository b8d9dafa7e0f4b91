/* Calls of series without what they need are refused, and say what is missing. */
#include "support.h"

#include "stored.h"

#define refused(call, word) assert_fails(call, PARAPET_ERR_ARGUMENT, word)

static void test_arguments__of_series_are_checked(void **state)
{
    parapet_series *series = NULL;
    parapet_series_info info;
    parapet_array_info array;
    parapet_series_spec spec = {0};
    parapet_store *store;
    char *text;
    (void)state;
    stored_open(&store, NULL);
    refused(parapet_series_create(NULL, store, "s", &spec), "handle");
    refused(parapet_series_create(&series, NULL, "s", &spec), "store");
    refused(parapet_series_create(&series, store, "s", NULL), "");
    refused(parapet_series_open(NULL, store, "s"), "handle");
    refused(parapet_series_open(&series, NULL, "s"), "store");
    refused(parapet_series_repair(NULL, "s", (parapet_beyond)0), "store");
    refused(parapet_series_append(NULL, 0, NULL), "series");
    refused(parapet_series_flush(NULL), "series");
    refused(parapet_series_get_info(NULL, &info), "series");
    refused(parapet_series_get_array_info(NULL, 0, &array), "series");
    refused(parapet_series_print(NULL, &text), "series");
    assert_ok(parapet_series_close(NULL));
    assert_ok(parapet_series_close(&series));
    stored_close(&store);
}

static void test_arguments__the_arrays_of_a_series_are_numbered_from_0(void **state)
{
    int64_t shapes[2][2] = {{0, 4}, {0, 6}};
    const char *names[] = {"a", "b"};
    parapet_array_spec specs[] = {{.type = PARAPET_UINT16, .ndim = 2, .shape = shapes[0]},
                                  {.type = PARAPET_FLOAT64, .ndim = 2, .shape = shapes[1]}};
    parapet_series_spec spec = {.count = 2, .names = names, .specs = specs};
    parapet_array_info array = {0};
    parapet_series *series;
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    assert_ok(parapet_series_create(&series, store, "s", &spec));
    assert_ok(parapet_series_get_array_info(series, 0, &array));
    assert_true(array.type == PARAPET_UINT16 && array.shape[1] == 4);
    assert_ok(parapet_series_get_array_info(series, 1, &array));
    assert_true(array.type == PARAPET_FLOAT64 && array.shape[1] == 6);
    refused(parapet_series_get_array_info(series, 2, &array), "no array");
    refused(parapet_series_get_array_info(series, -1, &array), "no array");
    refused(parapet_series_get_array_info(series, 0, NULL), "result");
    assert_ok(parapet_series_close(&series));
    stored_close(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arguments__of_series_are_checked),
        cmocka_unit_test(test_arguments__the_arrays_of_a_series_are_numbered_from_0),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
