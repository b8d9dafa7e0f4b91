/* A start that finds no memory leaves nothing behind, wherever it finds none; and what was started is done. */
#include "support.h"

#include <stdatomic.h>

#include "stored.h"

static atomic_int allowed; /* allocations that succeed before one fails; below 0: all do */

static int refuse_one(void *context, size_t bytes)
{
    (void)context, (void)bytes;
    return atomic_fetch_sub(&allowed, 1) == 0;
}

static parapet_status write_beside(parapet_array *array, int32_t *values)
{
    int64_t start[1] = {0}, count[1] = {8};
    parapet_part part = {.ndim = 1, .start = start, .count = count, .data = values};
    parapet_request *request = NULL;
    parapet_status status = parapet_array_start_write(&request, array, &part, 1, PARAPET_BUFFERING_COPY);
    if (status == PARAPET_OK)
        return parapet_request_wait(&request);
    assert_null(request);
    return status;
}

static void test_start__survives_every_lack_of_memory(void **state)
{
    int64_t shape[1] = {8}, start[1] = {0};
    parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 1, .shape = shape};
    int32_t values[8] = {1, 2, 3, 4, 5, 6, 7, 8}, got[8] = {0};
    parapet_part part = {.ndim = 1, .start = start, .count = shape, .data = got};
    parapet_status status = PARAPET_ERR_MEMORY;
    parapet_array *array = NULL;
    parapet_store *store;
    long live;
    int i;
    (void)state;
    stored_open(&store, NULL);
    assert_ok(parapet_array_create(&array, store, "a", &spec));
    assert_ok(write_beside(array, values));
    live = pp_memory_live_count();
    pp_memory_hook_set(refuse_one, NULL);
    for (i = 0; status == PARAPET_ERR_MEMORY; i++) {
        atomic_store(&allowed, i);
        values[0] = i;
        status = write_beside(array, values);
        if (status == PARAPET_ERR_MEMORY)
            assert_int_equal(pp_memory_live_count(), live);
    }
    pp_memory_hook_set(NULL, NULL);
    assert_ok(status);
    assert_true(i > 5);
    assert_ok(parapet_array_read(array, &part, 1));
    assert_memory_equal(got, values, sizeof got);
    assert_ok(parapet_array_close(&array));
    stored_close(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_start__survives_every_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
