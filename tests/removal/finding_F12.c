/* A copy that replaces an array: whatever fails, and wherever it is killed, the old array is there, or none and the
 * copy can be resumed, or the new one; never a mixture, and never neither. */
#include "scratch.h"

#include <parapet.h>

#include "array/open.h"
#include "stores/faulty.h"

enum { EXTENT = 32, ELEMENTS = EXTENT * EXTENT, CHUNK = 8 };

static double values[ELEMENTS];

static parapet_status write_values(parapet_store *store, const char *path, int64_t chunk, double first)
{
    int64_t start[] = {0, 0}, shape[] = {EXTENT, EXTENT}, chunks[] = {chunk, chunk};
    parapet_array_spec spec = {
        .type = PARAPET_FLOAT64, .ndim = 2, .shape = shape, .chunks = chunks, .shards = chunks, .codec = "none"};
    parapet_part part = {.ndim = 2, .start = start, .count = shape, .data = values};
    parapet_array *array = NULL;
    int i;
    for (i = 0; i < ELEMENTS; i++)
        values[i] = first + i;
    assert_ok(parapet_array_create(&array, store, path, &spec));
    assert_ok(parapet_array_write(array, &part, 1));
    return parapet_array_close(&array);
}

/* The first element of an array that is whole; 0: there is no array. */
static double read_first(parapet_store *store, const char *path)
{
    int64_t start[] = {0, 0}, shape[] = {EXTENT, EXTENT};
    parapet_part part = {.ndim = 2, .start = start, .count = shape, .data = values};
    parapet_array *array = NULL;
    int i;
    if (parapet_array_open(&array, store, path) != PARAPET_OK)
        return 0;
    assert_ok(parapet_array_read(array, &part, 1));
    assert_ok(parapet_array_close(&array));
    for (i = 0; i < ELEMENTS; i++)
        if (values[i] != values[0] + i)
            fail_msg("a mixture: element %d is %g, but the first is %g", i, values[i], values[0]);
    return values[0];
}

static parapet_status copy(parapet_store *store, bool resumes)
{
    parapet_copy_request request = {.source = store,
                                    .source_path = "new",
                                    .target = store,
                                    .target_path = "a",
                                    .overwrite = !resumes,
                                    .resume = resumes,
                                    .no_probe = 1};
    request.changes.chunks = "16,16";
    request.changes.shards = "16,16";
    return parapet_copy(&request, NULL);
}

static void test_replacing__a_damaged_source_leaves_the_old_array(void **context)
{
    scratch made = scratch_make(SCRATCH_HERE);
    parapet_store *store = NULL;
    FILE *file;
    (void)context;
    assert_ok(parapet_store_open(&store, MPI_COMM_NULL, made.root, PARAPET_CREATE, NULL));
    assert_ok(write_values(store, "new", CHUNK, 5000));
    assert_ok(write_values(store, "a", CHUNK, 1000));
    file = fopen(scratch_path(&made, "store/new/c/3/0"), "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, 100, SEEK_SET), 0);
    assert_int_equal(fputc(0x55, file), 0x55);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(copy(store, false), PARAPET_ERR_CORRUPT);
    assert_true(read_first(store, "a") == 1000);
    assert_int_equal(access(scratch_path(&made, "store/a/__parapet/copy"), F_OK), -1);
    assert_ok(parapet_store_close(&store));
    scratch_remove(&made);
}

/* Whether the point was reached. From there on every operation fails, as if the process had been killed. */
static bool run_to(long at, long seen[3])
{
    pp_store *inner, *faulty;
    pp_fault_plan plan = {.fail_at = -1, .status = PARAPET_ERR_IO};
    parapet_store *store = NULL;
    parapet_status status;
    double first;
    assert_ok(pp_store_memory_build(&inner, NULL));
    assert_ok(pp_store_faulty_build(&faulty, inner, &plan));
    assert_ok(pp_store_open_over(&store, MPI_COMM_NULL, faulty, PARAPET_CREATE, NULL));
    assert_ok(write_values(store, "new", CHUNK, 5000));
    assert_ok(write_values(store, "a", CHUNK, 1000));
    plan = (pp_fault_plan){.fail_at = at, .fail_forever = true, .status = PARAPET_ERR_IO};
    status = copy(store, false);
    plan.fail_at = -1;
    first = read_first(store, "a");
    seen[first == 1000 ? 0 : first == 0 ? 1 : 2]++;
    if (first != 0 && first != 1000 && first != 5000)
        fail_msg("killed at %ld: the first element is %g", at, first);
    if (first == 0) {
        assert_ok(parapet_store_collect(store, "", 0, NULL, NULL));
        assert_ok(copy(store, true));
        assert_true(read_first(store, "a") == 5000);
    }
    if (status == PARAPET_OK)
        assert_true(first == 5000);
    assert_ok(copy(store, false));
    assert_true(read_first(store, "a") == 5000);
    assert_ok(parapet_store_close(&store));
    pp_store_free(faulty);
    pp_store_free(inner);
    return plan.failures > 0;
}

static void test_replacing__killed_anywhere_leaves_the_old_array_or_none_or_the_new_one(void **context)
{
    long at = 0, seen[3] = {0, 0, 0};
    (void)context;
    while (run_to(at, seen))
        at++;
    printf("%ld points: %ld left the old array, %ld none, %ld the new one\n", at, seen[0], seen[1], seen[2]);
    assert_true(seen[0] > 0 && seen[1] > 0 && seen[2] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replacing__a_damaged_source_leaves_the_old_array),
        cmocka_unit_test(test_replacing__killed_anywhere_leaves_the_old_array_or_none_or_the_new_one)};
    return cmocka_run_group_tests_name("finding_F12", tests, NULL, NULL);
}
