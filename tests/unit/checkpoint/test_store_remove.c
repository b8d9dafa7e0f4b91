/* Removing nodes: what is told is gone, also when the removal fails at any of its operations, and removing again
 * finishes. */
#include "support.h"

#include "stored.h"
#include "stores/faulty.h"

enum { NODES_MOST = 8, PATH_MOST = 32 };

typedef struct told {
    char paths[NODES_MOST][PATH_MOST];
    int count;
} told;

static int note(void *context, const char *path, const char *kind)
{
    told *all = context;
    assert_true(all->count < NODES_MOST);
    assert_non_null(kind);
    (void)snprintf(all->paths[all->count++], PATH_MOST, "%s", path);
    return 0;
}

static void create_array(parapet_store *store, const char *path)
{
    int64_t extent[] = {4}, start[] = {0};
    int32_t values[] = {1, 2, 3, 4};
    parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 1, .shape = extent, .chunks = extent};
    parapet_part part = {.ndim = 1, .start = start, .count = extent, .data = values};
    parapet_array *array = NULL;
    assert_ok(parapet_array_create(&array, store, path, &spec));
    assert_ok(parapet_array_write(array, &part, 1));
    assert_ok(parapet_array_close(&array));
}

static bool is_there(parapet_store *store, const char *path)
{
    parapet_array *array = NULL;
    bool is_there = parapet_array_open(&array, store, path) == PARAPET_OK;
    if (is_there)
        assert_ok(parapet_array_close(&array));
    return is_there;
}

/* Storage is gone from an operation on, or fails there once. False: the removal needed fewer operations. */
static bool remove_with_fault(parapet_store *store, long at, bool is_forever, told *all)
{
    pp_fault_plan plan = {.fail_at = -1, .status = PARAPET_ERR_IO};
    parapet_store *over = NULL;
    pp_store *faulty;
    parapet_status status;
    assert_ok(pp_store_faulty_build(&faulty, store->backend, &plan));
    assert_ok(pp_store_open_over(&over, MPI_COMM_NULL, faulty, PARAPET_UPDATE, NULL));
    plan = (pp_fault_plan){.fail_at = at, .fail_forever = is_forever, .status = PARAPET_ERR_IO};
    status = parapet_store_remove(over, "g", 1, 0, note, all);
    if (status == PARAPET_ERR_IO && all->count > 0 && all->count < 4)
        assert_non_null(strstr(parapet_error_message(), "a part of \"g\" may be removed"));
    plan = (pp_fault_plan){.fail_at = -1, .status = PARAPET_ERR_IO};
    (void)parapet_store_close(&over);
    pp_store_free(faulty);
    return status != PARAPET_OK;
}

static bool check_point(long at, bool is_forever, long *partly)
{
    parapet_store *store = NULL;
    told all = {.count = 0}, rest = {.count = 0};
    parapet_status status;
    bool has_failed;
    int i;
    stored_open(&store, NULL);
    create_array(store, "g/a");
    create_array(store, "g/h/b");
    stored_put_text(store, "g/__parapet/change", "");
    has_failed = remove_with_fault(store, at, is_forever, &all);
    /* As long as an array is left, its group is known to have been interrupted. */
    assert_true(stored_has(store, "g/__parapet/change") || !stored_has(store, "g/zarr.json"));
    for (i = 0; i < all.count; i++)
        assert_false(is_there(store, all.paths[i]));
    *partly += has_failed && all.count > 0;
    status = parapet_store_remove(store, "g", 1, 0, note, &rest);
    assert_true(status == PARAPET_OK || status == PARAPET_ERR_NOT_FOUND);
    assert_false(is_there(store, "g/a") || is_there(store, "g/h/b"));
    assert_ok(parapet_store_close(&store));
    return has_failed;
}

static void test_remove__what_is_told_is_gone_wherever_it_fails(void **context)
{
    long at, partly = 0;
    (void)context;
    for (at = 0; check_point(at, true, &partly); at++)
        (void)check_point(at, false, &partly);
    assert_true(at > 20);
    assert_true(partly > 0);
}

static void test_remove__needs_recursive_for_a_group_and_for_the_store(void **context)
{
    parapet_store *store = NULL;
    told all = {.count = 0};
    (void)context;
    stored_open(&store, NULL);
    create_array(store, "g/a");
    assert_int_equal(parapet_store_remove(store, "g", 0, 0, note, &all), PARAPET_ERR_ARGUMENT);
    assert_int_equal(parapet_store_remove(store, "", 0, 0, note, &all), PARAPET_ERR_ARGUMENT);
    assert_int_equal(parapet_store_remove(store, NULL, 0, 0, note, &all), PARAPET_ERR_ARGUMENT);
    assert_true(is_there(store, "g/a"));
    assert_int_equal(all.count, 0);
    assert_ok(parapet_store_remove(store, "g/a", 0, 0, note, &all));
    assert_int_equal(all.count, 1);
    assert_string_equal(all.paths[0], "g/a");
    assert_ok(parapet_store_close(&store));
}

/* Groups in groups, all of the same name. */
static void nest_groups(parapet_store *store, int depth, char *path, size_t room)
{
    static const char document[] = "{\"zarr_format\": 3, \"node_type\": \"group\"}";
    char key[512];
    int i;
    path[0] = '\0';
    for (i = 0; i < depth; i++) {
        (void)snprintf(path + strlen(path), room - strlen(path), "%sd", i > 0 ? "/" : "");
        (void)snprintf(key, sizeof key, "%s/zarr.json", path);
        stored_put_text(store, key, document);
    }
}

static void test_remove__goes_as_deep_as_it_says_and_else_removes_nothing(void **context)
{
    parapet_store *store = NULL;
    char path[300], key[512];
    (void)context;
    stored_open(&store, NULL);
    nest_groups(store, PP_JSON_MAX_DEPTH + 2, path, sizeof path);
    assert_fails(parapet_store_remove(store, "d", 1, 0, NULL, NULL), PARAPET_ERR_UNSUPPORTED,
                 "groups are nested more than 64 deep");
    (void)snprintf(key, sizeof key, "%s/zarr.json", path);
    assert_true(stored_has(store, key));
    assert_true(stored_has(store, "d/zarr.json"));
    assert_ok(parapet_store_remove(store, "d/d", 1, 0, NULL, NULL));
    assert_false(stored_has(store, key));
    assert_ok(parapet_store_remove(store, "d", 1, 0, NULL, NULL));
    stored_close(&store);
}

/* What a copy has measured with lies at the root only; elsewhere such a name is somebody's. */
static void test_remove__of_the_store_takes_what_measuring_left(void **context)
{
    parapet_store *store = NULL;
    (void)context;
    stored_open(&store, NULL);
    create_array(store, "g/a");
    stored_put_text(store, "__parapet-probe-7/data", "");
    assert_ok(parapet_store_remove(store, "", 1, 0, NULL, NULL));
    assert_false(stored_has(store, "__parapet-probe-7/data"));
    assert_false(stored_has(store, "g/a/zarr.json"));
    stored_close(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_remove__of_the_store_takes_what_measuring_left),
        cmocka_unit_test(test_remove__what_is_told_is_gone_wherever_it_fails),
        cmocka_unit_test(test_remove__needs_recursive_for_a_group_and_for_the_store),
        cmocka_unit_test(test_remove__goes_as_deep_as_it_says_and_else_removes_nothing),
    };
    return cmocka_run_group_tests_name("checkpoint_store_remove", tests, NULL, NULL);
}
