#include "support.h"

#include "base/checked.h"

/* Numbers where 64-bit arithmetic goes wrong, if it does. */
static const int64_t signed_edges[] = {INT64_MIN,
                                       INT64_MIN + 1,
                                       -(INT64_C(1) << 32),
                                       -3,
                                       -1,
                                       0,
                                       1,
                                       2,
                                       3,
                                       INT64_C(3037000499),
                                       INT64_C(3037000500),
                                       INT64_C(1) << 32,
                                       INT64_MAX / 2,
                                       INT64_MAX - 1,
                                       INT64_MAX};
static const uint64_t unsigned_edges[] = {0,
                                          1,
                                          2,
                                          3,
                                          UINT64_C(4294967295),
                                          UINT64_C(4294967296),
                                          UINT64_MAX / 2,
                                          UINT64_MAX / 2 + 1,
                                          UINT64_MAX - 1,
                                          UINT64_MAX};

#define COUNT_OF(list) (sizeof(list) / sizeof((list)[0]))

static void test_checked__signed_results_are_exact_or_refused(void **state)
{
    size_t i, j;
    (void)state;
    for (i = 0; i < COUNT_OF(signed_edges); i++)
        for (j = 0; j < COUNT_OF(signed_edges); j++) {
            int64_t a = signed_edges[i], b = signed_edges[j], result;
            __int128 sum = (__int128)a + b, product = (__int128)a * b;
            assert_int_equal(pp_add_fits(a, b, &result), sum >= INT64_MIN && sum <= INT64_MAX);
            if (pp_add_fits(a, b, &result))
                assert_true(result == sum);
            assert_int_equal(pp_multiply_fits(a, b, &result), product >= INT64_MIN && product <= INT64_MAX);
            if (pp_multiply_fits(a, b, &result))
                assert_true(result == product);
        }
}

static void test_checked__unsigned_results_are_exact_or_refused(void **state)
{
    size_t i, j;
    (void)state;
    for (i = 0; i < COUNT_OF(unsigned_edges); i++)
        for (j = 0; j < COUNT_OF(unsigned_edges); j++) {
            uint64_t a = unsigned_edges[i], b = unsigned_edges[j], result;
            unsigned __int128 sum = (unsigned __int128)a + b, product = (unsigned __int128)a * b;
            size_t size;
            assert_int_equal(pp_add_u64_fits(a, b, &result), sum <= UINT64_MAX);
            if (pp_add_u64_fits(a, b, &result))
                assert_true(result == sum);
            assert_int_equal(pp_add_size_fits((size_t)a, (size_t)b, &size), sum <= SIZE_MAX);
            if (pp_add_size_fits((size_t)a, (size_t)b, &size))
                assert_true(size == sum);
            assert_int_equal(pp_multiply_size_fits((size_t)a, (size_t)b, &size), product <= SIZE_MAX);
            if (pp_multiply_size_fits((size_t)a, (size_t)b, &size))
                assert_true(size == product);
        }
}

static void test_checked__division_rounds_up(void **state)
{
    int64_t a, b;
    (void)state;
    for (a = 0; a <= 50; a++)
        for (b = 1; b <= 55; b++)
            assert_int_equal(pp_divide_up(a, b), (a + b - 1) / b);
    assert_true(pp_divide_up(INT64_MAX, 1) == INT64_MAX);
    assert_true(pp_divide_up(INT64_MAX, 2) == INT64_MAX / 2 + 1);
    assert_int_equal(pp_divide_up(INT64_MAX, INT64_MAX), 1);
    assert_int_equal(pp_divide_up(INT64_MAX - 1, INT64_MAX), 1);
}

static void test_checked__smaller_and_larger_are_found_in_either_order(void **state)
{
    (void)state;
    assert_true(pp_min_i64(INT64_MIN, INT64_MAX) == INT64_MIN && pp_min_i64(INT64_MAX, INT64_MIN) == INT64_MIN);
    assert_true(pp_max_i64(INT64_MIN, INT64_MAX) == INT64_MAX && pp_max_i64(INT64_MAX, INT64_MIN) == INT64_MAX);
    assert_true(pp_min_size(0, SIZE_MAX) == 0 && pp_min_size(SIZE_MAX, 0) == 0);
    assert_true(pp_max_size(0, SIZE_MAX) == SIZE_MAX && pp_max_size(SIZE_MAX, 0) == SIZE_MAX);
}

static void test_checked__alignment_is_the_next_multiple(void **state)
{
    size_t value, unit;
    (void)state;
    for (unit = 1; unit <= 64; unit *= 2)
        for (value = 0; value <= 200; value++) {
            size_t aligned = pp_align_up(value, unit);
            assert_true(aligned % unit == 0 && aligned >= value && aligned - value < unit);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checked__signed_results_are_exact_or_refused),
        cmocka_unit_test(test_checked__unsigned_results_are_exact_or_refused),
        cmocka_unit_test(test_checked__division_rounds_up),
        cmocka_unit_test(test_checked__smaller_and_larger_are_found_in_either_order),
        cmocka_unit_test(test_checked__alignment_is_the_next_multiple),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
