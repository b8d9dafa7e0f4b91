/* A copy over an array that is sealed: whoever opens it, and wherever the copy ends, it is the old one, the new one
 * or none, and never one whose seal belongs to the other. */
#include "support.h"

#include "stored.h"
#include "stores/faulty.h"

static void create_sealed(parapet_store *store, const char *path, int32_t value, bool is_sealed)
{
    int64_t extent[] = {4}, start[] = {0};
    int32_t values[] = {value, value, value, value};
    parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 1, .shape = extent, .chunks = extent};
    parapet_part part = {.ndim = 1, .start = start, .count = extent, .data = values};
    parapet_array *array = NULL;
    assert_ok(parapet_array_create(&array, store, path, &spec));
    assert_ok(parapet_array_write(array, &part, 1));
    if (is_sealed)
        assert_ok(parapet_array_seal(array));
    assert_ok(parapet_array_close(&array));
}

/* 0: there is no array. */
static int32_t read_first(parapet_store *store, const char *path)
{
    int64_t start[] = {0}, count[] = {1};
    int32_t value = 0;
    parapet_part part = {.ndim = 1, .start = start, .count = count, .data = &value};
    parapet_array *array = NULL;
    parapet_status status = parapet_array_open(&array, store, path);
    if (status == PARAPET_ERR_NOT_FOUND)
        return 0;
    assert_ok(status);
    assert_ok(parapet_array_read(array, &part, 1));
    assert_ok(parapet_array_close(&array));
    return value;
}

/* Storage is gone from an operation on. False: the copy needed fewer operations. */
static bool copy_until(parapet_store *store, parapet_copy_request request, long at)
{
    pp_fault_plan plan = {.fail_at = -1, .status = PARAPET_ERR_IO};
    parapet_store *over = NULL;
    pp_store *faulty;
    parapet_status status;
    assert_ok(pp_store_faulty_build(&faulty, store->backend, &plan));
    assert_ok(pp_store_open_over(&over, MPI_COMM_NULL, faulty, PARAPET_UPDATE, NULL));
    plan = (pp_fault_plan){.fail_at = at, .fail_forever = true, .status = PARAPET_ERR_IO};
    request.source = request.target = over;
    status = parapet_copy(&request, NULL);
    plan = (pp_fault_plan){.fail_at = -1, .status = PARAPET_ERR_IO};
    (void)parapet_store_close(&over);
    pp_store_free(faulty);
    return status != PARAPET_OK;
}

static void test_copy__over_a_sealed_array_leaves_no_seal_with_another_document(void **state)
{
    parapet_copy_request over_old = {.source_path = "new", .target_path = "old", .overwrite = 1, .no_probe = 1};
    bool has_failed = true;
    int32_t value = 1;
    long at, seen[3] = {0};
    (void)state;
    for (at = 0; has_failed; at++) {
        parapet_store *store;
        stored_open(&store, NULL);
        create_sealed(store, "old", 1, true);
        create_sealed(store, "new", 2, false);
        has_failed = copy_until(store, over_old, at);
        value = read_first(store, "old");
        assert_in_range(value, 0, 2);
        seen[value]++;
        stored_close(&store);
    }
    assert_int_equal(value, 2);
    assert_true(seen[0] > 0 && seen[1] > 0 && seen[2] > 1); /* also a copy that ends after the array is visible */
}

static void seal(parapet_store *store, const char *path)
{
    parapet_array *array = NULL;
    assert_ok(parapet_array_open(&array, store, path));
    assert_ok(parapet_array_seal(array));
    assert_ok(parapet_array_close(&array));
}

static void test_copy__of_a_tree_that_is_resumed_leaves_the_seal_of_what_was_finished(void **state)
{
    parapet_copy_request tree = {.source_path = "s", .target_path = "t", .no_probe = 1}, rest = tree;
    bool has_failed = true, has_resumed;
    long at, resumed = 0;
    (void)state;
    rest.resume = 1;
    for (at = 0; has_failed; at++) {
        parapet_store *store;
        stored_open(&store, NULL);
        create_sealed(store, "s/a", 1, false);
        create_sealed(store, "s/b", 2, false);
        has_failed = copy_until(store, tree, at);
        if (has_failed && read_first(store, "t/a") == 1 && read_first(store, "t/b") == 0) {
            seal(store, "t/a");
            has_resumed = !copy_until(store, rest, -1); /* not if it had something left to do at "t/a" */
            assert_int_equal(read_first(store, "t/a"), 1);
            assert_int_equal(read_first(store, "t/b"), has_resumed ? 2 : 0);
            resumed += has_resumed;
        }
        stored_close(&store);
    }
    assert_true(resumed > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copy__over_a_sealed_array_leaves_no_seal_with_another_document),
        cmocka_unit_test(test_copy__of_a_tree_that_is_resumed_leaves_the_seal_of_what_was_finished),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
