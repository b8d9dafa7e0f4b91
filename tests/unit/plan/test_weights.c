/* Which weights servers get for their speeds, and that small changes leave them as they are. All combinations of
 * weights and speeds are tried, in steps of a hundredth of a weight. */
#include "support.h"

#include "plan/speeds.h"

#define FASTEST 8000000 /* so that a weight is a million */
#define STEP 10000

static void test_weights__are_those_nearest_to_the_speed(void **state)
{
    int64_t speed;
    (void)state;
    for (speed = 1; speed <= 2 * FASTEST; speed += STEP) {
        int weight = pp_weight_nearest(speed, FASTEST);
        double off = (double)speed / 1e6 - weight;
        assert_true(weight >= 1 && weight <= PP_WEIGHT_MOST);
        assert_true(weight == 1 || off >= -0.501);
        assert_true(weight == PP_WEIGHT_MOST || off <= 0.501);
        assert_true(pp_weight_holds(weight, speed, FASTEST) || speed > 9 * FASTEST / 8);
    }
    assert_int_equal(pp_weight_nearest(PP_SPEED_MOST * 4, PP_SPEED_MOST), PP_WEIGHT_MOST);
    assert_int_equal(pp_weight_nearest(INT64_MAX, 1), PP_WEIGHT_MOST);
    assert_int_equal(pp_weight_nearest(1, INT64_MAX), 1);
}

/* The speeds at which a weight is given up. */
static void find_ends(int weight, int64_t *low, int64_t *high)
{
    int64_t speed;
    *low = 0;
    for (speed = STEP; speed <= 2 * FASTEST; speed += STEP)
        if (pp_weight_holds(weight, speed, FASTEST)) {
            *low = *low == 0 ? speed : *low;
            *high = speed;
        }
}

static void test_weights__hold_until_a_speed_has_gone_far_enough(void **state)
{
    int64_t low[PP_WEIGHT_MOST + 1], high[PP_WEIGHT_MOST + 1];
    int weight;
    (void)state;
    for (weight = 1; weight <= PP_WEIGHT_MOST; weight++)
        find_ends(weight, &low[weight], &high[weight]);
    assert_int_equal(low[1], STEP);
    for (weight = 1; weight < PP_WEIGHT_MOST; weight++) {
        assert_true((double)high[weight] >= 1.14 * (double)low[weight + 1]);
        assert_true((double)high[weight] <= 1.17 * (double)low[weight + 1]);
    }
    assert_true(low[8] > 0.86 * FASTEST && low[8] < 0.88 * FASTEST);
}

/* Up and down by less than 7 %, from any speed: at most one change, however often. */
static void test_weights__do_not_go_to_and_fro(void **state)
{
    int64_t speed;
    (void)state;
    for (speed = FASTEST / 20; speed <= FASTEST; speed += STEP) {
        int weights[2] = {PP_WEIGHT_MOST, PP_WEIGHT_MOST}, changes = 0, i;
        int64_t fastest = 0;
        for (i = 0; i < 20; i++) {
            const int64_t speeds[2] = {FASTEST, i % 2 == 0 ? speed : speed * 107 / 100};
            changes += pp_weights_renew(weights, speeds, 2, &fastest);
        }
        assert_true(changes <= 1);
    }
}

static void test_weights__follow_a_server_that_becomes_slow_and_recovers(void **state)
{
    int weights[4] = {8, 8, 8, 8};
    int64_t fastest = 0;
    (void)state;
    assert_false(pp_weights_renew(weights, (int64_t[]){100, 104, 97, 93}, 4, &fastest));
    assert_int_equal(fastest, 104);
    assert_true(pp_weights_renew(weights, (int64_t[]){100, 50, 97, 100}, 4, &fastest));
    assert_memory_equal(weights, ((int[]){8, 4, 8, 8}), sizeof weights);
    assert_false(pp_weights_renew(weights, (int64_t[]){50, 25, 50, 49}, 4, &fastest)); /* all of them: nothing new */
    assert_int_equal(fastest, 50);
    assert_false(pp_weights_renew(weights, (int64_t[]){0, 0, 0, 0}, 4, &fastest)); /* nobody knows */
    assert_true(pp_weights_renew(weights, (int64_t[]){0, 50, 0, 0}, 4, &fastest)); /* the others are as before */
    assert_memory_equal(weights, ((int[]){8, 8, 8, 8}), sizeof weights);
    assert_true(pp_weights_renew(weights, (int64_t[]){400, 50, 50, 1}, 4, &fastest));
    assert_memory_equal(weights, ((int[]){8, 1, 1, 1}), sizeof weights);
}

/* ---- Epochs ---- */

static void renew(pp_speeds *speeds, const int64_t *all)
{
    pp_weighting next;
    assert_ok(pp_weighting_renew(&speeds->now, all, &next));
    pp_speeds_adopt(speeds, &next);
    pp_weighting_clear(&next);
}

static void test_speeds__begin_an_epoch_only_when_turns_change(void **state)
{
    pp_speeds speeds;
    (void)state;
    assert_ok(pp_speeds_init(&speeds, 2));
    assert_true(pp_weighting_is_even(&speeds.now));
    renew(&speeds, (int64_t[]){1000, 1050});
    assert_int_equal(speeds.epoch, 1);
    renew(&speeds, (int64_t[]){1000, 500});
    assert_int_equal(speeds.epoch, 2);
    assert_int_equal(speeds.now.turns.count, 3);
    renew(&speeds, (int64_t[]){2000, 1000});
    assert_int_equal(speeds.epoch, 2);
    renew(&speeds, (int64_t[]){1000, 1000});
    assert_int_equal(speeds.epoch, 3);
    assert_true(pp_weighting_is_even(&speeds.now));
    pp_speeds_clear(&speeds);
}

static void test_speeds__are_known_from_a_mebibyte_on(void **state)
{
    pp_speeds speeds;
    (void)state;
    assert_ok(pp_speeds_init(&speeds, 2));
    assert_false(pp_speeds_has_left(&speeds, 0));
    pp_speeds_note(&speeds, 1 << 19, 0.5);
    assert_int_equal(speeds.own, 0);
    pp_speeds_note(&speeds, 1 << 19, 0.5);
    assert_int_equal(speeds.own, 1 << 20);
    assert_true(pp_speeds_has_left(&speeds, 0)); /* nobody has told anything yet */
    assert_false(pp_speeds_has_left(&speeds, -1));
    renew(&speeds, (int64_t[]){1 << 20, 1 << 20});
    assert_false(pp_speeds_has_left(&speeds, 0));
    pp_speeds_note(&speeds, 1 << 20, 2);
    assert_true(pp_speeds_has_left(&speeds, 0));
    pp_speeds_note(&speeds, 1 << 20, 1.1);
    assert_false(pp_speeds_has_left(&speeds, 0));
    pp_speeds_note(&speeds, INT64_C(1) << 60, 1e-9);
    assert_int_equal(speeds.own, PP_SPEED_MOST);
    pp_speeds_clear(&speeds);
}

static int refuse_all(void *context, size_t bytes)
{
    (void)context;
    (void)bytes;
    return 1;
}

static void test_speeds__without_memory_are_refused(void **state)
{
    pp_weighting next;
    pp_speeds speeds;
    (void)state;
    pp_memory_hook_set(refuse_all, NULL);
    assert_int_equal(pp_speeds_init(&speeds, 2), PARAPET_ERR_MEMORY);
    pp_memory_hook_set(NULL, NULL);
    pp_speeds_clear(&speeds);
    assert_ok(pp_speeds_init(&speeds, 2));
    pp_memory_hook_set(refuse_all, NULL);
    assert_int_equal(pp_weighting_renew(&speeds.now, (int64_t[]){1, 2}, &next), PARAPET_ERR_MEMORY);
    pp_memory_hook_set(NULL, NULL);
    pp_weighting_clear(&next);
    pp_speeds_clear(&speeds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weights__are_those_nearest_to_the_speed),
        cmocka_unit_test(test_weights__hold_until_a_speed_has_gone_far_enough),
        cmocka_unit_test(test_weights__do_not_go_to_and_fro),
        cmocka_unit_test(test_weights__follow_a_server_that_becomes_slow_and_recovers),
        cmocka_unit_test(test_speeds__begin_an_epoch_only_when_turns_change),
        cmocka_unit_test(test_speeds__are_known_from_a_mebibyte_on),
        cmocka_unit_test(test_speeds__without_memory_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
