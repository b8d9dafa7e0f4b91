#include "scratch.h"

#include "foreign/foreign.h"

#define RAW "raw:type=uint8,shape=4:"

static const char *in(const scratch *where, const char *before, const char *name)
{
    static char path[400];
    (void)snprintf(path, sizeof path, "%s%s/%s", before, where->path, name);
    return path;
}

static void test_open__a_file_is_foreign_and_a_directory_is_not(void **state)
{
    scratch where = scratch_make(SCRATCH_HERE);
    (void)state;
    write_file(in(&where, "", "file"), "text");
    assert_true(pp_foreign_is(in(&where, "", "file")));
    assert_true(pp_foreign_is(in(&where, "", "file/name")));
    assert_true(pp_foreign_is("raw:"));
    assert_false(pp_foreign_is(where.path));
    assert_false(pp_foreign_is(in(&where, "", "nothing")));
    assert_true(pp_foreign_is(in(&where, "", "file/name/below")));
    assert_true(pp_foreign_is("places:table:file"));
    assert_false(pp_foreign_is(in(&where, "", "nothing/name/below")));
    scratch_remove(&where);
}

static void test_open__a_link_to_a_file_is_followed(void **state)
{
    scratch where = scratch_make(SCRATCH_HERE);
    pp_store *store;
    char *data;
    size_t bytes;
    (void)state;
    write_file(in(&where, "", "file"), "text");
    assert_int_equal(symlink("file", in(&where, "", "link")), 0);
    assert_ok(pp_foreign_build(&store, in(&where, RAW, "link"), PP_DIRECT_IO_LARGE));
    assert_ok(pp_store_read_all(store, "c/0", 100, &data, &bytes));
    assert_memory_equal(data, "text", 4);
    pp_free(data);
    pp_store_free(store);
    scratch_remove(&where);
}

static void test_open__a_file_that_changes_meanwhile_is_stale(void **state)
{
    scratch where = scratch_make(SCRATCH_HERE);
    pp_store *store;
    char *data;
    size_t bytes;
    (void)state;
    write_file(in(&where, "", "file"), "text");
    assert_ok(pp_foreign_build(&store, in(&where, RAW, "file"), PP_DIRECT_IO_LARGE));
    write_file(in(&where, "", "file"), "te"); /* shorter: the bytes are not even there any more */
    assert_fails(pp_store_read_all(store, "c/0", 100, &data, &bytes), PARAPET_ERR_STALE, "open it again");
    assert_int_equal(unlink(in(&where, "", "file")), 0);
    assert_fails(pp_store_read_all(store, "c/0", 100, &data, &bytes), PARAPET_ERR_STALE, "open it again");
    pp_store_free(store);
    scratch_remove(&where);
}

static void test_open__what_cannot_be_opened_is_named(void **state)
{
    scratch where = scratch_make(SCRATCH_HERE);
    pp_store *store;
    (void)state;
    write_file(in(&where, "", "file"), "text");
    assert_fails(pp_foreign_build(&store, in(&where, "", "file"), PP_DIRECT_IO_LARGE), PARAPET_ERR_UNSUPPORTED,
                 "raw:type=");
    assert_fails(pp_foreign_build(&store, in(&where, RAW, "nothing"), PP_DIRECT_IO_LARGE), PARAPET_ERR_NOT_FOUND,
                 "nothing");
    assert_fails(pp_foreign_build(&store, "raw:type=uint8", PP_DIRECT_IO_LARGE), PARAPET_ERR_ARGUMENT,
                 "after the words");
    scratch_remove(&where);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open__a_file_is_foreign_and_a_directory_is_not),
        cmocka_unit_test(test_open__a_link_to_a_file_is_followed),
        cmocka_unit_test(test_open__a_file_that_changes_meanwhile_is_stale),
        cmocka_unit_test(test_open__what_cannot_be_opened_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
