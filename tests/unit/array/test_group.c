/* Groups: made with all that is above them, listed in order, read in every form they are met in, consolidated. */
#include "support.h"

#include "stored.h"

static const parapet_array_spec small = {.type = PARAPET_INT32, .ndim = 1, .shape = (const int64_t[]){10}};

static void create_group(parapet_store *store, const char *path)
{
    parapet_group *group;
    assert_ok(parapet_group_create(&group, store, path, NULL));
    assert_ok(parapet_group_close(&group));
}

static void create_array(parapet_store *store, const char *path)
{
    parapet_array *array;
    assert_ok(parapet_array_create(&array, store, path, &small));
    assert_ok(parapet_array_close(&array));
}

typedef struct listing {
    char text[512];
    int ends_at, seen;
} listing;

static int note_child(void *context, const char *name, parapet_node_kind kind)
{
    listing *list = context;
    size_t used = strlen(list->text);
    (void)snprintf(list->text + used, sizeof list->text - used, "%s%s ", name,
                   kind == PARAPET_NODE_GROUP     ? "/"
                   : kind == PARAPET_NODE_INVALID ? "?"
                                                  : "");
    return ++list->seen == list->ends_at;
}

static void assert_listed(parapet_store *store, const char *path, const char *expected)
{
    parapet_group *group;
    listing list = {.text = ""};
    assert_ok(parapet_group_open(&group, store, path));
    assert_ok(parapet_group_list(group, note_child, &list));
    assert_string_equal(list.text, expected);
    assert_ok(parapet_group_close(&group));
}

static void test_group__lists_what_stands_beside_an_invalid_node(void **state)
{
    parapet_store *store;
    parapet_group *group;
    (void)state;
    stored_open(&store, NULL);
    create_group(store, "a");
    create_array(store, "c");
    stored_put_text(store, "b/zarr.json", "{\"zarr_format\": 3,");
    stored_put_text(store, "d/zarr.json", "{\"zarr_format\": 3, \"node_type\": \"thing\"}");
    stored_put_text(store, "e/zarr.json", "{\"zarr_format\": \"3.0\", \"node_type\": \"group\"}");
    assert_listed(store, "", "a/ b? c d? e? ");
    assert_fails(parapet_group_open(&group, store, "b"), PARAPET_ERR_FORMAT, "JSON");
    assert_fails(parapet_group_open(&group, store, "e"), PARAPET_ERR_UNSUPPORTED, "draft");
    stored_close(&store);
}

static void test_group__is_made_with_every_group_above_it(void **state)
{
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    create_group(store, "a/b/c");
    create_array(store, "/x/y/z/");
    assert_true(stored_has(store, "zarr.json"));
    assert_true(stored_has(store, "a/zarr.json"));
    assert_true(stored_has(store, "a/b/zarr.json"));
    assert_true(stored_has(store, "a/b/c/zarr.json"));
    assert_true(stored_has(store, "x/y/zarr.json"));
    assert_true(stored_contains(store, "x/y/z/zarr.json", "\"array\""));
    stored_close(&store);
}

static void test_group__that_exists_is_not_made_again(void **state)
{
    parapet_store *store;
    parapet_group *group;
    parapet_array *array;
    (void)state;
    stored_open(&store, NULL);
    create_group(store, "g/h");
    create_array(store, "a");
    assert_fails(parapet_group_create(&group, store, "g", NULL), PARAPET_ERR_EXISTS, "a group at \"g\"");
    assert_fails(parapet_group_create(&group, store, "a", NULL), PARAPET_ERR_EXISTS, "an array at \"a\"");
    assert_fails(parapet_group_create(&group, store, "", NULL), PARAPET_ERR_EXISTS, "group");
    assert_fails(parapet_group_create(&group, store, "a/below", NULL), PARAPET_ERR_EXISTS, "\"a\" is an array");
    assert_fails(parapet_array_create(&array, store, "g", &small), PARAPET_ERR_EXISTS, "group");
    assert_fails(parapet_array_create(&array, store, "a/below", &small), PARAPET_ERR_EXISTS, "\"a\" is an array");
    assert_null(group);
    assert_null(array);
    assert_false(stored_has(store, "a/below/zarr.json"));
    stored_close(&store);
}

static void test_group__open_says_what_is_there_instead(void **state)
{
    parapet_store *store;
    parapet_group *group;
    parapet_array *array;
    (void)state;
    stored_open(&store, NULL);
    create_array(store, "a");
    create_group(store, "g");
    assert_fails(parapet_group_open(&group, store, "none"), PARAPET_ERR_NOT_FOUND, "\"none\"");
    assert_fails(parapet_group_open(&group, store, "a"), PARAPET_ERR_ARGUMENT, "an array, not a group");
    assert_fails(parapet_array_open(&array, store, "g"), PARAPET_ERR_ARGUMENT, "a group, not an array");
    assert_fails(parapet_array_open(&array, store, "none"), PARAPET_ERR_NOT_FOUND, "\"none\"");
    stored_close(&store);
}

static void test_group__refuses_names_that_zarr_does_not_allow(void **state)
{
    static const char *const wrong[] = {"a//b",  ".",         "..",          "a/..", "...",   "__a",
                                        "a/__b", "zarr.json", "a/zarr.json", "a\nb", "a/\x01"};
    parapet_store *store;
    parapet_group *group;
    size_t i;
    (void)state;
    stored_open(&store, NULL);
    for (i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(parapet_group_create(&group, store, wrong[i], NULL), PARAPET_ERR_ARGUMENT);
        assert_null(group);
    }
    assert_fails(parapet_group_create(&group, store, NULL, NULL), PARAPET_ERR_ARGUMENT, "path is NULL");
    assert_fails(parapet_group_create(&group, NULL, "a", NULL), PARAPET_ERR_ARGUMENT, "store");
    assert_fails(parapet_group_create(NULL, store, "a", NULL), PARAPET_ERR_ARGUMENT, "pointer");
    stored_close(&store);
}

static void test_group__lists_children_in_the_order_of_their_names(void **state)
{
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    create_array(store, "b");
    create_group(store, "a10");
    create_array(store, "a2/inner");
    create_group(store, "B");
    create_array(store, "\xc3\xa9");
    stored_put_text(store, "plain_file", "x");
    stored_put_text(store, "__private/zarr.json", "{}");
    assert_listed(store, "", "B/ a10/ a2/ b \xc3\xa9 ");
    assert_listed(store, "a2", "inner ");
    assert_listed(store, "a10", "");
    stored_close(&store);
}

static void test_group__listing_ends_when_told(void **state)
{
    parapet_store *store;
    parapet_group *group;
    listing list = {.ends_at = 2};
    (void)state;
    stored_open(&store, NULL);
    create_array(store, "a");
    create_array(store, "b");
    create_array(store, "c");
    assert_ok(parapet_group_open(&group, store, "/"));
    assert_ok(parapet_group_list(group, note_child, &list));
    assert_string_equal(list.text, "a b ");
    assert_fails(parapet_group_list(group, NULL, NULL), PARAPET_ERR_ARGUMENT, "visitor");
    assert_fails(parapet_group_list(NULL, note_child, NULL), PARAPET_ERR_ARGUMENT, "group");
    assert_ok(parapet_group_close(&group));
    stored_close(&store);
}

static void test_group__without_document_is_a_group(void **state)
{
    parapet_store *store;
    parapet_group *group;
    char *json;
    (void)state;
    stored_open(&store, NULL);
    create_array(store, "g/a");
    assert_ok(pp_store_remove(store->backend, "g/zarr.json"));
    assert_listed(store, "", "g/ ");
    assert_listed(store, "g", "a ");
    assert_ok(parapet_group_open(&group, store, "g"));
    assert_ok(parapet_group_attribute_get(group, NULL, &json));
    assert_string_equal(json, "{}");
    parapet_free(json);
    assert_ok(parapet_group_close(&group));
    create_group(store, "g"); /* gives it a document, and leaves what is in it */
    assert_true(stored_has(store, "g/zarr.json"));
    assert_listed(store, "g", "a ");
    stored_close(&store);
}

static void test_group__of_zarr_v2_is_read_and_never_changed(void **state)
{
    parapet_store *store;
    parapet_group *group;
    parapet_array *array;
    char *json;
    (void)state;
    stored_open(&store, NULL);
    stored_put_text(store, "old/.zgroup", "{\"zarr_format\": 2}");
    stored_put_text(store, "old/.zattrs", "{\"title\": \"old\"}");
    stored_put_text(store, "old/t/.zarray",
                    "{\"zarr_format\": 2, \"shape\": [4], \"chunks\": [2], \"dtype\": \"<f8\", \"compressor\": null,"
                    " \"filters\": null, \"fill_value\": 0, \"order\": \"C\"}");
    assert_listed(store, "", "old/ ");
    assert_listed(store, "old", "t ");
    assert_ok(parapet_group_open(&group, store, "old"));
    assert_ok(parapet_group_attribute_get(group, "title", &json));
    assert_string_equal(json, "\"old\"");
    parapet_free(json);
    assert_fails(parapet_group_attribute_set(group, "title", "1"), PARAPET_ERR_UNSUPPORTED, "Zarr v2");
    assert_fails(parapet_group_consolidate(group), PARAPET_ERR_UNSUPPORTED, "Zarr v2");
    assert_ok(parapet_group_close(&group));
    assert_fails(parapet_array_create(&array, store, "old/new", &small), PARAPET_ERR_UNSUPPORTED, "Zarr v2");
    assert_fails(parapet_group_create(&group, store, "old", NULL), PARAPET_ERR_EXISTS, "group");
    assert_false(stored_has(store, "old/zarr.json"));
    stored_close(&store);
}

/* The document of a node as it stands in consolidated metadata. */
static void assert_consolidated_equals(parapet_store *store, pp_json *metadata, const char *base, const char *name)
{
    char *path = NULL, *key = NULL, *text;
    pp_json *own = NULL, *copy = NULL;
    size_t bytes;
    assert_ok(pp_path_join(base, name, &path));
    assert_ok(pp_path_join(path, "zarr.json", &key));
    text = stored_get(store, key, &bytes);
    assert_non_null(text);
    assert_ok(pp_json_parse(&own, text, bytes));
    assert_ok(pp_json_duplicate(pp_json_member(metadata, name), &copy));
    pp_json_remove(own, "consolidated_metadata");
    assert_true(pp_json_equals(own, copy));
    pp_json_free(own);
    pp_json_free(copy);
    pp_free(text);
    pp_free(key);
    pp_free(path);
}

/* For members of which there must be none. */
static parapet_status refuse_member(void *context, const char *name, pp_json *value)
{
    (void)context;
    (void)value;
    return pp_fail(PARAPET_ERR_INTERNAL, "%s should not be there", name);
}

static void check_consolidated(parapet_store *store, const char *base, const char *const *names, size_t count)
{
    char *key = NULL, *text;
    pp_json *json = NULL, *consolidated, *metadata;
    size_t bytes, i;
    bool must_understand = true;
    assert_ok(pp_path_join(base, "zarr.json", &key));
    text = stored_get(store, key, &bytes);
    assert_ok(pp_json_parse(&json, text, bytes));
    consolidated = pp_json_member(json, "consolidated_metadata");
    assert_true(pp_json_is_text(pp_json_member(consolidated, "kind"), "inline"));
    assert_true(pp_json_get_bool(pp_json_member(consolidated, "must_understand"), &must_understand));
    assert_false(must_understand);
    metadata = pp_json_member(consolidated, "metadata");
    for (i = 0; i < count; i++) {
        assert_true(pp_json_has(metadata, names[i]));
        assert_consolidated_equals(store, metadata, base, names[i]);
        pp_json_remove(metadata, names[i]);
    }
    assert_ok(pp_json_each(metadata, refuse_member, NULL));
    pp_json_free(json);
    pp_free(text);
    pp_free(key);
}

static void consolidate(parapet_store *store, const char *path)
{
    parapet_group *group;
    assert_ok(parapet_group_open(&group, store, path));
    assert_ok(parapet_group_consolidate(group));
    assert_ok(parapet_group_close(&group));
}

static void test_group__consolidated_metadata_is_what_the_nodes_say(void **state)
{
    static const char *const below_root[] = {"a", "g", "g/b", "g/h", "g/h/c"}, *const below_g[] = {"b", "h", "h/c"};
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    create_array(store, "a");
    create_array(store, "g/b");
    create_array(store, "g/h/c");
    consolidate(store, "g");
    check_consolidated(store, "g", below_g, 3);
    consolidate(store, "");
    check_consolidated(store, "", below_root, 5);
    assert_listed(store, "g", "b h/ ");
    stored_close(&store);
}

static void assert_drops(parapet_store *store, void (*change)(parapet_store *store))
{
    consolidate(store, "");
    assert_true(stored_contains(store, "zarr.json", "consolidated_metadata"));
    change(store);
    assert_false(stored_contains(store, "zarr.json", "consolidated_metadata"));
}

static void change_by_group(parapet_store *store)
{
    create_group(store, "g/new");
}

static void change_by_array(parapet_store *store)
{
    create_array(store, "g/array");
}

static void change_by_resize(parapet_store *store)
{
    parapet_array *array;
    assert_ok(parapet_array_open(&array, store, "g/array"));
    assert_ok(parapet_array_resize(array, (int64_t[]){20}));
    assert_ok(parapet_array_close(&array));
}

static void change_by_seal(parapet_store *store)
{
    parapet_array *array;
    assert_ok(parapet_array_open(&array, store, "g/array"));
    assert_ok(parapet_array_seal(array));
    assert_ok(parapet_array_close(&array));
}

static void change_by_write(parapet_store *store)
{
    parapet_array *array;
    int32_t value = 1;
    parapet_part part = {.ndim = 1, .start = (int64_t[]){0}, .count = (int64_t[]){1}, .data = &value};
    assert_ok(parapet_array_open(&array, store, "g/array"));
    assert_ok(parapet_array_write(array, &part, 1)); /* takes the seal off */
    assert_ok(parapet_array_close(&array));
}

static void change_by_overwrite(parapet_store *store)
{
    parapet_array_spec spec = small;
    parapet_array *array;
    spec.overwrite = 1;
    assert_ok(parapet_array_create(&array, store, "g/array", &spec));
    assert_ok(parapet_array_close(&array));
}

static void test_group__consolidated_metadata_is_dropped_by_every_change_below(void **state)
{
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    create_group(store, "g");
    assert_drops(store, change_by_group);
    assert_drops(store, change_by_array);
    assert_drops(store, change_by_resize);
    assert_drops(store, change_by_seal);
    assert_drops(store, change_by_write);
    assert_drops(store, change_by_overwrite);
    stored_close(&store);
}

static void test_group__consolidated_metadata_is_kept_by_writing_data(void **state)
{
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    create_array(store, "g/array");
    consolidate(store, "");
    change_by_write(store);
    assert_true(stored_contains(store, "zarr.json", "consolidated_metadata"));
    stored_close(&store);
}

static void test_group__that_cannot_be_consolidated_says_why(void **state)
{
    parapet_store *store;
    parapet_group *group;
    (void)state;
    stored_open(&store, NULL);
    create_array(store, "g/a");
    stored_put_text(store, "g/old/.zgroup", "{\"zarr_format\": 2}");
    assert_ok(parapet_group_open(&group, store, ""));
    assert_fails(parapet_group_consolidate(group), PARAPET_ERR_UNSUPPORTED, "\"g/old\" is Zarr v2");
    assert_ok(pp_store_remove(store->backend, "g/old/.zgroup"));
    assert_ok(pp_store_remove(store->backend, "g/zarr.json"));
    assert_fails(parapet_group_consolidate(group), PARAPET_ERR_FORMAT, "\"g\" has no zarr.json");
    assert_false(stored_contains(store, "zarr.json", "consolidated_metadata"));
    assert_ok(parapet_group_close(&group));
    stored_close(&store);
}

static void test_group__directories_in_which_no_node_lies_are_not_consolidated(void **state)
{
    static const char *const names[] = {"g", "g/a"};
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    create_array(store, "g/a");
    stored_put_text(store, "g/left/x/c/0", "of a generation that is being removed");
    stored_put_text(store, "notes/today.txt", "of somebody else");
    consolidate(store, "");
    check_consolidated(store, "", names, 2);
    stored_close(&store);
}

static void test_group__store_is_not_closed_before_its_groups(void **state)
{
    parapet_store *store;
    parapet_group *group;
    (void)state;
    stored_open(&store, NULL);
    assert_ok(parapet_group_create(&group, store, "g", NULL));
    assert_fails(parapet_store_close(&store), PARAPET_ERR_ARGUMENT, "1 arrays, groups");
    assert_ok(parapet_group_close(&group));
    assert_null(group);
    assert_ok(parapet_group_close(&group));
    stored_close(&store);
}

/* More than documents can be nested, and more in one group than a list begins with. */
static void test_group__of_many_and_deep_groups_is_consolidated_as_far_as_can_be(void **state)
{
    char path[300] = "g", key[310];
    parapet_group *group;
    parapet_store *store;
    int i;
    (void)state;
    stored_open(&store, NULL);
    for (i = 0; i < 40; i++) {
        (void)snprintf(key, sizeof key, "many/%d", i);
        create_group(store, key);
    }
    consolidate(store, "many");
    assert_true(stored_contains(store, "many/zarr.json", "\"39\""));
    for (i = 0; i < 70; i++) {
        (void)snprintf(key, sizeof key, "%s/zarr.json", path);
        stored_put_text(store, key, "{\"zarr_format\":3,\"node_type\":\"group\",\"attributes\":{}}");
        strcat(path, "/g");
    }
    assert_ok(parapet_group_open(&group, store, "g"));
    assert_fails(parapet_group_consolidate(group), PARAPET_ERR_UNSUPPORTED, "nested more than");
    assert_ok(parapet_group_close(&group));
    stored_close(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_group__lists_what_stands_beside_an_invalid_node),
        cmocka_unit_test(test_group__is_made_with_every_group_above_it),
        cmocka_unit_test(test_group__that_exists_is_not_made_again),
        cmocka_unit_test(test_group__open_says_what_is_there_instead),
        cmocka_unit_test(test_group__refuses_names_that_zarr_does_not_allow),
        cmocka_unit_test(test_group__lists_children_in_the_order_of_their_names),
        cmocka_unit_test(test_group__listing_ends_when_told),
        cmocka_unit_test(test_group__without_document_is_a_group),
        cmocka_unit_test(test_group__of_zarr_v2_is_read_and_never_changed),
        cmocka_unit_test(test_group__consolidated_metadata_is_what_the_nodes_say),
        cmocka_unit_test(test_group__consolidated_metadata_is_dropped_by_every_change_below),
        cmocka_unit_test(test_group__consolidated_metadata_is_kept_by_writing_data),
        cmocka_unit_test(test_group__that_cannot_be_consolidated_says_why),
        cmocka_unit_test(test_group__directories_in_which_no_node_lies_are_not_consolidated),
        cmocka_unit_test(test_group__of_many_and_deep_groups_is_consolidated_as_far_as_can_be),
        cmocka_unit_test(test_group__store_is_not_closed_before_its_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
