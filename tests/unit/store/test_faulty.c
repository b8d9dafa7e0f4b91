#include "scratch.h"
#include "stores/faulty.h"

/* Every kind of operation once: 0 begin, 1 append, 2 stage, 3 publish, 4 sync_dirs, 5 open, 6 read, 7 list, 8 remove,
 * 9 remove_prefix. */
static const char *const operations[] = {"begin", "append", "stage", "publish", "sync_dirs",
                                         "open",  "read",   "list",  "remove",  "remove_prefix"};
#define OPERATION_COUNT 10

static parapet_status do_everything(pp_store *store)
{
    char *data = NULL, names[1024] = "";
    size_t bytes;
    parapet_status status;
    if ((status = put(store, "a/b", "new!", PP_PUBLISH_REPLACE)) == PARAPET_OK &&
        (status = pp_store_sync_dirs(store)) == PARAPET_OK &&
        (status = pp_store_read_all(store, "a/b", 100, &data, &bytes)) == PARAPET_OK &&
        (status = pp_store_list(store, "a", note_name, names)) == PARAPET_OK &&
        (status = pp_store_remove(store, "a/b")) == PARAPET_OK)
        status = pp_store_remove_prefix(store, "a");
    pp_free(data);
    return status;
}

/* What a/b must hold when operation `at` failed before, or only after, it took effect; NULL: nothing. */
static const char *expected_text(int at, bool fail_after)
{
    if (at < 3 || (at == 3 && !fail_after))
        return "old";
    return at < 8 || (at == 8 && !fail_after) ? "new!" : NULL;
}

static void check_one(pp_store *inner, pp_fault_plan plan)
{
    pp_store *store;
    char sentence[64];
    int at = (int)plan.fail_at;
    assert_ok(put(inner, "a/b", "old", PP_PUBLISH_REPLACE));
    assert_ok(pp_store_faulty_build(&store, inner, &plan));
    (void)snprintf(sentence, sizeof sentence, "injected failure of %s ", operations[at]);
    assert_fails(do_everything(store), PARAPET_ERR_NO_SPACE, sentence);
    assert_int_equal(plan.operations, at + 1);
    assert_int_equal(plan.failures, 1);
    if (expected_text(at, plan.fail_after) != NULL)
        assert_object(inner, "a/b", expected_text(at, plan.fail_after));
    else
        assert_absent(inner, "a/b");
    pp_store_free(store);
}

static void check_all(pp_store *inner, const char *staging)
{
    int at, kind;
    assert_ok(put(inner, "first", "", PP_PUBLISH_REPLACE)); /* what a store takes once and keeps */
    assert_ok(pp_store_sync_dirs(inner));
    for (at = 0; at < OPERATION_COUNT; at++)
        for (kind = 0; kind < 8; kind++) {
            long live = pp_memory_live_count();
            check_one(inner, (pp_fault_plan){.fail_at = at,
                                             .fail_forever = (kind & 1) != 0,
                                             .fail_after = (kind & 2) != 0,
                                             .is_torn = (kind & 4) != 0,
                                             .status = PARAPET_ERR_NO_SPACE});
            assert_ok(pp_store_sync_dirs(inner));
            if (staging != NULL)
                assert_int_equal(entry_count(staging), 0);
            assert_ok(pp_store_remove_prefix(inner, "a"));
            assert_ok(pp_store_sync_dirs(inner));
            assert_int_equal(pp_memory_live_count(), live);
        }
}

static void test_faulty__each_operation_fails_in_turn_over_memory(void **state)
{
    pp_store *inner;
    (void)state;
    assert_ok(pp_store_memory_build(&inner, NULL));
    check_all(inner, NULL);
    pp_store_free(inner);
}

static void test_faulty__each_operation_fails_in_turn_over_a_directory(void **state)
{
    scratch made = scratch_make(SCRATCH_MEMORY);
    pp_store *inner = scratch_store(&made, PP_DIRECT_IO_LARGE);
    int descriptors = descriptor_count();
    (void)state;
    check_all(inner, scratch_path(&made, "store/tmp"));
    assert_int_equal(descriptor_count(), descriptors);
    pp_store_free(inner);
    scratch_remove(&made);
}

static void test_faulty__without_a_plan_everything_passes_and_is_counted(void **state)
{
    pp_fault_plan plan = {.fail_at = -1, .fail_forever = true};
    pp_store *inner, *store;
    (void)state;
    assert_ok(pp_store_memory_build(&inner, NULL));
    assert_ok(pp_store_faulty_build(&store, inner, &plan));
    assert_ok(do_everything(store));
    assert_int_equal(plan.operations, OPERATION_COUNT);
    assert_int_equal(plan.failures, 0);
    pp_store_free(store);
    pp_store_free(inner);
}

static void test_faulty__storage_that_is_gone_stays_gone(void **state)
{
    pp_fault_plan plan = {.fail_at = 1, .fail_forever = true};
    pp_store *inner, *store;
    char names[1024] = "";
    (void)state;
    assert_ok(pp_store_memory_build(&inner, NULL));
    assert_ok(put(inner, "a", "x", PP_PUBLISH_REPLACE));
    assert_ok(pp_store_faulty_build(&store, inner, &plan));
    assert_ok(pp_store_list(store, "", note_name, names));
    assert_fails(pp_store_remove(store, "a"), PARAPET_ERR_IO, "injected failure of remove a");
    assert_fails(pp_store_sync_dirs(store), PARAPET_ERR_IO, "injected failure of sync_dirs");
    assert_fails(put(store, "b", "x", PP_PUBLISH_REPLACE), PARAPET_ERR_IO, "injected failure of begin b");
    assert_int_equal(plan.failures, 3);
    assert_listing(inner, "", "a=1 ");
    plan.fail_at = -1;
    assert_ok(pp_store_remove(store, "a"));
    pp_store_free(store);
    pp_store_free(inner);
}

static void test_faulty__a_torn_append_lets_half_of_the_bytes_through(void **state)
{
    pp_fault_plan plan = {.fail_at = 1, .is_torn = true};
    pp_write_request request = small_request("a");
    pp_store *inner, *store;
    pp_writer *writer;
    (void)state;
    assert_ok(pp_store_memory_build(&inner, NULL));
    assert_ok(pp_store_faulty_build(&store, inner, &plan));
    assert_ok(pp_store_begin(store, &request, &writer));
    assert_fails(pp_writer_append(writer, "12345678", 8), PARAPET_ERR_IO, "append a");
    assert_ok(pp_writer_append(writer, "x", 1));
    assert_ok(pp_writer_publish(writer, PP_PUBLISH_REPLACE));
    pp_writer_free(writer);
    assert_object(store, "a", "1234x");
    pp_store_free(store);
    pp_store_free(inner);
}

/* What is settled for other processes passes, too, and fails as what is settled for this one. */
static void test_faulty__settles_for_others(void **state)
{
    pp_fault_plan plan = {.fail_at = -1};
    scratch made = scratch_make(SCRATCH_MEMORY);
    pp_store *inner = scratch_store(&made, PP_DIRECT_IO_LARGE), *store;
    pp_text prefixes = {0};
    (void)state;
    assert_ok(pp_store_faulty_build(&store, inner, &plan));
    assert_true(pp_store_is_dealt_out(store));
    assert_ok(put(store, "a/b", "x", PP_PUBLISH_REPLACE));
    pp_store_list_unsynced_dirs(store, &prefixes);
    assert_ok(prefixes.status);
    assert_true(prefixes.bytes > 0);
    assert_ok(pp_store_take_unsynced_dirs(store, "a"));
    plan.operations = plan.fail_at = 0;
    assert_fails(pp_store_sync_taken_dirs(store), PARAPET_ERR_IO, "injected failure of sync_dirs");
    assert_ok(pp_store_sync_taken_dirs(store));
    assert_int_equal(plan.operations, 2);
    pp_text_free(&prefixes);
    pp_store_free(store);
    pp_store_free(inner);
    scratch_remove(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faulty__each_operation_fails_in_turn_over_memory),
        cmocka_unit_test(test_faulty__each_operation_fails_in_turn_over_a_directory),
        cmocka_unit_test(test_faulty__without_a_plan_everything_passes_and_is_counted),
        cmocka_unit_test(test_faulty__storage_that_is_gone_stays_gone),
        cmocka_unit_test(test_faulty__settles_for_others),
        cmocka_unit_test(test_faulty__a_torn_append_lets_half_of_the_bytes_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
