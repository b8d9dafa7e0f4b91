/* What servers of given speeds reach: the bound against brute force, and the loads of a schedule by its weights. */
#include "support.h"

#include <math.h>

#include "base/memory.h"
#include "forecast/reach.h"
#include "plan/speeds.h"

enum { SERVERS_MOST = 5, PIECES_MOST = 40, SHARDS = 128, SHARD_BYTES = 1000000 };

/* Each piece to the server that is done with it first: no division of equal pieces is done earlier. */
static double least_by_hand(const pp_server_load *servers, int count, int64_t pieces, double bytes)
{
    int64_t given[SERVERS_MOST] = {0}, i;
    double last = 0;
    for (i = 0; i < pieces; i++) {
        int best = 0, k;
        for (k = 1; k < count; k++)
            if ((double)(given[k] + 1) / (double)servers[k].speed <
                (double)(given[best] + 1) / (double)servers[best].speed)
                best = k;
        given[best]++;
        last = fmax(last, (double)given[best] * bytes / (double)servers[best].speed);
    }
    return last;
}

static void test_reach__least_time_is_that_of_giving_pieces_one_by_one(void **state)
{
    test_random random = test_random_start();
    int i, k;
    (void)state;
    for (i = 0; i < 3000; i++) {
        pp_server_load servers[SERVERS_MOST] = {{0}};
        int count = (int)test_random_between(&random, 1, SERVERS_MOST);
        int64_t pieces = test_random_between(&random, 1, PIECES_MOST);
        double bytes = (double)test_random_between(&random, 1, 1000), least;
        for (k = 0; k < count; k++)
            servers[k].speed = test_random_between(&random, 1, 50);
        least = least_by_hand(servers, count, pieces, bytes);
        assert_true(fabs(pp_reach_least_seconds(servers, count, pieces, bytes) - least) <= 1e-6 * least);
    }
}

/* 128 shards of 1 MB on as many servers as there are speeds. */
static void reach_of(parapet_sharing sharing, const int64_t *speeds, int count, pp_reach *reach)
{
    int64_t shape = (int64_t)SHARDS * SHARD_BYTES, mesh = count, cell = SHARD_BYTES;
    pp_distribution distribution;
    pp_tiling tiling;
    pp_grid shards;
    pp_speeds equal;
    pp_weighting weighting;
    pp_schedule *schedule;
    pp_schedule_case by = {.distribution = &distribution,
                           .tiling = &tiling,
                           .window_chunks = 1,
                           .fragment_bytes = 1 << 20,
                           .server_count = count,
                           .owners = PARAPET_OWNERS_IN_TURN,
                           .sharing = sharing};
    assert_ok(pp_distribution_init(&distribution, &(parapet_distribution){.ndim = 1, .shape = &shape, .mesh = &mesh},
                                   NULL));
    assert_ok(pp_grid_init(&shards, 1, &shape, &cell, 1));
    assert_ok(pp_tiling_init(&tiling, &shards, &cell, 1));
    assert_ok(pp_speeds_init(&equal, count));
    assert_ok(pp_weighting_renew(&equal.now, speeds, &weighting));
    by.turns = sharing == PARAPET_SHARING_WEIGHTS ? &weighting.turns : NULL;
    if (by.turns != NULL)
        assert_ok(pp_lattice_choose_weighted(&by.lattice, 1, shards.cells, by.turns));
    else
        assert_ok(pp_lattice_choose(&by.lattice, 1, shards.cells, count));
    assert_ok(pp_schedule_build(&schedule, &by));
    assert_ok(pp_reach_init(reach, schedule, &by, speeds));
    pp_schedule_free(schedule);
    pp_weighting_clear(&weighting);
    pp_speeds_clear(&equal);
}

static void test_reach__weights_give_a_server_of_half_the_speed_half_the_shards(void **state)
{
    const int64_t speeds[2] = {4000000, 2000000};
    pp_reach reach;
    (void)state;
    reach_of(PARAPET_SHARING_WEIGHTS, speeds, 2, &reach);
    assert_true(reach.loads[0].shards >= 85 && reach.loads[0].shards <= 86);
    assert_int_equal(reach.loads[0].shards + reach.loads[1].shards, SHARDS);
    assert_int_equal(reach.loads[0].bytes, reach.loads[0].shards * SHARD_BYTES);
    assert_true(reach.reached > 0.98 && reach.reached <= reach.best + 1e-9 && reach.best <= 1 + 1e-9);
    pp_reach_clear(&reach);
}

/* Paper 003: disks of 5 and 2 MB/s, ideal 18.286 s; at best 92 and 36 of 128, 18.4 s. */
static void test_reach__at_best_is_what_the_paper_divides(void **state)
{
    const int64_t speeds[2] = {5000000, 2000000};
    pp_reach reach;
    (void)state;
    reach_of(PARAPET_SHARING_EQUAL, speeds, 2, &reach);
    assert_true(fabs(reach.best - 18.2857 / 18.4) < 1e-4);
    assert_true(fabs(reach.reached - 18.2857 / 32.0) < 1e-4);
    assert_true(fabs(reach.loads[1].seconds - 32.0) < 1e-9);
    pp_reach_clear(&reach);
}

static int refuse_all(void *context, size_t bytes)
{
    (void)context, (void)bytes;
    return 1;
}

static void test_reach__without_memory_is_refused(void **state)
{
    const int64_t speeds[2] = {1, 1};
    pp_schedule_case by = {.server_count = 2};
    pp_reach reach;
    (void)state;
    pp_memory_hook_set(refuse_all, NULL);
    assert_int_equal(pp_reach_init(&reach, NULL, &by, speeds), PARAPET_ERR_MEMORY);
    pp_memory_hook_set(NULL, NULL);
    pp_reach_clear(&reach);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reach__least_time_is_that_of_giving_pieces_one_by_one),
        cmocka_unit_test(test_reach__weights_give_a_server_of_half_the_speed_half_the_shards),
        cmocka_unit_test(test_reach__at_best_is_what_the_paper_divides),
        cmocka_unit_test(test_reach__without_memory_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
