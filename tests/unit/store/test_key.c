#include "support.h"

#include "store/store.h"

static void test_key__ordinary_keys_are_accepted(void **state)
{
    static const char *const keys[] = {"zarr.json", "a/b/c/0/1", "a",        ".zarray",     "..a",
                                       "a..",       "...",       "a/.b/c.d", "\xc3\xa9/x y"};
    size_t i;
    (void)state;
    for (i = 0; i < sizeof keys / sizeof keys[0]; i++)
        assert_ok(pp_key_check(keys[i]));
}

static void test_key__what_could_leave_the_root_is_refused(void **state)
{
    (void)state;
    assert_fails(pp_key_check(NULL), PARAPET_ERR_ARGUMENT, "empty");
    assert_fails(pp_key_check(""), PARAPET_ERR_ARGUMENT, "empty");
    assert_fails(pp_key_check("/etc/passwd"), PARAPET_ERR_ARGUMENT, "empty component");
    assert_fails(pp_key_check("a/"), PARAPET_ERR_ARGUMENT, "empty component");
    assert_fails(pp_key_check("a//b"), PARAPET_ERR_ARGUMENT, "empty component");
    assert_fails(pp_key_check(".."), PARAPET_ERR_ARGUMENT, "\"..\"");
    assert_fails(pp_key_check("a/../b"), PARAPET_ERR_ARGUMENT, "\"..\"");
    assert_fails(pp_key_check("a/."), PARAPET_ERR_ARGUMENT, "\".\"");
    assert_fails(pp_key_check("a\nb"), PARAPET_ERR_ARGUMENT, "control character (10) at byte 1");
    assert_fails(pp_key_check("a\x7f"), PARAPET_ERR_ARGUMENT, "control character");
}

static void test_key__longest_key_is_one_byte_short_of_the_limit(void **state)
{
    char key[PP_MAX_KEY_BYTES + 1];
    (void)state;
    memset(key, 'a', sizeof key);
    key[PP_MAX_KEY_BYTES] = '\0';
    assert_fails(pp_key_check(key), PARAPET_ERR_ARGUMENT, "4096 bytes or more");
    key[PP_MAX_KEY_BYTES - 1] = '\0';
    assert_ok(pp_key_check(key));
}

/* The rule once more, written the slow way: every component between slashes. */
static int is_good(const char *key)
{
    char padded[16];
    if (key[0] == '\0' || strchr(key, '\x01') != NULL)
        return 0;
    (void)snprintf(padded, sizeof padded, "/%s/", key);
    return strstr(padded, "//") == NULL && strstr(padded, "/./") == NULL && strstr(padded, "/../") == NULL;
}

static void test_key__every_short_key_is_judged_as_the_rule_says(void **state)
{
    static const char alphabet[] = {'a', '.', '/', '\x01'};
    unsigned length, code;
    (void)state;
    for (length = 0; length <= 7; length++)
        for (code = 0; code < 1u << (2 * length); code++) {
            char key[8] = "";
            unsigned i;
            for (i = 0; i < length; i++)
                key[i] = alphabet[code >> (2 * i) & 3];
            if ((pp_key_check(key) == PARAPET_OK) != is_good(key))
                fail_msg("key \"%s\" was judged wrongly", key);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_key__ordinary_keys_are_accepted),
        cmocka_unit_test(test_key__what_could_leave_the_root_is_refused),
        cmocka_unit_test(test_key__longest_key_is_one_byte_short_of_the_limit),
        cmocka_unit_test(test_key__every_short_key_is_judged_as_the_rule_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
