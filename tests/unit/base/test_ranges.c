#include "base/ranges.h"

#include "support.h"

static void test_ranges__nothing_is_in_an_empty_set(void **state)
{
    pp_ranges ranges = {0};
    pp_range found;
    (void)state;
    assert_false(pp_ranges_next(&ranges, 0, &found));
    assert_false(pp_ranges_has(&ranges, 0));
    assert_int_equal(pp_ranges_number_count(&ranges), 0);
    pp_ranges_clear(&ranges);
}

static void test_ranges__runs_join_whatever_their_order(void **state)
{
    pp_ranges ranges = {0};
    pp_range found;
    (void)state;
    assert_ok(pp_ranges_add(&ranges, 10, 12));
    assert_ok(pp_ranges_add(&ranges, 3, 3));
    assert_ok(pp_ranges_add(&ranges, 4, 9));
    assert_ok(pp_ranges_add(&ranges, 20, 20));
    assert_ok(pp_ranges_add(&ranges, 11, 11));
    pp_ranges_sort(&ranges);
    assert_int_equal(ranges.count, 2);
    assert_int_equal(pp_ranges_number_count(&ranges), 11);
    assert_true(pp_ranges_next(&ranges, 5, &found));
    assert_int_equal(found.first, 5);
    assert_int_equal(found.last, 12);
    assert_true(pp_ranges_next(&ranges, 13, &found));
    assert_int_equal(found.first, 20);
    assert_false(pp_ranges_next(&ranges, 21, &found));
    assert_true(pp_ranges_has(&ranges, 3));
    assert_false(pp_ranges_has(&ranges, 2));
    pp_ranges_clear(&ranges);
}

/* Numbers of 0 .. 9999 in a scattered order, some twice; the set has those that are no multiple of 7. */
static void test_ranges__holds_what_was_added(void **state)
{
    pp_budget budget;
    pp_ranges ranges = {.budget = &budget};
    int64_t i;
    (void)state;
    pp_budget_init(&budget, (size_t)1 << 20);
    for (i = 0; i < 15000; i++)
        if (i * 7919 % 10000 % 7 != 0)
            assert_ok(pp_ranges_add(&ranges, i * 7919 % 10000, i * 7919 % 10000));
    pp_ranges_sort(&ranges);
    for (i = 0; i < 10000; i++)
        assert_int_equal(pp_ranges_has(&ranges, i), i % 7 != 0);
    assert_int_equal(pp_budget_used(&budget), ranges.capacity * sizeof ranges.list[0]);
    pp_ranges_clear(&ranges);
    assert_int_equal(pp_budget_used(&budget), 0);
}

static void test_ranges__what_is_dense_takes_no_room(void **state)
{
    pp_ranges ranges = {0};
    int64_t i;
    (void)state;
    for (i = 0; i < 1000000; i++)
        assert_ok(pp_ranges_add(&ranges, i, i));
    assert_int_equal(ranges.count, 1);
    pp_ranges_clear(&ranges);
}

static void test_ranges__beyond_the_budget_are_refused(void **state)
{
    pp_budget budget;
    pp_ranges ranges = {.budget = &budget};
    parapet_status status = PARAPET_OK;
    int64_t i;
    (void)state;
    pp_budget_init(&budget, 4096);
    for (i = 0; i < 1000 && status == PARAPET_OK; i++)
        status = pp_ranges_add(&ranges, 2 * i, 2 * i);
    assert_int_equal(status, PARAPET_ERR_MEMORY);
    pp_ranges_clear(&ranges);
    assert_int_equal(pp_budget_used(&budget), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges__nothing_is_in_an_empty_set),
        cmocka_unit_test(test_ranges__runs_join_whatever_their_order),
        cmocka_unit_test(test_ranges__holds_what_was_added),
        cmocka_unit_test(test_ranges__what_is_dense_takes_no_room),
        cmocka_unit_test(test_ranges__beyond_the_budget_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
