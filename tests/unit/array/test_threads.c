/* In which thread a transfer of one process asks its storage. */
#include "support.h"

#include <pthread.h>
#include <stdatomic.h>

#include "array/open.h"
#include "store/wrapper.h"
#include "stored.h"

enum { ELEMENTS = 1 << 21, CHUNK_ELEMENTS = 1 << 19 };

static double values[ELEMENTS];

static pthread_t caller;
static atomic_int elsewhere; /* operations in other threads than the caller's */

static parapet_status note_thread(pp_wrapper *wrapper, pp_operation *operation)
{
    (void)wrapper;
    (void)operation;
    if (!pthread_equal(pthread_self(), caller))
        atomic_fetch_add(&elsewhere, 1);
    return PARAPET_OK;
}

static parapet_status pass_on(pp_wrapper *wrapper, const pp_operation *operation, parapet_status status)
{
    (void)wrapper;
    (void)operation;
    return status;
}

static void keep(pp_wrapper *wrapper)
{
    (void)wrapper;
}

static const pp_wrapper_hooks hooks = {"noting threads", note_thread, pass_on, keep};

typedef parapet_status (*transfer)(parapet_array *array, const parapet_part *parts, int part_count);

/* How many operations of a call that moves this many elements were made in other threads. */
static int count_elsewhere(parapet_array *array, transfer call, int64_t count)
{
    int64_t start = 0;
    parapet_part part = {.ndim = 1, .start = &start, .count = &count, .data = values};
    atomic_store(&elsewhere, 0);
    assert_ok(call(array, &part, 1));
    return atomic_load(&elsewhere);
}

static void check(const int64_t *shards, bool is_write_alone)
{
    int64_t shape = ELEMENTS, chunks = CHUNK_ELEMENTS;
    parapet_array_spec spec = {.type = PARAPET_FLOAT64,
                               .ndim = 1,
                               .shape = &shape,
                               .chunks = &chunks,
                               .shards = shards,
                               .unsharded = shards == NULL};
    static pp_wrapper wrapper;
    parapet_store *store;
    parapet_array *array;
    pp_store *memory;
    caller = pthread_self();
    assert_ok(pp_store_memory_build(&memory, NULL));
    pp_wrapper_init(&wrapper, memory, &hooks);
    assert_ok(pp_store_open_over(&store, MPI_COMM_NULL, &wrapper.store, PARAPET_CREATE, NULL));
    assert_ok(parapet_array_create(&array, store, "a", &spec));
    assert_true(count_elsewhere(array, parapet_array_write, ELEMENTS) > 0);
    assert_int_equal(count_elsewhere(array, parapet_array_write, 1) == 0, is_write_alone);
    assert_true(count_elsewhere(array, parapet_array_read, ELEMENTS) > 0);
    assert_int_equal(count_elsewhere(array, parapet_array_read, 1), 0);
    assert_ok(parapet_array_close(&array));
    assert_ok(parapet_store_close(&store));
    pp_store_free(memory);
}

static void test_threads__are_not_started_for_one_chunk(void **state)
{
    (void)state;
    check(NULL, true);
}

/* What is not written is copied from the old shard to the new one: reading and writing go beside each other. */
static void test_threads__are_started_to_write_one_chunk_of_a_large_shard(void **state)
{
    int64_t shards = ELEMENTS;
    (void)state;
    check(&shards, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads__are_not_started_for_one_chunk),
        cmocka_unit_test(test_threads__are_started_to_write_one_chunk_of_a_large_shard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
