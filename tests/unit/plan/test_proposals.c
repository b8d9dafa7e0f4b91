/* Owners by proposals, on all servers at once: who gets what, and that nobody gets more than his share. */
#include "support.h"

#include "base/checked.h"
#include "plan/proposals.h"

#define MOST_SERVERS 40
#define MOST_SHARDS 2000

typedef struct market {
    int server_count;
    size_t count;
    pp_proposal proposals[MOST_SHARDS]; /* of all homes, by shard */
    int64_t given[MOST_SERVERS];
    pp_fair_share fair;
    bool was_dealt;
} market;

static void add_shard(market *all, int home, int server, int64_t load, int64_t held)
{
    assert_true(all->count < MOST_SHARDS);
    all->proposals[all->count] = (pp_proposal){.shard = (int64_t)all->count,
                                               .home = home,
                                               .server = server,
                                               .load_bytes = load,
                                               .held_bytes = held,
                                               .owner = PP_NO_OWNER};
    all->count++;
}

/* The proposals of one home, or to one server. */
static size_t gather(const market *all, bool by_home, int server, pp_proposal *some)
{
    size_t i, count = 0;
    for (i = 0; i < all->count; i++)
        if ((by_home ? all->proposals[i].home : all->proposals[i].server) == server)
            some[count++] = all->proposals[i];
    return count;
}

static void put_back(market *all, const pp_proposal *some, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++)
        all->proposals[some[i].shard].owner = some[i].owner;
}

static void accept_all(market *all)
{
    static pp_proposal some[MOST_SHARDS];
    int server;
    for (server = 0; server < all->server_count; server++) {
        size_t count = gather(all, false, server, some);
        qsort(some, count, sizeof some[0], pp_proposal_compare_held);
        pp_proposals_accept(some, count, &all->fair, &all->given[server]);
        put_back(all, some, count);
    }
}

static void keep_all(market *all, pp_room *rooms)
{
    static pp_proposal some[MOST_SHARDS];
    int server;
    for (server = 0; server < all->server_count; server++) {
        size_t count = gather(all, true, server, some);
        rooms[server] = (pp_room){.server = server};
        rooms[server].left = pp_proposals_keep(some, count, &all->fair, &all->given[server]);
        rooms[server].given = all->given[server];
        put_back(all, some, count);
    }
}

static void deal_all(market *all, pp_room *rooms)
{
    static pp_proposal some[MOST_SHARDS];
    pp_dealer dealer = {.fair = all->fair, .rooms = rooms, .count = (size_t)all->server_count};
    size_t next[MOST_SERVERS] = {0};
    pp_deal deal;
    while (pp_dealer_next(&dealer, &deal)) {
        size_t count = gather(all, true, (int)deal.home, some);
        assert_true(deal.count > 0);
        pp_proposals_give(some, count, &deal, &next[deal.home]);
        put_back(all, some, count);
        all->was_dealt = true;
    }
    assert_int_equal(dealer.from, dealer.count); /* nothing is left */
    pp_proposals_finish(all->proposals, all->count);
}

static void sync_dirs(market *all)
{
    pp_room rooms[MOST_SERVERS];
    int64_t bytes = 0;
    size_t i;
    for (i = 0; i < all->count; i++)
        bytes += all->proposals[i].load_bytes;
    all->fair = pp_fair_share_of(bytes, (int64_t)all->count, all->server_count);
    accept_all(all);
    keep_all(all, rooms);
    deal_all(all, rooms);
    memset(all->given, 0, sizeof all->given);
    for (i = 0; i < all->count; i++) {
        assert_in_range(all->proposals[i].owner, 0, all->server_count - 1);
        all->given[all->proposals[i].owner] += all->proposals[i].load_bytes;
    }
}

static int64_t most_given(const market *all)
{
    int64_t most = 0;
    int i;
    for (i = 0; i < all->server_count; i++)
        most = pp_max_i64(most, all->given[i]);
    return most;
}

static market *open_market(int server_count)
{
    market *all = calloc(1, sizeof *all);
    all->server_count = server_count;
    return all;
}

/* ---- */

static void test_share__is_a_tenth_above_the_mean_or_whole_shards(void **state)
{
    (void)state;
    assert_int_equal((int)pp_fair_share_of(32000, 32, 2).limit_bytes, 17600);
    assert_int_equal((int)pp_fair_share_of(3000, 3, 2).limit_bytes, 2000);
    assert_int_equal((int)pp_fair_share_of(1000, 1, 8).limit_bytes, 1000);
    assert_int_equal((int)pp_fair_share_of(0, 0, 8).limit_bytes, 0);
}

static void test_proposals__all_go_where_the_data_is_if_that_is_even(void **state)
{
    market *all = open_market(16);
    int i;
    (void)state;
    for (i = 0; i < 160; i++)
        add_shard(all, i % 16, i / 10, 100, 60);
    sync_dirs(all);
    for (i = 0; i < 160; i++)
        assert_int_equal(all->proposals[i].owner, i / 10);
    assert_false(all->was_dealt);
    free(all);
}

static void test_proposals__are_accepted_by_what_is_held_then_by_number(void **state)
{
    market *all = open_market(2);
    const int64_t held[10] = {10, 10, 50, 10, 40, 10, 10, 10, 10, 30};
    const int expected[10] = {0, 0, 0, 1, 0, 1, 1, 1, 1, 0}; /* 5 of 10 fit: the largest three, then 0 and 1 */
    int i;
    (void)state;
    for (i = 0; i < 10; i++)
        add_shard(all, 1, 0, 100, held[i]);
    sync_dirs(all);
    for (i = 0; i < 10; i++)
        assert_int_equal(all->proposals[i].owner, expected[i]);
    free(all);
}

/* Seven eighths of everything are with one rank. */
static void test_proposals__of_one_holder_load_everybody_alike(void **state)
{
    market *all = open_market(8);
    int i;
    (void)state;
    for (i = 0; i < 512; i++)
        add_shard(all, i % 8, i < 448 ? 3 : i % 8, 10, 10);
    sync_dirs(all);
    assert_true(most_given(all) <= 704); /* 1.10 of 640 */
    assert_true(all->given[3] == 700);
    free(all);
}

/* Half of the servers hold nothing: what the others cannot take is not left to add up at their homes. */
static void test_proposals__that_are_refused_go_to_those_who_have_room(void **state)
{
    market *all = open_market(16);
    int i;
    (void)state;
    for (i = 0; i < 1600; i++)
        add_shard(all, i % 16, i / 16 % 8, 10, 10);
    sync_dirs(all);
    assert_true(all->was_dealt);
    assert_true(most_given(all) <= 1100);
    free(all);
}

/* As many shards as servers, some of them small: nobody gets a second one while another has none. */
static void test_proposals__give_everybody_one_shard_where_there_is_one_for_each(void **state)
{
    market *all = open_market(MOST_SERVERS);
    int i;
    (void)state;
    for (i = 0; i < MOST_SERVERS; i++)
        add_shard(all, i / 2, i % 5, i % 4 == 0 ? 80 : 100, 20);
    sync_dirs(all);
    assert_true(all->was_dealt);
    assert_int_equal(most_given(all), 100);
    free(all);
}

/* Shards of one size stay within the limit, or a shard above the mean. Those of a home that differ count as equal
 * when they are dealt out, so that a server may get somewhat more. */
static void test_proposals__of_any_sort_stay_within_the_limit_or_one_shard_of_the_mean(void **state)
{
    test_random random = test_random_start();
    int round, dealt = 0;
    (void)state;
    for (round = 0; round < 1000; round++) {
        int servers = (int)test_random_between(&random, 1, MOST_SERVERS), popular, i;
        int count = (int)test_random_between(&random, 0, round % 2 == 0 ? 60 : MOST_SHARDS);
        int64_t least_load = round % 3 == 0 ? 100 : 50;
        market *all = open_market(servers);
        double bound;
        popular = (int)test_random_between(&random, 1, servers);
        for (i = 0; i < count; i++) {
            int64_t load = test_random_between(&random, least_load, 100);
            add_shard(all, i % servers, (int)test_random_between(&random, 0, popular - 1), load,
                      test_random_between(&random, 0, load));
        }
        sync_dirs(all);
        bound = all->fair.mean_bytes + 100;
        bound = (all->fair.limit_bytes > bound ? all->fair.limit_bytes : bound) * (least_load == 100 ? 1 : 1.15);
        assert_true((double)most_given(all) <= bound);
        dealt += all->was_dealt;
        free(all);
    }
    assert_true(dealt > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_share__is_a_tenth_above_the_mean_or_whole_shards),
        cmocka_unit_test(test_proposals__all_go_where_the_data_is_if_that_is_even),
        cmocka_unit_test(test_proposals__are_accepted_by_what_is_held_then_by_number),
        cmocka_unit_test(test_proposals__of_one_holder_load_everybody_alike),
        cmocka_unit_test(test_proposals__that_are_refused_go_to_those_who_have_room),
        cmocka_unit_test(test_proposals__give_everybody_one_shard_where_there_is_one_for_each),
        cmocka_unit_test(test_proposals__of_any_sort_stay_within_the_limit_or_one_shard_of_the_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
