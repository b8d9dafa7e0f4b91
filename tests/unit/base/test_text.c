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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
