/* The search for a template: the optima of the worked example, and brute force over all templates. */
#include "support.h"

#include <math.h>

#include "base/checked.h"
#include "rechunk/block.h"

#define NDIM_MOST 3

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g instead of %.17g", value, expected);
}

static const int64_t source_example[2] = {32, 9}, target_example[2] = {5, 16}, mean_example[2] = {12, 12};

typedef struct expected_template {
    const int64_t *source, *target;
    int64_t limit;
    pp_max_block kind;
    int64_t shape[2];
    int first; /* dimension, from 1 */
    int64_t memory;
    double cost;
} expected_template;

static const expected_template examples[] = {
    {source_example, target_example, 1344, PP_MAX_BLOCK_USEFUL, {160, 144}, 2, 1344, 2},
    {source_example, target_example, 1408, PP_MAX_BLOCK_WHOLE_BRICKS, {160, 144}, 2, 1408, 2},
    {source_example, target_example, 900, PP_MAX_BLOCK_USEFUL, {160, 32}, 2, 896, 2.25},
    {source_example, target_example, 900, PP_MAX_BLOCK_WHOLE_BRICKS, {160, 16}, 2, 896, 2.5},
    {source_example, target_example, 800, PP_MAX_BLOCK_USEFUL, {25, 144}, 1, 776, 3.2},
    {source_example, target_example, 616, PP_MAX_BLOCK_USEFUL, {5, 144}, 1, 616, 0},
    {source_example, mean_example, 800, PP_MAX_BLOCK_USEFUL, {96, 24}, 2, 768, 2.25},
    {mean_example, target_example, 800, PP_MAX_BLOCK_USEFUL, {60, 48}, 2, 480, 2},
};

static void test_search__finds_the_optima_of_the_example(void **state)
{
    size_t i;
    (void)state;
    for (i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        const expected_template *expected = &examples[i];
        int64_t shape[2];
        int order[2];
        pp_blocks blocks;
        pp_blocks_init(&blocks, 2, expected->source, expected->target);
        assert_true(pp_blocks_search(&blocks, expected->limit, expected->kind, shape, order));
        assert_int_equal(shape[0], expected->shape[0]);
        assert_int_equal(shape[1], expected->shape[1]);
        assert_int_equal(order[0], expected->first - 1);
        assert_int_equal(pp_blocks_memory(&blocks, shape, order, expected->kind), expected->memory);
        if (expected->cost > 0)
            assert_near(pp_blocks_io_cost(&blocks, shape), expected->cost, 1e-12);
    }
}

static void test_search__finds_nothing_below_one_target_block(void **state)
{
    int64_t shape[2];
    int order[2];
    pp_blocks blocks;
    (void)state;
    pp_blocks_init(&blocks, 2, source_example, target_example);
    assert_false(pp_blocks_search(&blocks, 615, PP_MAX_BLOCK_USEFUL, shape, order));
    assert_false(pp_blocks_search(&blocks, 687, PP_MAX_BLOCK_WHOLE_BRICKS, shape, order));
    assert_true(pp_blocks_search(&blocks, 688, PP_MAX_BLOCK_WHOLE_BRICKS, shape, order));
    assert_false(pp_blocks_search(&blocks, 0, PP_MAX_BLOCK_USEFUL, shape, order));
}

/* With dimension 2 first, as the paper's example has it, 800 elements are not enough for any template. */
static void test_search__owes_the_template_of_800_elements_to_the_free_order(void **state)
{
    int order[2] = {1, 0};
    pp_blocks blocks;
    (void)state;
    pp_blocks_init(&blocks, 2, source_example, target_example);
    assert_int_equal(pp_blocks_memory(&blocks, target_example, order, PP_MAX_BLOCK_USEFUL), 832);
}

/* The paper's own templates fit, but are not the best. */
static void test_search__beats_the_templates_of_the_paper(void **state)
{
    int64_t first[2] = {120, 16}, second[2] = {96, 12};
    int order[2];
    pp_blocks blocks;
    (void)state;
    pp_blocks_init(&blocks, 2, source_example, target_example);
    pp_blocks_order(&blocks, first, PP_MAX_BLOCK_USEFUL, order);
    assert_int_equal(pp_blocks_memory(&blocks, first, order, PP_MAX_BLOCK_USEFUL), 832);
    assert_true(pp_blocks_io_cost(&blocks, first) > 2.5);
    pp_blocks_init(&blocks, 2, source_example, mean_example);
    pp_blocks_order(&blocks, second, PP_MAX_BLOCK_USEFUL, order);
    assert_int_equal(pp_blocks_memory(&blocks, second, order, PP_MAX_BLOCK_USEFUL), 672);
    assert_true(pp_blocks_io_cost(&blocks, second) > 2.25);
}

static bool fits_slowly(const pp_blocks *blocks, const int64_t *shape, pp_max_block kind, int64_t limit)
{
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    int i, d;
    for (i = 0; i < 6; i++) {
        int order[3], count = 0;
        for (d = 0; d < 3; d++)
            if (orders[i][d] < blocks->ndim)
                order[count++] = orders[i][d];
        if (pp_blocks_memory(blocks, shape, order, kind) <= limit)
            return true;
    }
    return false;
}

/* The least cost of all templates in all orders; 0: none fits. */
static double least_cost(const pp_blocks *blocks, pp_max_block kind, int64_t limit, int64_t *shape, int d)
{
    double least = 0;
    if (d == blocks->ndim)
        return fits_slowly(blocks, shape, kind, limit) ? pp_blocks_io_cost(blocks, shape) : 0;
    for (shape[d] = blocks->target[d]; shape[d] <= blocks->lcm[d]; shape[d] += blocks->target[d]) {
        double cost = least_cost(blocks, kind, limit, shape, d + 1);
        if (cost > 0 && (least == 0 || cost < least))
            least = cost;
    }
    return least;
}

static pp_blocks random_blocks(test_random *random, int64_t most)
{
    int64_t source[NDIM_MOST], target[NDIM_MOST];
    int ndim = (int)test_random_between(random, 1, NDIM_MOST), d;
    pp_blocks blocks;
    for (d = 0; d < ndim; d++) {
        source[d] = test_random_between(random, 1, most);
        target[d] = test_random_between(random, 1, most);
    }
    pp_blocks_init(&blocks, ndim, source, target);
    return blocks;
}

/* Limits from below what fits at all to what the lcm-block takes. */
static int64_t random_limit(test_random *random, const pp_blocks *blocks, pp_max_block kind)
{
    int64_t least, most;
    int order[NDIM_MOST];
    pp_blocks_order(blocks, blocks->target, kind, order);
    least = pp_blocks_memory(blocks, blocks->target, order, kind);
    pp_blocks_order(blocks, blocks->lcm, kind, order);
    most = pp_blocks_memory(blocks, blocks->lcm, order, kind);
    return test_random_between(random, least - least / 10 - 1, most);
}

static void test_search__equals_brute_force_over_templates_and_orders(void **state)
{
    test_random random = test_random_start();
    int round, found = 0, missing = 0, cut = 0;
    (void)state;
    for (round = 0; round < 3000; round++) {
        pp_blocks blocks = random_blocks(&random, 14);
        pp_max_block kind = round % 2 ? PP_MAX_BLOCK_WHOLE_BRICKS : PP_MAX_BLOCK_USEFUL;
        int64_t limit = random_limit(&random, &blocks, kind), shape[NDIM_MOST], tried[PARAPET_MAX_NDIM];
        double least = least_cost(&blocks, kind, limit, tried, 0);
        int order[NDIM_MOST];
        bool is_found = pp_blocks_search(&blocks, limit, kind, shape, order);
        assert_int_equal(is_found, least > 0);
        found += is_found;
        missing += !is_found;
        cut += least > 2.000001;
        if (!is_found)
            continue;
        assert_true(pp_blocks_memory(&blocks, shape, order, kind) <= limit);
        assert_near(pp_blocks_io_cost(&blocks, shape), least, 1e-9);
    }
    assert_true(found > 1000 && missing > 20 && cut > 500);
}

static void test_search__ends_soon_for_blocks_without_common_divisors(void **state)
{
    int64_t source[6] = {999983, 1000003, 99991, INT64_MAX, 7, 131071}, shape[6];
    int64_t target[6] = {999979, 1000033, 99989, INT64_MAX - 1, 5, 131101};
    pp_blocks blocks;
    int order[6], d, ndim;
    (void)state;
    for (ndim = 1; ndim <= 6; ndim++) {
        pp_blocks_init(&blocks, ndim, source, target);
        if (!pp_blocks_search(&blocks, INT64_MAX - 1, PP_MAX_BLOCK_USEFUL, shape, order))
            continue;
        assert_true(pp_blocks_memory(&blocks, shape, order, PP_MAX_BLOCK_USEFUL) < INT64_MAX);
        for (d = 0; d < ndim; d++)
            assert_true(shape[d] >= target[d] && shape[d] % target[d] == 0);
    }
    pp_blocks_init(&blocks, 3, source, target);
    assert_true(pp_blocks_search(&blocks, INT64_C(4000000000000000000), PP_MAX_BLOCK_USEFUL, shape, order));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_search__finds_the_optima_of_the_example),
        cmocka_unit_test(test_search__finds_nothing_below_one_target_block),
        cmocka_unit_test(test_search__owes_the_template_of_800_elements_to_the_free_order),
        cmocka_unit_test(test_search__beats_the_templates_of_the_paper),
        cmocka_unit_test(test_search__equals_brute_force_over_templates_and_orders),
        cmocka_unit_test(test_search__ends_soon_for_blocks_without_common_divisors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
