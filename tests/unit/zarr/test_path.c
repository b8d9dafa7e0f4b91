#include "support.h"

#include "zarr/document.h"

static void test_path__good_ones_pass(void **state)
{
    static const char *const good[] = {"",
                                       "/",
                                       "a",
                                       "a/b",
                                       "a/b.c/.d/e_-9",
                                       "_a",
                                       "a__",
                                       "...a",
                                       "zarr.json.bak",
                                       "\xc3\xa9t\xc3\xa9",
                                       "a b",
                                       "c",
                                       "0",
                                       "\xe2\x82\xac/\xf0\x9f\x98\x80"};
    size_t i;
    (void)state;
    for (i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_ok(pp_path_check(good[i]));
}

static void test_path__bad_names_are_refused_with_the_reason(void **state)
{
    static const char *const bad[][2] = {
        {"/a", "empty"},     {"a/", "empty"},           {"a//b", "empty"},         {"//", "empty"},
        {".", "only dots"},  {"..", "only dots"},       {"a/../b", "only dots"},   {"....", "only dots"},
        {"__a", "\"__\""},   {"a/__parapet", "\"__\""}, {"zarr.json", "metadata"}, {"a/zarr.json/b", "metadata"},
        {"a\nb", "control"}, {"a\x7f", "control"},      {"a/\x01", "control"},     {"\xc2\x9b", "control"},
        {"\xff", "UTF-8"},   {"a/\xc3", "UTF-8"},       {"\xed\xa0\x80", "UTF-8"},
    };
    size_t i;
    (void)state;
    for (i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_fails(pp_path_check(bad[i][0]), PARAPET_ERR_ARGUMENT, bad[i][1]);
    assert_fails(pp_path_check("x/__secret"), PARAPET_ERR_ARGUMENT, "name 2 of the path, \"__secret\"");
}

static void test_path__lengths_are_limited(void **state)
{
    char path[1200];
    size_t i;
    (void)state;
    memset(path, 'a', sizeof path);
    path[255] = '\0';
    assert_ok(pp_path_check(path));
    path[255] = 'a';
    path[256] = '\0';
    assert_fails(pp_path_check(path), PARAPET_ERR_ARGUMENT, "255");
    path[256] = 'a';
    for (i = 100; i < 1024; i += 100)
        path[i] = '/';
    path[1024] = '\0';
    assert_ok(pp_path_check(path));
    path[1024] = 'a';
    path[1025] = '\0';
    assert_fails(pp_path_check(path), PARAPET_ERR_ARGUMENT, "1024");
}

static void test_path__depth_is_limited(void **state)
{
    char path[256];
    size_t i;
    (void)state;
    for (i = 0; i < 65; i++)
        memcpy(path + 2 * i, "a/", 2);
    path[2 * 64 - 1] = '\0';
    assert_ok(pp_path_check(path));
    path[2 * 64 - 1] = '/';
    path[2 * 65 - 1] = '\0';
    assert_fails(pp_path_check(path), PARAPET_ERR_ARGUMENT, "64 names");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_path__good_ones_pass),
        cmocka_unit_test(test_path__bad_names_are_refused_with_the_reason),
        cmocka_unit_test(test_path__lengths_are_limited),
        cmocka_unit_test(test_path__depth_is_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
