#include <string.h>

#include "base/status.h"
#include "support.h"

static void assert_shown(const char *text, const char *expected)
{
    char visible[128];
    assert_int_equal(parapet_text_visible(visible, sizeof visible, text), strlen(expected));
    assert_string_equal(visible, expected);
}

static void test_visible__plain_text_stays(void **state)
{
    (void)state;
    assert_shown("", "");
    assert_shown(NULL, "");
    assert_shown("density \xc3\xa9 \xe6\xb8\xa9 \xf0\x9f\x8c\x8a ~",
                 "density \xc3\xa9 \xe6\xb8\xa9 \xf0\x9f\x8c\x8a ~");
}

static void test_visible__what_deceives_is_escaped(void **state)
{
    (void)state;
    assert_shown("a\x1b[31m\n\x7f", "a\\u001b[31m\\u000a\\u007f");
    assert_shown("\xc2\x9b"
                 "1m",
                 "\\u009b1m");
    assert_shown("\xd8\x9c\xe2\x80\x8e\xe2\x80\x8f", "\\u061c\\u200e\\u200f");
    assert_shown("\xe2\x80\xaa\xe2\x80\xae\xe2\x81\xa6\xe2\x81\xa9", "\\u202a\\u202e\\u2066\\u2069");
    assert_shown("\xf3\xa0\x81\x81", "\\udb40\\udc41");
}

static void test_visible__what_is_not_utf8_is_replaced_byte_by_byte(void **state)
{
    (void)state;
    assert_shown("\xff", "\\ufffd");
    assert_shown("a\xc3", "a\\ufffd");
    assert_shown("\xe2\x80z", "\\ufffd\\ufffdz");
    assert_shown("\xed\xa0\x80", "\\ufffd\\ufffd\\ufffd");
}

static void test_visible__ends_before_what_does_not_fit(void **state)
{
    char visible[8];
    (void)state;
    assert_int_equal(parapet_text_visible(visible, sizeof visible, "ab\xe2\x80\xae"), 8);
    assert_string_equal(visible, "ab");
    assert_int_equal(parapet_text_visible(visible, 2,
                                          "\xc3\xa9"
                                          "b"),
                     3);
    assert_string_equal(visible, "");
    assert_int_equal(parapet_text_visible(NULL, 0, "\n"), 6);
}

static void test_visible__sentences_are_made_so(void **state)
{
    char name[2 * PP_MESSAGE_BYTES];
    (void)state;
    (void)pp_fail(PARAPET_ERR_FORMAT, "%s: no codec", "\xe2\x80\xae\xff");
    assert_string_equal(parapet_error_message(), "\\u202e\\ufffd: no codec");
    (void)pp_fail_within(PARAPET_ERR_FORMAT, "x\x1b");
    assert_string_equal(parapet_error_message(), "x\\u001b: \\u202e\\ufffd: no codec");
    for (size_t i = 0; i < sizeof name - 1; i++)
        name[i] = i % 2 == 0 ? '\xc3' : '\xa9';
    name[sizeof name - 1] = '\0';
    (void)pp_fail(PARAPET_ERR_FORMAT, "%s", name);
    assert_null(strchr(parapet_error_message(), '\\'));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_visible__plain_text_stays),
        cmocka_unit_test(test_visible__what_deceives_is_escaped),
        cmocka_unit_test(test_visible__what_is_not_utf8_is_replaced_byte_by_byte),
        cmocka_unit_test(test_visible__ends_before_what_does_not_fit),
        cmocka_unit_test(test_visible__sentences_are_made_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
