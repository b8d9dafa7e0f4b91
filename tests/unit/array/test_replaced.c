/* What an open handle finds when somebody has put something else where its array or group was. */
#include "support.h"

#include "stored.h"

#define DOCUMENT(shape, type, chunks)                                                                                \
    "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[" shape "],\"data_type\":\"" type                         \
    "\",\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[" chunks                            \
    "]}},\"chunk_key_encoding\":{\"name\":\"default\",\"configuration\":{\"separator\":\"/\"}},\"fill_value\":0,"    \
    "\"codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}],\"attributes\":{}}"
#define GROUP "{\"zarr_format\":3,\"node_type\":\"group\"}"
#define VERSION_2                                                                                                    \
    "{\"zarr_format\":2,\"shape\":[4],\"chunks\":[2],\"dtype\":\"<i4\",\"compressor\":null,\"fill_value\":0,"        \
    "\"order\":\"C\",\"filters\":null}"

typedef struct replacement {
    const char *key, *text; /* NULL: nothing is there any more */
    parapet_status status;
    const char *sentence;
} replacement;

static parapet_status read_four(parapet_array *array)
{
    static const int64_t start[1] = {0}, count[1] = {4};
    int32_t values[4];
    parapet_part part = {.ndim = 1, .start = start, .count = count, .data = values};
    return parapet_array_read(array, &part, 1);
}

static void test_replaced__an_array_that_is_another_one_is_told(void **state)
{
    static const replacement cases[] = {
        {"a/zarr.json", DOCUMENT("4", "int32", "2"), PARAPET_OK, ""},
        {"a/zarr.json", DOCUMENT("6", "int32", "2"), PARAPET_OK, ""},
        {"a/zarr.json", DOCUMENT("3", "int32", "2"), PARAPET_ERR_STALE, "smaller"},
        {"a/zarr.json", DOCUMENT("4,1", "int32", "2,1"), PARAPET_ERR_STALE, "another array"},
        {"a/zarr.json", DOCUMENT("4", "int64", "2"), PARAPET_ERR_STALE, "another array"},
        {"a/zarr.json", DOCUMENT("4", "uint32", "2"), PARAPET_ERR_STALE, "another array"},
        {"a/zarr.json", GROUP, PARAPET_ERR_STALE, "removed"},
        {"a/.zarray", VERSION_2, PARAPET_ERR_STALE, ""},
        {NULL, NULL, PARAPET_ERR_STALE, "removed"},
    };
    parapet_array *array;
    parapet_store *store;
    size_t i;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        parapet_status status;
        stored_open(&store, NULL);
        stored_put_text(store, "a/zarr.json", DOCUMENT("4", "int32", "2") " ");
        assert_ok(parapet_array_open(&array, store, "a"));
        assert_ok(pp_store_remove(store->backend, "a/zarr.json"));
        if (cases[i].key != NULL)
            stored_put_text(store, cases[i].key, cases[i].text);
        status = read_four(array);
        if (status != cases[i].status ||
            (status != PARAPET_OK && strstr(parapet_error_message(), cases[i].sentence) == NULL))
            fail_msg("case %zu: %s: %s", i, parapet_status_name(status), parapet_error_message());
        assert_ok(parapet_array_close(&array));
        stored_close(&store);
    }
}

static void test_replaced__a_group_that_is_none_any_more_is_told(void **state)
{
    static const replacement cases[] = {
        {"g/zarr.json", GROUP, PARAPET_OK, ""},
        {"g/zarr.json", "{\"zarr_format\":3,\"node_type\":\"group\",\"attributes\":7}", PARAPET_ERR_FORMAT, ""},
        {"g/zarr.json", DOCUMENT("4", "int32", "2"), PARAPET_ERR_STALE, "removed group \"g\""},
        {"g/.zgroup", "{\"zarr_format\":2}", PARAPET_ERR_STALE, "removed group \"g\""},
        {NULL, NULL, PARAPET_ERR_STALE, "removed group \"g\""},
    };
    parapet_group *group;
    parapet_store *store;
    size_t i;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        parapet_status status;
        stored_open(&store, NULL);
        stored_put_text(store, "g/zarr.json", GROUP " ");
        assert_ok(parapet_group_open(&group, store, "g"));
        assert_ok(pp_store_remove(store->backend, "g/zarr.json"));
        if (cases[i].key != NULL)
            stored_put_text(store, cases[i].key, cases[i].text);
        status = parapet_group_attribute_set(group, "title", "\"other\"");
        if (status != cases[i].status ||
            (status != PARAPET_OK && strstr(parapet_error_message(), cases[i].sentence) == NULL))
            fail_msg("case %zu: %s: %s", i, parapet_status_name(status), parapet_error_message());
        assert_ok(parapet_group_close(&group));
        stored_close(&store);
    }
}

/* What is in the way of a new array. */
static void test_replaced__only_what_may_be_replaced_is(void **state)
{
    static const int64_t shape[1] = {4};
    static const replacement cases[] = {
        {"a/zarr.json", DOCUMENT("4", "int32", "2"), PARAPET_OK, ""},
        {"a/zarr.json", "{", PARAPET_ERR_FORMAT, "a/zarr.json"},
        {"a/zarr.json", GROUP, PARAPET_ERR_EXISTS, ""},
        {"a/.zarray", VERSION_2, PARAPET_ERR_EXISTS, "Zarr v2 array at \"a\""},
        {"a/c/zarr.json", DOCUMENT("4", "int32", "2"), PARAPET_ERR_EXISTS, "\"a/c\""},
        {"a/c/notes.txt", "somebody's", PARAPET_OK, ""},
        {"a/c/0", "somebody's", PARAPET_ERR_EXISTS, "would become a shard of the new array"},
    };
    parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 1, .shape = shape, .overwrite = 1};
    parapet_array *array;
    parapet_store *store;
    size_t i;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        parapet_status status;
        stored_open(&store, NULL);
        stored_put_text(store, cases[i].key, cases[i].text);
        status = parapet_array_create(&array, store, "a", &spec);
        if (status != cases[i].status ||
            (status != PARAPET_OK && strstr(parapet_error_message(), cases[i].sentence) == NULL))
            fail_msg("case %zu: %s: %s", i, parapet_status_name(status), parapet_error_message());
        assert_ok(parapet_array_close(&array));
        if (status != PARAPET_OK)
            assert_true(stored_contains(store, cases[i].key, cases[i].text));
        stored_close(&store);
    }
}

/* Of two dimensions, whose keys have no "c": those of a node inside it look the same. */
#define PLAIN_KEYS                                                                                                   \
    "{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": [4, 4], \"data_type\": \"int32\", \"fill_value\": "   \
    "0, "                                                                                                            \
    "\"chunk_grid\": {\"name\": \"regular\", \"configuration\": {\"chunk_shape\": [2, 2]}}, "                        \
    "\"chunk_key_encoding\": {\"name\": \"v2\", \"configuration\": {\"separator\": \"/\"}}, "                        \
    "\"codecs\": [{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}]}"

/* Its shards by its own grammar of keys, and nothing of another node. */
static void test_replaced__only_shards_go_with_an_array(void **state)
{
    static const int64_t shape[1] = {4};
    parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 1, .shape = shape, .overwrite = 1};
    parapet_array *array;
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    stored_put_text(store, "a/zarr.json", PLAIN_KEYS);
    stored_put_text(store, "a/1/0", "a shard");
    stored_put_text(store, "a/1/notes.txt", "somebody's");
    stored_put_text(store, "a/0/zarr.json", DOCUMENT("4", "int32", "2"));
    stored_put_text(store, "a/0/1", "a shard of a/0");
    assert_ok(parapet_array_create(&array, store, "a", &spec));
    assert_ok(parapet_array_close(&array));
    assert_false(stored_has(store, "a/1/0"));
    assert_true(stored_has(store, "a/1/notes.txt"));
    assert_true(stored_has(store, "a/0/1"));
    stored_close(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replaced__an_array_that_is_another_one_is_told),
        cmocka_unit_test(test_replaced__a_group_that_is_none_any_more_is_told),
        cmocka_unit_test(test_replaced__only_what_may_be_replaced_is),
        cmocka_unit_test(test_replaced__only_shards_go_with_an_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
