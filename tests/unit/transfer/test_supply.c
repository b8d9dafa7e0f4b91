/* Shards that are still to be opened: from the front for the pipeline, from the back for others, each of them once.
 */
#include "support.h"

#include "hand_clock.h"
#include <pthread.h>

#include "transfer/supply.h"

enum { SHARDS = 24, MOST_RECORDS = 3 * SHARDS };

static pp_work records[MOST_RECORDS];
static pp_worklist list = {.work = records};

/* Shard s has 1 + s % 3 records; two targets. */
static void fill_list(int shards)
{
    size_t count = 0;
    int s, i;
    for (s = 0; s < shards; s++)
        for (i = 0; i <= s % 3; i++)
            records[count++] = (pp_work){.target = s >= shards / 2, .shard = s, .rank = i};
    list.count = count;
}

static bool fits_all(void *context, size_t first, size_t end)
{
    (void)context;
    assert_true(first < end);
    return true;
}

/* As many as *context says. */
static bool fits_some(void *context, size_t first, size_t end)
{
    int *most = context;
    (void)first;
    (void)end;
    return (*most)-- > 0;
}

static int take_all(pp_supply *supply, int *taken)
{
    size_t first, end;
    int count = 0;
    while (pp_supply_next(supply, &first, &end)) {
        taken[records[first].shard]++;
        assert_int_equal(end, pp_worklist_group_end(&list, first));
        count++;
    }
    return count;
}

static int count_given(size_t first, size_t end, int *given)
{
    int count = 0;
    for (; first < end; first = pp_worklist_group_end(&list, first), count++)
        given[records[first].shard]++;
    return count;
}

static void test_supply__gives_from_the_back_what_the_front_has_not_taken(void **state)
{
    int seen[SHARDS] = {0}, i;
    size_t first, end;
    pp_supply supply;
    (void)state;
    fill_list(SHARDS);
    pp_supply_init(&supply);
    pp_supply_begin(&supply, &list);
    assert_int_equal(pp_supply_left(&supply), SHARDS);
    assert_true(pp_supply_next(&supply, &first, &end));
    seen[records[first].shard]++;
    /* Nobody knows how fast anybody is: half of what is left. */
    assert_true(pp_supply_give(&supply, 0, fits_all, NULL, &first, &end));
    assert_int_equal(count_given(first, end, seen), (SHARDS - 1) / 2);
    assert_int_equal(end, list.count);
    assert_int_equal(take_all(&supply, seen), SHARDS - 1 - (SHARDS - 1) / 2);
    assert_int_equal(pp_supply_left(&supply), 0);
    assert_false(pp_supply_give(&supply, 0, fits_all, NULL, &first, &end));
    for (i = 0; i < SHARDS; i++)
        assert_int_equal(seen[i], 1);
    pp_supply_clear(&supply);
}

static void test_supply__gives_no_more_than_fits(void **state)
{
    int seen[SHARDS] = {0}, most = 3, none = 0;
    size_t first, end;
    pp_supply supply;
    (void)state;
    fill_list(SHARDS);
    pp_supply_init(&supply);
    pp_supply_begin(&supply, &list);
    assert_true(pp_supply_give(&supply, 0, fits_some, &most, &first, &end));
    assert_int_equal(count_given(first, end, seen), 3);
    assert_int_equal(pp_supply_left(&supply), SHARDS - 3);
    assert_false(pp_supply_give(&supply, 0, fits_some, &none, &first, &end));
    assert_int_equal(take_all(&supply, seen), SHARDS - 3);
    pp_supply_clear(&supply);
}

/* A shard of three records does not fit. */
static bool fits_two(void *context, size_t first, size_t end)
{
    (void)context;
    return end - first <= 2;
}

/* Those that are too large stay, and are opened next; the others are given in their stead. */
static void test_supply__a_shard_that_does_not_fit_stays_and_others_go(void **state)
{
    int seen[SHARDS] = {0}, i, given;
    size_t first, end;
    pp_supply supply;
    (void)state;
    fill_list(SHARDS); /* the last, 23, has three records */
    pp_supply_init(&supply);
    pp_supply_begin(&supply, &list);
    assert_true(pp_supply_give(&supply, 0, fits_two, NULL, &first, &end));
    given = count_given(first, end, seen);
    assert_int_equal(given, 2); /* 22 and 21: 20 has three records as well */
    assert_int_equal(pp_supply_left(&supply), SHARDS - 3);
    assert_true(pp_supply_next(&supply, &first, &end));
    assert_int_equal(records[first].shard, SHARDS - 1);
    assert_int_equal(end - first, 3);
    seen[SHARDS - 1]++;
    assert_true(pp_supply_give(&supply, 0, fits_two, NULL, &first, &end));
    given += count_given(first, end, seen);
    assert_int_equal(given, 4);
    assert_int_equal(take_all(&supply, seen), SHARDS - given - 1);
    for (i = 0; i < SHARDS; i++)
        assert_int_equal(seen[i], 1);
    pp_supply_clear(&supply);
}

/* Where none fits, all are served here, however often somebody asks. */
static void test_supply__what_never_fits_is_never_lost(void **state)
{
    int seen[SHARDS] = {0}, none, i;
    size_t first, end;
    pp_supply supply;
    (void)state;
    fill_list(SHARDS);
    pp_supply_init(&supply);
    pp_supply_begin(&supply, &list);
    for (i = 0; i < SHARDS; i++) {
        none = 0;
        assert_false(pp_supply_give(&supply, 0, fits_some, &none, &first, &end));
        assert_true(pp_supply_next(&supply, &first, &end));
        seen[records[first].shard]++;
    }
    assert_int_equal(take_all(&supply, seen), 0);
    for (i = 0; i < SHARDS; i++)
        assert_int_equal(seen[i], 1);
    pp_supply_clear(&supply);
}

static void test_supply__has_nothing_before_and_after_a_list(void **state)
{
    size_t first, end;
    pp_supply supply;
    (void)state;
    pp_supply_init(&supply);
    assert_false(pp_supply_next(&supply, &first, &end));
    assert_false(pp_supply_give(&supply, 1, fits_all, NULL, &first, &end));
    fill_list(2);
    pp_supply_begin(&supply, &list);
    pp_supply_end(&supply);
    assert_int_equal(pp_supply_left(&supply), 0);
    assert_false(pp_supply_next(&supply, &first, &end));
    assert_true(pp_supply_speed(&supply) == 0);
    pp_supply_clear(&supply);
}

/* Two windows a shard; time counts only while there is a list. */
static void test_supply__counts_shards_while_it_is_busy(void **state)
{
    double speed, idle;
    size_t first, end;
    pp_supply supply;
    int i;
    (void)state;
    fill_list(2);
    hand_clock_take(false);
    pp_supply_init(&supply);
    pp_supply_begin(&supply, &list);
    while (pp_supply_next(&supply, &first, &end))
        for (i = 0; i < 2; i++)
            pp_supply_note_begun(&supply);
    hand_clock_move(PP_SECOND_NS / 500);
    for (i = 0; i < 4; i++)
        pp_supply_note_stored(&supply);
    pp_supply_end(&supply);
    speed = pp_supply_speed(&supply);
    assert_true(speed > 999.9 && speed < 1000.1);
    hand_clock_move(PP_SECOND_NS);
    idle = pp_supply_speed(&supply);
    hand_clock_drop();
    assert_true(idle == speed);
    pp_supply_clear(&supply);
}

/* ---- Both ends at once ---- */

static void *open_all(void *context)
{
    static int taken[SHARDS];
    (void)take_all(context, taken);
    return taken;
}

static void test_supply__threads_share_it_and_lose_nothing(void **state)
{
    int round, i;
    (void)state;
    fill_list(SHARDS);
    for (round = 0; round < 200; round++) {
        int given[SHARDS] = {0}, one = 1;
        void *taken;
        size_t first, end;
        pthread_t thread;
        pp_supply supply;
        pp_supply_init(&supply);
        pp_supply_begin(&supply, &list);
        assert_int_equal(pthread_create(&thread, NULL, open_all, &supply), 0);
        while (pp_supply_give(&supply, 0, fits_some, &one, &first, &end)) {
            (void)count_given(first, end, given);
            one = 1;
        }
        assert_int_equal(pthread_join(thread, &taken), 0);
        for (i = 0; i < SHARDS; i++)
            assert_int_equal(given[i] + ((int *)taken)[i], 1);
        memset(taken, 0, sizeof given);
        pp_supply_clear(&supply);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_supply__gives_from_the_back_what_the_front_has_not_taken),
        cmocka_unit_test(test_supply__gives_no_more_than_fits),
        cmocka_unit_test(test_supply__a_shard_that_does_not_fit_stays_and_others_go),
        cmocka_unit_test(test_supply__what_never_fits_is_never_lost),
        cmocka_unit_test(test_supply__has_nothing_before_and_after_a_list),
        cmocka_unit_test(test_supply__counts_shards_while_it_is_busy),
        cmocka_unit_test(test_supply__threads_share_it_and_lose_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
