/* The arithmetic of re-blocking: worked examples, and brute force over orders and over bricks. */
#include "support.h"

#include <math.h>

#include "base/checked.h"
#include "rechunk/block.h"
#include "rechunk/count.h"

#define NDIM_MOST 5

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g instead of %.17g", value, expected);
}

static const int64_t source_example[2] = {32, 9}, target_example[2] = {5, 16}, mean_example[2] = {12, 12};

static pp_blocks example(void)
{
    pp_blocks blocks;
    pp_blocks_init(&blocks, 2, source_example, target_example);
    return blocks;
}

static void assert_pair(const int64_t *pair, int64_t first, int64_t second)
{
    assert_int_equal(pair[0], first);
    assert_int_equal(pair[1], second);
}

static void test_blocks__sizes_of_the_example(void **state)
{
    pp_blocks blocks = example();
    (void)state;
    assert_pair(blocks.lcm, 160, 144);
    assert_int_equal(blocks.lcm[0] * blocks.lcm[1], 23040);
    assert_int_equal(23040 / (32 * 9), 80);
    assert_int_equal(pp_greatest_common_divisor(32, 5), 1);
    assert_int_equal(pp_greatest_common_divisor(9, 16), 1);
    assert_pair(blocks.unused, 4, 8);
    assert_pair(blocks.largest, 32, 16);
    assert_pair(blocks.whole_bricks, 32, 18);
}

static void test_blocks__lcm_block_of_the_example_is_traversed_along_dimension_two_first(void **state)
{
    pp_blocks blocks = example();
    int order[2], other[2] = {0, 1};
    (void)state;
    pp_blocks_order(&blocks, blocks.lcm, PP_MAX_BLOCK_USEFUL, order);
    assert_true(order[0] == 1 && order[1] == 0);
    assert_int_equal(pp_blocks_buffers(&blocks, blocks.lcm, order, PP_MAX_BLOCK_USEFUL), 832);
    assert_int_equal(pp_blocks_memory(&blocks, blocks.lcm, order, PP_MAX_BLOCK_USEFUL), 1344);
    assert_int_equal(pp_blocks_memory(&blocks, blocks.lcm, other, PP_MAX_BLOCK_USEFUL), 1856);
    pp_blocks_order(&blocks, blocks.lcm, PP_MAX_BLOCK_WHOLE_BRICKS, order);
    assert_true(order[0] == 1 && order[1] == 0);
    assert_int_equal(pp_blocks_memory(&blocks, blocks.lcm, order, PP_MAX_BLOCK_WHOLE_BRICKS), 1408);
    assert_int_equal(pp_blocks_memory(&blocks, blocks.lcm, other, PP_MAX_BLOCK_WHOLE_BRICKS), 1928);
}

/* What is left of the bricks read once all target blocks that they complete are written. */
static int64_t carry_after(int64_t s, int64_t t, int64_t step)
{
    if (s >= t)
        return step * s % t;
    return pp_divide_up(step * t, s) * s - step * t;
}

static void test_blocks__unused_is_the_most_that_is_carried_along_a_dimension(void **state)
{
    static const int64_t along_second[9] = {2, 4, 6, 8, 1, 3, 5, 7, 0}, along_first[5] = {2, 4, 1, 3, 0};
    test_random random = test_random_start();
    int64_t i;
    int round;
    (void)state;
    for (i = 0; i < 9; i++)
        assert_int_equal(carry_after(9, 16, i + 1), along_second[i]);
    for (i = 0; i < 5; i++)
        assert_int_equal(carry_after(32, 5, i + 1), along_first[i]);
    for (round = 0; round < 2000; round++) {
        int64_t s = test_random_between(&random, 1, 60), t = test_random_between(&random, 1, 60), most = 0;
        pp_blocks blocks;
        pp_blocks_init(&blocks, 1, &s, &t);
        for (i = 1; i <= blocks.lcm[0] / pp_max_i64(s, t); i++)
            most = pp_max_i64(most, carry_after(s, t, i));
        assert_int_equal(most, blocks.unused[0]);
    }
}

/* Bricks that the templates of one lcm-block read, each template all that it touches. */
static int64_t bricks_slowly(const pp_blocks *blocks, const int64_t *shape)
{
    int64_t bricks = 1;
    int d;
    for (d = 0; d < blocks->ndim; d++) {
        int64_t along = 0, start;
        for (start = 0; start < blocks->lcm[d]; start += shape[d]) {
            int64_t last = pp_min_i64(start + shape[d], blocks->lcm[d]) - 1;
            along += last / blocks->source[d] - start / blocks->source[d] + 1;
        }
        bricks *= along;
    }
    return bricks;
}

static int64_t bricks_of_lcm(const pp_blocks *blocks)
{
    int64_t bricks = 1;
    int d;
    for (d = 0; d < blocks->ndim; d++)
        bricks *= blocks->lcm[d] / blocks->source[d];
    return bricks;
}

typedef struct table_row {
    const int64_t *source, *target;
    int64_t shape[2];
    int first; /* dimension, from 1 */
    int64_t useful, whole_bricks;
    int64_t bricks, bricks_least;
    double cost;
} table_row;

static const table_row table[] = {
    {source_example, target_example, {160, 144}, 2, 1344, 1408, 80, 80, 2},
    {source_example, target_example, {160, 32}, 2, 896, 960, 100, 80, 2.25},
    {source_example, target_example, {160, 16}, 2, 832, 896, 120, 80, 2.5},
    {source_example, target_example, {120, 16}, 2, 832, 896, 144, 80, 2.8},
    {source_example, target_example, {25, 144}, 1, 776, 848, 176, 80, 3.2},
    {source_example, target_example, {15, 144}, 1, 696, 768, 240, 80, 4},
    {source_example, target_example, {5, 16}, 1, 616, 688, 864, 80, 11.8},
    {source_example, mean_example, {96, 12}, 2, 672, 864, 18, 12, 2.5},
    {source_example, mean_example, {96, 24}, 2, 768, 960, 15, 12, 2.25},
    {mean_example, target_example, {60, 48}, 2, 480, 576, 20, 20, 2},
};

static void test_blocks__memory_and_cost_of_the_table(void **state)
{
    size_t i;
    (void)state;
    for (i = 0; i < sizeof table / sizeof table[0]; i++) {
        const table_row *row = &table[i];
        pp_blocks blocks;
        int order[2];
        pp_blocks_init(&blocks, 2, row->source, row->target);
        pp_blocks_order(&blocks, row->shape, PP_MAX_BLOCK_USEFUL, order);
        assert_int_equal(order[0], row->first - 1);
        assert_int_equal(order[1], 2 - row->first);
        assert_int_equal(pp_blocks_memory(&blocks, row->shape, order, PP_MAX_BLOCK_USEFUL), row->useful);
        pp_blocks_order(&blocks, row->shape, PP_MAX_BLOCK_WHOLE_BRICKS, order);
        assert_int_equal(pp_blocks_memory(&blocks, row->shape, order, PP_MAX_BLOCK_WHOLE_BRICKS), row->whole_bricks);
        assert_int_equal(bricks_slowly(&blocks, row->shape), row->bricks);
        assert_int_equal(bricks_of_lcm(&blocks), row->bricks_least);
        assert_near(pp_blocks_io_cost(&blocks, row->shape), row->cost, 1e-12);
    }
}

static pp_blocks random_blocks(test_random *random, int ndim, int64_t most)
{
    int64_t source[NDIM_MOST], target[NDIM_MOST];
    pp_blocks blocks;
    int d;
    for (d = 0; d < ndim; d++) {
        source[d] = test_random_between(random, 1, most);
        target[d] = test_random_between(random, 1, most);
    }
    pp_blocks_init(&blocks, ndim, source, target);
    return blocks;
}

static void random_template(test_random *random, const pp_blocks *blocks, int64_t *shape)
{
    int d;
    for (d = 0; d < blocks->ndim; d++)
        shape[d] = blocks->target[d] * test_random_between(random, 1, blocks->lcm[d] / blocks->target[d]);
}

static void test_blocks__cost_equals_bricks_counted_one_by_one(void **state)
{
    test_random random = test_random_start();
    int round;
    (void)state;
    for (round = 0; round < 20000; round++) {
        pp_blocks blocks = random_blocks(&random, (int)test_random_between(&random, 0, 3), 24);
        int64_t shape[NDIM_MOST];
        double counted;
        random_template(&random, &blocks, shape);
        counted = 1 + (double)bricks_slowly(&blocks, shape) / (double)bricks_of_lcm(&blocks);
        assert_near(pp_blocks_io_cost(&blocks, shape), counted, 1e-9 * counted);
    }
}

/* The least of all orders; order is a permutation whose first `fixed` stay. */
static int64_t least_buffers(const pp_blocks *blocks, const int64_t *shape, pp_max_block kind, int *order, int fixed)
{
    int64_t least = INT64_MAX;
    int i;
    if (fixed == blocks->ndim)
        return pp_blocks_buffers(blocks, shape, order, kind);
    for (i = fixed; i < blocks->ndim; i++) {
        int chosen = order[i];
        order[i] = order[fixed];
        order[fixed] = chosen;
        least = pp_min_i64(least, least_buffers(blocks, shape, kind, order, fixed + 1));
        order[fixed] = order[i];
        order[i] = chosen;
    }
    return least;
}

static void test_blocks__order_by_angle_is_the_best_of_all_orders(void **state)
{
    test_random random = test_random_start();
    int round, d, changed = 0;
    (void)state;
    for (round = 0; round < 20000; round++) {
        pp_blocks blocks = random_blocks(&random, (int)test_random_between(&random, 1, 4), round % 2 ? 8 : 40);
        pp_max_block kind = round % 3 == 0 ? PP_MAX_BLOCK_WHOLE_BRICKS : PP_MAX_BLOCK_USEFUL;
        int order[NDIM_MOST], all[NDIM_MOST] = {0, 1, 2, 3}, seen = 0;
        int64_t shape[NDIM_MOST], buffers;
        random_template(&random, &blocks, shape);
        pp_blocks_order(&blocks, shape, kind, order);
        buffers = pp_blocks_buffers(&blocks, shape, order, kind);
        for (d = 0; d < blocks.ndim; d++)
            seen |= 1 << order[d];
        assert_int_equal(seen, (1 << blocks.ndim) - 1);
        changed += pp_blocks_buffers(&blocks, shape, all, kind) != buffers;
        assert_int_equal(buffers, least_buffers(&blocks, shape, kind, all, 0));
    }
    assert_true(changed > 5000);
}

static void test_blocks__order_where_comparing_pairs_as_printed_goes_wrong(void **state)
{
    int64_t source[3] = {18, 24, 10}, target[3] = {19, 3, 12};
    int order[3], all[3] = {0, 1, 2}, i, place[3];
    pp_blocks blocks;
    (void)state;
    pp_blocks_init(&blocks, 3, source, target);
    pp_blocks_order(&blocks, blocks.lcm, PP_MAX_BLOCK_WHOLE_BRICKS, order);
    for (i = 0; i < 3; i++)
        place[order[i]] = i;
    assert_true(place[2] < place[0]);
    assert_int_equal(pp_blocks_buffers(&blocks, blocks.lcm, order, PP_MAX_BLOCK_WHOLE_BRICKS), 31392);
    assert_int_equal(least_buffers(&blocks, blocks.lcm, PP_MAX_BLOCK_WHOLE_BRICKS, all, 0), 31392);
}

static void test_blocks__order_of_equals_has_the_last_dimension_first(void **state)
{
    int64_t source[3] = {8, 8, 8}, target[3] = {8, 8, 8};
    int order[3];
    pp_blocks blocks;
    (void)state;
    pp_blocks_init(&blocks, 3, source, target);
    pp_blocks_order(&blocks, blocks.lcm, PP_MAX_BLOCK_USEFUL, order);
    assert_true(order[0] == 2 && order[1] == 1 && order[2] == 0);
}

static int64_t between_one(int64_t source, int64_t target, int i, int parts)
{
    int64_t result;
    pp_blocks_between(1, &source, &target, i, parts, &result);
    return result;
}

static void test_blocks__between_are_exact_roots(void **state)
{
    int64_t between[2];
    (void)state;
    pp_blocks_between(2, source_example, target_example, 1, 2, between);
    assert_pair(between, 12, 12);
    pp_blocks_between(2, source_example, target_example, 1, 3, between);
    assert_pair(between, 17, 10);
    pp_blocks_between(2, source_example, target_example, 2, 3, between);
    assert_pair(between, 9, 13);
    assert_int_equal(between_one(64, 1, 1, 3), 16);
    assert_int_equal(between_one(8, 27, 1, 3), 12);
    assert_int_equal(between_one(32, 5, 0, 4), 32);
    assert_int_equal(between_one(32, 5, 4, 4), 5);
    assert_int_equal(between_one(256, 1, 3, 8), 32);
    assert_int_equal(between_one(INT64_MAX, INT64_MAX, 3, 8), INT64_MAX);
    assert_int_equal(between_one(INT64_MAX, 1, 1, 2), 3037000499);
    assert_int_equal(between_one(INT64_C(1) << 62, INT64_C(1) << 32, 5, 6), INT64_C(1) << 37);
}

static void test_blocks__between_equals_counting_up(void **state)
{
    test_random random = test_random_start();
    int round, j;
    (void)state;
    for (round = 0; round < 5000; round++) {
        int64_t s = test_random_between(&random, 1, 300), t = test_random_between(&random, 1, 300);
        int parts = (int)test_random_between(&random, 1, 7), i = (int)test_random_between(&random, 0, parts);
        int64_t root = between_one(s, t, i, parts), power = 1, below = 1, above = 1;
        for (j = 0; j < parts; j++) {
            power *= j < i ? t : s;
            below *= root;
            above *= root + 1;
        }
        assert_true(below <= power && power < above);
    }
}

static void test_blocks__sizes_beyond_any_memory_saturate(void **state)
{
    int64_t source[3] = {INT64_MAX, INT64_MAX - 1, 3}, target[3] = {INT64_MAX - 1, INT64_MAX - 2, INT64_MAX / 2};
    int order[3];
    pp_blocks blocks;
    (void)state;
    pp_blocks_init(&blocks, 3, source, target);
    assert_int_equal(blocks.lcm[0], INT64_MAX);
    assert_int_equal(blocks.lcm[1], INT64_MAX);
    assert_int_equal(blocks.whole_bricks[0], INT64_MAX);
    assert_int_equal(blocks.unused[0], INT64_MAX - 2);
    pp_blocks_order(&blocks, blocks.lcm, PP_MAX_BLOCK_USEFUL, order);
    assert_int_equal(pp_blocks_buffers(&blocks, blocks.lcm, order, PP_MAX_BLOCK_USEFUL), INT64_MAX);
    assert_int_equal(pp_blocks_memory(&blocks, target, order, PP_MAX_BLOCK_WHOLE_BRICKS), INT64_MAX);
    assert_true(pp_blocks_io_cost(&blocks, target) >= 2);
}

static void test_blocks__no_dimensions_hold_one_element(void **state)
{
    pp_blocks blocks;
    int order[1];
    (void)state;
    pp_blocks_init(&blocks, 0, NULL, NULL);
    pp_blocks_order(&blocks, blocks.lcm, PP_MAX_BLOCK_USEFUL, order);
    assert_int_equal(pp_blocks_memory(&blocks, blocks.lcm, order, PP_MAX_BLOCK_USEFUL), 1);
    assert_near(pp_blocks_io_cost(&blocks, blocks.lcm), 2, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks__sizes_of_the_example),
        cmocka_unit_test(test_blocks__lcm_block_of_the_example_is_traversed_along_dimension_two_first),
        cmocka_unit_test(test_blocks__unused_is_the_most_that_is_carried_along_a_dimension),
        cmocka_unit_test(test_blocks__memory_and_cost_of_the_table),
        cmocka_unit_test(test_blocks__cost_equals_bricks_counted_one_by_one),
        cmocka_unit_test(test_blocks__order_by_angle_is_the_best_of_all_orders),
        cmocka_unit_test(test_blocks__order_where_comparing_pairs_as_printed_goes_wrong),
        cmocka_unit_test(test_blocks__order_of_equals_has_the_last_dimension_first),
        cmocka_unit_test(test_blocks__between_are_exact_roots),
        cmocka_unit_test(test_blocks__between_equals_counting_up),
        cmocka_unit_test(test_blocks__sizes_beyond_any_memory_saturate),
        cmocka_unit_test(test_blocks__no_dimensions_hold_one_element),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
