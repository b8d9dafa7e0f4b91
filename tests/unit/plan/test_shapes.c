/* Default chunk and shard shapes: a pure function of shape, element size and what was given. */
#include "support.h"

#include <stdbool.h>

#include "plan/shapes.h"

#define CHUNK_MOST (INT64_C(1) << 20)
#define SHARD_MOST (INT64_C(256) << 20)

typedef struct shapes {
    int64_t chunks[PARAPET_MAX_NDIM], shards[PARAPET_MAX_NDIM];
} shapes;

static int64_t bytes_of(int ndim, const int64_t *shape, size_t element_bytes)
{
    int64_t bytes = (int64_t)element_bytes;
    int d;
    for (d = 0; d < ndim; d++)
        bytes *= shape[d];
    return bytes;
}

static int64_t count_of(int ndim, const int64_t *shape, const int64_t *cell)
{
    int64_t count = 1;
    int d;
    for (d = 0; d < ndim; d++)
        count *= (shape[d] + cell[d] - 1) / cell[d];
    return count;
}

static void choose(const parapet_array_spec *spec, size_t element_bytes, int64_t servers, shapes *chosen)
{
    memset(chosen, 0x55, sizeof *chosen);
    assert_ok(pp_shapes_choose(spec, element_bytes, servers, chosen->chunks, chosen->shards));
}

static void assert_shape(int ndim, const int64_t *found, const int64_t *expected)
{
    int d;
    for (d = 0; d < ndim; d++)
        assert_int_equal(found[d], expected[d]);
}

/* What must hold of every choice that was left to Parapet. */
static void assert_sound(const parapet_array_spec *spec, size_t element_bytes, const shapes *chosen)
{
    int64_t chunk_bytes = bytes_of(spec->ndim, chosen->chunks, element_bytes);
    bool is_one_element = true;
    int d;
    for (d = 0; d < spec->ndim; d++) {
        assert_true(chosen->chunks[d] >= 1);
        assert_true(chosen->chunks[d] <= (spec->shape[d] > 0 ? spec->shape[d] : 1));
        assert_int_equal(chosen->shards[d] % chosen->chunks[d], 0);
        assert_true(chosen->shards[d] - chosen->chunks[d] < (spec->shape[d] > 0 ? spec->shape[d] : 1));
        is_one_element = is_one_element && chosen->chunks[d] == 1;
    }
    assert_true(chunk_bytes <= CHUNK_MOST || is_one_element);
    assert_true(bytes_of(spec->ndim, chosen->shards, element_bytes) <= SHARD_MOST || is_one_element);
}

static void choose_shape(test_random *random, int ndim, int64_t *shape)
{
    int d;
    for (d = 0; d < ndim; d++) {
        int64_t most = ndim < 4 ? 1 << 16 : 300;
        shape[d] = test_random_between(random, 0, 9) == 0 ? test_random_between(random, 0, 1)
                                                          : test_random_between(random, 1, most);
    }
}

static void test_shapes__chunks_and_shards_keep_their_promises(void **state)
{
    static const size_t element_sizes[] = {1, 2, 4, 8, 16, 100, 3 << 20};
    test_random random = test_random_start();
    int round;
    (void)state;
    for (round = 0; round < 5000; round++) {
        int64_t shape[6];
        parapet_array_spec spec = {.ndim = (int)test_random_between(&random, 0, 6), .shape = shape};
        size_t element_bytes = element_sizes[test_random_between(&random, 0, 6)];
        shapes chosen;
        choose_shape(&random, spec.ndim, shape);
        choose(&spec, element_bytes, 1, &chosen);
        assert_sound(&spec, element_bytes, &chosen);
    }
}

static void test_shapes__chunks_are_not_needlessly_small(void **state)
{
    test_random random = test_random_start();
    int round;
    (void)state;
    for (round = 0; round < 2000; round++) {
        int64_t shape[3];
        parapet_array_spec spec = {.ndim = 3, .shape = shape};
        shapes chosen;
        int d;
        for (d = 0; d < 3; d++)
            shape[d] = test_random_between(&random, 200, 5000); /* larger than a chunk together */
        choose(&spec, 8, 1, &chosen);
        assert_true(bytes_of(3, chosen.chunks, 8) >= CHUNK_MOST / 4);
    }
}

static void test_shapes__of_well_known_arrays(void **state)
{
    parapet_array_spec cube = {.ndim = 3, .shape = (int64_t[]){1024, 1024, 1024}};
    parapet_array_spec series = {.ndim = 1, .shape = (int64_t[]){1 << 30}};
    parapet_array_spec small = {.ndim = 2, .shape = (int64_t[]){100, 200}};
    shapes chosen;
    (void)state;
    choose(&cube, 8, 1, &chosen);
    assert_shape(3, chosen.chunks, (int64_t[]){32, 64, 64});
    assert_int_equal(bytes_of(3, chosen.shards, 8), SHARD_MOST);
    choose(&series, 4, 1, &chosen);
    assert_shape(1, chosen.chunks, (int64_t[]){1 << 18});
    assert_shape(1, chosen.shards, (int64_t[]){1 << 26});
    choose(&small, 8, 1, &chosen);
    assert_shape(2, chosen.chunks, (int64_t[]){100, 200});
    assert_shape(2, chosen.shards, (int64_t[]){100, 200});
}

static void test_shapes__depend_on_nothing_else(void **state)
{
    parapet_array_spec plain = {.ndim = 3, .shape = (int64_t[]){999, 1000, 1001}};
    parapet_array_spec dressed = plain;
    shapes first, second;
    (void)state;
    dressed.type = PARAPET_FLOAT64;
    dressed.codec = "gzip:9";
    dressed.attributes = "{\"a\": 1}";
    dressed.no_checksum = 1;
    dressed.overwrite = 1;
    choose(&plain, 8, 1, &first);
    choose(&dressed, 8, 1, &second);
    assert_memory_equal(&first, &second, sizeof first);
}

static void test_shapes__give_the_servers_expected_their_shards(void **state)
{
    parapet_array_spec spec = {.ndim = 3, .shape = (int64_t[]){1024, 1024, 1024}};
    int64_t servers, chunk_count, before = 0;
    shapes chosen;
    (void)state;
    for (servers = 1; servers <= 1 << 20; servers = servers * 3 + 1) {
        int64_t count;
        choose(&spec, 8, servers, &chosen);
        assert_sound(&spec, 8, &chosen);
        chunk_count = count_of(3, spec.shape, chosen.chunks);
        count = count_of(3, spec.shape, chosen.shards);
        assert_true(count >= servers || count == chunk_count);
        assert_true(count >= before);
        before = count;
    }
}

/* 16 GiB: 16 shards to a server while they have 8 MiB, and one to a server beyond. */
static void test_shapes__aim_at_16_shards_to_a_server_but_not_at_small_ones(void **state)
{
    parapet_array_spec spec = {.ndim = 3, .shape = (int64_t[]){1024, 1024, 2048}};
    int64_t servers;
    shapes chosen;
    (void)state;
    for (servers = 2; servers <= 4096; servers *= 2) {
        int64_t count, bytes;
        choose(&spec, 8, servers, &chosen);
        count = count_of(3, spec.shape, chosen.shards);
        bytes = bytes_of(3, chosen.shards, 8);
        assert_int_equal(count, servers < 8 ? 64 : servers <= 128 ? 16 * servers : servers <= 2048 ? 2048 : servers);
        assert_true(servers > 2048 || bytes >= 8 << 20);
    }
}

/* Large chunks: no shard has fewer than 4 of them because of it. */
static void test_shapes__aim_at_no_shard_of_less_than_4_chunks(void **state)
{
    parapet_array_spec spec = {
        .ndim = 1, .shape = (int64_t[]){INT64_C(1) << 24}, .chunks = (int64_t[]){INT64_C(1) << 20}};
    shapes chosen;
    (void)state;
    choose(&spec, 8, 2, &chosen); /* 16 chunks of 8 MiB */
    assert_int_equal(chosen.shards[0], INT64_C(4) << 20);
    choose(&spec, 8, 16, &chosen);
    assert_int_equal(chosen.shards[0], INT64_C(1) << 20);
}

static void test_shapes__take_given_shapes_as_they_are(void **state)
{
    parapet_array_spec spec = {
        .ndim = 2, .shape = (int64_t[]){100, 100}, .chunks = (int64_t[]){7, 300}, .shards = (int64_t[]){21, 600}};
    shapes chosen;
    (void)state;
    choose(&spec, 8, 1000, &chosen);
    assert_shape(2, chosen.chunks, spec.chunks);
    assert_shape(2, chosen.shards, spec.shards);
    spec.shards = NULL;
    choose(&spec, 8, 1, &chosen);
    assert_shape(2, chosen.chunks, spec.chunks);
    assert_shape(2, chosen.shards, (int64_t[]){105, 300});
    spec.unsharded = 1;
    choose(&spec, 8, 1, &chosen);
    assert_shape(2, chosen.shards, spec.chunks);
}

static void test_shapes__an_entry_of_zero_is_the_whole_dimension(void **state)
{
    parapet_array_spec spec = {
        .ndim = 3, .shape = (int64_t[]){100, 10, 0}, .chunks = (int64_t[]){30, 0, 0}, .shards = (int64_t[]){0, 0, 0}};
    shapes chosen;
    (void)state;
    choose(&spec, 8, 1, &chosen);
    assert_shape(3, chosen.chunks, (int64_t[]){30, 10, 1});
    assert_shape(3, chosen.shards, (int64_t[]){120, 10, 1});
}

static void test_shapes__refuse_shapes_that_cannot_be(void **state)
{
    parapet_array_spec spec = {.ndim = 2, .shape = (int64_t[]){100, 100}, .chunks = (int64_t[]){10, -1}};
    int64_t chunks[2], shards[2];
    (void)state;
    assert_fails(pp_shapes_choose(&spec, 8, 1, chunks, shards), PARAPET_ERR_ARGUMENT, "chunks[1] is -1");
    spec.chunks = NULL;
    spec.shards = (int64_t[]){-5, 10};
    assert_fails(pp_shapes_choose(&spec, 8, 1, chunks, shards), PARAPET_ERR_ARGUMENT, "shards[0] is -5");
    spec.chunks = (int64_t[]){10, 7};
    spec.shards = (int64_t[]){20, 20};
    assert_fails(pp_shapes_choose(&spec, 8, 1, chunks, shards), PARAPET_ERR_ARGUMENT,
                 "shards[1] is 20, which is not a multiple of chunks[1], 7");
}

static void test_shapes__chunks_divide_given_shards(void **state)
{
    test_random random = test_random_start();
    int round;
    (void)state;
    for (round = 0; round < 2000; round++) {
        int64_t shape[3], shards[3];
        parapet_array_spec spec = {.ndim = 3, .shape = shape, .shards = shards};
        shapes chosen;
        int d;
        for (d = 0; d < 3; d++) {
            shape[d] = test_random_between(&random, 1, 5000);
            shards[d] = test_random_between(&random, 1, 1000);
        }
        choose(&spec, 8, 1, &chosen);
        assert_shape(3, chosen.shards, shards);
        for (d = 0; d < 3; d++)
            assert_int_equal(shards[d] % chosen.chunks[d], 0);
        assert_true(bytes_of(3, chosen.chunks, 8) <= CHUNK_MOST);
    }
}

static void test_shapes__of_huge_prime_shards_are_found_at_once(void **state)
{
    parapet_array_spec spec = {
        .ndim = 2, .shape = (int64_t[]){10, 10}, .shards = (int64_t[]){(INT64_C(1) << 61) - 1, 2}};
    shapes chosen;
    (void)state;
    choose(&spec, 1, 1, &chosen);
    assert_shape(2, chosen.chunks, (int64_t[]){1, 2});
}

static void test_shapes__of_prime_and_empty_dimensions_are_sound(void **state)
{
    static const int64_t primes[][2] = {{999983, 7}, {2, 15485863}, {104729, 104729}, {1, 1}, {0, 999983}, {0, 0}};
    size_t i;
    (void)state;
    for (i = 0; i < sizeof primes / sizeof primes[0]; i++) {
        parapet_array_spec spec = {.ndim = 2, .shape = primes[i]};
        shapes chosen;
        choose(&spec, 8, 1, &chosen);
        assert_sound(&spec, 8, &chosen);
    }
}

static void test_shapes__of_a_scalar_are_empty(void **state)
{
    parapet_array_spec spec = {.ndim = 0};
    (void)state;
    assert_ok(pp_shapes_choose(&spec, 8, 1, (int64_t[1]){0}, (int64_t[1]){0}));
}

static void test_shapes__of_32_dimensions_are_sound(void **state)
{
    int64_t shape[PARAPET_MAX_NDIM];
    parapet_array_spec spec = {.ndim = PARAPET_MAX_NDIM, .shape = shape};
    shapes chosen;
    int d;
    (void)state;
    for (d = 0; d < PARAPET_MAX_NDIM; d++)
        shape[d] = 3;
    choose(&spec, 8, 1, &chosen);
    assert_sound(&spec, 8, &chosen);
    for (d = 0; d < PARAPET_MAX_NDIM; d++)
        shape[d] = d < 30 ? 1 : INT64_C(1) << 31;
    choose(&spec, 1, 1, &chosen);
    assert_sound(&spec, 1, &chosen);
}

static void test_shapes__of_the_largest_arrays_do_not_overflow(void **state)
{
    parapet_array_spec spec = {.ndim = 1, .shape = (int64_t[]){INT64_MAX}};
    parapet_array_spec wide = {.ndim = 2, .shape = (int64_t[]){INT64_MAX, INT64_MAX}};
    parapet_array_spec given = {
        .ndim = 1, .shape = (int64_t[]){INT64_MAX}, .chunks = (int64_t[]){INT64_MAX / 2 + 10}};
    shapes chosen;
    (void)state;
    choose(&spec, 8, 1, &chosen);
    assert_sound(&spec, 8, &chosen);
    choose(&wide, 16, 1, &chosen);
    assert_true(bytes_of(2, chosen.chunks, 16) <= CHUNK_MOST);
    choose(&given, 8, 1, &chosen);
    assert_int_equal(chosen.shards[0] % chosen.chunks[0], 0);
    given.shards = (int64_t[]){0};
    (void)pp_shapes_choose(&given, 8, 1, chosen.chunks, chosen.shards); /* refused or not: no overflow */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes__chunks_and_shards_keep_their_promises),
        cmocka_unit_test(test_shapes__chunks_are_not_needlessly_small),
        cmocka_unit_test(test_shapes__of_well_known_arrays),
        cmocka_unit_test(test_shapes__depend_on_nothing_else),
        cmocka_unit_test(test_shapes__give_the_servers_expected_their_shards),
        cmocka_unit_test(test_shapes__aim_at_16_shards_to_a_server_but_not_at_small_ones),
        cmocka_unit_test(test_shapes__aim_at_no_shard_of_less_than_4_chunks),
        cmocka_unit_test(test_shapes__take_given_shapes_as_they_are),
        cmocka_unit_test(test_shapes__an_entry_of_zero_is_the_whole_dimension),
        cmocka_unit_test(test_shapes__refuse_shapes_that_cannot_be),
        cmocka_unit_test(test_shapes__chunks_divide_given_shards),
        cmocka_unit_test(test_shapes__of_huge_prime_shards_are_found_at_once),
        cmocka_unit_test(test_shapes__of_prime_and_empty_dimensions_are_sound),
        cmocka_unit_test(test_shapes__of_a_scalar_are_empty),
        cmocka_unit_test(test_shapes__of_32_dimensions_are_sound),
        cmocka_unit_test(test_shapes__of_the_largest_arrays_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
