#include "support.h"

#include "forecast/schedule.h"
#include "plan/owners.h"
#include "plan/pieces.h"
#include "plan/self_service.h"

enum { NDIM_MOST = 3, RANKS_MOST = 64 };

typedef struct problem {
    pp_distribution distribution;
    pp_tiling tiling;
    pp_schedule_case by;
} problem;

/* What the claims of all ranks give, asked of the modules that the transfer itself uses. */
typedef struct expectation {
    bool is_self_service;
    pp_server_share servers[RANKS_MOST];
    pp_share ranks[RANKS_MOST];
} expectation;

static void init_distribution(problem *made, test_random *random, int ndim)
{
    int64_t shape[NDIM_MOST], mesh[NDIM_MOST], block[NDIM_MOST];
    parapet_spread spread[NDIM_MOST];
    parapet_distribution given = {.ndim = ndim, .shape = shape, .mesh = mesh, .spread = spread, .block = block};
    int d;
    for (d = 0; d < ndim; d++) {
        shape[d] = test_random_between(random, test_random_between(random, 0, 19) == 0 ? 0 : 1, ndim == 1 ? 60 : 17);
        spread[d] = (parapet_spread)test_random_between(random, 0, 2);
        mesh[d] = spread[d] == PARAPET_WHOLE ? 1 : test_random_between(random, 1, 4);
        block[d] = test_random_between(random, 1, 4);
    }
    assert_ok(pp_distribution_init(&made->distribution, &given, NULL));
}

static void init_tiling(problem *made, const int64_t *shard, const int64_t *chunk, size_t element_bytes)
{
    pp_grid shards;
    assert_ok(pp_grid_init(&shards, made->distribution.ndim, made->distribution.shape, shard, 1));
    assert_ok(pp_tiling_init(&made->tiling, &shards, chunk, element_bytes));
}

static void init_problem(problem *made, test_random *random)
{
    int ndim = (int)test_random_between(random, 1, NDIM_MOST), d;
    int64_t chunk[NDIM_MOST], shard[NDIM_MOST];
    init_distribution(made, random, ndim);
    for (d = 0; d < ndim; d++) {
        chunk[d] = test_random_between(random, 1, 5);
        shard[d] = chunk[d] * test_random_between(random, 1, 4);
    }
    init_tiling(made, shard, chunk, (size_t)test_random_between(random, 1, 8));
    made->by = (pp_schedule_case){
        .is_read = test_random_between(random, 0, 1) == 1,
        .distribution = &made->distribution,
        .tiling = &made->tiling,
        .window_chunks = (int)test_random_between(random, 1, test_random_between(random, 0, 1) == 0 ? 1 : 5),
        .fragment_bytes = (size_t)test_random_between(random, 8, test_random_between(random, 0, 1) == 0 ? 60 : 2000),
        .server_count = (int)test_random_between(random, 1, made->distribution.rank_count),
        .owners = (parapet_owners)test_random_between(random, 1, 2),
        .sharing = PARAPET_SHARING_EQUAL,
        .may_read_again = test_random_between(random, 0, 1) == 1,
    };
    assert_ok(pp_lattice_choose(&made->by.lattice, ndim, made->tiling.shards.cells, made->by.server_count));
    made->by.lattice.phase = test_random_between(random, 0, 100);
}

/* Blocks of whole chunks, which are long enough, on servers only: every rank may read its parts itself. Where chunks
 * may be read again, some shapes leave blocks of parts of chunks. */
static void divide_by_chunks(problem *made, test_random *random)
{
    int64_t shape[NDIM_MOST], mesh[NDIM_MOST], chunk[NDIM_MOST], shard[NDIM_MOST];
    parapet_distribution given = {.ndim = made->distribution.ndim, .shape = shape, .mesh = mesh};
    int d;
    for (d = 0; d < given.ndim; d++) {
        chunk[d] = test_random_between(random, 1, 3);
        mesh[d] = test_random_between(random, 1, 3);
        shard[d] = chunk[d] * test_random_between(random, 1, 4);
        shape[d] =
            chunk[d] * mesh[d] * test_random_between(random, 1, 3) - test_random_between(random, 0, chunk[d] - 1);
        if (made->by.may_read_again && test_random_between(random, 0, 1) == 1)
            shape[d] += test_random_between(random, 0, 5);
    }
    assert_ok(pp_distribution_init(&made->distribution, &given, NULL));
    init_tiling(made, shard, chunk, 1 << 20);
    made->by.is_read = true;
    made->by.owners = PARAPET_OWNERS_NEAREST;
    made->by.fragment_bytes = 2 << 20;
    made->by.server_count = (int)made->distribution.rank_count;
    assert_ok(pp_lattice_choose(&made->by.lattice, given.ndim, made->tiling.shards.cells, made->by.server_count));
}

static void claim_everything(const problem *made, pp_claims *claims)
{
    int64_t words[PP_CLAIM_GEOMETRY + 3 * NDIM_MOST], strides[NDIM_MOST] = {0}, rank, index;
    pp_box box;
    for (rank = 0; rank < made->distribution.rank_count; rank++)
        for (index = 0; index < pp_distribution_box_count(&made->distribution, rank); index++) {
            pp_distribution_box(&made->distribution, rank, index, &box);
            pp_claim_write(words, box.ndim, 0, (int)rank, index, &box, NULL, strides);
            assert_ok(pp_claims_add(claims, words));
        }
}

static int64_t server_rank(const problem *made, int server)
{
    return server * made->distribution.rank_count / made->by.server_count;
}

static void count_group(const problem *made, const pp_claim_set *plan, const pp_worklist *list, size_t first,
                        size_t end, int owner, expectation *expected)
{
    pp_server_share *server = &expected->servers[owner];
    pp_window window = {.shard = list->work[first].shard};
    int64_t cell[NDIM_MOST], fragments, bytes;
    pp_box inside;
    size_t rank_end;
    bool more;
    server->shards++;
    server->others.boxes += (int64_t)(end - first);
    pp_tiling_chunks_inside(plan->targets->tiling, window.shard, &inside);
    for (more = pp_box_first(&inside, cell); more;) {
        window.chunk_count = 0;
        for (; more && window.chunk_count < made->by.window_chunks; more = pp_box_next(&inside, cell))
            window.chunks[window.chunk_count++] = pp_grid_cell_number(&made->tiling.chunks, cell);
        for (size_t at = first; at < end; at = rank_end) {
            int32_t rank = list->work[at].rank;
            pp_pieces pieces;
            rank_end = pp_worklist_rank_end(list, at, end);
            pp_pieces_init(&pieces, plan, list, &window, at, rank_end, made->by.fragment_bytes);
            pp_pieces_count(&pieces, &fragments, &bytes);
            if (rank == server_rank(made, owner)) {
                server->own.bytes += bytes;
                continue;
            }
            pp_share_add(&server->others, &(pp_share){fragments > 0, fragments, bytes, 0}, 1);
            pp_share_add(&expected->ranks[rank], &(pp_share){fragments > 0, fragments, bytes, 0}, 1);
        }
    }
}

/* The proposals of one home, or to one server, whichever server is. Returns how many. */
static size_t gather(const pp_proposal *all, size_t count, const int32_t *key, int server, pp_proposal *some)
{
    ptrdiff_t place = (const char *)key - (const char *)all;
    size_t i, found = 0;
    for (i = 0; i < count; i++)
        if (*(const int32_t *)(const void *)((const char *)&all[i] + place) == server)
            some[found++] = all[i];
    return found;
}

static void put_back(pp_proposal *all, size_t count, const pp_proposal *some, size_t found)
{
    size_t i, j;
    for (i = 0; i < found; i++)
        for (j = 0; j < count; j++)
            if (all[j].shard == some[i].shard)
                all[j].owner = some[i].owner;
}

/* What all servers decide together. */
static void decide(const problem *made, pp_proposal *all, size_t count)
{
    pp_proposal *some = calloc(count + 1, sizeof *some);
    pp_room rooms[RANKS_MOST] = {{0}};
    pp_dealer dealer = {.rooms = rooms, .count = (size_t)made->by.server_count};
    size_t found, next[RANKS_MOST] = {0}, i;
    int64_t bytes = 0;
    pp_deal deal;
    int server;
    for (i = 0; i < count; i++)
        bytes += all[i].load_bytes;
    dealer.fair = pp_fair_share_of(bytes, (int64_t)count, made->by.server_count);
    for (server = 0; server < made->by.server_count; server++) {
        found = gather(all, count, &all->server, server, some);
        qsort(some, found, sizeof *some, pp_proposal_compare_held);
        pp_proposals_accept(some, found, &dealer.fair, &rooms[server].given);
        put_back(all, count, some, found);
    }
    for (server = 0; server < made->by.server_count; server++) {
        found = gather(all, count, &all->home, server, some);
        rooms[server].server = server;
        rooms[server].left = pp_proposals_keep(some, found, &dealer.fair, &rooms[server].given);
        put_back(all, count, some, found);
    }
    while (pp_dealer_next(&dealer, &deal)) {
        found = gather(all, count, &all->home, (int)deal.home, some);
        pp_proposals_give(some, found, &deal, &next[deal.home]);
        put_back(all, count, some, found);
    }
    pp_proposals_finish(all, count);
    free(some);
}

/* ---- Ranks that read their parts themselves ---- */

static int64_t bytes_of_rank(const problem *made, int64_t rank)
{
    int64_t bytes = 0, index;
    pp_box box;
    for (index = 0; index < pp_distribution_box_count(&made->distribution, rank); index++) {
        pp_distribution_box(&made->distribution, rank, index, &box);
        bytes += pp_box_element_count(&box) * (int64_t)made->tiling.element_bytes;
    }
    return bytes;
}

/* Whether they do: the proposals of all shards, and whether all groups of claims are fit for it, are known. */
static bool is_self_service(const problem *made, const pp_proposal *all, size_t count, bool is_fit)
{
    int64_t bytes = 0, rank;
    bool is_crossing = false, is_even = true;
    pp_fair_share fair;
    size_t i;
    for (i = 0; i < count; i++) {
        bytes += all[i].load_bytes;
        is_crossing = is_crossing || all[i].server != all[i].home || all[i].held_bytes < all[i].load_bytes;
    }
    fair = pp_fair_share_of(bytes, (int64_t)count, made->by.server_count);
    for (rank = 0; rank < made->distribution.rank_count; rank++)
        is_even = is_even && (double)bytes_of_rank(made, rank) <= fair.limit_bytes;
    return made->by.is_read && made->by.owners == PARAPET_OWNERS_NEAREST && is_fit && (is_even || !is_crossing);
}

static void expect_self_service(const problem *made, const pp_worklist *list, expectation *expected)
{
    size_t first, end, rank_end;
    int server;
    expected->is_self_service = true;
    for (server = 0; server < made->by.server_count; server++)
        expected->servers[server].own.bytes = bytes_of_rank(made, server_rank(made, server));
    for (first = 0; first < list->count; first = end)
        for (end = pp_worklist_group_end(list, first); first < end; first = rank_end) {
            rank_end = pp_worklist_rank_end(list, first, end);
            for (server = 0; server_rank(made, server) != list->work[first].rank; server++)
                continue;
            expected->servers[server].shards++;
            expected->servers[server].others.boxes += (int64_t)(rank_end - first);
        }
}

static void expect_owners(const problem *made, const pp_claim_set *plan, pp_budget *budget, expectation *expected)
{
    const pp_owner_strategy *strategy = pp_owner_strategy_of(made->by.owners);
    int ranks[RANKS_MOST], server, moved = 0;
    pp_worklist list;
    pp_proposal *all;
    size_t first, end, count = 0, unfit = 0;
    int64_t excess = 0;
    for (server = 0; server < made->by.server_count; server++)
        ranks[server] = (int)server_rank(made, server);
    assert_ok(pp_worklist_build(&list, plan, NULL, NULL, budget));
    all = calloc(list.count + 1, sizeof *all);
    for (first = 0; first < list.count; first = end, count++) {
        int home = pp_home_of(plan->targets, list.work[first].shard, made->by.server_count);
        end = pp_worklist_group_end(&list, first);
        pp_owner_case owner_case = {plan, &list, ranks, made->by.server_count, home};
        pp_owner_propose(&owner_case, strategy, first, end, &all[count]);
        unfit += !pp_self_service_fits(&owner_case, first, end, &excess);
        moved += all[count].server != home;
    }
    if (is_self_service(made, all, count, unfit == 0 && excess <= 0))
        expect_self_service(made, &list, expected);
    else if (moved > 0)
        decide(made, all, count);
    else
        pp_proposals_finish(all, count);
    for (first = 0, count = 0; first < list.count && !expected->is_self_service; first = end, count++) {
        end = pp_worklist_group_end(&list, first);
        count_group(made, plan, &list, first, end, all[count].owner, expected);
    }
    free(all);
    pp_worklist_clear(&list);
}

static void expect(const problem *made, expectation *expected)
{
    pp_target target = {
        .tiling = &made->tiling, .lattice = &made->by.lattice, .may_read_again = made->by.may_read_again};
    pp_claims claims;
    pp_claim_set plan = {.targets = &target, .target_count = 1, .claims = &claims};
    pp_budget budget;
    *expected = (expectation){0};
    pp_budget_init(&budget, (size_t)1 << 30);
    pp_claims_init(&claims, made->tiling.shards.ndim, &budget);
    claim_everything(made, &claims);
    expect_owners(made, &plan, &budget, expected);
    pp_claims_clear(&claims);
}

static int64_t total_of(const int64_t *first, size_t step_bytes, int64_t count, int64_t *most)
{
    int64_t total = 0, i;
    *most = INT64_MIN;
    for (i = 0; i < count; i++) {
        int64_t value = *(const int64_t *)(const void *)((const char *)first + (size_t)i * step_bytes);
        total += value;
        *most = value > *most ? value : *most;
    }
    return total;
}

#define assert_spread(spread, first, step, count)                                                                    \
    do {                                                                                                             \
        int64_t most_, total_ = total_of(&(first), sizeof(step), (count), &most_);                                   \
        assert_int_equal((spread).total, total_);                                                                    \
        assert_int_equal((spread).most, most_);                                                                      \
    } while (0)

static void check_summary(pp_schedule *schedule, const problem *made, const expectation *expected)
{
    const pp_server_share *servers = expected->servers;
    const pp_share *ranks = expected->ranks;
    int64_t rank_count = made->distribution.rank_count, server_count = made->by.server_count;
    pp_schedule_summary summary;
    assert_ok(pp_schedule_summarise(schedule, &summary));
    assert_spread(summary.server_shards, servers->shards, *servers, server_count);
    assert_spread(summary.server_requests, servers->others.requests, *servers, server_count);
    assert_spread(summary.server_fragments, servers->others.fragments, *servers, server_count);
    assert_spread(summary.server_message_bytes, servers->others.bytes, *servers, server_count);
    assert_spread(summary.server_own_bytes, servers->own.bytes, *servers, server_count);
    assert_spread(summary.rank_requests, ranks->requests, *ranks, rank_count);
    assert_spread(summary.rank_fragments, ranks->fragments, *ranks, rank_count);
    assert_spread(summary.rank_message_bytes, ranks->bytes, *ranks, rank_count);
    assert_int_equal(summary.rank_sent_writing.total, summary.rank_fragments.total + summary.server_requests.total);
    assert_int_equal(summary.rank_sent_reading.total,
                     2 * summary.rank_fragments.total + summary.server_requests.total);
}

static void check_servers(pp_schedule *schedule, const problem *made, const expectation *expected)
{
    pp_schedule_summary summary;
    int64_t most_listed = 0;
    int server;
    for (server = 0; server < made->by.server_count; server++) {
        const pp_server_share *wanted = &expected->servers[server];
        pp_server_share got;
        assert_int_equal(pp_schedule_server_rank(schedule, server), server_rank(made, server));
        assert_ok(pp_schedule_server(schedule, server, &got));
        assert_int_equal(got.shards, wanted->shards);
        assert_int_equal(got.others.requests, wanted->others.requests);
        assert_int_equal(got.others.fragments, wanted->others.fragments);
        assert_int_equal(got.others.bytes, wanted->others.bytes);
        assert_int_equal(got.own.bytes, wanted->own.bytes);
        assert_int_equal(got.others.boxes + got.own.boxes, wanted->others.boxes);
        assert_true(got.listed >= wanted->others.boxes);
        most_listed = got.listed > most_listed ? got.listed : most_listed;
    }
    assert_ok(pp_schedule_summarise(schedule, &summary));
    assert_int_equal(summary.most_listed, most_listed);
}

static void test_schedule__counts_what_the_claims_of_all_ranks_give(void **state)
{
    test_random random = test_random_start();
    static expectation expected;
    int i, self_services = 0;
    (void)state;
    for (i = 0; i < 2500; i++) {
        pp_schedule *schedule;
        problem made;
        init_problem(&made, &random);
        if (i >= 2000)
            divide_by_chunks(&made, &random);
        expect(&made, &expected);
        self_services += expected.is_self_service;
        assert_ok(pp_schedule_build(&schedule, &made.by));
        assert_int_equal(pp_schedule_is_self_service(schedule), expected.is_self_service);
        check_servers(schedule, &made, &expected);
        check_summary(schedule, &made, &expected);
        pp_schedule_free(schedule);
    }
    assert_true(self_services > 100);
    assert_int_equal(pp_memory_live_count(), 0);
}

/* Larger chunks and several dimensions, so that the fast ways of counting are all taken. */
static void test_share__fast_ways_equal_the_walk_through_all_pieces(void **state)
{
    test_random random = test_random_start();
    int i, d;
    (void)state;
    for (i = 0; i < 1500; i++) {
        pp_crossing crossings[NDIM_MOST];
        int32_t encounters[NDIM_MOST];
        pp_share fast, slow;
        problem made;
        init_problem(&made, &random);
        pp_share_case share_case = {.crossings = crossings,
                                    .tiling = &made.tiling,
                                    .window_chunks = made.by.window_chunks,
                                    .fragment_bytes = made.by.fragment_bytes};
        for (d = 0; d < made.tiling.shards.ndim; d++)
            assert_ok(pp_crossing_init(&crossings[d], &made.distribution, &made.tiling, d));
        for (int pick = 0; pick < 10 && made.tiling.shards.cell_count > 0; pick++) {
            for (d = 0; d < made.tiling.shards.ndim; d++)
                encounters[d] = (int32_t)test_random_between(&random, 0, (int64_t)crossings[d].encounter_count - 1);
            assert_ok(pp_share_count(&share_case, encounters, &fast));
            assert_ok(pp_share_count_by_pieces(&share_case, encounters, &slow));
            assert_memory_equal(&fast, &slow, sizeof fast);
        }
        for (d = 0; d < made.tiling.shards.ndim; d++)
            pp_crossing_clear(&crossings[d]);
    }
}

static void test_schedule__a_scalar_goes_to_its_one_owner_without_a_message(void **state)
{
    parapet_distribution given = {0};
    problem made;
    pp_schedule *schedule;
    pp_server_share share;
    (void)state;
    assert_ok(pp_distribution_init(&made.distribution, &given, NULL));
    init_tiling(&made, NULL, NULL, 8);
    made.by = (pp_schedule_case){.distribution = &made.distribution,
                                 .tiling = &made.tiling,
                                 .window_chunks = 1,
                                 .fragment_bytes = 4,
                                 .server_count = 1,
                                 .owners = PARAPET_OWNERS_IN_TURN};
    assert_ok(pp_schedule_build(&schedule, &made.by));
    assert_ok(pp_schedule_server(schedule, 0, &share));
    assert_int_equal(share.shards, 1);
    assert_int_equal(share.own.bytes, 8);
    assert_int_equal(share.others.requests, 0);
    pp_schedule_free(schedule);
}

/* Numbers that can be worked out by hand: 4 ranks hold rows of blocks, 2 shards cut across them. */
static void test_schedule__two_shards_across_four_ranks(void **state)
{
    int64_t shape[2] = {8, 8}, mesh[2] = {4, 1}, shard[2] = {8, 4}, chunk[2] = {4, 4};
    parapet_distribution given = {.ndim = 2, .shape = shape, .mesh = mesh};
    problem made;
    pp_schedule *schedule;
    pp_schedule_summary summary;
    (void)state;
    assert_ok(pp_distribution_init(&made.distribution, &given, NULL));
    init_tiling(&made, shard, chunk, 8);
    made.by = (pp_schedule_case){.distribution = &made.distribution,
                                 .tiling = &made.tiling,
                                 .window_chunks = 1,
                                 .fragment_bytes = 32,
                                 .server_count = 2,
                                 .owners = PARAPET_OWNERS_IN_TURN,
                                 .lattice = {.multipliers = {0, 1}}};
    assert_ok(pp_schedule_build(&schedule, &made.by));
    assert_ok(pp_schedule_summarise(schedule, &summary));
    /* Each shard has 2 x 4 elements, 64 bytes, of every rank, in one chunk: 2 messages of 32. Servers are ranks 0, 2.
     */
    assert_int_equal(summary.server_shards.total, 2);
    assert_int_equal(summary.server_requests.least, 3);
    assert_int_equal(summary.server_fragments.most, 6);
    assert_int_equal(summary.server_message_bytes.total, 2 * 3 * 64);
    assert_int_equal(summary.server_own_bytes.total, 2 * 64);
    assert_int_equal(summary.rank_fragments.least, 2);
    assert_int_equal(summary.rank_fragments.most, 4);
    assert_int_equal(summary.rank_sent_writing.most, 5);
    assert_int_equal(summary.rank_sent_reading.most, 11);
    pp_schedule_free(schedule);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schedule__counts_what_the_claims_of_all_ranks_give),
        cmocka_unit_test(test_share__fast_ways_equal_the_walk_through_all_pieces),
        cmocka_unit_test(test_schedule__a_scalar_goes_to_its_one_owner_without_a_message),
        cmocka_unit_test(test_schedule__two_shards_across_four_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
