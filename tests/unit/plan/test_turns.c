/* The order of servers with weights, against the worked examples of the paper on servers of different speeds and
 * against a slow search. */
#include "support.h"

#include "base/memory.h"
#include "plan/turns.h"

/* The turns of two servers, as text. */
static void check_two(int first, int second, const char *expected)
{
    pp_turns turns;
    char seen[64] = {0};
    int i;
    assert_ok(pp_turns_init(&turns, (int[]){first, second}, 2));
    assert_true(turns.count < (int)sizeof seen);
    for (i = 0; i < turns.count; i++)
        seen[i] = (char)('0' + turns.servers[i]);
    assert_string_equal(seen, expected);
    pp_turns_clear(&turns);
}

static void test_turns__of_two_servers_are_those_of_the_paper(void **state)
{
    (void)state;
    check_two(1, 1, "01");
    check_two(5, 2, "0010001");
    check_two(3, 1, "0001");
    check_two(5, 3, "01001001");
    check_two(10, 4, "0010001"); /* only the proportion counts */
    check_two(8, 8, "01");
}

/* 128 pieces of 1 MB at 5 and 2 MB/s: 92 and 36 of them, done after 18.4 and 18.0 seconds. */
static void test_turns__divide_pieces_by_speed(void **state)
{
    pp_turns turns;
    int given[2] = {0}, i;
    (void)state;
    assert_ok(pp_turns_init(&turns, (int[]){5, 2}, 2));
    for (i = 0; i < 128; i++)
        given[turns.servers[i % turns.count]]++;
    assert_int_equal(given[0], 92);
    assert_int_equal(given[1], 36);
    pp_turns_clear(&turns);
}

static void test_turns__go_to_the_server_that_has_fewest_for_its_weight(void **state)
{
    test_random random = test_random_start();
    int round, i, turn;
    (void)state;
    for (round = 0; round < 300; round++) {
        int weights[20], taken[20] = {0}, count = (int)test_random_between(&random, 1, 20);
        pp_turns turns;
        for (i = 0; i < count; i++)
            weights[i] = (int)test_random_between(&random, 1, 8);
        assert_ok(pp_turns_init(&turns, weights, count));
        for (turn = 0; turn < turns.count; turn++) {
            int best = 0;
            for (i = 1; i < count; i++)
                if ((taken[i] + 1) * weights[best] < (taken[best] + 1) * weights[i])
                    best = i;
            assert_int_equal(turns.servers[turn], best);
            taken[best]++;
        }
        for (i = 0; i < count; i++)
            assert_int_equal(taken[i] * weights[0], taken[0] * weights[i]);
        pp_turns_clear(&turns);
    }
}

static int refuse_all(void *context, size_t bytes)
{
    (void)context;
    (void)bytes;
    return 1;
}

static void test_turns__that_cannot_be_listed_are_refused(void **state)
{
    pp_turns turns;
    (void)state;
    assert_fails(pp_turns_init(&turns, (int[]){2147483647, 2147483646}, 2), PARAPET_ERR_ARGUMENT, "too many turns");
    pp_turns_clear(&turns);
    pp_memory_hook_set(refuse_all, NULL);
    assert_int_equal(pp_turns_init(&turns, (int[]){2, 1}, 2), PARAPET_ERR_MEMORY);
    pp_memory_hook_set(NULL, NULL);
    pp_turns_clear(&turns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_turns__of_two_servers_are_those_of_the_paper),
        cmocka_unit_test(test_turns__divide_pieces_by_speed),
        cmocka_unit_test(test_turns__go_to_the_server_that_has_fewest_for_its_weight),
        cmocka_unit_test(test_turns__that_cannot_be_listed_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
