#include "file.h"

static const unsigned char bytes[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

static void assert_refused(const char *words, const char *word)
{
    opened_file opened = open_bytes(bytes, sizeof bytes, words);
    assert_fails(opened.status, PARAPET_ERR_ARGUMENT, word);
    close_file(&opened);
}

static void test_raw__words_describe_the_file(void **state)
{
    opened_file opened = open_bytes(bytes, sizeof bytes, "type=int16,shape=2x3,endian=big,order=F,offset=3:name");
    (void)state;
    assert_ok(opened.status);
    assert_says(&opened, "zarr.json", "transpose");
    assert_says(&opened, "zarr.json", "\"endian\": \"big\"");
    assert_chunk(&opened, "c/0/0", bytes + 3, 12);
    close_file(&opened);
}

static void test_raw__wrong_words_are_named(void **state)
{
    (void)state;
    assert_refused("type=int16:f", "shape");
    assert_refused("shape=3:f", "type");
    assert_refused("type=int17,shape=3:f", "int17");
    assert_refused("type=int16,type=int16,shape=3:f", "once");
    assert_refused("type=int16,shape=3x:f", "3x");
    assert_refused("type=int16,shape=-3:f", "-3");
    assert_refused("type=int16,shape=99999999999999999999:f", "shape");
    assert_refused("type=int16,shape=3,order=D:f", "C or F");
    assert_refused("type=int16,shape=3,endian=middle:f", "little or big");
    assert_refused("type=int16,shape=3,offset=x:f", "offset");
    assert_refused("type=int16,shape=3,colour=red:f", "colour");
    assert_refused("type=int16,shape:f", "name=value");
}

static void test_raw__a_file_that_is_too_short_is_refused(void **state)
{
    opened_file opened = open_bytes(bytes, sizeof bytes, "type=int16,shape=9:f");
    (void)state;
    assert_fails(opened.status, PARAPET_ERR_CORRUPT, "16 bytes");
    close_file(&opened);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_raw__words_describe_the_file),
        cmocka_unit_test(test_raw__wrong_words_are_named),
        cmocka_unit_test(test_raw__a_file_that_is_too_short_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
