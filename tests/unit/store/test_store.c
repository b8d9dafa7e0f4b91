/* What is refused for every implementation before it is asked, and where the root of a directory may be. */
#include "kinds.h"

static void check_keys(subject *tested)
{
    pp_store *store = tested->store;
    pp_lock_view view = {0};
    uint64_t version;
    char names[1024] = "";
    pp_lock *lock;
    assert_fails(pp_store_open_lock(store, "a/../lock", &lock), PARAPET_ERR_ARGUMENT, "..");
    assert_fails(pp_store_view_lock(store, "", &view), PARAPET_ERR_ARGUMENT, "empty");
    assert_fails(pp_store_version(store, "/a", &version), PARAPET_ERR_ARGUMENT, "empty");
    assert_fails(pp_store_remove(store, "a/./b"), PARAPET_ERR_ARGUMENT, "a/./b");
    assert_fails(pp_store_remove_prefix(store, "a//b"), PARAPET_ERR_ARGUMENT, "empty");
    assert_fails(pp_store_remove_empty(store, "a//b"), PARAPET_ERR_ARGUMENT, "empty");
    assert_fails(pp_store_list(store, NULL, note_name, names), PARAPET_ERR_ARGUMENT, "empty");
    assert_fails(pp_store_list(store, "missing", note_name, names), PARAPET_ERR_NOT_FOUND, "missing");
}

static void test_store__refuses_bad_keys_of_every_operation(void **state)
{
    (void)state;
    check_every_kind(check_keys);
}

static void check_ranges(subject *tested)
{
    pp_reader *reader;
    char byte;
    assert_ok(put(tested->store, "a", "four", PP_PUBLISH_REPLACE));
    assert_ok(pp_store_open_object(tested->store, "a", &reader));
    assert_fails(pp_reader_read(reader, 5, 0, &byte), PARAPET_ERR_INTERNAL, "outside");
    assert_fails(pp_reader_read(reader, 4, 1, &byte), PARAPET_ERR_INTERNAL, "outside");
    assert_ok(pp_reader_read(reader, 3, 1, &byte));
    assert_int_equal(byte, 'r');
    pp_reader_free(reader);
}

static void test_store__reads_nothing_outside_an_object(void **state)
{
    (void)state;
    check_every_kind(check_ranges);
}

static void check_long_names(subject *tested)
{
    char staging[PP_MAX_KEY_BYTES], text[PP_LOCK_TEXT_BYTES + 2];
    pp_write_request request = {.key = "a", .staging = staging, .name = "temporary", .is_small = true};
    pp_writer *writer;
    pp_lock *lock;
    memset(staging, 'x', sizeof staging);
    staging[sizeof staging - 4] = '\0';
    assert_fails(pp_store_begin(tested->store, &request, &writer), PARAPET_ERR_ARGUMENT, "too long");
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    assert_ok(pp_store_open_lock(tested->store, "node/lock", &lock));
    assert_fails(pp_lock_write(lock, text), PARAPET_ERR_INTERNAL, "text of a lock");
    pp_lock_close(lock);
}

static void test_store__refuses_names_and_texts_that_are_too_long(void **state)
{
    (void)state;
    check_every_kind(check_long_names);
}

/* A store around another one may leave locks to it: both then mean the same lock. */
static void test_store__uses_the_locks_of_the_store_that_it_wraps(void **state)
{
    pp_fault_plan plan = {.fail_at = -1};
    pp_store *inner, *outer;
    pp_lock *one, *other;
    (void)state;
    assert_ok(pp_store_memory_build(&inner, NULL));
    assert_ok(pp_store_faulty_build(&outer, inner, &plan));
    outer->locks_of = inner;
    assert_ok(pp_store_open_lock(outer, "lock", &one));
    assert_ok(pp_store_open_lock(inner, "lock", &other));
    assert_int_equal(plan.operations, 0);
    assert_ok(pp_lock_set(one, PP_LOCK_LONG, PP_LOCK_EXCLUSIVE));
    assert_fails(pp_lock_set(other, PP_LOCK_LONG, PP_LOCK_SHARED), PARAPET_ERR_BUSY, "lock");
    pp_lock_close(other);
    pp_lock_close(one);
    pp_store_free(outer);
    pp_store_free(inner);
}

static void check_root(const char *root)
{
    pp_store *store;
    assert_ok(pp_store_posix_build(&store, root, &(pp_posix_options){.create = true}));
    assert_ok(put(store, "a", "text", PP_PUBLISH_REPLACE));
    assert_object(store, "a", "text");
    pp_store_free(store);
}

static void test_store__may_have_its_root_anywhere(void **state)
{
    scratch made = scratch_make(SCRATCH_MEMORY);
    char before[1024], path[300];
    (void)state;
    assert_non_null(getcwd(before, sizeof before));
    (void)snprintf(path, sizeof path, "%s//slashes///", made.path);
    check_root(path);
    assert_int_equal(chdir(made.path), 0);
    check_root("here");
    check_root("below/");
    check_root("./below/deeper");
    assert_int_equal(chdir(before), 0);
    assert_file(scratch_path(&made, "slashes/a"), "text");
    assert_file(scratch_path(&made, "here/a"), "text");
    assert_file(scratch_path(&made, "below/deeper/a"), "text");
    scratch_remove(&made);
}

static void test_store__finds_the_root_of_the_system(void **state)
{
    pp_store *store;
    (void)state;
    assert_ok(pp_store_posix_build(&store, "/", &(pp_posix_options){.create = true, .read_only = true}));
    assert_fails(put(store, "a", "text", PP_PUBLISH_REPLACE), PARAPET_ERR_ARGUMENT, "");
    pp_store_free(store);
}

/* Two handles on one directory are one store; two directories are not. */
static void test_store__knows_itself_by_its_place(void **state)
{
    scratch made = scratch_make(SCRATCH_MEMORY);
    pp_store *one = scratch_store(&made, PP_DIRECT_IO_LARGE), *same, *below, *memory, *other;
    (void)state;
    assert_ok(pp_store_posix_build(&same, scratch_path(&made, "store"), &(pp_posix_options){.read_only = true}));
    assert_ok(pp_store_posix_build(&below, scratch_path(&made, "store/below"), &(pp_posix_options){.create = true}));
    assert_ok(pp_store_memory_build(&memory, NULL));
    assert_ok(pp_store_memory_build(&other, NULL));
    assert_true(pp_store_is_same(one, one));
    assert_true(pp_store_is_same(one, same));
    assert_false(pp_store_is_same(one, below));
    assert_false(pp_store_is_same(one, memory));
    assert_false(pp_store_is_same(memory, other));
    pp_store_free(other);
    pp_store_free(memory);
    pp_store_free(below);
    pp_store_free(same);
    pp_store_free(one);
    scratch_remove(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_store__refuses_bad_keys_of_every_operation),
        cmocka_unit_test(test_store__reads_nothing_outside_an_object),
        cmocka_unit_test(test_store__refuses_names_and_texts_that_are_too_long),
        cmocka_unit_test(test_store__uses_the_locks_of_the_store_that_it_wraps),
        cmocka_unit_test(test_store__may_have_its_root_anywhere),
        cmocka_unit_test(test_store__finds_the_root_of_the_system),
        cmocka_unit_test(test_store__knows_itself_by_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
