/* Which arrays and groups of a hierarchy a copy takes. */
#include "support.h"

#include "copy/selection.h"

static pp_taken take(const char *include, const char *exclude, const char *path)
{
    pp_selection selection;
    pp_taken taken;
    assert_ok(pp_selection_init(&selection, include, exclude));
    taken = pp_selection_take(&selection, path);
    pp_selection_clear(&selection);
    return taken;
}

static void test_selection__names_are_found_at_any_level(void **state)
{
    (void)state;
    assert_int_equal(take("salt", NULL, "salt"), PP_TAKEN_WHOLE);
    assert_int_equal(take("salt", NULL, "ocean/deep/salt"), PP_TAKEN_WHOLE);
    assert_int_equal(take("salt", NULL, "ocean/salty"), PP_TAKEN_SOME);
    assert_int_equal(take("t2m,salt", NULL, "ocean/salt"), PP_TAKEN_WHOLE);
    assert_int_equal(take("*_bnds", NULL, "ocean/lat_bnds"), PP_TAKEN_WHOLE);
    assert_int_equal(take("t?m", NULL, "t2m"), PP_TAKEN_WHOLE);
    assert_int_equal(take("t[23]m", NULL, "t4m"), PP_TAKEN_SOME);
}

static void test_selection__paths_begin_at_the_group_that_is_copied(void **state)
{
    (void)state;
    assert_int_equal(take("ocean/salt", NULL, "ocean/salt"), PP_TAKEN_WHOLE);
    assert_int_equal(take("ocean/salt", NULL, "old/ocean/salt"), PP_TAKEN_SOME);
    assert_int_equal(take("ocean/*", NULL, "ocean/salt"), PP_TAKEN_WHOLE);
    assert_int_equal(take("ocean/*", NULL, "ocean/deep/salt"), PP_TAKEN_SOME);
    assert_int_equal(take("/salt", NULL, "salt"), PP_TAKEN_WHOLE);
    assert_int_equal(take("/salt", NULL, "ocean/salt"), PP_TAKEN_SOME);
}

static void test_selection__what_is_excluded_is_not_taken_even_if_it_is_included(void **state)
{
    (void)state;
    assert_int_equal(take(NULL, "salt", "salt"), PP_TAKEN_NOT);
    assert_int_equal(take(NULL, "salt", "t2m"), PP_TAKEN_SOME);
    assert_int_equal(take("*", "salt", "salt"), PP_TAKEN_NOT);
    assert_int_equal(take("salt", "ocean/*", "ocean/salt"), PP_TAKEN_NOT);
    assert_int_equal(take("", "", "salt"), PP_TAKEN_SOME);
}

static void test_selection__a_name_that_nothing_has_is_refused(void **state)
{
    pp_selection selection;
    (void)state;
    assert_ok(pp_selection_init(&selection, "t2m,t*", "salt"));
    assert_int_equal(pp_selection_take(&selection, "t2m"), PP_TAKEN_WHOLE);
    assert_int_equal(pp_selection_check_found(&selection), PARAPET_ERR_ARGUMENT);
    assert_non_null(strstr(parapet_error_message(), "exclude: there is nothing named \"salt\""));
    assert_int_equal(pp_selection_take(&selection, "salt"), PP_TAKEN_NOT);
    assert_ok(pp_selection_check_found(&selection));
    pp_selection_clear(&selection);
    assert_ok(pp_selection_init(&selection, NULL, NULL));
    assert_ok(pp_selection_check_found(&selection));
    pp_selection_clear(&selection);
}

static void test_selection__lists_that_cannot_be_meant_are_refused(void **state)
{
    static const char *const wrong[] = {",", "a,,b", "a,", ",a", "a\nb"};
    pp_selection selection;
    size_t i;
    (void)state;
    for (i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(pp_selection_init(&selection, wrong[i], NULL), PARAPET_ERR_ARGUMENT);
        assert_non_null(strstr(parapet_error_message(), "include: "));
        pp_selection_clear(&selection);
        assert_int_equal(pp_selection_init(&selection, NULL, wrong[i]), PARAPET_ERR_ARGUMENT);
        assert_non_null(strstr(parapet_error_message(), "exclude: "));
        pp_selection_clear(&selection);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_selection__names_are_found_at_any_level),
        cmocka_unit_test(test_selection__paths_begin_at_the_group_that_is_copied),
        cmocka_unit_test(test_selection__what_is_excluded_is_not_taken_even_if_it_is_included),
        cmocka_unit_test(test_selection__a_name_that_nothing_has_is_refused),
        cmocka_unit_test(test_selection__lists_that_cannot_be_meant_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
