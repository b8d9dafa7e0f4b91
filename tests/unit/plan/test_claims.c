/* Claims as rows of words: what goes in comes out, in order, once, and within the budget. */
#include "scene.h"

#define MOST_CLAIMS 60

static pp_budget budget;

static void assert_all_given_back(void)
{
    assert_int_equal(pp_budget_available(&budget), budget.limit_bytes);
}

static void write_small(int64_t *words, int target, int rank, int64_t part)
{
    pp_box box = box_of(1, (int64_t[]){part}, (int64_t[]){rank});
    pp_claim_write(words, 2, target, rank, part, &box, NULL, (int64_t[]){8});
}

static void test_claims__give_back_what_was_written_into_them(void **state)
{
    test_random random = test_random_start();
    int round, d;
    (void)state;
    for (round = 0; round < 2000; round++) {
        int ndim_most = (int)test_random_between(&random, 0, PARAPET_MAX_NDIM);
        int ndim = (int)test_random_between(&random, 0, ndim_most);
        int64_t words[PP_CLAIM_GEOMETRY + 3 * PARAPET_MAX_NDIM], strides[PARAPET_MAX_NDIM];
        pp_box box = {.ndim = ndim}, got;
        char data;
        for (d = 0; d < ndim; d++) {
            box.start[d] = test_random_between(&random, -1000, INT64_C(1) << 40);
            box.count[d] = test_random_between(&random, 0, INT64_C(1) << 40);
            strides[d] = test_random_between(&random, -(INT64_C(1) << 40), INT64_C(1) << 40);
        }
        pp_claim_write(words, ndim_most, 7, 131071, INT64_C(1) << 33, &box, &data, strides);
        pp_claim_box(words, ndim_most, ndim, &got);
        assert_true(pp_box_equals(&got, &box));
        for (d = 0; d < ndim; d++)
            assert_int_equal(pp_claim_strides(words, ndim_most)[d], strides[d]);
        assert_int_equal(words[PP_CLAIM_TARGET], 7);
        assert_int_equal(words[PP_CLAIM_RANK], 131071);
        assert_int_equal(words[PP_CLAIM_PART], INT64_C(1) << 33);
        assert_ptr_equal((void *)(intptr_t)words[PP_CLAIM_ADDRESS], &data);
    }
}

static void test_claim__leaves_no_word_undefined_because_rows_travel(void **state)
{
    int64_t first[PP_CLAIM_GEOMETRY + 9], second[PP_CLAIM_GEOMETRY + 9];
    pp_box box = box_of(1, (int64_t[]){3}, (int64_t[]){4});
    (void)state;
    memset(first, 0x11, sizeof first);
    memset(second, 0x22, sizeof second);
    pp_claim_write(first, 3, 0, 1, 2, &box, NULL, (int64_t[]){8});
    pp_claim_write(second, 3, 0, 1, 2, &box, NULL, (int64_t[]){8});
    assert_memory_equal(first, second, sizeof first);
    assert_int_equal(pp_claim_word_count(3) * sizeof(int64_t), sizeof first);
}

static bool is_less(const int64_t *a, const int64_t *b)
{
    return a[0] != b[0] ? a[0] < b[0] : a[1] != b[1] ? a[1] < b[1] : a[2] < b[2];
}

/* A set kept in order by inserting one after another. */
static size_t insert_slowly(int64_t (*set)[10], size_t count, const int64_t *words)
{
    size_t i = 0;
    while (i < count && is_less(set[i], words))
        i++;
    if (i < count && !is_less(words, set[i]))
        return count;
    memmove(set[i + 1], set[i], (count - i) * sizeof set[0]);
    memcpy(set[i], words, sizeof set[0]);
    return count + 1;
}

static void test_claims__sort_by_target_rank_and_part_and_keep_each_once(void **state)
{
    test_random random = test_random_start();
    int round, dropped = 0;
    (void)state;
    assert_int_equal(pp_claim_word_count(2), 10);
    pp_budget_init(&budget, (size_t)1 << 20);
    for (round = 0; round < 2000; round++) {
        int64_t set[MOST_CLAIMS + 1][10], words[10];
        int i, added = (int)test_random_between(&random, 0, MOST_CLAIMS);
        size_t kept = 0, k;
        pp_claims claims;
        pp_claims_init(&claims, 2, &budget);
        for (i = 0; i < added; i++) {
            write_small(words, (int)test_random_between(&random, 0, 2), (int)test_random_between(&random, 0, 4),
                        test_random_between(&random, 0, 9));
            assert_ok(pp_claims_add(&claims, words));
            kept = insert_slowly(set, kept, words);
        }
        assert_ok(pp_claims_sort_unique(&claims));
        assert_int_equal(claims.list.count, kept);
        dropped += added - (int)kept;
        for (k = 0; k < kept; k++)
            assert_memory_equal(pp_claims_at(&claims, k), set[k], sizeof words);
        pp_claims_clear(&claims);
    }
    assert_true(dropped > 1000);
    assert_all_given_back();
}

static void test_claims__take_at_most_twice_what_they_need(void **state)
{
    size_t row = pp_claim_word_count(2) * sizeof(int64_t), i;
    int64_t words[10];
    pp_claims claims;
    long live = pp_memory_live_count();
    (void)state;
    pp_budget_init(&budget, (size_t)1 << 24);
    pp_claims_init(&claims, 2, &budget);
    for (i = 1; i <= 2000; i++) {
        write_small(words, 0, 1, (int64_t)i);
        assert_ok(pp_claims_add(&claims, words));
        assert_true(budget.limit_bytes - pp_budget_available(&budget) == claims.list.capacity * row);
        assert_true(claims.list.capacity >= i && claims.list.capacity <= 2 * i);
    }
    pp_claims_clear(&claims);
    pp_claims_clear(&claims);
    assert_all_given_back();
    assert_int_equal(pp_memory_live_count(), live);
}

static void test_claims__fill_the_budget_to_the_last_row(void **state)
{
    size_t row = pp_claim_word_count(2) * sizeof(int64_t);
    int64_t words[10], i;
    pp_claims claims;
    (void)state;
    pp_budget_init(&budget, 100 * row + row - 1);
    pp_claims_init(&claims, 2, &budget);
    for (i = 0; i < 100; i++) {
        write_small(words, 0, 1, i);
        assert_ok(pp_claims_add(&claims, words));
    }
    write_small(words, 0, 1, i);
    assert_fails(pp_claims_add(&claims, words), PARAPET_ERR_MEMORY, "claims");
    assert_int_equal(claims.list.count, 100);
    assert_int_equal(pp_claims_at(&claims, 99)[PP_CLAIM_PART], 99);
    pp_claims_clear(&claims);
    assert_all_given_back();
}

static int refuse_all(void *context, size_t bytes)
{
    (void)context;
    (void)bytes;
    return 1;
}

static void test_claims__stay_as_they_are_when_the_machine_has_no_memory(void **state)
{
    int64_t words[10];
    pp_claims claims;
    size_t available;
    (void)state;
    pp_budget_init(&budget, (size_t)1 << 20);
    pp_claims_init(&claims, 2, &budget);
    write_small(words, 0, 3, 5);
    assert_ok(pp_claims_add(&claims, words));
    available = pp_budget_available(&budget);
    pp_memory_hook_set(refuse_all, NULL);
    assert_int_equal(pp_claims_add(&claims, words), PARAPET_ERR_MEMORY);
    pp_memory_hook_set(NULL, NULL);
    assert_int_equal(pp_budget_available(&budget), available);
    assert_int_equal(claims.list.count, 1);
    assert_int_equal(pp_claims_at(&claims, 0)[PP_CLAIM_PART], 5);
    pp_claims_clear(&claims);
    assert_all_given_back();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_claims__give_back_what_was_written_into_them),
        cmocka_unit_test(test_claim__leaves_no_word_undefined_because_rows_travel),
        cmocka_unit_test(test_claims__sort_by_target_rank_and_part_and_keep_each_once),
        cmocka_unit_test(test_claims__take_at_most_twice_what_they_need),
        cmocka_unit_test(test_claims__fill_the_budget_to_the_last_row),
        cmocka_unit_test(test_claims__stay_as_they_are_when_the_machine_has_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
