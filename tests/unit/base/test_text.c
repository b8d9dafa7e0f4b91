#include "support.h"

#include "base/text.h"

/* Refuses the allocation when *context reaches 0, and all after it. */
static int refuse_after(void *context, size_t bytes)
{
    int *left = context;
    (void)bytes;
    return (*left)-- <= 0;
}

static void test_text__pieces_are_joined(void **state)
{
    pp_text text = {0};
    char *result;
    (void)state;
    pp_text_add(&text, "{\"shape\": [%d, %d]", 3, 4);
    pp_text_add_bytes(&text, ", x", 3);
    pp_text_add(&text, "%s", "");
    pp_text_add(&text, "}");
    assert_int_equal(text.bytes, 20);
    assert_ok(pp_text_finish(&text, &result));
    assert_string_equal(result, "{\"shape\": [3, 4], x}");
    pp_free(result);
}

static void test_text__nothing_added_is_empty_text(void **state)
{
    pp_text text = {0};
    char *result;
    (void)state;
    assert_ok(pp_text_finish(&text, &result));
    assert_string_equal(result, "");
    pp_free(result);
}

static void test_text__always_ends_in_nul_at_every_length(void **state)
{
    pp_text text = {0};
    size_t length;
    (void)state;
    for (length = 1; length <= 1000; length++) {
        if (length % 2 == 0)
            pp_text_add(&text, "%c", 'a' + (int)(length % 26));
        else
            pp_text_add_bytes(&text, &"abcdefghijklmnopqrstuvwxyz"[length % 26], 1);
        assert_int_equal(text.bytes, length);
        assert_int_equal(strlen(text.data), length);
        assert_int_equal(text.data[length - 1], 'a' + (int)(length % 26));
    }
    pp_text_free(&text);
}

static void test_text__bytes_may_hold_nul(void **state)
{
    pp_text text = {0};
    (void)state;
    pp_text_add_bytes(&text, "a\0b", 3);
    assert_int_equal(text.bytes, 3);
    assert_memory_equal(text.data, "a\0b", 4);
    pp_text_free(&text);
}

static void test_text__one_piece_longer_than_any_step_fits(void **state)
{
    pp_text text = {0};
    char *result;
    (void)state;
    pp_text_add(&text, "%0*d", 100000, 7);
    assert_ok(pp_text_finish(&text, &result));
    assert_int_equal(strlen(result), 100000);
    assert_int_equal(result[99999], '7');
    pp_free(result);
}

static void write_much(pp_text *text)
{
    int i;
    for (i = 0; i < 100; i++) {
        pp_text_add(text, "line %d\n", i);
        pp_text_add_bytes(text, "bytes", 5);
    }
}

static void test_text__the_first_failure_sticks_at_every_allocation(void **state)
{
    long live = pp_memory_live_count();
    int allowed = 0, failures = 0;
    parapet_status status;
    char *result;
    (void)state;
    do {
        pp_text text = {0};
        int left = allowed++;
        pp_memory_hook_set(refuse_after, &left);
        write_much(&text);
        status = pp_text_finish(&text, &result);
        pp_memory_hook_set(NULL, NULL);
        if (status != PARAPET_OK) {
            assert_int_equal(status, PARAPET_ERR_MEMORY);
            assert_null(result);
            assert_int_equal(pp_memory_live_count(), live);
            failures++;
        }
    } while (status != PARAPET_OK);
    assert_true(failures >= 3);
    assert_memory_equal(result, "line 0\nbytesline 1\n", 19);
    pp_free(result);
    assert_int_equal(pp_memory_live_count(), live);
}

static void test_text__a_failure_is_not_forgotten_when_memory_returns(void **state)
{
    pp_text text = {0};
    char *result;
    int left = 0;
    (void)state;
    pp_memory_hook_set(refuse_after, &left);
    pp_text_add(&text, "lost");
    pp_memory_hook_set(NULL, NULL);
    pp_text_add(&text, "found");
    assert_fails(pp_text_finish(&text, &result), PARAPET_ERR_MEMORY, "memory");
    assert_null(result);
}

static void test_text__can_be_used_again_after_finish_and_free(void **state)
{
    pp_text text = {0};
    char *result;
    (void)state;
    pp_text_add(&text, "one");
    assert_ok(pp_text_finish(&text, &result));
    pp_free(result);
    pp_text_add(&text, "two");
    pp_text_free(&text);
    pp_text_free(&text);
    pp_text_add(&text, "three");
    assert_ok(pp_text_finish(&text, &result));
    assert_string_equal(result, "three");
    pp_free(result);
}

static void add_lines(pp_text *text, size_t count)
{
    for (; count > 0; count--) {
        pp_text_add(text, "%d", 1234567);
        pp_text_add_bytes(text, "\n", 1);
    }
}

static void test_text__that_grows_is_paid_for_by_its_budget(void **state)
{
    pp_budget budget;
    pp_text text;
    (void)state;
    pp_budget_init(&budget, 1 << 20);
    pp_text_init_within(&text, &budget, "many lines");
    add_lines(&text, 4096);
    assert_int_equal(pp_budget_used(&budget), 0); /* it is small */
    add_lines(&text, 4096 * 15);
    assert_ok(pp_text_check(&text));
    assert_int_equal(text.bytes, 4096 * 16 * 8);
    assert_int_equal(pp_budget_used(&budget), text.capacity);
    assert_memory_equal(text.data + text.bytes - 8, "1234567\n", 9);
    pp_text_free(&text);
    assert_int_equal(pp_budget_used(&budget), 0);
}

/* The limit that is named has room for all of it, not only for what there was when room ran out. */
static void test_text__beyond_its_budget_is_refused_with_a_limit_that_suffices(void **state)
{
    size_t limit = (size_t)100 << 10;
    pp_budget budget;
    pp_text text;
    const char *named;
    char *result;
    int attempt;
    (void)state;
    for (attempt = 0; attempt < 2; attempt++) {
        pp_budget_init(&budget, limit);
        pp_text_init_within(&text, &budget, "many lines");
        add_lines(&text, 100000);
        assert_int_equal(text.bytes, 800000);
        if (attempt > 0)
            break;
        assert_fails(pp_text_check(&text), PARAPET_ERR_MEMORY, "many lines need");
        assert_int_equal(pp_budget_used(&budget), 0);
        named = strstr(parapet_error_message(), "at least ");
        assert_non_null(named);
        limit = (size_t)strtoull(named + strlen("at least "), NULL, 10);
        assert_fails(pp_text_finish(&text, &result), PARAPET_ERR_MEMORY, "");
        assert_null(result);
    }
    assert_ok(pp_text_finish(&text, &result));
    assert_int_equal(strlen(result), 800000);
    assert_int_equal(pp_budget_used(&budget), 0);
    pp_free(result);
}

static void test_text__refused_for_a_moment_stays_refused(void **state)
{
    pp_budget budget;
    pp_text text;
    (void)state;
    pp_budget_init(&budget, 1 << 20);
    assert_ok(pp_budget_reserve(&budget, 1 << 20, "something else"));
    pp_text_init_within(&text, &budget, "many lines");
    add_lines(&text, 10000);
    pp_budget_release(&budget, 1 << 20);
    assert_fails(pp_text_check(&text), PARAPET_ERR_MEMORY, "at least");
    pp_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text__pieces_are_joined),
        cmocka_unit_test(test_text__nothing_added_is_empty_text),
        cmocka_unit_test(test_text__always_ends_in_nul_at_every_length),
        cmocka_unit_test(test_text__bytes_may_hold_nul),
        cmocka_unit_test(test_text__one_piece_longer_than_any_step_fits),
        cmocka_unit_test(test_text__the_first_failure_sticks_at_every_allocation),
        cmocka_unit_test(test_text__a_failure_is_not_forgotten_when_memory_returns),
        cmocka_unit_test(test_text__can_be_used_again_after_finish_and_free),
        cmocka_unit_test(test_text__that_grows_is_paid_for_by_its_budget),
        cmocka_unit_test(test_text__beyond_its_budget_is_refused_with_a_limit_that_suffices),
        cmocka_unit_test(test_text__refused_for_a_moment_stays_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
