/* How many shards a server gives away: never so that both end later, and so that a few gifts make up for any speeds.
 */
#include "plan/surplus.h"

#include "support.h"

#include <math.h>

static int64_t give(int64_t left, double open, double giver, double taker)
{
    return pp_surplus_to_give(&(pp_surplus){.left = left, .open = open, .giver_speed = giver, .thief_speed = taker});
}

static void test_surplus__equal_servers_share_equally(void **state)
{
    (void)state;
    assert_int_equal(give(10, 0, 1, 1), 5);
    assert_int_equal(give(10, 2, 1, 1), 6);
    assert_int_equal(give(1, 1, 1, 1), 1);
    assert_int_equal(give(0, 3, 1, 1), 0);
}

static void test_surplus__unknown_speeds_are_taken_to_be_equal(void **state)
{
    (void)state;
    assert_int_equal(give(10, 0, 0, 0), 5);
    assert_int_equal(give(10, 0, 3, 0), 5);
    assert_int_equal(give(10, 0, 0, 3), 5);
}

static void test_surplus__a_fast_taker_gets_more(void **state)
{
    (void)state;
    assert_int_equal(give(16, 0, 1, 3), 12);
    assert_int_equal(give(16, 0, 3, 1), 4);
    assert_int_equal(give(4, 4, 1, 7), 4); /* all there is */
}

/* The last shard moves only if the taker is done with it before the giver would be. */
static void test_surplus__the_last_shard_stays_where_it_ends_sooner(void **state)
{
    (void)state;
    assert_int_equal(give(1, 0, 1, 1), 0);
    assert_int_equal(give(1, 0, 1, 1.5), 1);
    assert_int_equal(give(1, 1, 1, 0.4), 0);
    assert_int_equal(give(1, 1, 1, 0.6), 1);
}

static void test_surplus__no_gift_makes_the_end_later(void **state)
{
    static const double speeds[] = {0.1, 0.25, 0.5, 0.9, 1, 1.1, 2, 4, 10};
    enum { SPEEDS = sizeof speeds / sizeof speeds[0] };
    size_t g, t;
    int64_t left, open;
    (void)state;
    for (left = 0; left < 40; left++)
        for (open = 0; open < 4; open++)
            for (g = 0; g < SPEEDS; g++)
                for (t = 0; t < SPEEDS; t++) {
                    int64_t given = give(left, (double)open, speeds[g], speeds[t]);
                    double alone = (double)(left + open) / speeds[g];
                    double kept = (double)(left - given + open) / speeds[g], moved = (double)given / speeds[t];
                    assert_true(given >= 0 && given <= left);
                    assert_true(fmax(kept, moved) <= alone + 1e-9);
                    /* One more would not help. */
                    if (given < left)
                        assert_true((double)(given + 1) / speeds[t] >= fmax(kept, moved) - 1 / speeds[g] - 1e-9);
                }
}

/* ---- Servers of any speeds, played through ---- */

enum { SERVERS_MOST = 16 };

typedef struct player {
    double speed, free_at; /* when the shard under way is done */
    int64_t left;
} player;

static double play(player *players, int count)
{
    double now = 0, done = 0;
    int64_t shards = 0;
    int i, first, richest;
    for (i = 0; i < count; i++)
        shards += players[i].left;
    for (; shards > 0; shards--) {
        for (first = 0, i = 1; i < count; i++)
            if (players[i].free_at < players[first].free_at)
                first = i;
        now = players[first].free_at;
        if (players[first].left == 0) {
            int64_t given;
            for (richest = 0, i = 1; i < count; i++)
                if (players[i].left > players[richest].left)
                    richest = i;
            given = give(players[richest].left, (players[richest].free_at - now) * players[richest].speed,
                         players[richest].speed, players[first].speed);
            players[richest].left -= given;
            players[first].left = given;
            if (given == 0) {
                players[first].free_at = INFINITY; /* asks no more */
                shards++;
                continue;
            }
        }
        players[first].left--;
        players[first].free_at = now + 1 / players[first].speed;
        done = fmax(done, players[first].free_at);
    }
    return done;
}

/* Sixteen shards a server, any number of them slow by 2 or 4: hardly later than if shards could be cut, which is by
 * what the slowest takes for one; and where that is half as fast, at least 0.9 of the sum of the speeds. */
static void test_surplus__any_speeds_end_within_a_shard_of_the_ideal(void **state)
{
    int servers, slow, factor;
    (void)state;
    for (servers = 2; servers <= SERVERS_MOST; servers *= 2)
        for (slow = 0; slow <= servers; slow++)
            for (factor = 2; factor <= 4; factor *= 2) {
                player players[SERVERS_MOST];
                double sum = 0, end, ideal;
                int i;
                for (i = 0; i < servers; i++) {
                    players[i] = (player){.speed = i < slow ? 1.0 / factor : 1, .left = 16};
                    sum += players[i].speed;
                }
                end = play(players, servers);
                ideal = 16.0 * servers / sum;
                assert_true(end <= ideal + factor);
                assert_true(factor > 2 || ideal / end >= 0.9);
            }
}

/* ---- Instead of it: shrinking rounds, as the paper on uneven disks deals them out ---- */

/* Each ends when all are done with it; `most` is how much a server gets of the first on average. */
static int64_t size_round(int64_t total, int64_t left, int count, int64_t most)
{
    int64_t each = most / (total / left), size = count * (each > 1 ? each : 1);
    return size < left ? size : left;
}

/* One after the other to the server that is done with it first; of several, to the fastest. */
static void split_round(int64_t size, const double *speeds, int count, int64_t *shares)
{
    int i, first;
    for (i = 0; i < count; i++)
        shares[i] = 0;
    for (; size > 0; size--) {
        for (first = 0, i = 1; i < count; i++) {
            double here = (double)(shares[i] + 1) * speeds[first], there = (double)(shares[first] + 1) * speeds[i];
            if (here < there || (here == there && speeds[i] > speeds[first]))
                first = i;
        }
        shares[first]++;
    }
}

static double play_rounds(const double *speeds, int count, int64_t total, int64_t most)
{
    int64_t left = total, shares[SERVERS_MOST];
    double end = 0;
    while (left > 0) {
        int64_t size = size_round(total, left, count, most);
        double longest = 0;
        int i;
        split_round(size, speeds, count, shares);
        for (i = 0; i < count; i++)
            longest = fmax(longest, (double)shares[i] / speeds[i]);
        end += longest;
        left -= size;
    }
    return end;
}

/* The paper's example: 128 pieces for 5 and 3 MB/s. */
static void test_rounds__are_those_of_the_paper(void **state)
{
    static const int64_t sizes[] = {40, 40, 20, 10, 4, 4, 2, 2, 2, 2, 2};
    static const int64_t fast[] = {25, 25, 13, 6, 3, 3, 1, 1, 1, 1, 1};
    static const double speeds[] = {5, 3};
    enum { ROUNDS = sizeof sizes / sizeof sizes[0] };
    int64_t left = 128, shares[2], sums[2] = {0, 0};
    int i;
    (void)state;
    for (i = 0; i < ROUNDS; i++) {
        assert_int_equal(size_round(128, left, 2, 20), sizes[i]);
        split_round(sizes[i], speeds, 2, shares);
        assert_int_equal(shares[0], fast[i]);
        left -= sizes[i];
        sums[0] += shares[0];
        sums[1] += shares[1];
    }
    assert_int_equal(left, 0);
    assert_int_equal(sums[0], 80);
    assert_int_equal(sums[1], 48);
}

/* Why work units of a copy are taken and not dealt out in rounds: 16 to a rank, one rank at half or a quarter of the
 * speed. Rounds are told the speeds; taking is not told, and yet ends sooner, because nobody waits in between. */
static void test_surplus__taking_ends_before_shrinking_rounds(void **state)
{
    int ranks, factor, i;
    (void)state;
    for (ranks = 4; ranks <= SERVERS_MOST; ranks *= 2)
        for (factor = 2; factor <= 4; factor *= 2) {
            player players[SERVERS_MOST];
            double speeds[SERVERS_MOST], end;
            for (i = 0; i < ranks; i++) {
                speeds[i] = i == ranks - 1 ? 1.0 / factor : 1;
                players[i] = (player){.speed = speeds[i], .left = 16};
            }
            end = play(players, ranks);
            assert_true(end < play_rounds(speeds, ranks, INT64_C(16) * ranks, 4));
            assert_true(end < play_rounds(speeds, ranks, INT64_C(16) * ranks, 8));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_surplus__equal_servers_share_equally),
        cmocka_unit_test(test_surplus__unknown_speeds_are_taken_to_be_equal),
        cmocka_unit_test(test_surplus__a_fast_taker_gets_more),
        cmocka_unit_test(test_surplus__the_last_shard_stays_where_it_ends_sooner),
        cmocka_unit_test(test_surplus__no_gift_makes_the_end_later),
        cmocka_unit_test(test_surplus__any_speeds_end_within_a_shard_of_the_ideal),
        cmocka_unit_test(test_rounds__are_those_of_the_paper),
        cmocka_unit_test(test_surplus__taking_ends_before_shrinking_rounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
