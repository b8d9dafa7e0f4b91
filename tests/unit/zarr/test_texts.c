/* Chunks of texts: what vlen-utf8 stores is found, and nothing else is believed. */
#include "support.h"

#include "zarr/texts.h"

static const unsigned char two[] = "\2\0\0\0\3\0\0\0a\xc3\xbc\0\0\0\0";
#define TWO_BYTES (sizeof two - 1)

static void test_texts__are_found_one_after_the_other(void **state)
{
    pp_texts texts;
    pp_bytes text;
    (void)state;
    assert_ok(pp_texts_begin(&texts, (pp_bytes){two, TWO_BYTES}, 2));
    assert_ok(pp_texts_next(&texts, &text));
    assert_int_equal(text.bytes, 3);
    assert_memory_equal(text.data, "a\xc3\xbc", 3);
    assert_ok(pp_texts_next(&texts, &text));
    assert_int_equal(text.bytes, 0);
    assert_int_equal(texts.left, 0);
    assert_fails(pp_texts_next(&texts, &text), PARAPET_ERR_CORRUPT, "text 2 ends after");
    assert_ok(pp_texts_check((pp_bytes){two, TWO_BYTES}, 2));
}

static void test_texts__that_are_cut_anywhere_are_refused(void **state)
{
    size_t bytes;
    (void)state;
    for (bytes = 0; bytes < TWO_BYTES; bytes++) {
        unsigned char *cut = malloc(bytes + 1); /* so that a sanitizer sees what is read behind it */
        memcpy(cut, two, bytes);
        cut = realloc(cut, bytes > 0 ? bytes : 1);
        assert_fails(pp_texts_check((pp_bytes){cut, bytes}, 2), PARAPET_ERR_CORRUPT, "vlen-utf8");
        free(cut);
    }
}

static void test_texts__of_another_number_or_longer_are_refused(void **state)
{
    (void)state;
    assert_fails(pp_texts_check((pp_bytes){two, TWO_BYTES}, 1), PARAPET_ERR_CORRUPT,
                 "2 texts are stored instead of 1");
    assert_fails(pp_texts_check((pp_bytes){(const unsigned char *)"\0\0\0\0x", 5}, 0), PARAPET_ERR_CORRUPT,
                 "1 bytes follow");
    assert_fails(pp_texts_check((pp_bytes){(const unsigned char *)"\1\0\0\0\xff\xff\xff\xffx", 9}, 1),
                 PARAPET_ERR_CORRUPT, "text 0 ends after");
}

static void test_texts__that_are_not_utf8_are_refused(void **state)
{
    static const char *const wrong[] = {"\1\0\0\0\2\0\0\0\xc3x", "\1\0\0\0\2\0\0\0\xe9g", "\1\0\0\0\2\0\0\0\xc0\x80"};
    size_t i;
    (void)state;
    for (i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_fails(pp_texts_check((pp_bytes){(const unsigned char *)wrong[i], 10}, 1), PARAPET_ERR_CORRUPT,
                     "text 0 of the chunk is not UTF-8");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts__are_found_one_after_the_other),
        cmocka_unit_test(test_texts__that_are_cut_anywhere_are_refused),
        cmocka_unit_test(test_texts__of_another_number_or_longer_are_refused),
        cmocka_unit_test(test_texts__that_are_not_utf8_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
