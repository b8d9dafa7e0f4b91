/* Calls of series without what they need are refused, and say what is missing. */
#include "support.h"

#include "stored.h"

#define refused(call, word) assert_fails(call, PARAPET_ERR_ARGUMENT, word)

static void test_arguments__of_series_are_checked(void **state)
{
    parapet_series *series = NULL;
    parapet_series_info info;
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
    refused(parapet_series_print(NULL, &text), "series");
    assert_ok(parapet_series_close(NULL));
    assert_ok(parapet_series_close(&series));
    stored_close(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_arguments__of_series_are_checked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
