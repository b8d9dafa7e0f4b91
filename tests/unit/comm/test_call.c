#include <parapet_store.h>
#include <stdio.h>
#include <string.h>

#include "comm/comm.h"
#include "support.h"

static void assert_difference(const pp_call *here, const pp_call *there, const char *name, const char *mine,
                              const char *other)
{
    pp_difference found;
    assert_true(here->digest != there->digest);
    assert_true(pp_call_find_difference(here->arguments, there->arguments, &found));
    assert_string_equal(found.name, name);
    assert_string_equal(found.here, mine);
    assert_string_equal(found.there, other);
}

static void describe(pp_call *call, int64_t width, const char *codec)
{
    const int64_t shape[2] = {100, width};
    pp_call_init(call, "create(%s)", "t");
    pp_call_add_integers(call, "shape", 2, shape);
    pp_call_add_text(call, "codec", codec);
}

static void test_call__equal_arguments_have_no_difference(void **state)
{
    pp_call here, there;
    pp_difference found;
    (void)state;
    describe(&here, 200, "zstd:3");
    describe(&there, 200, "zstd:3");
    assert_true(here.digest == there.digest);
    assert_false(pp_call_find_difference(here.arguments, there.arguments, &found));
}

static void test_call__an_element_of_a_list_is_named_with_both_values(void **state)
{
    pp_call here, there;
    (void)state;
    describe(&here, 200, NULL);
    describe(&there, 100, NULL);
    assert_difference(&here, &there, "shape[1]", "200", "100");
}

static void test_call__null_differs_from_a_text(void **state)
{
    pp_call here, there;
    (void)state;
    describe(&here, 1, NULL);
    describe(&there, 1, "");
    assert_difference(&here, &there, "codec", "not given", "\"\"");
    describe(&there, 1, "gzip");
    assert_difference(&there, &here, "codec", "\"gzip\"", "not given");
}

static void test_call__long_texts_that_end_differently_differ(void **state)
{
    char text[300];
    pp_call here, there;
    pp_difference found;
    (void)state;
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    describe(&here, 1, text);
    text[sizeof text - 2] = 'y';
    describe(&there, 1, text);
    assert_true(here.digest != there.digest);
    assert_true(pp_call_find_difference(here.arguments, there.arguments, &found));
    assert_string_equal(found.name, "codec");
    assert_string_not_equal(found.here, found.there);
}

static void test_call__a_list_of_another_length_is_noticed(void **state)
{
    const int64_t values[3] = {1, 2, 3};
    pp_call here, there;
    (void)state;
    pp_call_init(&here, "resize");
    pp_call_add_integers(&here, "shape", 3, values);
    pp_call_init(&there, "resize");
    pp_call_add_integers(&there, "shape", 2, values);
    assert_difference(&here, &there, "shape[2]", "3", "not given");
}

static void test_call__prefixes_and_marks_in_values_stay_apart(void **state)
{
    pp_call here, there;
    (void)state;
    pp_call_init(&here, "create");
    pp_call_within(&here, "specs[%d].", 7);
    pp_call_add_text(&here, "codec", "a\036b\037c\nd");
    pp_call_add_integer(&here, "ndim", 2);
    pp_call_init(&there, "create");
    pp_call_within(&there, "specs[%d].", 7);
    pp_call_add_text(&there, "codec", "a\036b\037c\nd");
    pp_call_add_integer(&there, "ndim", 3);
    assert_difference(&here, &there, "specs[7].ndim", "2", "3");
}

static void test_call__a_choice_is_told_by_its_word(void **state)
{
    pp_call here, there;
    (void)state;
    pp_call_init(&here, "store_open");
    pp_call_add_choice(&here, &pp_choice_owners, PARAPET_OWNERS_NEAREST);
    pp_call_init(&there, "store_open");
    pp_call_add_choice(&there, &pp_choice_owners, PARAPET_OWNERS_IN_TURN);
    assert_difference(&here, &there, "owners", "nearest", "in_turn");
    pp_call_init(&there, "store_open");
    pp_call_add_choice(&there, &pp_choice_owners, 7);
    assert_difference(&here, &there, "owners", "nearest", "7");
}

/* Only the beginning of a long value is shown, and all of it is compared. */
static void test_call__long_values_that_end_differently_differ(void **state)
{
    unsigned char value[20] = {0xab};
    pp_call here, there;
    (void)state;
    pp_call_init(&here, "create");
    pp_call_add_value(&here, "fill_value", value, sizeof value);
    value[19] = 1;
    pp_call_init(&there, "create");
    pp_call_add_value(&there, "fill_value", value, sizeof value);
    assert_true(here.digest != there.digest);
    assert_non_null(strstr(here.arguments, "0xab000000000000000000000000000000"));
    assert_null(strstr(here.arguments, "0xab00000000000000000000000000000000"));
    pp_call_init(&there, "create");
    pp_call_add_value(&there, "fill_value", NULL, 0);
    assert_difference(&here, &there, "fill_value", "0xab000000000000000000000000000000", "not given");
}

/* What another rank has sent may end anywhere. */
static void test_call__a_list_that_was_cut_ends_before_the_cut(void **state)
{
    pp_call here, there;
    pp_difference found;
    size_t bytes;
    (void)state;
    pp_call_init(&here, "create");
    pp_call_add_text(&here, "path", "a");
    pp_call_init(&there, "create");
    pp_call_add_text(&there, "path", "b");
    for (bytes = strlen(here.arguments) - 1; bytes > 0; bytes--) {
        here.arguments[bytes] = '\0';
        assert_false(pp_call_find_difference(here.arguments, there.arguments, &found));
    }
}

/* What has no room is compared all the same, and no byte is written outside. */
static void test_call__thousands_of_arguments_are_compared(void **state)
{
    pp_call here, there;
    pp_difference found;
    int i;
    (void)state;
    pp_call_init(&here, "create");
    pp_call_init(&there, "create");
    for (i = 0; i < 5000; i++) {
        pp_call_add_element(&here, "paths", i, "some/path");
        pp_call_add_element(&there, "paths", i, i == 4999 ? "some/other" : "some/path");
    }
    assert_true(here.is_cut && strlen(here.arguments) < sizeof here.arguments);
    assert_true(here.digest != there.digest);
    assert_false(pp_call_find_difference(here.arguments, there.arguments, &found));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_call__equal_arguments_have_no_difference),
        cmocka_unit_test(test_call__an_element_of_a_list_is_named_with_both_values),
        cmocka_unit_test(test_call__null_differs_from_a_text),
        cmocka_unit_test(test_call__long_texts_that_end_differently_differ),
        cmocka_unit_test(test_call__a_list_of_another_length_is_noticed),
        cmocka_unit_test(test_call__prefixes_and_marks_in_values_stay_apart),
        cmocka_unit_test(test_call__a_choice_is_told_by_its_word),
        cmocka_unit_test(test_call__long_values_that_end_differently_differ),
        cmocka_unit_test(test_call__a_list_that_was_cut_ends_before_the_cut),
        cmocka_unit_test(test_call__thousands_of_arguments_are_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
