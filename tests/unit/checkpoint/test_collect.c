/* Collecting what crashes left, where there is more of it than memory for a list. */
#include "support.h"

#include "stored.h"

enum { OBJECTS = 6000, NAME_BYTES = 200 };

/* As the store names what it has not published yet; the key is as long as it can be. */
static void put_temporaries(parapet_store *store)
{
    char key[NAME_BYTES + 64];
    int i;
    stored_put_text(store, "zarr.json", "{\"zarr_format\": 3, \"node_type\": \"group\"}");
    for (i = 0; i < OBJECTS; i++) {
        (void)snprintf(key, sizeof key, "a/__parapet/tmp/%0*d", NAME_BYTES, i);
        stored_put_text(store, key, "");
    }
}

static int count_one(void *context, const char *key, const char *reason)
{
    assert_non_null(strstr(key, "a/__parapet/tmp/"));
    assert_string_equal(reason, "a temporary object that was never published");
    *(int *)context += 1;
    return 0;
}

static void test_collect__keeps_its_list_within_the_memory(void **state)
{
    parapet_store_options options = {.memory_bytes = 1 << 20, .io_thread = PARAPET_IO_THREAD_NONE};
    parapet_store *store = NULL;
    parapet_statistics statistics;
    int told = 0, calls = 0, before;
    (void)state;
    stored_open(&store, &options);
    put_temporaries(store);
    do {
        before = told;
        calls++;
    } while (parapet_store_collect(store, "", 0, count_one, &told) == PARAPET_ERR_MEMORY && told > before);
    assert_int_equal(told, OBJECTS);
    assert_true(calls > 1);
    assert_false(stored_has(store, "a/__parapet/tmp"));
    assert_ok(parapet_store_get_statistics(store, &statistics));
    assert_true(statistics.memory_peak_bytes > 512 << 10 && statistics.memory_peak_bytes <= options.memory_bytes);
    stored_close(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_collect__keeps_its_list_within_the_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
