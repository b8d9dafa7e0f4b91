#include "scratch.h"

static void test_memory__an_object_is_visible_only_once_published(void **state)
{
    long live = pp_memory_live_count();
    pp_write_request request = small_request("a/b");
    pp_store *store;
    pp_writer *writer;
    (void)state;
    assert_ok(pp_store_memory_build(&store, NULL));
    assert_ok(pp_store_begin(store, &request, &writer));
    assert_ok(pp_writer_append(writer, "ne", 2));
    assert_ok(pp_writer_append(writer, "w", 1));
    assert_int_equal(writer->bytes, 3);
    assert_ok(pp_writer_stage(writer));
    assert_fails(pp_writer_append(writer, "x", 1), PARAPET_ERR_INTERNAL, "staged");
    assert_absent(store, "a/b");
    assert_ok(pp_writer_publish(writer, PP_PUBLISH_REPLACE));
    assert_fails(pp_writer_publish(writer, PP_PUBLISH_REPLACE), PARAPET_ERR_INTERNAL, "published before");
    pp_writer_free(writer);
    assert_object(store, "a/b", "new");
    assert_ok(pp_store_sync_dirs(store));
    pp_store_free(store);
    assert_int_equal(pp_memory_live_count(), live);
}

static void test_memory__an_abandoned_writer_leaves_the_old_object(void **state)
{
    pp_write_request request = small_request("a");
    pp_store *store;
    pp_writer *writer;
    (void)state;
    assert_ok(pp_store_memory_build(&store, NULL));
    assert_ok(put(store, "a", "old", PP_PUBLISH_REPLACE));
    assert_ok(pp_store_begin(store, &request, &writer));
    assert_ok(pp_writer_append(writer, "new", 3));
    pp_writer_free(writer);
    assert_object(store, "a", "old");
    pp_store_free(store);
}

static void test_memory__a_reader_keeps_the_object_it_opened(void **state)
{
    pp_store *store;
    pp_reader *first, *second;
    char text[16] = "";
    (void)state;
    assert_ok(pp_store_memory_build(&store, NULL));
    assert_ok(put(store, "a", "old", PP_PUBLISH_REPLACE));
    assert_ok(pp_store_open_object(store, "a", &first));
    assert_ok(put(store, "a", "brand new", PP_PUBLISH_REPLACE));
    assert_ok(pp_store_open_object(store, "a", &second));
    assert_ok(pp_store_remove(store, "a"));
    assert_ok(pp_reader_read(first, 0, 0, NULL));
    assert_ok(pp_reader_read(first, 1, 2, text));
    assert_string_equal(text, "ld");
    assert_ok(pp_reader_read(second, 0, 9, text));
    assert_string_equal(text, "brand new");
    pp_reader_free(first);
    pp_reader_free(second);
    assert_absent(store, "a");
    pp_store_free(store);
}

static void test_memory__exclusive_publish_never_replaces(void **state)
{
    pp_store *store;
    (void)state;
    assert_ok(pp_store_memory_build(&store, NULL));
    assert_ok(put(store, "a", "first", PP_PUBLISH_EXCLUSIVE));
    assert_fails(put(store, "a", "second", PP_PUBLISH_EXCLUSIVE), PARAPET_ERR_EXISTS, "a already exists");
    assert_object(store, "a", "first");
    pp_store_free(store);
}

static void test_memory__stores_of_one_name_share_until_it_is_dropped(void **state)
{
    long live = pp_memory_live_count();
    pp_store *one, *two, *other, *private;
    (void)state;
    assert_ok(pp_store_memory_build(&one, "shared"));
    assert_ok(pp_store_memory_build(&two, "shared"));
    assert_ok(pp_store_memory_build(&other, "other"));
    assert_ok(pp_store_memory_build(&private, NULL));
    assert_ok(put(one, "a", "x", PP_PUBLISH_REPLACE));
    assert_object(two, "a", "x");
    assert_absent(other, "a");
    assert_absent(private, "a");
    pp_store_free(one);
    pp_store_free(two);
    assert_ok(pp_store_memory_build(&one, "shared"));
    assert_object(one, "a", "x");
    pp_store_memory_drop("shared");
    pp_store_memory_drop("shared");
    assert_object(one, "a", "x");
    assert_ok(pp_store_memory_build(&two, "shared"));
    assert_absent(two, "a");
    pp_store_free(one);
    pp_store_free(two);
    pp_store_free(other);
    pp_store_free(private);
    pp_store_memory_drop("shared");
    pp_store_memory_drop("other");
    assert_int_equal(pp_memory_live_count(), live);
}

static void test_memory__children_are_told_in_the_order_of_names(void **state)
{
    static const char *const keys[] = {"b/x", "b-1", "b/y/z", "a", "b.c/d", "b.c/e", "B", "bb/q"};
    pp_store *store;
    size_t i;
    (void)state;
    assert_ok(pp_store_memory_build(&store, NULL));
    assert_listing(store, "", "");
    for (i = 0; i < sizeof keys / sizeof keys[0]; i++)
        assert_ok(put(store, keys[i], keys[i], PP_PUBLISH_REPLACE));
    assert_listing(store, "", "B=1 a=1 b/ b-1=3 b.c/ bb/ ");
    assert_listing(store, "b", "x=3 y/ ");
    assert_int_equal(pp_store_list(store, "none", note_name, NULL), PARAPET_ERR_NOT_FOUND);
    assert_int_equal(pp_store_list(store, "a", note_name, NULL), PARAPET_ERR_NOT_FOUND);
    pp_store_free(store);
}

static void test_memory__removing_reaches_everything_below_a_prefix_only(void **state)
{
    pp_store *store;
    (void)state;
    assert_ok(pp_store_memory_build(&store, NULL));
    assert_ok(put(store, "a/b/c", "x", PP_PUBLISH_REPLACE));
    assert_ok(put(store, "a/b/d/e", "x", PP_PUBLISH_REPLACE));
    assert_ok(put(store, "a/b-1", "x", PP_PUBLISH_REPLACE));
    assert_ok(put(store, "a/bb", "x", PP_PUBLISH_REPLACE));
    assert_ok(pp_store_remove_prefix(store, "a/b"));
    assert_listing(store, "a", "b-1=1 bb=1 ");
    assert_ok(pp_store_remove_prefix(store, "a/b"));
    assert_int_equal(pp_store_remove(store, "a/b/c"), PARAPET_ERR_NOT_FOUND);
    assert_ok(pp_store_remove_prefix(store, ""));
    assert_listing(store, "", "");
    pp_store_free(store);
}

/* Random publishes and removes, compared with a plain table. */
static void test_memory__random_operations_agree_with_a_table(void **state)
{
    test_random random = test_random_start();
    char table[40] = "";
    pp_store *store;
    int i, k;
    (void)state;
    assert_ok(pp_store_memory_build(&store, NULL));
    for (i = 0; i < 4000; i++) {
        char key[32], text[2] = "";
        k = (int)test_random_between(&random, 0, 39);
        (void)snprintf(key, sizeof key, "k%d/x", k * 7919 % 1000);
        if (test_random_between(&random, 0, 2) == 0) {
            assert_int_equal(pp_store_remove(store, key), table[k] != '\0' ? PARAPET_OK : PARAPET_ERR_NOT_FOUND);
            table[k] = '\0';
        } else {
            text[0] = table[k] = (char)test_random_between(&random, 'a', 'z');
            assert_ok(put(store, key, text, PP_PUBLISH_REPLACE));
        }
        k = (int)test_random_between(&random, 0, 39);
        (void)snprintf(key, sizeof key, "k%d/x", k * 7919 % 1000);
        text[0] = table[k];
        if (table[k] != '\0')
            assert_object(store, key, text);
        else
            assert_absent(store, key);
    }
    pp_store_free(store);
}

static parapet_status do_everything(void)
{
    pp_store *store;
    char *data = NULL, names[1024] = "";
    size_t bytes;
    parapet_status status = pp_store_memory_build(&store, "failing");
    if (status == PARAPET_OK && (status = put(store, "a/b", "text", PP_PUBLISH_REPLACE)) == PARAPET_OK &&
        (status = pp_store_read_all(store, "a/b", 100, &data, &bytes)) == PARAPET_OK &&
        (status = pp_store_list(store, "", note_name, names)) == PARAPET_OK)
        status = pp_store_remove(store, "a/b");
    pp_free(data);
    pp_store_free(store);
    pp_store_memory_drop("failing");
    return status;
}

static void test_memory__each_refused_allocation_fails_cleanly(void **state)
{
    long live = pp_memory_live_count();
    refusal plan = {0};
    (void)state;
    for (plan.at = 0; plan.at < 100; plan.at++) {
        parapet_status status;
        plan.count = 0;
        pp_memory_hook_set(refuse_one, &plan);
        status = do_everything();
        pp_memory_hook_set(NULL, NULL);
        assert_int_equal(status, plan.count > plan.at ? PARAPET_ERR_MEMORY : PARAPET_OK);
        assert_int_equal(pp_memory_live_count(), live);
        if (status == PARAPET_OK)
            break;
    }
    assert_in_range(plan.at, 8, 99);
}

static int refuse_all(void *context, size_t bytes)
{
    (void)context;
    (void)bytes;
    return 1;
}

static void test_memory__a_refused_append_ends_a_writer(void **state)
{
    static const char large[1 << 16];
    pp_write_request request = small_request("a");
    pp_store *store;
    pp_writer *writer;
    (void)state;
    assert_ok(pp_store_memory_build(&store, NULL));
    assert_ok(pp_store_begin(store, &request, &writer));
    assert_ok(pp_writer_append(writer, "x", 1));
    pp_memory_hook_set(refuse_all, NULL);
    assert_fails(pp_writer_append(writer, large, sizeof large), PARAPET_ERR_MEMORY, "");
    pp_memory_hook_set(NULL, NULL);
    assert_fails(pp_writer_append(writer, "y", 1), PARAPET_ERR_IO, "begun again");
    assert_fails(pp_writer_append(writer, "", 0), PARAPET_ERR_IO, "begun again");
    assert_fails(pp_writer_sync(writer), PARAPET_ERR_IO, "begun again");
    assert_fails(pp_writer_stage(writer), PARAPET_ERR_IO, "begun again");
    assert_fails(pp_writer_publish(writer, PP_PUBLISH_REPLACE), PARAPET_ERR_IO, "begun again");
    pp_writer_free(writer);
    assert_absent(store, "a");
    pp_store_free(store);
}

static void expect_lock(pp_store *store, const char *key, const char *text, bool is_held)
{
    pp_lock_view view = {.text = "something else"};
    assert_ok(pp_store_view_lock(store, key, &view));
    assert_string_equal(view.text, text);
    assert_int_equal(view.is_held, is_held);
}

static void test_memory__a_lock_is_seen_by_its_own_key_only(void **state)
{
    pp_store *store;
    pp_lock *lock;
    (void)state;
    assert_ok(pp_store_memory_build(&store, NULL));
    assert_ok(put(store, "one", "", PP_PUBLISH_REPLACE));
    assert_ok(put(store, "other", "text", PP_PUBLISH_REPLACE));
    assert_ok(pp_store_open_lock(store, "one", &lock));
    expect_lock(store, "one", "", false);
    assert_ok(pp_lock_set(lock, PP_LOCK_LONG, PP_LOCK_EXCLUSIVE));
    expect_lock(store, "one", "", true);
    expect_lock(store, "other", "text", false);
    expect_lock(store, "absent", "", false);
    pp_lock_close(lock);
    pp_store_free(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory__an_object_is_visible_only_once_published),
        cmocka_unit_test(test_memory__an_abandoned_writer_leaves_the_old_object),
        cmocka_unit_test(test_memory__a_reader_keeps_the_object_it_opened),
        cmocka_unit_test(test_memory__exclusive_publish_never_replaces),
        cmocka_unit_test(test_memory__stores_of_one_name_share_until_it_is_dropped),
        cmocka_unit_test(test_memory__children_are_told_in_the_order_of_names),
        cmocka_unit_test(test_memory__removing_reaches_everything_below_a_prefix_only),
        cmocka_unit_test(test_memory__random_operations_agree_with_a_table),
        cmocka_unit_test(test_memory__each_refused_allocation_fails_cleanly),
        cmocka_unit_test(test_memory__a_refused_append_ends_a_writer),
        cmocka_unit_test(test_memory__a_lock_is_seen_by_its_own_key_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
