/* What a store says about the speed of its storage. */
#include "support.h"

#include "array/open.h"
#include "stored.h"

enum { ELEMENTS = 1 << 18, SHARD_ELEMENTS = 1 << 15, TRIES = 20 };

#define RATE 2e7  /* bytes a second */
#define CLOSE 0.1 /* how near the measured speed must come */

static float values[ELEMENTS];

static double least_seconds; /* that the disk needs for everything so far */

/* The speed in a call of the disk that has this one. */
static double speed_between(const parapet_statistics *before, const parapet_statistics *after, double rate)
{
    int64_t bytes = after->read_bytes + after->written_bytes - before->read_bytes - before->written_bytes;
    assert_true(bytes >= (int64_t)sizeof values);
    least_seconds += (double)bytes / rate;
    return (double)bytes / (after->storage_seconds - before->storage_seconds);
}

static bool is_close(double speed, double rate)
{
    return speed >= (1 - CLOSE) * rate && speed <= (1 + CLOSE) * rate;
}

typedef parapet_status (*transfer)(parapet_array *array, const parapet_part *parts, int part_count);

/* All in all never faster than the disk; a busy machine may make it look slower, and then faster where the disk makes
 * up for that, but not in every call. */
static void assert_speed(parapet_store *store, parapet_array *array, transfer call, double rate)
{
    int64_t start = 0, count = ELEMENTS;
    parapet_part part = {.ndim = 1, .start = &start, .count = &count, .data = values};
    double speed = 0;
    int i;
    for (i = 0; i < TRIES && !is_close(speed, rate); i++) {
        parapet_statistics before = stored_statistics(store), after;
        assert_ok(call(array, &part, 1));
        after = stored_statistics(store);
        speed = speed_between(&before, &after, rate);
        assert_true(after.storage_seconds >= 0.999 * least_seconds);
    }
    assert_true(is_close(speed, rate));
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
    assert_ok(pp_store_memory_build(&memory, NULL));
    assert_ok(pp_store_throttled_build(&slow, memory, &(pp_throttle){0}, NULL));
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
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statistics__tell_how_fast_the_storage_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
