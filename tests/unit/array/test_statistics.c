/* What a store says about the speed of its storage. */
#include "support.h"

#include "array/open.h"
#include "hand_clock.h"
#include "stored.h"
#include "stores/throttled.h"

enum { ELEMENTS = 1 << 18, SHARD_ELEMENTS = 1 << 15 };

#define RATE 2e7   /* bytes a second */
#define CLOSE 2e-3 /* the disk also has documents to write, which are not counted */

static float values[ELEMENTS];

typedef parapet_status (*transfer)(parapet_array *array, const parapet_part *parts, int part_count);

static void assert_speed(parapet_store *store, parapet_array *array, transfer call, double rate)
{
    int64_t start = 0, count = ELEMENTS;
    parapet_part part = {.ndim = 1, .start = &start, .count = &count, .data = values};
    parapet_statistics before = stored_statistics(store), after;
    int64_t bytes;
    double speed;
    assert_ok(call(array, &part, 1));
    after = stored_statistics(store);
    bytes = after.read_bytes + after.written_bytes - before.read_bytes - before.written_bytes;
    speed = (double)bytes / (after.storage_seconds - before.storage_seconds);
    assert_true(bytes >= (int64_t)sizeof values);
    assert_true(speed >= (1 - CLOSE) * rate && speed <= (1 + CLOSE) * rate);
    hand_clock_move(PP_SECOND_NS); /* between calls, which nobody measures */
}

static void test_statistics__tell_how_fast_the_storage_is(void **state)
{
    int64_t shape = ELEMENTS, chunks = SHARD_ELEMENTS / 4, shards = SHARD_ELEMENTS;
    parapet_array_spec spec = {
        .type = PARAPET_FLOAT32, .ndim = 1, .shape = &shape, .chunks = &chunks, .shards = &shards, .codec = "none"};
    parapet_store *store;
    parapet_array *array;
    pp_store *memory, *slow;
    (void)state;
    hand_clock_take(false);
    assert_ok(pp_store_memory_build(&memory, NULL));
    assert_ok(pp_store_throttled_build(&slow, memory, &(pp_throttle){0}));
    assert_ok(pp_store_open_over(&store, MPI_COMM_NULL, slow, PARAPET_CREATE, NULL));
    assert_ok(parapet_array_create(&array, store, "a", &spec));
    pp_store_throttled_set(slow, &(pp_throttle){.bytes_per_second = RATE});
    assert_speed(store, array, parapet_array_write, RATE);
    assert_speed(store, array, parapet_array_read, RATE);
    pp_store_throttled_set(slow, &(pp_throttle){.bytes_per_second = RATE / 2});
    assert_speed(store, array, parapet_array_write, RATE / 2);
    assert_ok(parapet_array_close(&array));
    assert_ok(parapet_store_close(&store));
    assert_null(slow->meter);
    pp_store_free(slow);
    pp_store_free(memory);
    hand_clock_drop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statistics__tell_how_fast_the_storage_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
