/* Ranks in ascending order: each is found where it is, and nothing else is. */
#include "base/ranks.h"

#include "support.h"

static void test_ranks__are_found_where_they_are(void **state)
{
    static const int ranks[] = {0, 1, 4, 5, 9, 131071};
    int count, i, rank;
    (void)state;
    for (count = 0; count <= 6; count++) {
        for (i = 0; i < 6; i++)
            assert_int_equal(pp_ranks_find(ranks, count, ranks[i]), i < count ? i : -1);
        for (rank = 2; rank < 9; rank++)
            if (rank != 4 && rank != 5)
                assert_int_equal(pp_ranks_find(ranks, count, rank), -1);
        assert_int_equal(pp_ranks_find(ranks, count, -1), -1);
        assert_int_equal(pp_ranks_find(ranks, count, 131072), -1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ranks__are_found_where_they_are)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
