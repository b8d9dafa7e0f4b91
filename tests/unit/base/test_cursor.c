#include "support.h"

#include "base/cursor.h"

static void write_message(pp_text *bytes)
{
    pp_bytes_add_u64(bytes, UINT64_C(0x1122334455667788));
    pp_bytes_add_block(bytes, "block", sizeof "block");
    pp_bytes_add_block(bytes, NULL, 0);
    pp_text_add_bytes(bytes, "bare", 4);
    assert_ok(bytes->status);
}

static void test_cursor__reads_what_was_written(void **state)
{
    pp_text bytes = {0};
    pp_cursor cursor;
    char bare[4];
    size_t length;
    (void)state;
    write_message(&bytes);
    cursor = (pp_cursor){.data = (const unsigned char *)bytes.data, .left = bytes.bytes};
    assert_true(pp_cursor_u64(&cursor) == UINT64_C(0x1122334455667788));
    assert_string_equal(pp_cursor_block(&cursor, &length), "block");
    assert_int_equal(length, sizeof "block");
    assert_non_null(pp_cursor_block(&cursor, &length));
    assert_int_equal(length, 0);
    pp_cursor_copy(&cursor, bare, sizeof bare);
    assert_memory_equal(bare, "bare", 4);
    assert_int_equal(cursor.left, 0);
    assert_ok(pp_cursor_finish(&cursor));
    pp_text_free(&bytes);
}

/* However short it is, nothing behind its end is read, and the end says so. */
static void test_cursor__of_too_few_bytes_reads_nothing_else_and_says_so(void **state)
{
    static const char zeros[4];
    pp_text bytes = {0};
    pp_cursor cursor;
    char bare[4], *cut = NULL;
    const char *block;
    size_t given, length;
    (void)state;
    write_message(&bytes);
    for (given = 0; given < bytes.bytes; given++) {
        assert_ok(pp_allocate(&cut, given));
        memcpy(cut, bytes.data, given);
        cursor = (pp_cursor){.data = (const unsigned char *)cut, .left = given};
        assert_true(pp_cursor_u64(&cursor) == (given < 8 ? 0 : UINT64_C(0x1122334455667788)));
        block = pp_cursor_block(&cursor, &length);
        assert_int_equal(length, given < 16 + sizeof "block" ? 0 : sizeof "block");
        assert_true(length > 0 || block[0] == '\0');
        assert_non_null(pp_cursor_block(&cursor, &length));
        assert_int_equal(length, 0);
        memset(bare, 'x', sizeof bare);
        pp_cursor_copy(&cursor, bare, sizeof bare);
        assert_memory_equal(bare, zeros, sizeof bare);
        assert_fails(pp_cursor_finish(&cursor), PARAPET_ERR_INTERNAL, "shorter");
        pp_free(cut);
    }
    pp_text_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cursor__reads_what_was_written),
        cmocka_unit_test(test_cursor__of_too_few_bytes_reads_nothing_else_and_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
