/* A copy to very many objects lists what the source has stored: what a sealed source has lost must not look as if it
 * had never been written. */
#include "support.h"

#include "stored.h"

enum { ELEMENTS = 1 << 21, SHARDS = 4 };

static void set_up(parapet_store **store)
{
    static unsigned char values[ELEMENTS / SHARDS];
    int64_t shape = ELEMENTS, chunks = ELEMENTS / SHARDS, start = ELEMENTS - ELEMENTS / SHARDS;
    parapet_array_spec spec = {
        .type = PARAPET_UINT8, .ndim = 1, .shape = &shape, .chunks = &chunks, .unsharded = 1, .codec = "none"};
    parapet_part part = {.ndim = 1, .start = &start, .count = &chunks, .data = values};
    parapet_array *array;
    values[0] = 1; /* all else is fill: the target has one object */
    stored_open(store, NULL);
    assert_ok(parapet_array_create(&array, *store, "a", &spec));
    assert_ok(parapet_array_write(array, &part, 1));
    assert_ok(parapet_array_seal(array));
    assert_ok(parapet_array_close(&array));
}

static parapet_status copy(parapet_store *store)
{
    parapet_copy_request request = {.source = store,
                                    .source_path = "a",
                                    .target = store,
                                    .target_path = "b",
                                    .changes = {.chunks = "1", .shards = "none"},
                                    .no_probe = 1};
    return parapet_copy(&request, NULL);
}

static void test_sealed_source__that_lost_a_shard_is_not_copied(void **state)
{
    parapet_store *store;
    (void)state;
    set_up(&store);
    assert_ok(pp_store_remove(store->backend, "a/c/3"));
    assert_fails(copy(store), PARAPET_ERR_MISSING, "a/c/3 is missing: the array was sealed with it");
    stored_close(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sealed_source__that_lost_a_shard_is_not_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
