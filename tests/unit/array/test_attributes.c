/* Attributes of arrays and groups: set, read, removed, kept in order, and kept apart from Parapet's own. */
#include "support.h"

#include "stored.h"

/* Groups and arrays have the same functions under two names: every test runs on both. */
typedef struct holder {
    parapet_store *store;
    parapet_group *group;
    parapet_array *array;
    bool is_group;
} holder;

static parapet_status set(holder *h, const char *name, const char *json)
{
    return h->is_group ? parapet_group_attribute_set(h->group, name, json)
                       : parapet_array_attribute_set(h->array, name, json);
}

static parapet_status get(holder *h, const char *name, char **json)
{
    return h->is_group ? parapet_group_attribute_get(h->group, name, json)
                       : parapet_array_attribute_get(h->array, name, json);
}

static void open_holder(holder *h, bool is_group)
{
    parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 1, .shape = (int64_t[]){10}};
    *h = (holder){.is_group = is_group};
    stored_open(&h->store, NULL);
    if (is_group)
        assert_ok(parapet_group_create(&h->group, h->store, "n", NULL));
    else
        assert_ok(parapet_array_create(&h->array, h->store, "n", &spec));
}

static void reopen_holder(holder *h)
{
    if (h->is_group) {
        assert_ok(parapet_group_close(&h->group));
        assert_ok(parapet_group_open(&h->group, h->store, "n"));
    } else {
        assert_ok(parapet_array_close(&h->array));
        assert_ok(parapet_array_open(&h->array, h->store, "n"));
    }
}

static void close_holder(holder *h)
{
    assert_ok(parapet_group_close(&h->group));
    assert_ok(parapet_array_close(&h->array));
    stored_close(&h->store);
}

static void for_both(void (*check)(holder *h))
{
    long live = pp_memory_live_count();
    int i;
    for (i = 0; i < 2; i++) {
        holder h;
        open_holder(&h, i == 1);
        check(&h);
        close_holder(&h);
    }
    assert_int_equal(pp_memory_live_count(), live);
}

static void assert_attribute(holder *h, const char *name, const char *expected)
{
    char *json;
    assert_ok(get(h, name, &json));
    assert_string_equal(json, expected);
    parapet_free(json);
}

/* Through this handle, and through one opened later. */
static void assert_kept(holder *h, const char *name, const char *given, const char *expected)
{
    assert_ok(set(h, name, given));
    assert_attribute(h, name, expected);
    reopen_holder(h);
    assert_attribute(h, name, expected);
}

static void check_values(holder *h)
{
    assert_kept(h, "units", "\"m/s\"", "\"m/s\"");
    assert_kept(h, "number", " 3 ", "3");
    assert_kept(h, "large", "18446744073709551615", "18446744073709551615");
    assert_kept(h, "small", "-9223372036854775808", "-9223372036854775808");
    assert_kept(h, "fraction", "0.1", "0.1");
    assert_kept(h, "nothing", "null", "null");
    assert_kept(h, "yes", "true", "true");
    assert_kept(h, "empty", "{}", "{}");
    assert_kept(h, "a/b.c d", "\"\"", "\"\"");
    assert_kept(h, "units", "\"km\"", "\"km\"");
}

static void test_attributes__of_every_kind_read_back(void **state)
{
    (void)state;
    for_both(check_values);
}

static void check_unicode(holder *h)
{
    assert_kept(h,
                "gr\xc3\xb6\xc3\x9f"
                "e",
                "\"\xe6\xb8\xa9\xe5\xba\xa6 \xf0\x9f\x8c\x8a\"", "\"\xe6\xb8\xa9\xe5\xba\xa6 \xf0\x9f\x8c\x8a\"");
    assert_kept(h, "escaped", "\"\\u00e9\\n\\\"\"", "\"\xc3\xa9\\n\\\"\"");
    assert_fails(set(h, "broken", "\"\xff\xfe\""), PARAPET_ERR_ARGUMENT, "broken");
}

static void test_attributes__in_unicode_read_back(void **state)
{
    (void)state;
    for_both(check_unicode);
}

static void check_not_finite(holder *h)
{
    char *json;
    assert_kept(h, "nan", "NaN", "\"NaN\"");
    assert_kept(h, "inf", "-Infinity", "\"-Infinity\"");
    assert_ok(get(h, NULL, &json));
    assert_null(strstr(json, ": NaN"));
    parapet_free(json);
}

static void test_attributes__not_finite_are_stored_as_text_that_all_read(void **state)
{
    (void)state;
    for_both(check_not_finite);
}

static void check_order(holder *h)
{
    char *json;
    assert_ok(set(h, "zulu", "1"));
    assert_ok(set(h, "alpha", "2"));
    assert_ok(set(h, "mike", "3"));
    assert_ok(set(h, "alpha", "4"));
    reopen_holder(h);
    assert_ok(get(h, NULL, &json));
    assert_true(strstr(json, "zulu") < strstr(json, "alpha") && strstr(json, "alpha") < strstr(json, "mike"));
    parapet_free(json);
    assert_ok(set(h, "alpha", NULL));
    assert_fails(get(h, "alpha", &json), PARAPET_ERR_NOT_FOUND, "alpha");
    assert_null(json);
    reopen_holder(h);
    assert_fails(get(h, "alpha", &json), PARAPET_ERR_NOT_FOUND, "alpha");
    assert_attribute(h, "mike", "3");
    assert_ok(set(h, "never there", NULL));
}

static void test_attributes__keep_their_order_and_can_be_removed(void **state)
{
    (void)state;
    for_both(check_order);
}

static void check_refusals(holder *h)
{
    static const char *const wrong[] = {"", "{", "metre", "[1,]", "1 2", "{\"a\":1,\"a\":2}", "'x'"};
    char *json;
    size_t i;
    assert_ok(set(h, "kept", "1"));
    for (i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_fails(set(h, "kept", wrong[i]), PARAPET_ERR_ARGUMENT, "kept");
    assert_attribute(h, "kept", "1");
    assert_fails(set(h, NULL, "1"), PARAPET_ERR_ARGUMENT, "name");
    assert_fails(set(h, "", "1"), PARAPET_ERR_ARGUMENT, "name");
    assert_fails(set(h, "_parapet", "1"), PARAPET_ERR_ARGUMENT, "is reserved for Parapet");
    assert_fails(set(h, "_parapet", NULL), PARAPET_ERR_ARGUMENT, "is reserved for Parapet");
    assert_fails(get(h, "_parapet", &json), PARAPET_ERR_NOT_FOUND, "_parapet");
    assert_fails(get(h, "kept", NULL), PARAPET_ERR_ARGUMENT, "pointer");
}

static void test_attributes__that_are_wrong_change_nothing(void **state)
{
    (void)state;
    for_both(check_refusals);
}

static void check_too_large(holder *h)
{
    size_t bytes = (size_t)17 << 20;
    char *huge = malloc(bytes + 3);
    char *deep = malloc(400);
    assert_non_null(huge);
    memset(huge, 'x', bytes + 2);
    huge[0] = huge[bytes + 1] = '"';
    huge[bytes + 2] = '\0';
    assert_ok(set(h, "kept", "1"));
    assert_int_not_equal(set(h, "huge", huge), PARAPET_OK);
    memset(deep, '[', 62);
    memset(deep + 62, ']', 62);
    deep[124] = '\0';
    (void)set(h, "deep", deep); /* may be taken or not: but what is stored must open again */
    reopen_holder(h);
    assert_attribute(h, "kept", "1");
    free(deep);
    free(huge);
}

static void test_attributes__too_large_to_read_back_are_refused(void **state)
{
    (void)state;
    for_both(check_too_large);
}

static void test_attributes__set_at_creation_read_back(void **state)
{
    parapet_array_spec spec = {
        .type = PARAPET_INT8, .ndim = 1, .shape = (int64_t[]){1}, .attributes = "{\"b\": 1, \"a\": [2, 3]}"};
    parapet_store *store;
    parapet_group *group;
    parapet_array *array;
    char *json;
    (void)state;
    stored_open(&store, NULL);
    assert_ok(parapet_array_create(&array, store, "a", &spec));
    assert_ok(parapet_group_create(&group, store, "g", spec.attributes));
    assert_ok(parapet_array_attribute_get(array, "b", &json));
    assert_string_equal(json, "1");
    parapet_free(json);
    assert_ok(parapet_group_attribute_get(group, "b", &json));
    assert_string_equal(json, "1");
    parapet_free(json);
    assert_ok(parapet_array_close(&array));
    assert_ok(parapet_group_close(&group));
    stored_close(&store);
}

static void assert_creation_refused(const char *attributes, parapet_status expected, const char *word)
{
    parapet_array_spec spec = {.type = PARAPET_INT8, .ndim = 1, .shape = (int64_t[]){1}, .attributes = attributes};
    parapet_store *store;
    parapet_group *group;
    parapet_array *array;
    stored_open(&store, NULL);
    assert_fails(parapet_array_create(&array, store, "a", &spec), expected, word);
    assert_fails(parapet_group_create(&group, store, "g", attributes), expected, word);
    assert_null(array);
    assert_null(group);
    assert_false(stored_has(store, "a/zarr.json"));
    assert_false(stored_has(store, "g/zarr.json"));
    stored_close(&store);
}

static void test_attributes__that_are_wrong_at_creation_are_refused_alike(void **state)
{
    (void)state;
    assert_creation_refused("[1]", PARAPET_ERR_ARGUMENT, "attributes must be a JSON object");
    assert_creation_refused("{", PARAPET_ERR_ARGUMENT, "attributes");
    assert_creation_refused("{\"_parapet\": {}}", PARAPET_ERR_ARGUMENT, "is reserved for Parapet");
}

static void check_read_only(holder *h)
{
    char *json;
    assert_ok(set(h, "kept", "1"));
    assert_ok(parapet_group_close(&h->group));
    assert_ok(parapet_array_close(&h->array));
    stored_reopen(&h->store, PARAPET_READ, NULL);
    if (h->is_group)
        assert_ok(parapet_group_open(&h->group, h->store, "n"));
    else
        assert_ok(parapet_array_open(&h->array, h->store, "n"));
    assert_fails(set(h, "kept", "2"), PARAPET_ERR_ARGUMENT, "open for reading");
    assert_ok(get(h, "kept", &json));
    assert_string_equal(json, "1");
    parapet_free(json);
}

static void test_attributes__of_a_store_open_for_reading_cannot_be_changed(void **state)
{
    (void)state;
    for_both(check_read_only);
}

static void check_consolidated(holder *h)
{
    parapet_group *root;
    assert_ok(parapet_group_open(&root, h->store, ""));
    assert_ok(parapet_group_consolidate(root));
    assert_true(stored_contains(h->store, "zarr.json", "consolidated_metadata"));
    assert_int_not_equal(set(h, "_parapet", "1"), PARAPET_OK);
    assert_true(stored_contains(h->store, "zarr.json", "consolidated_metadata"));
    assert_ok(set(h, "new", "1"));
    assert_false(stored_contains(h->store, "zarr.json", "consolidated_metadata"));
    assert_ok(parapet_group_close(&root));
}

static void test_attributes__changed_drop_consolidated_metadata_above(void **state)
{
    (void)state;
    for_both(check_consolidated);
}

static void check_other_members(holder *h)
{
    size_t bytes;
    char *text = stored_get(h->store, "n/zarr.json", &bytes);
    pp_text changed = {0};
    pp_text_add(&changed, "{\"foreign\": {\"must_understand\": false, \"x\": 1.50},");
    pp_text_add_bytes(&changed, text + 1, bytes - 1);
    stored_put(h->store, "n/zarr.json", changed.data, changed.bytes);
    pp_text_free(&changed);
    pp_free(text);
    reopen_holder(h);
    assert_ok(set(h, "new", "1"));
    assert_true(stored_contains(h->store, "n/zarr.json", "\"foreign\""));
    assert_true(stored_contains(h->store, "n/zarr.json", "1.50"));
}

static void test_attributes__changed_leave_members_of_others_as_they_were(void **state)
{
    (void)state;
    for_both(check_other_members);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attributes__of_every_kind_read_back),
        cmocka_unit_test(test_attributes__in_unicode_read_back),
        cmocka_unit_test(test_attributes__not_finite_are_stored_as_text_that_all_read),
        cmocka_unit_test(test_attributes__keep_their_order_and_can_be_removed),
        cmocka_unit_test(test_attributes__that_are_wrong_change_nothing),
        cmocka_unit_test(test_attributes__too_large_to_read_back_are_refused),
        cmocka_unit_test(test_attributes__set_at_creation_read_back),
        cmocka_unit_test(test_attributes__that_are_wrong_at_creation_are_refused_alike),
        cmocka_unit_test(test_attributes__of_a_store_open_for_reading_cannot_be_changed),
        cmocka_unit_test(test_attributes__changed_drop_consolidated_metadata_above),
        cmocka_unit_test(test_attributes__changed_leave_members_of_others_as_they_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
