/* The names below __parapet: each is known as itself, and nothing else is. */
#include "change/registry.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "support.h"

/* A name that fits a pattern. */
static void make_name(const char *pattern, char name[200])
{
    size_t bytes = 0;
    for (; *pattern != '\0'; pattern++) {
        const char *word = *pattern == '%'   ? "17"
                           : *pattern == '#' ? "0123456789abcdef"
                           : *pattern == '*' ? "a/b"
                                             : "";
        bytes += (size_t)snprintf(name + bytes, 200 - bytes, "%s%.*s", word, word[0] == '\0', pattern);
    }
}

static void test_registry__every_name_is_known_as_itself(void **state)
{
    int own;
    (void)state;
    for (own = 0; own < PP_OWN_COUNT; own++) {
        const pp_own_row *row = pp_own_row_of((pp_own)own);
        const char *const *pattern;
        assert_non_null(row->patterns);
        assert_true(row->patterns[0] != NULL && row->owner != NULL);
        for (pattern = row->patterns; *pattern != NULL; pattern++) {
            char name[200];
            make_name(*pattern, name);
            assert_int_equal(pp_own_find(name), own);
        }
    }
}

/* What gc does something about, it has a word for. */
static void test_registry__what_gc_acts_on_has_words(void **state)
{
    int own;
    (void)state;
    for (own = 0; own < PP_OWN_COUNT; own++) {
        const pp_own_row *row = pp_own_row_of((pp_own)own);
        assert_int_equal(row->left != NULL, row->gc != PP_OWN_GC_NEVER);
        assert_true(row->end != PP_OWN_END_LAST || row->gc == PP_OWN_GC_NEVER);
    }
}

static void test_registry__folders_lead_to_names(void **state)
{
    (void)state;
    assert_int_equal(pp_own_find("tmp"), PP_OWN_TEMPORARIES);
    assert_int_equal(pp_own_find("open"), PP_OWN_OPEN_STEPS);
    assert_int_equal(pp_own_find("copy"), PP_OWN_COPY);
    assert_int_equal(pp_own_find("copy/pass-3"), PP_OWN_COPY_PASS);
    assert_int_equal(pp_own_find("manifest"), PP_OWN_PAGES);
    assert_int_equal(pp_own_find("commits"), PP_OWN_COMMITS);
    assert_int_equal(pp_own_find_in(PP_OWN_COPY, "job"), PP_OWN_COPY_JOB);
    assert_int_equal(pp_own_find_in(PP_OWN_COPY, "finished"), PP_OWN_COPY_TREE_LOG);
    assert_int_equal(pp_own_find_in(PP_OWN_COPY, "finished-2"), PP_OWN_COPY_PASS_FINISHED);
    assert_int_equal(pp_own_find_in(PP_OWN_COPY, "seal"), PP_OWN_COUNT);
}

static void test_registry__other_names_are_nobodys(void **state)
{
    static const char *const names[] = {"",
                                        "lock2",
                                        "locked",
                                        "lock.",
                                        "lock.1",
                                        "lock.hands.0123456789abcdef",
                                        "lock.long.0123",
                                        "lock.long.0123456789abcdefg",
                                        "seal/a",
                                        "seals",
                                        "manifest/",
                                        "manifest/a",
                                        "manifest/1/2",
                                        "open/",
                                        "open/x",
                                        "open/1/2",
                                        "copy/",
                                        "copy/jobs",
                                        "copy/pass",
                                        "copy/pass-",
                                        "copy/pass-1/done",
                                        "copy/pass-1/lot-",
                                        "copy/new/",
                                        "append/x",
                                        "appendix",
                                        "commits/1.tmp",
                                        "__parapet",
                                        "../seal",
                                        "a/seal"};
    size_t i;
    (void)state;
    for (i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_int_equal(pp_own_find(names[i]), PP_OWN_COUNT);
}

static void assert_key(parapet_status status, char *key, const char *expected)
{
    assert_ok(status);
    assert_string_equal(key, expected);
    pp_free(key);
}

static void test_registry__builds_keys_of_nodes_and_of_the_root(void **state)
{
    char *key;
    parapet_status status;
    (void)state;
    status = pp_own_key("a/b", PP_OWN_SEAL, &key);
    assert_key(status, key, "a/b/__parapet/seal");
    status = pp_own_key("", PP_OWN_TEMPORARIES, &key);
    assert_key(status, key, "__parapet/tmp");
    status = pp_own_key("a", PP_OWN_COPY_NEW, &key);
    assert_key(status, key, "a/__parapet/copy/new");
    status = pp_own_key_numbered("a", PP_OWN_PAGES, 12, &key);
    assert_key(status, key, "a/__parapet/manifest/12");
    status = pp_own_key_numbered("a", PP_OWN_COPY_PASS, 3, &key);
    assert_key(status, key, "a/__parapet/copy/pass-3");
    status = pp_own_key_numbered("a", PP_OWN_COPY_BETWEEN, 0, &key);
    assert_key(status, key, "a/__parapet/copy/between-0");
    status = pp_own_key_named("a", PP_OWN_COMMITS, "00000007", &key);
    assert_key(status, key, "a/__parapet/commits/00000007");
    status = pp_own_folder("", &key);
    assert_key(status, key, "__parapet");
    assert_true(pp_own_is_folder("__parapet") && !pp_own_is_folder("__parapet-probe-1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registry__every_name_is_known_as_itself),
        cmocka_unit_test(test_registry__what_gc_acts_on_has_words),
        cmocka_unit_test(test_registry__folders_lead_to_names),
        cmocka_unit_test(test_registry__other_names_are_nobodys),
        cmocka_unit_test(test_registry__builds_keys_of_nodes_and_of_the_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
