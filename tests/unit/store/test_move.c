/* An object gets another key, whole and at once; what is there already stays. */
#include "kinds.h"

static void check_moving(subject *tested)
{
    assert_ok(put(tested->store, "a/one", "first", PP_PUBLISH_REPLACE));
    assert_ok(put(tested->store, "two", "second", PP_PUBLISH_REPLACE));
    assert_ok(pp_store_move(tested->store, "a/one", "b/c/one"));
    assert_ok(pp_store_sync_dirs(tested->store));
    subject_reopen(tested);
    assert_absent(tested->store, "a/one");
    assert_object(tested->store, "b/c/one", "first");
    assert_ok(pp_store_move(tested->store, "b/c/one", "one"));
    assert_object(tested->store, "one", "first");
    assert_object(tested->store, "two", "second");
}

static void test_move__gives_an_object_another_key(void **state)
{
    (void)state;
    check_every_kind(check_moving);
}

static void check_refusals(subject *tested)
{
    pp_store *store = tested->store;
    assert_ok(put(store, "a/one", "first", PP_PUBLISH_REPLACE));
    assert_ok(put(store, "a/two", "second", PP_PUBLISH_REPLACE));
    assert_fails(pp_store_move(store, "a/one", "a/two"), PARAPET_ERR_EXISTS, "a/two");
    assert_fails(pp_store_move(store, "a/three", "a/four"), PARAPET_ERR_NOT_FOUND, "a/three");
    assert_fails(pp_store_move(store, "b/three", "a/four"), PARAPET_ERR_NOT_FOUND, "b/three");
    assert_fails(pp_store_move(store, "a//one", "a/four"), PARAPET_ERR_ARGUMENT, "empty");
    assert_fails(pp_store_move(store, "a/one", "../four"), PARAPET_ERR_ARGUMENT, "..");
    assert_object(store, "a/one", "first");
    assert_object(store, "a/two", "second");
}

static void test_move__takes_no_key_that_exists(void **state)
{
    (void)state;
    check_every_kind(check_refusals);
}

static void check_failing(subject *tested)
{
    if (!tested->kind->is_faulty)
        return;
    assert_ok(put(tested->store, "a/one", "first", PP_PUBLISH_REPLACE));
    tested->plan = (pp_fault_plan){.fail_at = 0, .status = PARAPET_ERR_IO};
    assert_fails(pp_store_move(tested->store, "a/one", "a/two"), PARAPET_ERR_IO, "a/one");
    assert_object(tested->store, "a/one", "first");
    tested->plan = (pp_fault_plan){.fail_at = 0, .fail_after = true, .status = PARAPET_ERR_IO};
    assert_fails(pp_store_move(tested->store, "a/one", "a/two"), PARAPET_ERR_IO, "a/one");
    assert_object(tested->store, "a/two", "first");
}

static void test_move__that_fails_leaves_the_object_under_one_of_its_keys(void **state)
{
    (void)state;
    check_every_kind(check_failing);
}

/* What a crash leaves where a file system cannot rename without replacing: both names, of one file. */
static void test_move__that_a_crash_cut_short_is_completed(void **state)
{
    scratch made = scratch_make(SCRATCH_MEMORY);
    pp_store *store = scratch_store(&made, PP_DIRECT_IO_NEVER);
    (void)state;
    assert_ok(put(store, "one", "first", PP_PUBLISH_REPLACE));
    assert_int_equal(link(scratch_path(&made, "store/one"), scratch_path(&made, "store/two")), 0);
    assert_ok(pp_store_move(store, "one", "two"));
    assert_absent(store, "one");
    assert_object(store, "two", "first");
    pp_store_free(store);
    scratch_remove(&made);
}

static void test_move__is_refused_where_nothing_may_be_written(void **state)
{
    scratch made = scratch_make(SCRATCH_MEMORY);
    pp_store *store = scratch_store(&made, PP_DIRECT_IO_NEVER);
    (void)state;
    assert_ok(put(store, "one", "first", PP_PUBLISH_REPLACE));
    pp_store_free(store);
    assert_ok(pp_store_posix_build(&store, made.root, &(pp_posix_options){.read_only = true}));
    assert_int_not_equal(pp_store_move(store, "one", "two"), PARAPET_OK);
    assert_object(store, "one", "first");
    pp_store_free(store);
    scratch_remove(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_move__gives_an_object_another_key),
        cmocka_unit_test(test_move__takes_no_key_that_exists),
        cmocka_unit_test(test_move__that_fails_leaves_the_object_under_one_of_its_keys),
        cmocka_unit_test(test_move__that_a_crash_cut_short_is_completed),
        cmocka_unit_test(test_move__is_refused_where_nothing_may_be_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
