#include "support.h"

#include "base/memory.h"

static int refuse_all(void *context, size_t bytes)
{
    *(size_t *)context = bytes;
    return 1;
}

/* Every test must give back what it took, and leave no hook. */
static int remember_live_count(void **state)
{
    static long live;
    live = pp_memory_live_count();
    *state = &live;
    return 0;
}

static int check_live_count(void **state)
{
    pp_memory_hook_set(NULL, NULL);
    return pp_memory_live_count() == *(long *)*state ? 0 : -1;
}

static void test_memory__allocated_memory_is_zeroed(void **state)
{
    unsigned char *memory;
    size_t i;
    (void)state;
    assert_ok(pp_allocate(&memory, 10000));
    for (i = 0; i < 10000; i++)
        assert_int_equal(memory[i], 0);
    pp_free(memory);
    assert_ok(pp_allocate_array(&memory, 100, 7));
    for (i = 0; i < 700; i++)
        assert_int_equal(memory[i], 0);
    pp_free(memory);
}

static void test_memory__no_bytes_give_a_valid_pointer(void **state)
{
    void *memory[4] = {NULL, NULL, NULL, NULL};
    int i;
    (void)state;
    assert_ok(pp_allocate(&memory[0], 0));
    assert_ok(pp_allocate_array(&memory[1], 0, 8));
    assert_ok(pp_allocate_pages(&memory[2], 0));
    assert_ok(pp_bytes_duplicate(&memory[3], NULL, 0));
    for (i = 0; i < 4; i++) {
        assert_non_null(memory[i]);
        pp_free(memory[i]);
    }
}

static void test_memory__pages_are_aligned(void **state)
{
    static const size_t sizes[] = {1, PP_PAGE_BYTES - 1, PP_PAGE_BYTES, PP_PAGE_BYTES + 1, 100000};
    size_t i;
    (void)state;
    for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        unsigned char *memory;
        assert_ok(pp_allocate_pages(&memory, sizes[i]));
        assert_int_equal((uintptr_t)memory % PP_PAGE_BYTES, 0);
        memset(memory, 1, sizes[i]);
        pp_free(memory);
    }
}

static void test_memory__an_array_that_no_memory_holds_is_refused(void **state)
{
    void *memory = NULL;
    (void)state;
    assert_fails(pp_allocate_array(&memory, SIZE_MAX / 2, 3), PARAPET_ERR_MEMORY, "3 bytes");
    assert_null(memory);
}

static void test_memory__reallocation_keeps_what_was_there(void **state)
{
    char *memory = NULL;
    (void)state;
    assert_ok(pp_reallocate(&memory, 4));
    memcpy(memory, "abc", 4);
    assert_ok(pp_reallocate(&memory, 100000));
    assert_string_equal(memory, "abc");
    assert_ok(pp_reallocate(&memory, 2));
    assert_memory_equal(memory, "ab", 2);
    pp_free(memory);
}

static void test_memory__copies_are_equal_and_separate(void **state)
{
    char original[] = "density", *copy;
    unsigned char *bytes;
    (void)state;
    assert_ok(pp_text_duplicate(&copy, original));
    assert_ok(pp_bytes_duplicate(&bytes, original, 3));
    original[0] = 'X';
    assert_string_equal(copy, "density");
    assert_memory_equal(bytes, "den", 3);
    pp_free(copy);
    pp_free(bytes);
}

static void test_memory__a_refused_allocation_fails_and_gives_nothing(void **state)
{
    void *memory = &memory;
    char *text;
    size_t asked = 0;
    (void)state;
    pp_memory_hook_set(refuse_all, &asked);
    assert_fails(pp_allocate(&memory, 123), PARAPET_ERR_MEMORY, "123");
    assert_null(memory);
    assert_int_equal(asked, 123);
    memory = &memory;
    assert_fails(pp_allocate_array(&memory, 10, 20), PARAPET_ERR_MEMORY, "200");
    assert_null(memory);
    memory = &memory;
    assert_fails(pp_allocate_pages(&memory, 5000), PARAPET_ERR_MEMORY, "5000");
    assert_null(memory);
    memory = &memory;
    assert_fails(pp_bytes_duplicate(&memory, "abc", 3), PARAPET_ERR_MEMORY, "3");
    assert_null(memory);
    text = (char *)&text;
    assert_fails(pp_text_duplicate(&text, "abcd"), PARAPET_ERR_MEMORY, "5");
    assert_null(text);
}

static void test_memory__a_refused_reallocation_leaves_the_old_memory(void **state)
{
    char *memory, *before;
    size_t asked = 0;
    (void)state;
    assert_ok(pp_text_duplicate(&memory, "kept"));
    before = memory;
    pp_memory_hook_set(refuse_all, &asked);
    assert_fails(pp_reallocate(&memory, 1000), PARAPET_ERR_MEMORY, "1000");
    assert_ptr_equal(memory, before);
    assert_string_equal(memory, "kept");
    pp_free(memory);
}

static void test_memory__live_count_follows_what_is_taken_and_given_back(void **state)
{
    long before = pp_memory_live_count();
    void *memory[3];
    (void)state;
    assert_ok(pp_allocate(&memory[0], 1));
    assert_ok(pp_allocate_pages(&memory[1], 1));
    assert_ok(pp_bytes_duplicate(&memory[2], "a", 1));
    assert_int_equal(pp_memory_live_count(), before + 3);
    assert_ok(pp_reallocate(&memory[0], 100));
    assert_int_equal(pp_memory_live_count(), before + 3);
    pp_free(memory[0]);
    pp_free(memory[1]);
    assert_int_equal(pp_memory_live_count(), before + 1);
    parapet_free(memory[2]);
    pp_free(NULL);
    assert_int_equal(pp_memory_live_count(), before);
}

#define WITH_COUNT(test) cmocka_unit_test_setup_teardown(test, remember_live_count, check_live_count)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_COUNT(test_memory__allocated_memory_is_zeroed),
        WITH_COUNT(test_memory__no_bytes_give_a_valid_pointer),
        WITH_COUNT(test_memory__pages_are_aligned),
        WITH_COUNT(test_memory__an_array_that_no_memory_holds_is_refused),
        WITH_COUNT(test_memory__reallocation_keeps_what_was_there),
        WITH_COUNT(test_memory__copies_are_equal_and_separate),
        WITH_COUNT(test_memory__a_refused_allocation_fails_and_gives_nothing),
        WITH_COUNT(test_memory__a_refused_reallocation_leaves_the_old_memory),
        WITH_COUNT(test_memory__live_count_follows_what_is_taken_and_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
