/* A copy that fails, and an array that is made or overwritten, leave what somebody else keeps at the target. */
#include "scratch.h"

#include <errno.h>

#include <parapet.h>

enum { EXTENT = 16 };

static double values[EXTENT];

static parapet_status make_array(parapet_store *store, const char *path, int overwrite)
{
    int64_t start[] = {0}, shape[] = {EXTENT}, chunks[] = {4};
    parapet_array_spec spec = {.type = PARAPET_FLOAT64,
                               .ndim = 1,
                               .shape = shape,
                               .chunks = chunks,
                               .shards = chunks,
                               .codec = "none",
                               .overwrite = overwrite};
    parapet_part part = {.ndim = 1, .start = start, .count = shape, .data = values};
    parapet_array *array = NULL;
    parapet_status status = parapet_array_create(&array, store, path, &spec);
    if (status != PARAPET_OK)
        return status;
    values[0] = 1;
    assert_ok(parapet_array_write(array, &part, 1));
    return parapet_array_close(&array);
}

static parapet_status copy(parapet_store *store, int overwrite)
{
    parapet_copy_request request = {.source = store,
                                    .source_path = "source",
                                    .target = store,
                                    .target_path = "a",
                                    .overwrite = overwrite,
                                    .no_probe = 1};
    request.changes.chunks = "8";
    return parapet_copy(&request, NULL);
}

static parapet_store *prepare(scratch *made)
{
    parapet_store *store = NULL;
    *made = scratch_make(SCRATCH_HERE);
    assert_ok(parapet_store_open(&store, MPI_COMM_NULL, made->root, PARAPET_CREATE, NULL));
    assert_ok(make_array(store, "source", 0));
    return store;
}

static void finish(scratch *made, parapet_store *store)
{
    assert_ok(parapet_store_close(&store));
    scratch_remove(made);
}

static void put_files(const scratch *made)
{
    assert_true(mkdir(scratch_path(made, "store/a"), 0777) == 0 || errno == EEXIST);
    assert_int_equal(mkdir(scratch_path(made, "store/a/plots"), 0777), 0);
    write_file(scratch_path(made, "store/a/notes.txt"), "precious");
    write_file(scratch_path(made, "store/a/plots/p.png"), "png");
}

static void assert_files(const scratch *made)
{
    assert_file(scratch_path(made, "store/a/notes.txt"), "precious");
    assert_file(scratch_path(made, "store/a/plots/p.png"), "png");
}

static void damage_source(const scratch *made)
{
    FILE *file = fopen(scratch_path(made, "store/source/c/3"), "r+");
    assert_non_null(file);
    assert_int_equal(fputc(0x55, file), 0x55);
    assert_int_equal(fclose(file), 0);
}

static void test_copy__that_fails_leaves_the_files_of_a_plain_directory(void **context)
{
    scratch made;
    parapet_store *store = prepare(&made);
    (void)context;
    put_files(&made);
    damage_source(&made);
    assert_int_equal(copy(store, 0), PARAPET_ERR_CORRUPT);
    assert_files(&made);
    assert_int_equal(access(scratch_path(&made, "store/a/c"), F_OK), -1);
    assert_int_equal(access(scratch_path(&made, "store/a/__parapet/copy"), F_OK), -1);
    finish(&made, store);
}

static void test_copy__that_fails_where_nothing_was_leaves_nothing(void **context)
{
    scratch made;
    parapet_store *store = prepare(&made);
    (void)context;
    damage_source(&made);
    assert_int_equal(copy(store, 0), PARAPET_ERR_CORRUPT);
    assert_int_equal(access(scratch_path(&made, "store/a/c"), F_OK), -1);
    assert_int_equal(access(scratch_path(&made, "store/a/zarr.json"), F_OK), -1);
    finish(&made, store);
}

static void test_create__does_not_take_files_for_remains_of_an_array(void **context)
{
    scratch made;
    parapet_store *store = prepare(&made);
    (void)context;
    put_files(&made);
    assert_int_equal(mkdir(scratch_path(&made, "store/a/c"), 0777), 0);
    write_file(scratch_path(&made, "store/a/c/0"), "mine");
    assert_int_equal(make_array(store, "a", 1), PARAPET_ERR_EXISTS);
    assert_int_equal(copy(store, 1), PARAPET_ERR_EXISTS);
    assert_file(scratch_path(&made, "store/a/c/0"), "mine");
    assert_files(&made);
    finish(&made, store);
}

static void test_overwrite__leaves_files_beside_the_array(void **context)
{
    scratch made;
    parapet_store *store = prepare(&made);
    (void)context;
    assert_ok(make_array(store, "a", 0));
    put_files(&made);
    write_file(scratch_path(&made, "store/a/c/mine.txt"), "mine");
    assert_ok(make_array(store, "a", 1));
    assert_ok(copy(store, 1));
    damage_source(&made);
    assert_int_equal(copy(store, 1), PARAPET_ERR_CORRUPT);
    assert_file(scratch_path(&made, "store/a/c/mine.txt"), "mine");
    assert_files(&made);
    finish(&made, store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_copy__that_fails_leaves_the_files_of_a_plain_directory),
                                       cmocka_unit_test(test_copy__that_fails_where_nothing_was_leaves_nothing),
                                       cmocka_unit_test(test_create__does_not_take_files_for_remains_of_an_array),
                                       cmocka_unit_test(test_overwrite__leaves_files_beside_the_array)};
    return cmocka_run_group_tests_name("finding_F13", tests, NULL, NULL);
}
