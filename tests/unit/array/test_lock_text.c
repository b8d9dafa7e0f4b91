/* What the text of a lock says, and what is said of it. */
#include "support.h"

#include "array/lock_text.h"

static void test_lock_text__is_whom_the_lock_or_its_record_names(void **state)
{
    static const char of_another[] = "process 1 on nowhere since 2026 for copying";
    static const struct {
        const char *text, *holder, *advice, *sentence;
    } cases[] = {
        {"", "", "", "is being changed by another job; try again later"},
        {"", "", "remove it", "is being changed by another job; remove it"},
        {"parapet lock 1\nheld by process 1 on nowhere since 2026 for copying\n", "", "", of_another},
        {"", "process 2 on nowhere since 2025", "", "changed by process 2 on nowhere since 2025"},
        {"", "somebody", "", "changed by somebody"},
        {"parapet lock 1\nheld by process 1 on nowhere since 2026 for copying", "process 1 on nowhere since 2025", "",
         of_another},
        {"parapet lock 1\nheld by process 1 on nowhere since 2026 for copying", "process 2 on nowhere since 2025", "",
         "changed by process 2 on nowhere since 2025"},
    };
    char own[PP_LOCK_LINE_BYTES];
    pp_lock_view view;
    size_t i;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        view = (pp_lock_view){.is_held = true};
        (void)snprintf(view.text, sizeof view.text, "%s", cases[i].text);
        (void)snprintf(view.holder, sizeof view.holder, "%s", cases[i].holder);
        (void)snprintf(view.advice, sizeof view.advice, "%s", cases[i].advice);
        assert_fails(pp_lock_text_fail_seen("a", &view), PARAPET_ERR_BUSY, cases[i].sentence);
    }
    view = (pp_lock_view){.is_held = true};
    pp_lock_text_print("sealing", own);
    (void)snprintf(view.text, sizeof view.text, "parapet lock 1\nheld by %.400s\n", own);
    assert_fails(pp_lock_text_fail_seen("a", &view), PARAPET_ERR_BUSY, "this process, through another handle");
}

static void test_lock_text__an_incarnation_is_sixteen_digits(void **state)
{
    static const struct {
        const char *text, *incarnation;
    } cases[] = {
        {"", ""},
        {"parapet lock 1\nincarnation 0123456789abcdef\nheld by x\n", "0123456789abcdef"},
        {"parapet lock 1\nincarnation 0123456789abcde\n", ""},
        {"parapet lock 1\nincarnation 0123456789ABCDEF\n", ""},
        {"parapet lock 1\nincarnation 0123456789abcdef0\n", ""},
    };
    char found[PP_INCARNATION_BYTES];
    size_t i;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pp_lock_text_incarnation(cases[i].text, found);
        assert_string_equal(found, cases[i].incarnation);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lock_text__is_whom_the_lock_or_its_record_names),
        cmocka_unit_test(test_lock_text__an_incarnation_is_sixteen_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
