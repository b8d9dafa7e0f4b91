#include "base/word_list.h"

#include "support.h"

static void test_word_list__keeps_texts_and_numbers(void **state)
{
    pp_budget budget;
    pp_word_list list;
    (void)state;
    pp_budget_init(&budget, 1 << 16);
    pp_word_list_init(&list, &budget, "words of a test");
    assert_ok(pp_word_list_add(&list, "one", 1));
    assert_ok(pp_word_list_add(&list, "", 2));
    assert_ok(pp_word_list_add(&list, "three", 3));
    assert_int_equal(pp_word_list_count(&list), 3);
    pp_word_list_drop_last(&list);
    assert_ok(pp_word_list_add(&list, "four", 4));
    pp_word_list_set_number(&list, 0, 7);
    assert_string_equal(pp_word_list_text(&list, 0), "one");
    assert_string_equal(pp_word_list_text(&list, 1), "");
    assert_string_equal(pp_word_list_text(&list, 2), "four");
    assert_int_equal(pp_word_list_number(&list, 0), 7);
    assert_int_equal(pp_word_list_number(&list, 2), 4);
    pp_word_list_clear(&list);
    assert_int_equal(pp_budget_used(&budget), 0);
}

static void test_word_list__is_as_it_was_when_a_word_does_not_fit(void **state)
{
    pp_budget budget;
    pp_word_list list;
    char word[65];
    size_t count;
    (void)state;
    memset(word, 'w', 64);
    word[64] = '\0';
    pp_budget_init(&budget, 1000);
    pp_word_list_init(&list, &budget, "words of a test");
    while (pp_word_list_add(&list, word, 1) == PARAPET_OK)
        continue;
    count = pp_word_list_count(&list);
    assert_true(count >= 5 && count < 16);
    assert_fails(pp_word_list_add(&list, word, 1), PARAPET_ERR_MEMORY, "words of a test");
    assert_int_equal(pp_word_list_count(&list), count);
    assert_string_equal(pp_word_list_text(&list, count - 1), word);
    assert_true(pp_budget_used(&budget) <= 1000);
    pp_word_list_clear(&list);
}

static int count_allocation(void *context, size_t bytes)
{
    (void)bytes;
    *(int *)context += 1;
    return 0;
}

/* Near the limit, too, and up to it. */
static void test_word_list__grows_in_few_steps(void **state)
{
    static const char word[] = "a/name/of/an/object";
    pp_budget budget;
    pp_word_list list;
    int steps = 0;
    (void)state;
    pp_budget_init(&budget, 1 << 20);
    pp_word_list_init(&list, &budget, "words of a test");
    pp_memory_hook_set(count_allocation, &steps);
    while (pp_word_list_add(&list, word, 1) == PARAPET_OK)
        continue;
    pp_memory_hook_set(NULL, NULL);
    assert_true(steps < 100);
    assert_true(pp_word_list_count(&list) * sizeof word >= (1 << 18));
    pp_word_list_clear(&list);
}

static void test_word_list__is_the_same_elsewhere(void **state)
{
    pp_text bytes = {0};
    pp_word_list list, other;
    pp_cursor cursor;
    pp_budget budget;
    (void)state;
    pp_budget_init(&budget, 1 << 16);
    pp_word_list_init(&list, &budget, "words of a test");
    pp_word_list_init(&other, &budget, "words of a test");
    assert_ok(pp_word_list_add(&list, "a/b", 3));
    assert_ok(pp_word_list_add(&list, "", 0));
    pp_word_list_print(&list, &bytes);
    cursor = (pp_cursor){.data = (const unsigned char *)bytes.data, .left = bytes.bytes};
    assert_ok(pp_word_list_adopt(&other, &cursor));
    assert_int_equal(pp_word_list_count(&other), 2);
    assert_string_equal(pp_word_list_text(&other, 0), "a/b");
    assert_int_equal(pp_word_list_number(&other, 0), 3);
    pp_word_list_clear(&other);
    cursor = (pp_cursor){.data = (const unsigned char *)bytes.data, .left = bytes.bytes - 1};
    assert_fails(pp_word_list_adopt(&other, &cursor), PARAPET_ERR_INTERNAL, "shorter");
    pp_word_list_clear(&other);
    pp_word_list_clear(&list);
    pp_text_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_word_list__keeps_texts_and_numbers),
        cmocka_unit_test(test_word_list__is_as_it_was_when_a_word_does_not_fit),
        cmocka_unit_test(test_word_list__grows_in_few_steps),
        cmocka_unit_test(test_word_list__is_the_same_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
