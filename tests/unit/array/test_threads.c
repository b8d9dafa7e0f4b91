/* In which thread a transfer of one process asks its storage. */
#include "support.h"

#include <pthread.h>
#include <stdatomic.h>

#include "array/open.h"
#include "stored.h"
#include "stores/wrapper.h"

enum { ELEMENTS = 1 << 21, CHUNK_ELEMENTS = 1 << 19, ROWS = 1 << 11, COLUMNS = 1 << 10 };

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

/* How many operations were made in other threads to read this many columns from the first on. */
static int count_elsewhere_of_columns(parapet_array *array, int64_t columns)
{
    int64_t start[2] = {0, 0}, count[2] = {ROWS, columns};
    parapet_part part = {.ndim = 2, .start = start, .count = count, .data = values};
    atomic_store(&elsewhere, 0);
    assert_ok(parapet_array_read(array, &part, 1));
    return atomic_load(&elsewhere);
}

static void check_columns(int no_checksum, int64_t threads, bool is_column_alone)
{
    int64_t shape[2] = {ROWS, COLUMNS}, chunks[2] = {ROWS / 8, COLUMNS}, shards[2] = {ROWS / 2, COLUMNS};
    parapet_array_spec spec = {.type = PARAPET_FLOAT64,
                               .ndim = 2,
                               .shape = shape,
                               .chunks = chunks,
                               .shards = shards,
                               .codec = "none",
                               .no_checksum = no_checksum};
    parapet_store_options options = {.threads = threads};
    static pp_wrapper wrapper;
    parapet_store *store;
    parapet_array *array;
    pp_store *memory;
    caller = pthread_self();
    assert_ok(pp_store_memory_build(&memory, NULL));
    pp_wrapper_init(&wrapper, memory, &hooks);
    assert_ok(pp_store_open_over(&store, MPI_COMM_NULL, &wrapper.store, PARAPET_CREATE, &options));
    assert_ok(parapet_array_create(&array, store, "a", &spec));
    assert_ok(parapet_array_write(
        array, &(parapet_part){.ndim = 2, .start = (int64_t[]){0, 0}, .count = shape, .data = values}, 1));
    assert_true(count_elsewhere_of_columns(array, COLUMNS) > 0);
    assert_true(count_elsewhere_of_columns(array, COLUMNS / 8) > 0);
    assert_int_equal(count_elsewhere_of_columns(array, COLUMNS / 16) == 0, is_column_alone);
    assert_int_equal(count_elsewhere_of_columns(array, 1) == 0, is_column_alone);
    assert_ok(parapet_array_close(&array));
    assert_ok(parapet_store_close(&store));
    pp_store_free(memory);
}

static void test_threads__are_not_started_for_a_few_columns_that_are_read_alone(void **state)
{
    (void)state;
    check_columns(1, 1, true);
}

static void test_threads__are_started_where_columns_take_whole_chunks_or_more_threads_hand_them_out(void **state)
{
    (void)state;
    check_columns(0, 1, false);
    check_columns(1, 2, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads__are_not_started_for_one_chunk),
        cmocka_unit_test(test_threads__are_started_to_write_one_chunk_of_a_large_shard),
        cmocka_unit_test(test_threads__are_not_started_for_a_few_columns_that_are_read_alone),
        cmocka_unit_test(test_threads__are_started_where_columns_take_whole_chunks_or_more_threads_hand_them_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
