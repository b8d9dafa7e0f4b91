#include "support.h"

#include "zarr/document.h"

static void check_key(pp_key_encoding keys, int ndim, const int64_t *cell, const char *expected)
{
    pp_text text = {0};
    int64_t back[PARAPET_MAX_NDIM];
    int i;
    pp_key_print(&keys, ndim, cell, &text);
    assert_string_equal(text.data, expected);
    assert_true(pp_key_parse(&keys, ndim, text.data, back));
    for (i = 0; i < ndim; i++)
        assert_true(back[i] == cell[i]);
    pp_text_free(&text);
}

static void test_key__is_printed_and_read_back_in_every_encoding(void **state)
{
    const int64_t cell[3] = {0, 23, INT64_MAX};
    (void)state;
    check_key((pp_key_encoding){false, '/'}, 3, cell, "c/0/23/9223372036854775807");
    check_key((pp_key_encoding){false, '.'}, 2, cell, "c.0.23");
    check_key((pp_key_encoding){true, '.'}, 2, cell, "0.23");
    check_key((pp_key_encoding){true, '/'}, 2, cell, "0/23");
    check_key((pp_key_encoding){true, '.'}, 1, cell + 1, "23");
    check_key((pp_key_encoding){false, '/'}, 1, cell + 1, "c/23");
    check_key((pp_key_encoding){false, '/'}, 0, cell, "c");
    check_key((pp_key_encoding){false, '.'}, 0, cell, "c");
    check_key((pp_key_encoding){true, '.'}, 0, cell, "0");
}

static void test_key__that_is_not_canonical_is_no_key(void **state)
{
    static const char *const wrong[] = {"",
                                        "c",
                                        "c/1",
                                        "c/1/2/3",
                                        "c/01/2",
                                        "c/1/02",
                                        "c/-1/2",
                                        "c/+1/2",
                                        "c/1/",
                                        "c//2",
                                        "c/1/2/",
                                        "c.1.2",
                                        "d/1/2",
                                        "c1/2",
                                        "c/ 1/2",
                                        "c/1/2x",
                                        "c/1/2\n",
                                        "1/2",
                                        "c/1/0x2",
                                        "c/00/2",
                                        "C/1/2",
                                        "c/9223372036854775808/0",
                                        "c/99999999999999999999/0"};
    const pp_key_encoding keys = {false, '/'};
    int64_t cell[2];
    size_t i;
    (void)state;
    for (i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (pp_key_parse(&keys, 2, wrong[i], cell))
            fail_msg("\"%s\" passed", wrong[i]);
    assert_true(pp_key_parse(&keys, 2, "c/1/2", cell));
}

static void test_key__of_v2_that_is_not_canonical_is_no_key(void **state)
{
    static const char *const wrong[] = {"", "1", "1.2.3", "01.2", "1/2", ".1.2", "1.2.", "c.1.2", "1..2", ".zarray"};
    const pp_key_encoding keys = {true, '.'};
    int64_t cell[2];
    size_t i;
    (void)state;
    for (i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (pp_key_parse(&keys, 2, wrong[i], cell))
            fail_msg("\"%s\" passed", wrong[i]);
    assert_false(pp_key_parse(&keys, 0, "", cell));
    assert_false(pp_key_parse(&keys, 0, "00", cell));
    assert_false(pp_key_parse(&keys, 0, "1", cell));
    assert_false(pp_key_parse(&(pp_key_encoding){false, '/'}, 0, "c/", cell));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_key__is_printed_and_read_back_in_every_encoding),
        cmocka_unit_test(test_key__that_is_not_canonical_is_no_key),
        cmocka_unit_test(test_key__of_v2_that_is_not_canonical_is_no_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
