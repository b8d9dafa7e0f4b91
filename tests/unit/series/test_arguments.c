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
    refused(parapet_series_create(&series, store, NULL, &spec), "NULL");
    refused(parapet_series_open(&series, store, NULL), "the path is NULL");
    refused(parapet_series_repair(NULL, "s", (parapet_beyond)0), "store");
    refused(parapet_series_repair(store, NULL, PARAPET_BEYOND_REFUSE), "the path is NULL");
    refused(parapet_series_repair(store, "s", (parapet_beyond)3), "beyond is 3");
    refused(parapet_series_repair(store, "s", (parapet_beyond)-1), "beyond is -1");
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

static void test_arguments__of_the_spec_of_a_series_are_checked(void **state)
{
    int64_t shape[2] = {0, 4};
    const char *names[] = {"a", NULL};
    parapet_array_spec specs[] = {{.type = PARAPET_UINT16, .ndim = 2, .shape = shape},
                                  {.type = PARAPET_UINT16, .ndim = 2, .shape = shape}};
    parapet_series_spec spec = {.count = 1, .specs = specs};
    parapet_series *series;
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    refused(parapet_series_create(&series, store, "s", &spec), "at least one array");
    spec.names = names;
    spec.specs = NULL;
    refused(parapet_series_create(&series, store, "s", &spec), "at least one array");
    spec.specs = specs;
    spec.count = 2;
    refused(parapet_series_create(&series, store, "s", &spec), "one component of a path");
    spec.count = 1;
    spec.dimension = "";
    refused(parapet_series_create(&series, store, "s", &spec), "one component of a path");
    spec.dimension = "t";
    spec.reserved[0] = 1;
    refused(parapet_series_create(&series, store, "s", &spec), "reserved");
    spec.reserved[0] = 0;
    specs[0].ndim = -1;
    refused(parapet_series_create(&series, store, "s", &spec), "ndim");
    specs[0].ndim = 0;
    refused(parapet_series_create(&series, store, "s", &spec), "shape[0] must be 0");
    specs[0].ndim = 2;
    specs[0].dimension_names = (const char *const[]){"x", "y"};
    refused(parapet_series_create(&series, store, "s", &spec), "\"x\"");
    specs[0].dimension_names = (const char *const[]){"t", "y"};
    assert_ok(parapet_series_create(&series, store, "s", &spec));
    assert_ok(parapet_series_close(&series));
    assert_true(stored_has(store, "s/t/zarr.json"));
    stored_reopen(&store, PARAPET_READ, NULL);
    refused(parapet_series_open(&series, store, "s"), "reading");
    refused(parapet_series_repair(store, "s", PARAPET_BEYOND_CUT), "reading");
    assert_ok(parapet_series_repair(store, "s", PARAPET_BEYOND_REFUSE));
    stored_close(&store);
}

static void test_arguments__of_a_step_are_checked(void **state)
{
    int64_t shapes[2][2] = {{0, 4}, {0}}, start = 0, count = 4;
    const char *names[] = {"a", "b"};
    parapet_array_spec specs[] = {{.type = PARAPET_UINT16, .ndim = 2, .shape = shapes[0]},
                                  {.type = PARAPET_UINT16, .ndim = 1, .shape = shapes[1]}};
    parapet_series_spec spec = {.count = 2, .names = names, .specs = specs};
    uint16_t data[4] = {0};
    parapet_part row = {.ndim = 1, .start = &start, .count = &count, .data = data}, element = {.data = data};
    parapet_step steps[2] = {{&row, -1, {0}}, {&element, 1, {0}}};
    parapet_series *series;
    parapet_store *store;
    char *text = NULL;
    (void)state;
    stored_open(&store, NULL);
    assert_ok(parapet_series_create(&series, store, "s", &spec));
    refused(parapet_series_get_info(series, NULL), "result");
    refused(parapet_series_print(series, NULL), "text");
    refused(parapet_series_append(series, 0, steps), "part_count is -1");
    steps[0] = (parapet_step){NULL, 1, {0}};
    refused(parapet_series_append(series, 0, steps), "there are no parts");
    steps[0].parts = &row;
    row.start = NULL;
    refused(parapet_series_append(series, 0, steps), "no start or no count");
    row.start = &start;
    row.count = NULL;
    refused(parapet_series_append(series, 0, steps), "no start or no count");
    row.count = &count;
    element.start = &start;
    refused(parapet_series_append(series, 0, steps), "leave both NULL");
    element.start = NULL;
    element.count = &count;
    refused(parapet_series_append(series, 0, steps), "leave both NULL");
    element.count = NULL;
    assert_ok(parapet_series_append(series, 0, steps));
    assert_ok(parapet_series_print(series, &text));
    assert_non_null(strstr(text, "1 steps have been appended"));
    parapet_free(text);
    assert_ok(parapet_series_close(&series));
    stored_close(&store);
}

/* What a series says of itself, as it is and as its next row will be. */
static void test_arguments__a_series_tells_where_its_steps_are(void **state)
{
    int64_t shape[2] = {0, 4}, chunks[2] = {1, 4}, shards[2] = {1, 4};
    const char *name = "a";
    parapet_array_spec array = {
        .type = PARAPET_UINT16, .ndim = 2, .shape = shape, .chunks = chunks, .shards = shards};
    parapet_series_spec spec = {.count = 1, .names = &name, .specs = &array};
    parapet_series *series;
    parapet_store *store;
    char *text = NULL;
    (void)state;
    stored_open(&store, NULL);
    assert_ok(parapet_series_create(&series, store, "one", &spec));
    assert_ok(parapet_series_print(series, &text));
    assert_non_null(strstr(text, "a row of its own"));
    assert_non_null(strstr(text, "A crash now loses none"));
    parapet_free(text);
    assert_ok(parapet_series_close(&series));
    shards[0] = 4;
    assert_ok(parapet_series_create(&series, store, "four", &spec));
    assert_ok(parapet_series_print(series, &text));
    assert_non_null(strstr(text, "A row has 4 steps"));
    assert_non_null(strstr(text, "No step is open"));
    assert_non_null(strstr(text, "four/__parapet/open/0"));
    parapet_free(text);
    assert_ok(parapet_series_close(&series));
    stored_close(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arguments__of_the_spec_of_a_series_are_checked),
        cmocka_unit_test(test_arguments__of_a_step_are_checked),
        cmocka_unit_test(test_arguments__a_series_tells_where_its_steps_are),
        cmocka_unit_test(test_arguments__of_series_are_checked),
        cmocka_unit_test(test_arguments__the_arrays_of_a_series_are_numbered_from_0),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
