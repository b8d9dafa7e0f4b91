/* The groups above several new nodes. */
#include "support.h"

#include "array/ancestor_list.h"

enum { PATHS_MOST = 5 };

typedef struct sample {
    const char *paths[PATHS_MOST];
    const char *groups; /* each with the number of the first node below it */
    bool has_conflict;
} sample;

static const sample samples[] = {
    {{""}, "", false},
    {{"a"}, "/0", false},
    {{"a", "b", "ab"}, "/0", false},
    {{"a/b/c", "a/d"}, "/0 a/0 a/b/0", false},
    {{"z/y", "a/b", "z/x/w", "a-/c"}, "/0 z/0 a/1 z/x/2 a-/3", false},
    {{"a", "a"}, "/0", true},
    {{"a", "b", "a"}, "/0", true},
    {{"a", "a-b", "a/b"}, "/0", true},
    {{"a/b", "a-b", "a"}, "/0", true},
    {{"a/b/c", "a"}, "/0 a/b/0", true},
    {{"", "a"}, "", true},
    {{"", ""}, "", true},
};

static int count_paths(const sample *of)
{
    int count = 0;
    while (count < PATHS_MOST && of->paths[count] != NULL)
        count++;
    return count;
}

static void test_groups__outer_ones_come_before_inner_ones_and_each_once(void **state)
{
    size_t i;
    (void)state;
    for (i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        pp_ancestor_list groups;
        char text[200] = "";
        int g;
        assert_ok(pp_ancestor_list_init(&groups, samples[i].paths, count_paths(&samples[i])));
        for (g = 0; g < groups.count; g++)
            (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s/%d", g > 0 ? " " : "",
                           groups.paths[g], groups.nodes[g]);
        if (!samples[i].has_conflict)
            assert_string_equal(text, samples[i].groups);
        assert_int_equal(groups.has_conflict, samples[i].has_conflict);
        pp_ancestor_list_clear(&groups);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups__outer_ones_come_before_inner_ones_and_each_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
