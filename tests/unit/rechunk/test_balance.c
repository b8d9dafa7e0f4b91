/* Boxes of target blocks that go to different ranks: the worked examples, and exhaustive search. */
#include "support.h"

#include "base/checked.h"
#include "rechunk/block.h"

#define NDIM_MOST 4
#define FOUND_MOST 256

static int64_t found[FOUND_MOST * NDIM_MOST];

/* The expected boxes one after the other, each of ndim factors, in the order in which they are found. */
static void assert_boxes(int ndim, const int64_t *grid, int64_t ranks, int expected_count, const int64_t *expected)
{
    int count, i;
    pp_blocks_balanced(ndim, grid, ranks, found, FOUND_MOST, &count);
    assert_int_equal(count, expected_count);
    for (i = 0; i < count * ndim; i++)
        assert_int_equal(found[i], expected[i]);
}

static void test_balance__offsets_of_the_example(void **state)
{
    int64_t grid[3] = {4, 4, 4}, offsets[3];
    (void)state;
    pp_blocks_offsets(2, grid, 100, offsets);
    assert_true(offsets[0] == 1 && offsets[1] == 4);
    pp_blocks_offsets(2, grid, 2, offsets);
    assert_true(offsets[0] == 1 && offsets[1] == 0);
    pp_blocks_offsets(3, grid, 100, offsets);
    assert_true(offsets[0] == 1 && offsets[1] == 4 && offsets[2] == 16);
}

/* The factors of the paper's example do not ask whether the box is larger than the grid. */
static void test_balance__factors_of_the_example_before_the_grid_limits_them(void **state)
{
    static const struct {
        int64_t ranks;
        int count;
        int64_t factors[4];
    } examples[] = {
        {1, 1, {1, 1}},       {2, 1, {2, 1}},         {3, 2, {3, 1, 1, 3}},
        {4, 1, {4, 1}},       {5, 2, {5, 1, 1, 5}},   {6, 2, {6, 1, 2, 3}},
        {8, 2, {8, 1, 4, 2}}, {12, 2, {12, 1, 4, 3}}, {16, 2, {16, 1, 4, 4}},
    };
    int64_t unlimited[2] = {INT64_MAX, INT64_MAX}, offsets[2] = {1, 4};
    size_t i;
    int count, j;
    (void)state;
    for (i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        pp_blocks_balanced_by(2, unlimited, offsets, examples[i].ranks, found, FOUND_MOST, &count);
        assert_int_equal(count, examples[i].count);
        for (j = 0; j < 2 * count; j++)
            assert_int_equal(found[j], examples[i].factors[j]);
    }
}

static void test_balance__factors_of_three_dimensions(void **state)
{
    int64_t unlimited[3] = {INT64_MAX, INT64_MAX, INT64_MAX}, offsets[3] = {1, 4, 16}, grid[3] = {4, 4, 4};
    static const int64_t expected[9] = {6, 1, 1, 2, 3, 1, 2, 1, 3};
    int count, i;
    (void)state;
    pp_blocks_balanced_by(3, unlimited, offsets, 6, found, FOUND_MOST, &count);
    assert_int_equal(count, 3);
    for (i = 0; i < 9; i++)
        assert_int_equal(found[i], expected[i]);
    assert_boxes(3, grid, 6, 2, expected + 3);
}

static void test_balance__boxes_larger_than_the_grid_are_dropped(void **state)
{
    int64_t grid[2] = {4, 4};
    (void)state;
    assert_boxes(2, grid, 5, 0, NULL);
    assert_boxes(2, grid, 7, 0, NULL);
    assert_boxes(2, grid, 6, 1, (int64_t[]){2, 3});
    assert_boxes(2, grid, 8, 1, (int64_t[]){4, 2});
    assert_boxes(2, grid, 12, 1, (int64_t[]){4, 3});
    assert_boxes(2, grid, 16, 1, (int64_t[]){4, 4});
    assert_boxes(2, grid, 17, 0, NULL);
    assert_boxes(2, grid, 3, 2, (int64_t[]){3, 1, 1, 3});
}

static void test_balance__duplicates_are_left_out(void **state)
{
    int64_t grid[2] = {10, 10}, offsets[2] = {2, 3};
    int count;
    (void)state;
    pp_blocks_balanced_by(2, grid, offsets, 6, found, FOUND_MOST, &count);
    assert_int_equal(count, 1);
    assert_true(found[0] == 3 && found[1] == 2);
}

static void test_balance__counts_more_than_it_has_room_for(void **state)
{
    int64_t grid[3] = {10, 10, 10}, few[3] = {0};
    int count, all;
    (void)state;
    pp_blocks_balanced(3, grid, 3, found, FOUND_MOST, &all);
    assert_true(all > 1);
    pp_blocks_balanced(3, grid, 3, few, 1, &count);
    assert_int_equal(count, all);
    assert_memory_equal(few, found, sizeof few);
    pp_blocks_balanced(3, grid, 3, NULL, 0, &count);
    assert_int_equal(count, all);
}

static void test_balance__no_dimensions_are_one_block_for_one_rank(void **state)
{
    int count;
    (void)state;
    pp_blocks_balanced(0, NULL, 1, found, FOUND_MOST, &count);
    assert_int_equal(count, 1);
    pp_blocks_balanced(0, NULL, 2, found, FOUND_MOST, &count);
    assert_int_equal(count, 0);
}

/* Whether no two blocks of the box at the origin go to the same rank. */
static bool is_balanced(int ndim, const int64_t *grid, int64_t ranks, const int64_t *factor)
{
    bool is_taken[64] = {false};
    int64_t position[NDIM_MOST] = {0};
    int d = 0;
    while (d < ndim || ndim == 0) {
        int64_t number = 0;
        for (d = ndim - 1; d >= 0; d--)
            number = number * grid[d] + position[d];
        if (is_taken[number % ranks])
            return false;
        is_taken[number % ranks] = true;
        for (d = 0; d < ndim && ++position[d] == factor[d]; d++)
            position[d] = 0;
    }
    return true;
}

static bool is_found(int ndim, int count, const int64_t *factor)
{
    int i;
    for (i = 0; i < count; i++)
        if (memcmp(found + i * ndim, factor, (size_t)ndim * sizeof *factor) == 0)
            return true;
    return false;
}

/* How many boxes of `rest` blocks there are, from dimension d on; each must have been found. */
static int count_slowly(int ndim, const int64_t *grid, int64_t ranks, int64_t *factor, int d, int64_t rest, int count)
{
    int64_t boxes = 0, i;
    if (d == ndim) {
        if (rest != 1 || !is_balanced(ndim, grid, ranks, factor))
            return 0;
        assert_true(is_found(ndim, count, factor));
        return 1;
    }
    for (i = 1; i <= pp_min_i64(rest, grid[d]); i++) {
        factor[d] = i;
        if (rest % i == 0)
            boxes += count_slowly(ndim, grid, ranks, factor, d + 1, rest / i, count);
    }
    return (int)boxes;
}

static void test_balance__equals_exhaustive_search(void **state)
{
    test_random random = test_random_start();
    int round, d, several = 0, none = 0;
    (void)state;
    for (round = 0; round < 20000; round++) {
        int ndim = (int)test_random_between(&random, 1, NDIM_MOST), count;
        int64_t ranks = test_random_between(&random, 1, 48), grid[NDIM_MOST], factor[NDIM_MOST];
        for (d = 0; d < ndim; d++)
            grid[d] = test_random_between(&random, 1, 12);
        pp_blocks_balanced(ndim, grid, ranks, found, FOUND_MOST, &count);
        assert_int_equal(count, count_slowly(ndim, grid, ranks, factor, 0, ranks, count));
        several += count > 1;
        none += count == 0;
    }
    assert_true(several > 1000 && none > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_balance__offsets_of_the_example),
        cmocka_unit_test(test_balance__factors_of_the_example_before_the_grid_limits_them),
        cmocka_unit_test(test_balance__factors_of_three_dimensions),
        cmocka_unit_test(test_balance__boxes_larger_than_the_grid_are_dropped),
        cmocka_unit_test(test_balance__duplicates_are_left_out),
        cmocka_unit_test(test_balance__counts_more_than_it_has_room_for),
        cmocka_unit_test(test_balance__no_dimensions_are_one_block_for_one_rank),
        cmocka_unit_test(test_balance__equals_exhaustive_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
