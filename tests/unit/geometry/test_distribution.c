#include "support.h"

#include "geometry/distribution.h"

enum { NDIM_MOST = 3, RANKS_MOST = 64 };

typedef struct problem {
    int ndim;
    int64_t shape[NDIM_MOST], mesh[NDIM_MOST], block[NDIM_MOST];
    parapet_spread spread[NDIM_MOST];
} problem;

static problem random_problem(test_random *random)
{
    problem made = {.ndim = (int)test_random_between(random, 1, NDIM_MOST)};
    int d;
    for (d = 0; d < made.ndim; d++) {
        made.shape[d] = test_random_between(random, test_random_between(random, 0, 9) == 0 ? 0 : 1, 13);
        made.spread[d] = (parapet_spread)test_random_between(random, 0, 2);
        made.mesh[d] = made.spread[d] == PARAPET_WHOLE ? 1 : test_random_between(random, 1, 4);
        made.block[d] = test_random_between(random, 1, 5);
    }
    return made;
}

static pp_distribution make_distribution(const problem *made)
{
    parapet_distribution given = {
        .ndim = made->ndim, .shape = made->shape, .mesh = made->mesh, .spread = made->spread, .block = made->block};
    pp_distribution distribution;
    assert_ok(pp_distribution_init(&distribution, &given, NULL));
    return distribution;
}

/* The rank that an element belongs to, from the definition alone. */
static int64_t rank_of(const problem *made, const int64_t *element)
{
    int64_t rank = 0;
    int d;
    for (d = 0; d < made->ndim; d++) {
        int64_t per_rank = (made->shape[d] + made->mesh[d] - 1) / made->mesh[d];
        int64_t at = 0;
        if (made->spread[d] == PARAPET_BLOCK)
            at = element[d] / per_rank;
        else if (made->spread[d] == PARAPET_CYCLIC)
            at = element[d] / made->block[d] % made->mesh[d];
        rank = rank * made->mesh[d] + at;
    }
    return rank;
}

/* Boxes of all ranks hold every element once, and each the elements of its rank only. */
static void check_boxes(const problem *made, const pp_distribution *distribution)
{
    int64_t rank, index, element[NDIM_MOST], held = 0;
    pp_box array, box, before = {0};
    bool more;
    assert_ok(pp_box_init(&array, made->ndim, NULL, made->shape));
    for (rank = 0; rank < distribution->rank_count; rank++)
        for (index = 0; index < pp_distribution_box_count(distribution, rank); index++, before = box) {
            int d;
            pp_distribution_box(distribution, rank, index, &box);
            assert_true(!pp_box_is_empty(&box) && pp_box_contains(&array, &box));
            for (more = pp_box_first(&box, element); more; more = pp_box_next(&box, element), held++)
                assert_int_equal(rank_of(made, element), rank);
            for (d = 0; index > 0 && box.start[d] == before.start[d]; d++)
                assert_true(d + 1 < made->ndim);
            assert_true(index == 0 || box.start[d] > before.start[d]);
        }
    assert_int_equal(held, pp_box_element_count(&array));
}

static void test_distribution__boxes_hold_every_element_once_on_the_rank_of_the_definition(void **state)
{
    test_random random = test_random_start();
    int i;
    (void)state;
    for (i = 0; i < 5000; i++) {
        problem made = random_problem(&random);
        pp_distribution distribution = make_distribution(&made);
        check_boxes(&made, &distribution);
    }
}

static void check_meeting(const problem *made, const pp_distribution *distribution, const pp_box *box)
{
    bool is_met[RANKS_MOST] = {false};
    int64_t element[NDIM_MOST], rank, found;
    pp_meeting meeting;
    pp_box inside;
    bool more;
    assert_ok(pp_box_init(&inside, made->ndim, NULL, made->shape));
    (void)pp_box_intersect(&inside, box, &inside);
    for (more = pp_box_first(&inside, element); more; more = pp_box_next(&inside, element))
        is_met[rank_of(made, element)] = true;
    pp_meeting_init(&meeting, distribution, box);
    for (rank = 0; rank < distribution->rank_count; rank++)
        if (is_met[rank]) {
            assert_true(pp_meeting_next(&meeting, &found));
            assert_int_equal(found, rank);
        }
    assert_false(pp_meeting_next(&meeting, &found));
}

static void test_distribution__ranks_that_meet_a_box_come_once_and_in_order(void **state)
{
    test_random random = test_random_start();
    int i, d;
    (void)state;
    for (i = 0; i < 20000; i++) {
        problem made = random_problem(&random);
        pp_distribution distribution = make_distribution(&made);
        int64_t start[NDIM_MOST], count[NDIM_MOST];
        pp_box box;
        for (d = 0; d < made.ndim; d++) {
            start[d] = test_random_between(&random, -2, 12);
            count[d] = test_random_between(&random, 0, 14);
        }
        assert_ok(pp_box_init(&box, made.ndim, start, count));
        check_meeting(&made, &distribution, &box);
    }
}

/* Along one dimension, for every position and start: the first of its blocks that ends behind the start. */
static void test_distribution__first_block_from_a_start_is_the_one_that_a_search_finds(void **state)
{
    problem made = {.ndim = 1, .spread = {PARAPET_CYCLIC}};
    int64_t position, start, block;
    (void)state;
    for (made.shape[0] = 1; made.shape[0] <= 14; made.shape[0]++)
        for (made.mesh[0] = 1; made.mesh[0] <= 4; made.mesh[0]++)
            for (made.block[0] = 1; made.block[0] <= 5; made.block[0]++)
                for (position = 0; position < made.mesh[0]; position++)
                    for (start = 0; start < made.shape[0]; start++) {
                        pp_distribution distribution = make_distribution(&made);
                        block = position * made.block[0];
                        while (block + made.block[0] <= start && block < made.shape[0])
                            block += made.mesh[0] * made.block[0];
                        block = block < made.shape[0] ? block : made.shape[0];
                        assert_int_equal(pp_distribution_block_from(&distribution, 0, position, start), block);
                    }
}

static void check_blocks(int64_t shape, int64_t mesh, const int64_t *expected)
{
    problem made = {.ndim = 1, .shape = {shape}, .mesh = {mesh}, .spread = {PARAPET_BLOCK}};
    pp_distribution distribution = make_distribution(&made);
    int64_t rank;
    pp_box box;
    for (rank = 0; rank < mesh; rank++) {
        assert_int_equal(pp_distribution_box_count(&distribution, rank), expected[rank] > 0);
        if (expected[rank] > 0) {
            pp_distribution_box(&distribution, rank, 0, &box);
            assert_int_equal(box.count[0], expected[rank]);
        }
    }
}

static void test_distribution__blocks_round_up_and_the_last_may_be_empty(void **state)
{
    (void)state;
    check_blocks(300, 3, (int64_t[]){100, 100, 100});
    check_blocks(301, 3, (int64_t[]){101, 101, 99});
    check_blocks(5, 4, (int64_t[]){2, 2, 1, 0});
    check_blocks(97, 16, (int64_t[]){7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 6, 0, 0});
}

static void test_distribution__a_scalar_is_on_the_one_rank(void **state)
{
    problem made = {.ndim = 0};
    pp_distribution distribution = make_distribution(&made);
    pp_meeting meeting;
    int64_t rank;
    pp_box box;
    (void)state;
    assert_int_equal(distribution.rank_count, 1);
    assert_int_equal(pp_distribution_box_count(&distribution, 0), 1);
    pp_distribution_box(&distribution, 0, 0, &box);
    assert_int_equal(box.ndim, 0);
    pp_meeting_init(&meeting, &distribution, &box);
    assert_true(pp_meeting_next(&meeting, &rank) && rank == 0 && !pp_meeting_next(&meeting, &rank));
}

static void test_distribution__numbers_near_the_end_of_63_bits_do_not_overflow(void **state)
{
    problem made = {
        .ndim = 1, .shape = {INT64_MAX}, .mesh = {INT32_MAX}, .block = {INT64_MAX - 1}, .spread = {PARAPET_CYCLIC}};
    pp_distribution distribution = make_distribution(&made);
    pp_box box;
    (void)state;
    assert_int_equal(pp_distribution_box_count(&distribution, 1), 1);
    pp_distribution_box(&distribution, 1, 0, &box);
    assert_true(box.start[0] == INT64_MAX - 1 && box.count[0] == 1);
    assert_int_equal(pp_distribution_block_from(&distribution, 0, 5, INT64_MAX - 1), INT64_MAX);
    made.spread[0] = PARAPET_BLOCK;
    distribution = make_distribution(&made);
    pp_distribution_box(&distribution, 0, 0, &box);
    assert_int_equal(box.count[0], INT64_MAX / INT32_MAX + 1);
}

static void test_distribution__what_makes_no_sense_is_refused(void **state)
{
    int64_t shape[2] = {4, 4}, mesh[2] = {2, 2}, block[2] = {1, 0};
    parapet_spread spread[2] = {PARAPET_BLOCK, PARAPET_WHOLE};
    parapet_distribution given = {.ndim = 2, .shape = shape, .mesh = mesh, .spread = spread, .block = block};
    pp_distribution distribution;
    (void)state;
    assert_fails(pp_distribution_init(&distribution, &given, NULL), PARAPET_ERR_ARGUMENT, "mesh[1] is 2");
    spread[1] = PARAPET_CYCLIC;
    assert_fails(pp_distribution_init(&distribution, &given, NULL), PARAPET_ERR_ARGUMENT, "block[1] is 0");
    spread[1] = (parapet_spread)7;
    assert_fails(pp_distribution_init(&distribution, &given, NULL), PARAPET_ERR_ARGUMENT, "spread[1] is 7");
    mesh[0] = 0;
    assert_fails(pp_distribution_init(&distribution, &given, NULL), PARAPET_ERR_ARGUMENT, "mesh[0] is 0");
    mesh[0] = INT64_MAX;
    assert_fails(pp_distribution_init(&distribution, &given, NULL), PARAPET_ERR_ARGUMENT, "more ranks");
    shape[0] = -1;
    assert_fails(pp_distribution_init(&distribution, &given, NULL), PARAPET_ERR_ARGUMENT, "shape[0] is -1");
    given.mesh = NULL;
    assert_fails(pp_distribution_init(&distribution, &given, NULL), PARAPET_ERR_ARGUMENT, "no mesh");
    given.ndim = PARAPET_MAX_NDIM + 1;
    assert_fails(pp_distribution_init(&distribution, &given, NULL), PARAPET_ERR_ARGUMENT, "33 dimensions");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distribution__boxes_hold_every_element_once_on_the_rank_of_the_definition),
        cmocka_unit_test(test_distribution__ranks_that_meet_a_box_come_once_and_in_order),
        cmocka_unit_test(test_distribution__first_block_from_a_start_is_the_one_that_a_search_finds),
        cmocka_unit_test(test_distribution__blocks_round_up_and_the_last_may_be_empty),
        cmocka_unit_test(test_distribution__a_scalar_is_on_the_one_rank),
        cmocka_unit_test(test_distribution__numbers_near_the_end_of_63_bits_do_not_overflow),
        cmocka_unit_test(test_distribution__what_makes_no_sense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
