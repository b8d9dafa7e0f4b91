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

/* ---- Damage of which only the seal knows ---- */

enum { SIDE = 8 };

/* Two shards, or chunks without shards, in a row; their contents change, but not their lengths. */
static void check_swapped(bool unsharded, bool no_checksum, parapet_cooperation cooperation)
{
    int32_t values[2 * SIDE];
    int64_t shape = 2 * SIDE, chunks = unsharded ? SIDE : SIDE / 2, shards = SIDE, start = 0;
    parapet_array_spec spec = {.type = PARAPET_INT32,
                               .ndim = 1,
                               .shape = &shape,
                               .chunks = &chunks,
                               .shards = unsharded ? NULL : &shards,
                               .unsharded = unsharded,
                               .no_checksum = no_checksum,
                               .codec = "none"};
    parapet_part part = {.ndim = 1, .start = &start, .count = &shape, .data = values};
    parapet_copy_request request = {
        .source_path = "a", .target_path = "b", .cooperation = cooperation, .verify = 1, .no_probe = 1};
    parapet_store *store;
    parapet_array *array;
    size_t bytes;
    char *other;
    int i;
    for (i = 0; i < 2 * SIDE; i++)
        values[i] = 1 + i;
    stored_open(&store, NULL);
    request.source = request.target = store;
    assert_ok(parapet_array_create(&array, store, "a", &spec));
    assert_ok(parapet_array_write(array, &part, 1));
    assert_ok(parapet_array_seal(array));
    assert_ok(parapet_array_close(&array));
    other = stored_get(store, "a/c/0", &bytes);
    stored_put(store, "a/c/1", other, bytes);
    pp_free(other);
    assert_fails(parapet_copy(&request, NULL), PARAPET_ERR_CORRUPT,
                 "a/c/1 is not the shard that was sealed: the contents of chunk 0 differ");
    assert_false(stored_has(store, "b/zarr.json"));
    stored_close(&store);
}

static void test_sealed_source__whose_shards_were_swapped_is_not_copied(void **state)
{
    int i;
    (void)state;
    for (i = 0; i < 8; i++)
        check_swapped((i & 1) != 0, (i & 2) != 0,
                      (i & 4) != 0 ? PARAPET_COOPERATION_ALONE : PARAPET_COOPERATION_CHOOSE);
}

/* ---- Chunks larger than memory ---- */

enum { PLAIN = 1 << 20 };

static parapet_status copy_plain(parapet_store *store, int64_t memory_bytes, parapet_reading reading)
{
    parapet_copy_request request = {.source = store,
                                    .source_path = "a",
                                    .target = store,
                                    .target_path = "b",
                                    .changes = {.chunks = "65536", .shards = "none"},
                                    .memory_bytes = memory_bytes,
                                    .reading = reading,
                                    .passes = 1,
                                    .verify = 1,
                                    .overwrite = 1,
                                    .no_probe = 1};
    return parapet_copy(&request, NULL);
}

/* A chunk of 4 MiB, stored as it is. */
static void set_up_plain(parapet_store **store)
{
    static int32_t values[PLAIN];
    int64_t shape = PLAIN, start = 0;
    parapet_array_spec spec = {.type = PARAPET_INT32,
                               .ndim = 1,
                               .shape = &shape,
                               .chunks = &shape,
                               .unsharded = 1,
                               .no_checksum = 1,
                               .codec = "none"};
    parapet_part part = {.ndim = 1, .start = &start, .count = &shape, .data = values};
    parapet_array *array;
    int i;
    for (i = 0; i < PLAIN; i++)
        values[i] = 1 + i;
    stored_open(store, NULL);
    assert_ok(parapet_array_create(&array, *store, "a", &spec));
    assert_ok(parapet_array_write(array, &part, 1));
    assert_ok(parapet_array_close(&array));
}

static void seal(parapet_store *store)
{
    parapet_array *array;
    assert_ok(parapet_array_open(&array, store, "a"));
    assert_ok(parapet_array_seal(array));
    assert_ok(parapet_array_close(&array));
}

static void test_sealed_source__of_long_plain_chunks_needs_the_limit_that_is_told(void **state)
{
    parapet_store *store;
    const char *least;
    int64_t limit;
    (void)state;
    set_up_plain(&store);
    assert_ok(copy_plain(store, 2 << 20, PARAPET_READING_CHOOSE));
    seal(store);
    assert_fails(copy_plain(store, 2 << 20, PARAPET_READING_CHOOSE), PARAPET_ERR_MEMORY, "sealed");
    least = strstr(parapet_error_message(), "at least ");
    assert_non_null(least);
    limit = strtoll(least + strlen("at least "), NULL, 10);
    assert_ok(copy_plain(store, limit, PARAPET_READING_CHOOSE));
    assert_fails(copy_plain(store, limit, PARAPET_READING_RUNS), PARAPET_ERR_ARGUMENT, "is sealed");
    stored_close(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sealed_source__that_lost_a_shard_is_not_copied),
        cmocka_unit_test(test_sealed_source__whose_shards_were_swapped_is_not_copied),
        cmocka_unit_test(test_sealed_source__of_long_plain_chunks_needs_the_limit_that_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
