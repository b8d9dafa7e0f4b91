#include "kinds.h"

static uint64_t version_of(pp_store *store, const char *key)
{
    pp_reader *reader;
    uint64_t version;
    assert_ok(pp_store_open_object(store, key, &reader));
    version = reader->version;
    pp_reader_free(reader);
    return version;
}

static void check_replacing(subject *tested)
{
    uint64_t versions[4];
    int i, k;
    for (i = 0; i < 4; i++) {
        assert_ok(put(tested->store, "a/b", i % 2 == 0 ? "same" : "long", PP_PUBLISH_REPLACE));
        versions[i] = version_of(tested->store, "a/b");
        for (k = 0; k < i; k++)
            assert_int_not_equal(versions[k], versions[i]);
        usleep(20000); /* longer than a tick: a directory gives the number of a removed file to the next one */
    }
}

static void test_version__what_replaces_an_object_has_another(void **state)
{
    (void)state;
    check_every_kind(check_replacing);
}

static void check_opening(subject *tested)
{
    uint64_t version;
    assert_ok(put(tested->store, "a/b", "text", PP_PUBLISH_REPLACE));
    version = version_of(tested->store, "a/b");
    assert_object(tested->store, "a/b", "text");
    assert_int_equal(version_of(tested->store, "a/b"), version);
    assert_ok(put(tested->store, "a/c", "other", PP_PUBLISH_REPLACE));
    assert_ok(pp_store_sync_dirs(tested->store));
    subject_reopen(tested);
    assert_int_equal(version_of(tested->store, "a/b"), version);
    assert_int_equal(version_of(tested->inner, "a/b"), version);
}

static void test_version__opening_again_tells_the_same(void **state)
{
    (void)state;
    check_every_kind(check_opening);
}

static void check_growing(subject *tested)
{
    uint64_t version;
    pp_log *log;
    assert_ok(pp_store_open_log(tested->store, "log", 0, &log));
    version = version_of(tested->store, "log");
    assert_ok(pp_log_append(log, "x", 1));
    assert_int_not_equal(version_of(tested->store, "log"), version);
    pp_log_close(log);
}

static void test_version__a_log_that_grew_has_another(void **state)
{
    (void)state;
    check_every_kind(check_growing);
}

static void check_editing(subject *tested)
{
    struct timespec times[2] = {{.tv_sec = 1, .tv_nsec = 1}, {.tv_sec = 1, .tv_nsec = 2}};
    uint64_t version;
    assert_ok(put(tested->store, "a", "text", PP_PUBLISH_REPLACE));
    version = version_of(tested->store, "a");
    assert_int_equal(rename(scratch_path(&tested->made, "store/a"), scratch_path(&tested->made, "store/b")), 0);
    assert_int_equal(chmod(scratch_path(&tested->made, "store/b"), 0600), 0);
    assert_int_equal(version_of(tested->store, "b"), version);
    assert_int_equal(utimensat(AT_FDCWD, scratch_path(&tested->made, "store/b"), times, 0), 0);
    assert_int_not_equal(version_of(tested->store, "b"), version);
    version = version_of(tested->store, "b");
    times[1].tv_nsec = 3;
    assert_int_equal(utimensat(AT_FDCWD, scratch_path(&tested->made, "store/b"), times, 0), 0);
    assert_int_not_equal(version_of(tested->store, "b"), version);
}

static void test_version__a_file_changed_by_hand_has_another_but_not_one_renamed(void **state)
{
    size_t i;
    (void)state;
    for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].where != NULL)
            check_kind(&kinds[i], check_editing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_version__what_replaces_an_object_has_another),
        cmocka_unit_test(test_version__opening_again_tells_the_same),
        cmocka_unit_test(test_version__a_log_that_grew_has_another),
        cmocka_unit_test(test_version__a_file_changed_by_hand_has_another_but_not_one_renamed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
