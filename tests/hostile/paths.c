/* paths.c - names that lead away from a store, given to every function that takes one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <parapet.h>

#include "scratch.h"

#define TOP "paths.scratch"
#define ROOT TOP "/store"

static parapet_store *store;
static char overlong_name[300], overlong_path[5000], many_names[400];

static const char *const bad_paths[] = {
    "..",
    "../outside",
    "../../etc/passwd",
    "a/../b",
    "a/..",
    "a/../../outside",
    ".",
    "./a",
    "a/.",
    "a/./b",
    "...",
    "a/..../b",
    "a//b",
    "__x",
    "a/__parapet/tmp",
    "__parapet",
    "zarr.json",
    "a/zarr.json",
    "zarr.json/a",
    "a\nb",
    "a\x01"
    "b",
    "a\x1b[31m",
    "a\x7f",
    "a\xc2\x85"
    "b",
    "a\xff"
    "b",
    "a\xc0\xaf..",
    "\xed\xa0\x80",
    "a/\t",
    overlong_name,
    overlong_path,
    many_names,
};

static int open_store(void **state)
{
    (void)state;
    scratch_remove(TOP);
    memset(overlong_name, 'n', 256);
    memset(overlong_path, 'p', sizeof overlong_path - 1);
    memset(many_names, 'a', sizeof many_names - 1);
    for (size_t i = 0; i + 1 < sizeof overlong_path; i++)
        overlong_path[i] = i % 8 == 7 ? '/' : 'p';
    for (size_t i = 1; i + 1 < sizeof many_names; i += 2)
        many_names[i] = '/';
    if (mkdir(TOP, 0777) != 0 || mkdir(TOP "/outside", 0777) != 0 || !scratch_write(TOP "/canary", "canary", 6))
        return -1;
    return parapet_store_open(&store, MPI_COMM_NULL, ROOT, PARAPET_CREATE, NULL);
}

static int close_store(void **state)
{
    (void)state;
    (void)parapet_store_close(&store);
    scratch_remove(TOP);
    return 0;
}

static parapet_status create_array(const char *path)
{
    static const int64_t shape[1] = {4};
    const parapet_array_spec spec = {.type = PARAPET_UINT8, .ndim = 1, .shape = shape};
    parapet_array *array = NULL;
    parapet_status status = parapet_array_create(&array, store, path, &spec);
    (void)parapet_array_close(&array);
    return status;
}

static parapet_status open_array(const char *path)
{
    parapet_array *array = NULL;
    parapet_status status = parapet_array_open(&array, store, path);
    (void)parapet_array_close(&array);
    return status;
}

static parapet_status create_group(const char *path)
{
    parapet_group *group = NULL;
    parapet_status status = parapet_group_create(&group, store, path, NULL);
    (void)parapet_group_close(&group);
    return status;
}

static parapet_status open_group(const char *path)
{
    parapet_group *group = NULL;
    parapet_status status = parapet_group_open(&group, store, path);
    (void)parapet_group_close(&group);
    return status;
}

static void check_refused(parapet_status (*call)(const char *path), const char *what)
{
    size_t i;
    for (i = 0; i < sizeof bad_paths / sizeof bad_paths[0]; i++) {
        int before = scratch_count(TOP);
        parapet_status status = call(bad_paths[i]);
        if (status != PARAPET_ERR_ARGUMENT)
            fail_msg("%s of \"%.80s\": %s", what, bad_paths[i], parapet_status_name(status));
        if (strstr(parapet_error_message(), "path") == NULL)
            fail_msg("%s of \"%.80s\": \"%s\"", what, bad_paths[i], parapet_error_message());
        if (scratch_count(TOP) != before)
            fail_msg("%s of \"%.80s\" made or removed something", what, bad_paths[i]);
    }
    assert_true(scratch_holds(TOP "/canary", "canary", 6));
}

static void test_path__bad_ones_are_refused_by_array_create(void **state)
{
    (void)state;
    check_refused(create_array, "array_create");
}

static void test_path__bad_ones_are_refused_by_array_open(void **state)
{
    (void)state;
    check_refused(open_array, "array_open");
}

static void test_path__bad_ones_are_refused_by_group_create(void **state)
{
    (void)state;
    check_refused(create_group, "group_create");
}

static void test_path__bad_ones_are_refused_by_group_open(void **state)
{
    (void)state;
    check_refused(open_group, "group_open");
}

static void test_path__null_is_refused(void **state)
{
    (void)state;
    assert_int_equal(create_array(NULL), PARAPET_ERR_ARGUMENT);
    assert_int_equal(open_array(NULL), PARAPET_ERR_ARGUMENT);
    assert_int_equal(create_group(NULL), PARAPET_ERR_ARGUMENT);
    assert_int_equal(open_group(NULL), PARAPET_ERR_ARGUMENT);
}

/* A leading slash means the root of the store, never that of the machine. */
static void test_path__a_leading_slash_stays_in_the_store(void **state)
{
    struct stat found;
    (void)state;
    assert_int_equal(create_array("/parapet-absolute/a"), PARAPET_OK);
    assert_int_equal(stat(ROOT "/parapet-absolute/a/zarr.json", &found), 0);
    assert_int_not_equal(stat("/parapet-absolute", &found), 0);
    assert_int_equal(open_array("parapet-absolute/a"), PARAPET_OK);
}

static void test_path__an_attacker_s_link_is_not_created_through(void **state)
{
    int outside = scratch_count(TOP "/outside");
    (void)state;
    assert_int_equal(symlink("../outside", ROOT "/linked"), 0);
    assert_int_equal(create_array("linked/a"), PARAPET_ERR_IO);
    assert_int_equal(create_array("linked"), PARAPET_ERR_IO);
    assert_int_equal(create_group("linked/g/h"), PARAPET_ERR_IO);
    assert_int_equal(scratch_count(TOP "/outside"), outside);
}

/* Replacing an array removes what is its own: a link below it is not, and nothing is removed through it. */
static void test_path__overwriting_refuses_a_link_among_the_shards(void **state)
{
    static const int64_t shape[1] = {4};
    const parapet_array_spec spec = {.type = PARAPET_UINT8, .ndim = 1, .shape = shape, .overwrite = 1};
    parapet_array *array = NULL;
    struct stat found;
    (void)state;
    assert_int_equal(create_array("replaced"), PARAPET_OK);
    assert_true(scratch_write(TOP "/outside/kept", "kept", 4));
    assert_int_equal(symlink("../../outside", ROOT "/replaced/c"), 0);
    assert_int_equal(parapet_array_create(&array, store, "replaced", &spec), PARAPET_ERR_IO);
    assert_true(scratch_holds(TOP "/outside/kept", "kept", 4));
    assert_int_equal(lstat(ROOT "/replaced/c", &found), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_path__bad_ones_are_refused_by_array_create),
        cmocka_unit_test(test_path__bad_ones_are_refused_by_array_open),
        cmocka_unit_test(test_path__bad_ones_are_refused_by_group_create),
        cmocka_unit_test(test_path__bad_ones_are_refused_by_group_open),
        cmocka_unit_test(test_path__null_is_refused),
        cmocka_unit_test(test_path__a_leading_slash_stays_in_the_store),
        cmocka_unit_test(test_path__an_attacker_s_link_is_not_created_through),
        cmocka_unit_test(test_path__overwriting_refuses_a_link_among_the_shards),
    };
    return cmocka_run_group_tests(tests, open_store, close_store);
}
