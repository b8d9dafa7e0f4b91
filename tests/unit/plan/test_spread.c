/* How evenly homes are spread: thousands of random arrays of 1 to 6 dimensions on 4 to 128 servers, counted by
 * arithmetic. Whole arrays, and planes, slabs of 3, lines and pencils of 2 in every direction:
 *
 *     the largest load is at most 1.20 of the mean for 16 or more shards to a server, else at most twice what cannot
 * be avoided, and exact along extents that are multiples of the number of servers
 *
 * The same in bytes, where shards at the edge are small. */
#include "support.h"

#include <math.h>

#include "base/checked.h"
#include "plan/homes.h"
#include "plan/lattice_load.h"
#include "plan/turns.h"

#define MOST_NDIM 6
#define MOST_SERVERS 128
#define GRIDS 300 /* of each number of dimensions */

/* The worst that was seen. */
typedef struct worst_seen {
    double over_mean, over_least; /* from 16 shards to a server on, and below */
} worst_seen;

typedef struct case_of {
    int ndim, servers;
    int64_t cells[MOST_NDIM];
    pp_lattice lattice;
} case_of;

static int64_t product(int ndim, const int64_t *extents)
{
    int64_t count = 1;
    int d;
    for (d = 0; d < ndim; d++)
        count *= extents[d];
    return count;
}

/* Every fourth array has powers of two, every eighth an extent that is a multiple of the servers. */
static void draw_case(case_of *drawn, test_random *random, int ndim, int number)
{
    static const int64_t most[MOST_NDIM + 1] = {0, 4000, 150, 40, 16, 10, 7};
    int d;
    *drawn = (case_of){.ndim = ndim, .servers = (int)test_random_between(random, 4, MOST_SERVERS)};
    for (d = 0; d < ndim; d++) {
        drawn->cells[d] = test_random_between(random, 1, most[ndim]);
        while (number % 4 == 0 && (drawn->cells[d] & (drawn->cells[d] - 1)) != 0)
            drawn->cells[d] &= drawn->cells[d] - 1;
    }
    if (number % 8 == 0)
        drawn->servers = 4 << test_random_between(random, 0, 5);
    if (number % 8 == 1)
        drawn->cells[test_random_between(random, 0, ndim - 1)] = drawn->servers * test_random_between(random, 1, 2);
    assert_ok(pp_lattice_choose(&drawn->lattice, ndim, drawn->cells, drawn->servers));
}

static bool has_multiple(const case_of *of, const int64_t *extents)
{
    int d;
    for (d = 0; d < of->ndim; d++)
        if (extents[d] % of->servers == 0 && extents[d] == of->cells[d])
            return true;
    return false;
}

static void print_case(const case_of *of, const int64_t *extents, int64_t most)
{
    int d;
    printf("%d servers, shards", of->servers);
    for (d = 0; d < of->ndim; d++)
        printf(" %lld of %lld", (long long)extents[d], (long long)of->cells[d]);
    printf(": %lld\n", (long long)most);
}

static void check_shape(const case_of *of, pp_lattice_load *load, const int64_t *extents, worst_seen *worst)
{
    int64_t count = product(of->ndim, extents), least = pp_divide_up(count, of->servers);
    int64_t most = pp_lattice_load_count(load, of->ndim, extents, of->lattice.multipliers);
    double over = (double)most * of->servers / (double)count;
    if ((double)most > pp_lattice_limit(count, of->servers) || (has_multiple(of, extents) && most != least))
        print_case(of, extents, most);
    assert_true((double)most <= pp_lattice_limit(count, of->servers));
    if (has_multiple(of, extents))
        assert_int_equal(most, least);
    if (count >= 16 * of->servers && over > worst->over_mean)
        worst->over_mean = over;
    if (count < 16 * of->servers && (double)most / (double)least > worst->over_least)
        worst->over_least = (double)most / (double)least;
}

static void check_shapes(const case_of *of, worst_seen *whole, worst_seen *parts)
{
    int64_t extents[PARAPET_MAX_NDIM];
    pp_lattice_load load;
    int shape;
    assert_ok(pp_lattice_load_init(&load, of->servers));
    for (shape = 0; pp_lattice_shape(shape, of->ndim, of->cells, extents); shape++)
        check_shape(of, &load, extents, shape == 0 ? whole : parts);
    pp_lattice_load_clear(&load);
}

static void test_spread__is_even_for_whole_arrays_planes_slabs_lines_and_pencils(void **state)
{
    test_random random = test_random_start();
    int ndim, number;
    (void)state;
    for (ndim = 1; ndim <= MOST_NDIM; ndim++) {
        worst_seen whole = {0}, parts = {0};
        for (number = 0; number < GRIDS; number++) {
            case_of drawn;
            draw_case(&drawn, &random, ndim, number);
            check_shapes(&drawn, &whole, &parts);
        }
        printf("%d dimensions: whole arrays %.3f of the mean, %.2f of the least; parts %.3f and %.2f\n", ndim,
               whole.over_mean, whole.over_least, parts.over_mean, parts.over_least);
    }
}

/* Where most multipliers have to be odd, few are left to choose from: every array of 1 to 4 shards each way. */
static void test_spread__is_even_for_every_small_array_of_six_dimensions_on_four_servers(void **state)
{
    worst_seen whole = {0}, parts = {0};
    int number, d;
    (void)state;
    for (number = 0; number < 1 << 2 * MOST_NDIM; number++) {
        case_of small = {.ndim = MOST_NDIM, .servers = 4};
        for (d = 0; d < MOST_NDIM; d++)
            small.cells[d] = 1 + (number >> 2 * d & 3);
        assert_ok(pp_lattice_choose(&small.lattice, MOST_NDIM, small.cells, small.servers));
        check_shapes(&small, &whole, &parts);
    }
    printf("%d small arrays: whole %.3f of the mean, parts %.3f\n", number, whole.over_mean, parts.over_mean);
}

/* ---- Bytes ---- */

/* Elements of a shard, of which those at the far edge have fewer. */
static int64_t elements_of(const case_of *of, const int64_t *edge, int64_t whole, const int64_t *cell)
{
    int64_t elements = 1;
    int d;
    for (d = 0; d < of->ndim; d++)
        elements *= cell[d] == of->cells[d] - 1 ? edge[d] : whole;
    return elements;
}

static double measure_bytes(const case_of *of, const int64_t *edge, int64_t whole)
{
    int64_t given[MOST_SERVERS] = {0}, cell[PARAPET_MAX_NDIM], sum = 0, most = 0;
    pp_box cells = {.ndim = of->ndim};
    bool more;
    memcpy(cells.count, of->cells, sizeof of->cells);
    for (more = pp_box_first(&cells, cell); more; more = pp_box_next(&cells, cell)) {
        int64_t elements = elements_of(of, edge, whole, cell);
        int home = pp_lattice_turn(&of->lattice, of->ndim, cell, of->servers);
        given[home] += elements;
        sum += elements;
        most = pp_max_i64(most, given[home]);
    }
    return (double)most * of->servers / (double)sum;
}

/* From 16 whole shards to a server on, however thin the edge is. */
static void test_spread__is_even_in_bytes_when_shards_at_the_edge_are_small(void **state)
{
    test_random random = test_random_start();
    double worst = 0;
    int number, d, checked = 0;
    (void)state;
    for (number = 0; number < 6 * GRIDS; number++) {
        int64_t edge[MOST_NDIM], inner = 1;
        case_of drawn;
        double over;
        draw_case(&drawn, &random, 1 + number % MOST_NDIM, number);
        for (d = 0; d < drawn.ndim; d++) {
            edge[d] = number % 3 == 0 ? 1 : test_random_between(&random, 1, 64);
            inner *= pp_max_i64(drawn.cells[d] - 1, 1);
        }
        if (inner < 16 * drawn.servers || inner > 20000)
            continue;
        checked++;
        over = measure_bytes(&drawn, edge, 64);
        worst = over > worst ? over : worst;
        assert_true(over <= 1.20);
    }
    printf("%d arrays: bytes of a server at most %.3f of the mean\n", checked, worst);
    assert_true(checked > 200);
}

/* ---- Weights, and many arrays ---- */

/* 15 servers of weight 2 and one of weight 1 share 16 x 16 x 16 shards. */
static void test_spread__follows_weights(void **state)
{
    const int64_t cells[3] = {16, 16, 16};
    int weights[16], server;
    int64_t given[16] = {0}, cell[PARAPET_MAX_NDIM];
    pp_box all = {.ndim = 3, .count = {16, 16, 16}};
    pp_lattice lattice;
    pp_turns turns;
    bool more;
    (void)state;
    for (server = 0; server < 16; server++)
        weights[server] = server == 5 ? 1 : 2;
    assert_ok(pp_turns_init(&turns, weights, 16));
    assert_int_equal(turns.count, 31);
    assert_ok(pp_lattice_choose(&lattice, 3, cells, turns.count));
    for (more = pp_box_first(&all, cell); more; more = pp_box_next(&all, cell))
        given[turns.servers[pp_lattice_turn(&lattice, 3, cell, turns.count)]]++;
    for (server = 0; server < 16; server++) {
        double share = 4096.0 * weights[server] / 31;
        assert_true((double)given[server] <= 1.03 * share);
        assert_true((double)given[server] >= 0.97 * share);
    }
    pp_turns_clear(&turns);
}

/* Random weights from 1 to 8, from any beginning: from 16 shards to a turn on no server has more than 1.20 of its
 * share; below that it has at most one more than twice its share in whole shards. */
static double measure_weighted(const case_of *of, const pp_turns *turns, int64_t phase)
{
    int64_t count = product(of->ndim, of->cells), given;
    double worst = 0;
    pp_lattice_load load;
    int server;
    assert_ok(pp_lattice_load_init(&load, turns->count));
    (void)pp_lattice_load_count(&load, of->ndim, of->cells, of->lattice.multipliers);
    (void)pp_lattice_load_of_servers(&load, turns, (int)(phase % turns->count));
    for (server = 0; server < turns->server_count; server++) {
        double share = (double)count * turns->turns_of[server] / turns->count, over;
        given = load.spread[server];
        over = (double)given / share;
        if (count < INT64_C(16) * turns->count)
            assert_true((double)given <= 2 * ceil(share) + 1);
        else
            worst = over > worst ? over : worst;
    }
    pp_lattice_load_clear(&load);
    return worst;
}

static void test_spread__follows_random_weights(void **state)
{
    test_random random = test_random_start();
    double worst = 0;
    int number, server;
    (void)state;
    for (number = 0; number < 6 * GRIDS; number++) {
        int weights[MOST_SERVERS];
        pp_turns turns;
        case_of drawn;
        double over;
        draw_case(&drawn, &random, 1 + number % MOST_NDIM, number);
        for (server = 0; server < drawn.servers; server++)
            weights[server] = (int)test_random_between(&random, number % 2 == 0 ? 1 : 7, 8);
        assert_ok(pp_turns_init(&turns, weights, drawn.servers));
        assert_ok(pp_lattice_choose_weighted(&drawn.lattice, drawn.ndim, drawn.cells, &turns));
        over = measure_weighted(&drawn, &turns, test_random_between(&random, 0, 1000000));
        worst = over > worst ? over : worst;
        pp_turns_clear(&turns);
    }
    printf("weights: a server has at most %.3f of its share\n", worst);
    assert_true(worst <= 1.20);
}

static void test_spread__of_1000_arrays_of_one_shard_on_128_servers_is_even(void **state)
{
    pp_homes *homes = calloc(1, sizeof *homes);
    const int64_t ones[2] = {1, 1}, first[2] = {0, 0};
    int given[128] = {0}, i, most = 0;
    pp_grid one;
    (void)state;
    assert_ok(pp_grid_init(&one, 2, ones, ones, 1));
    for (i = 0; i < 1000; i++) {
        pp_lattice lattice;
        int home;
        assert_ok(pp_homes_choose(homes, &one, 128, &lattice));
        home = pp_lattice_turn(&lattice, 2, first, 128);
        most = ++given[home] > most ? given[home] : most;
    }
    assert_true(most * 128 <= 1.15 * 1000);
    free(homes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spread__is_even_for_whole_arrays_planes_slabs_lines_and_pencils),
        cmocka_unit_test(test_spread__is_even_for_every_small_array_of_six_dimensions_on_four_servers),
        cmocka_unit_test(test_spread__is_even_in_bytes_when_shards_at_the_edge_are_small),
        cmocka_unit_test(test_spread__follows_weights),
        cmocka_unit_test(test_spread__follows_random_weights),
        cmocka_unit_test(test_spread__of_1000_arrays_of_one_shard_on_128_servers_is_even),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
