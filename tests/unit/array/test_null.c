/* Arrays on a null store: everything that writes works, and nothing that reads. */
#include "support.h"

#include <parapet.h>

#include "array/open.h"
#include "stores/null.h"

enum { ELEMENTS = 64, SHARD_ELEMENTS = 16 };

typedef struct bed {
    pp_store *inner, *null;
    parapet_store *store;
    parapet_array *array;
    float values[ELEMENTS];
} bed;

static void set_up(bed *b)
{
    int64_t shape = ELEMENTS, chunks = SHARD_ELEMENTS / 4, shards = SHARD_ELEMENTS;
    parapet_array_spec spec = {
        .type = PARAPET_FLOAT32, .ndim = 1, .shape = &shape, .chunks = &chunks, .shards = &shards};
    *b = (bed){.values = {1, 2, 3}};
    assert_ok(pp_store_memory_build(&b->inner, NULL));
    assert_ok(pp_store_null_build(&b->null, b->inner));
    assert_ok(pp_store_open_over(&b->store, MPI_COMM_NULL, b->null, PARAPET_CREATE, NULL));
    assert_ok(parapet_array_create(&b->array, b->store, "a", &spec));
}

static void tear_down(bed *b)
{
    assert_ok(parapet_array_close(&b->array));
    assert_ok(parapet_store_close(&b->store));
    pp_store_free(b->null);
    pp_store_free(b->inner);
}

static parapet_status write_some(bed *b, int64_t start, int64_t count)
{
    parapet_part part = {.ndim = 1, .start = &start, .count = &count, .data = b->values};
    return parapet_array_write(b->array, &part, 1);
}

static parapet_status read_some(bed *b, int64_t start, int64_t count)
{
    parapet_part part = {.ndim = 1, .start = &start, .count = &count, .data = b->values};
    return parapet_array_read(b->array, &part, 1);
}

static void test_null__an_array_is_written_again_and_again_and_never_read(void **state)
{
    bed b;
    (void)state;
    set_up(&b);
    assert_ok(write_some(&b, 0, ELEMENTS));
    assert_ok(write_some(&b, 0, ELEMENTS));
    assert_fails(read_some(&b, 3, 5), PARAPET_ERR_UNSUPPORTED, "written to a null store, which keeps no data");
    assert_fails(write_some(&b, 3, 5), PARAPET_ERR_UNSUPPORTED, "written to a null store, which keeps no data");
    assert_ok(parapet_array_seal(b.array));
    assert_ok(write_some(&b, SHARD_ELEMENTS, SHARD_ELEMENTS));
    tear_down(&b);
}

static void test_null__the_first_write_may_be_of_a_part(void **state)
{
    bed b;
    (void)state;
    set_up(&b);
    assert_ok(write_some(&b, 3, 5));
    assert_ok(read_some(&b, SHARD_ELEMENTS, SHARD_ELEMENTS)); /* never written: fill value */
    assert_true(b.values[0] == 0);
    tear_down(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_null__an_array_is_written_again_and_again_and_never_read),
        cmocka_unit_test(test_null__the_first_write_may_be_of_a_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
