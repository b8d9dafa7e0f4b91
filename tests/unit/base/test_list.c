#include "base/list.h"

#include "support.h"

typedef struct row {
    int64_t key, padding[4];
} row;

static int compare_rows(const void *left, const void *right)
{
    int64_t a = ((const row *)left)->key, b = ((const row *)right)->key;
    return (a > b) - (a < b);
}

static void fill(pp_list *list, test_random *random, int count)
{
    int i;
    for (i = 0; i < count; i++)
        assert_ok(pp_list_add(list, &(row){.key = test_random_between(random, 0, 50)}));
}

static void test_list__keeps_rows_in_order_and_within_the_budget(void **state)
{
    pp_budget budget;
    pp_list list;
    int64_t i;
    (void)state;
    pp_budget_init(&budget, 100 * sizeof(row) + 1);
    pp_list_init(&list, sizeof(row), &budget, "rows of a test");
    for (i = 0; i < 100; i++)
        assert_ok(pp_list_add(&list, &(row){.key = i}));
    assert_fails(pp_list_add(&list, &(row){0}), PARAPET_ERR_MEMORY, "rows of a test");
    for (i = 0; i < 100; i++)
        assert_int_equal(((row *)pp_list_at(&list, (size_t)i))->key, i);
    assert_int_equal(pp_budget_used(&budget), 100 * sizeof(row));
    pp_list_clear(&list);
    assert_int_equal(pp_budget_used(&budget), 0);
    assert_null(pp_list_at(&list, 0));
    pp_list_clear(&list);
}

static void test_list__reserves_exactly_what_is_asked_for(void **state)
{
    pp_budget budget;
    pp_list list;
    const row *first;
    int i;
    (void)state;
    pp_budget_init(&budget, 64 * sizeof(row));
    pp_list_init(&list, sizeof(row), &budget, "rows of a test");
    assert_ok(pp_list_reserve(&list, 40));
    assert_int_equal(pp_budget_used(&budget), 40 * sizeof(row));
    first = list.rows != NULL ? (const row *)(const void *)list.rows : NULL;
    for (i = 0; i < 40; i++)
        assert_ok(pp_list_add(&list, &(row){.key = i}));
    assert_ptr_equal(pp_list_at(&list, 0), first); /* filled, it has not moved */
    assert_fails(pp_list_reserve(&list, 25), PARAPET_ERR_MEMORY, "rows of a test");
    assert_fails(pp_list_reserve(&list, SIZE_MAX), PARAPET_ERR_MEMORY, "more memory than any machine has");
    assert_fails(pp_list_reserve(&list, SIZE_MAX / 8), PARAPET_ERR_MEMORY, "more memory than any machine has");
    assert_int_equal(list.count, 40);
    pp_list_clear(&list);
}

static void test_list__is_sorted_without_rows_that_are_equal(void **state)
{
    test_random random = test_random_start();
    int round;
    (void)state;
    for (round = 0; round < 200; round++) {
        pp_budget budget;
        pp_list list;
        size_t i;
        pp_budget_init(&budget, (size_t)1 << 20);
        pp_list_init(&list, sizeof(row), &budget, "rows of a test");
        fill(&list, &random, (int)test_random_between(&random, 0, 80));
        assert_ok(pp_list_sort(&list, compare_rows));
        pp_list_drop_equal(&list, compare_rows);
        for (i = 1; i < list.count; i++)
            assert_true(((row *)pp_list_at(&list, i - 1))->key < ((row *)pp_list_at(&list, i))->key);
        pp_list_clear(&list);
        assert_int_equal(pp_budget_used(&budget), 0);
    }
}

static void test_list__sorting_takes_from_the_budget_and_nothing_if_there_is_nothing_to_do(void **state)
{
    pp_budget budget;
    pp_list list;
    int64_t i;
    (void)state;
    pp_budget_init(&budget, 50 * sizeof(row));
    pp_list_init(&list, sizeof(row), &budget, "rows of a test");
    for (i = 0; i < 50; i++)
        assert_ok(pp_list_add(&list, &(row){.key = i}));
    assert_ok(pp_list_sort(&list, compare_rows));
    ((row *)pp_list_at(&list, 0))->key = 99;
    assert_fails(pp_list_sort(&list, compare_rows), PARAPET_ERR_MEMORY, "rows of a test");
    assert_int_equal(((row *)pp_list_at(&list, 0))->key, 99); /* as it was */
    pp_list_clear(&list);
}

static void test_list__a_refusal_names_a_limit_for_what_is_expected_too(void **state)
{
    pp_budget budget;
    pp_list list;
    (void)state;
    pp_budget_init(&budget, 1000);
    pp_list_init(&list, 100, &budget, "rows of a test");
    pp_budget_expect(&budget, 5000);
    assert_ok(pp_list_reserve(&list, 9));
    assert_fails(pp_list_reserve(&list, 20), PARAPET_ERR_MEMORY, "at least 7000");
    pp_budget_expect(&budget, 0);
    assert_fails(pp_list_reserve(&list, 20), PARAPET_ERR_MEMORY, "at least 2000");
    pp_list_clear(&list);
}

static void test_list__that_is_trimmed_takes_what_its_rows_take(void **state)
{
    pp_budget budget;
    pp_list list;
    int64_t i;
    (void)state;
    pp_budget_init(&budget, 4096);
    pp_list_init(&list, sizeof i, &budget, "numbers");
    assert_ok(pp_list_trim(&list));
    for (i = 0; i < 100; i++)
        assert_ok(pp_list_add(&list, &i));
    assert_true(pp_budget_used(&budget) > 100 * sizeof i);
    assert_ok(pp_list_trim(&list));
    assert_int_equal(pp_budget_used(&budget), 100 * sizeof i);
    for (i = 0; i < 100; i++)
        assert_int_equal(*(int64_t *)pp_list_at(&list, (size_t)i), i);
    assert_ok(pp_list_add(&list, &i));
    pp_list_clear(&list);
    assert_int_equal(pp_budget_used(&budget), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list__keeps_rows_in_order_and_within_the_budget),
        cmocka_unit_test(test_list__reserves_exactly_what_is_asked_for),
        cmocka_unit_test(test_list__is_sorted_without_rows_that_are_equal),
        cmocka_unit_test(test_list__sorting_takes_from_the_budget_and_nothing_if_there_is_nothing_to_do),
        cmocka_unit_test(test_list__that_is_trimmed_takes_what_its_rows_take),
        cmocka_unit_test(test_list__a_refusal_names_a_limit_for_what_is_expected_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
