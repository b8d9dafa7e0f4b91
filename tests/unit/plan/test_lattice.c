/* What a lattice promises, beside the spread itself, which test_spread.c has. */
#include "support.h"

#include "base/memory.h"
#include "plan/homes.h"
#include "plan/lattice_load.h"

static int64_t most_of(const pp_lattice *lattice, int ndim, const int64_t *extents, int turns)
{
    pp_lattice_load load;
    int64_t most;
    assert_ok(pp_lattice_load_init(&load, turns));
    most = pp_lattice_load_count(&load, ndim, extents, lattice->multipliers);
    pp_lattice_load_clear(&load);
    return most;
}

static void test_lattice__of_cubes_on_4_and_8_servers_is_exact_in_every_direction(void **state)
{
    int extent, turns, d;
    (void)state;
    for (extent = 8; extent <= 16; extent *= 2)
        for (turns = 4; turns <= 8; turns *= 2) {
            const int64_t cells[3] = {extent, extent, extent};
            pp_lattice lattice;
            assert_ok(pp_lattice_choose(&lattice, 3, cells, turns));
            assert_int_equal(most_of(&lattice, 3, cells, turns), extent * extent * extent / turns);
            for (d = 0; d < 3; d++) {
                int64_t plane[3] = {extent, extent, extent}, line[3] = {1, 1, 1};
                plane[d] = 1;
                line[d] = extent;
                assert_int_equal(most_of(&lattice, 3, plane, turns), extent * extent / turns);
                assert_int_equal(most_of(&lattice, 3, line, turns), extent / turns);
            }
        }
}

static void test_lattice__gives_no_server_two_shards_of_an_array_of_few(void **state)
{
    const int64_t cells[3] = {2, 4, 8};
    pp_lattice lattice;
    (void)state;
    assert_ok(pp_lattice_choose(&lattice, 3, cells, 64));
    assert_int_equal(most_of(&lattice, 3, cells, 64), 1);
    assert_ok(pp_lattice_choose(&lattice, 3, cells, 16384));
    assert_int_equal(most_of(&lattice, 3, cells, 16384), 1);
}

/* One step of shards at first, hundreds later: a line in time must not stay on one server. */
static void test_lattice__is_good_for_an_array_that_grows_from_nothing(void **state)
{
    int64_t start;
    int turns;
    (void)state;
    for (start = 0; start <= 1; start++)
        for (turns = 4; turns <= 64; turns *= 2) {
            const int64_t cells[3] = {start, 8, 8}, line[3] = {10 * turns, 1, 1}, grown[3] = {10 * turns, 8, 8};
            pp_lattice lattice;
            assert_ok(pp_lattice_choose(&lattice, 3, cells, turns));
            assert_int_equal(most_of(&lattice, 3, line, turns), 10);
            assert_int_equal(most_of(&lattice, 3, grown, turns), 640);
        }
}

static void test_lattice__can_be_chosen_for_any_extents(void **state)
{
    const int64_t huge[3] = {0, INT64_C(1) << 62, INT64_C(1) << 62}, thin[2] = {1, INT64_C(1) << 62};
    int64_t many[PARAPET_MAX_NDIM];
    pp_lattice lattice;
    int d;
    (void)state;
    assert_ok(pp_lattice_choose(&lattice, 3, huge, 6));
    assert_ok(pp_lattice_choose(&lattice, 2, thin, 6));
    for (d = 0; d < PARAPET_MAX_NDIM; d++)
        many[d] = 2;
    assert_ok(pp_lattice_choose(&lattice, PARAPET_MAX_NDIM, many, 7));
    assert_ok(pp_lattice_choose(&lattice, 0, NULL, 7));
    assert_int_equal(pp_lattice_turn(&lattice, 0, NULL, 7), 0);
    assert_ok(pp_lattice_choose(&lattice, 2, thin, 1));
    assert_int_equal(pp_lattice_turn(&lattice, 2, thin, 1), 0);
}

/* What one rank does for every array of every epoch: at most as much as visiting the array fifty times. */
static void test_lattice__for_thousands_of_servers_with_weights_is_chosen_in_little_time(void **state)
{
    const int64_t cells[3] = {20, 20, 20};
    static int weights[4096];
    pp_lattice lattice;
    pp_turns turns;
    size_t i;
    (void)state;
    for (i = 0; i < 4096; i++)
        weights[i] = 1 + (int)(i * 2654435761u >> 7) % 8;
    assert_ok(pp_turns_init(&turns, weights, 4096));
    assert_ok(pp_lattice_choose_weighted(&lattice, 3, cells, &turns));
    assert_true(lattice.visited > 0 && lattice.visited < 50 * cells[0] * cells[1] * cells[2]);
    pp_turns_clear(&turns);
}

static pp_grid grid_of(int ndim, const int64_t *shape)
{
    static const int64_t ones[4] = {1, 1, 1, 1};
    pp_grid grid;
    assert_ok(pp_grid_init(&grid, ndim, shape, ones, 1));
    return grid;
}

static int refuse_all(void *context, size_t bytes)
{
    (void)context;
    (void)bytes;
    return 1;
}

/* While there is no memory, nothing can be chosen, but what was chosen before is known. */
static void test_homes__remember_what_was_chosen_for_a_shape(void **state)
{
    pp_homes *homes = calloc(1, sizeof *homes);
    pp_lattice first, again, other;
    int64_t i;
    (void)state;
    for (i = 0; i < PP_HOMES_REMEMBERED; i++) {
        pp_grid grid = grid_of(2, (int64_t[]){10 + i, 7});
        assert_ok(pp_homes_choose(homes, &grid, 8, &first));
    }
    pp_memory_hook_set(refuse_all, NULL);
    for (i = 0; i < PP_HOMES_REMEMBERED; i++) {
        pp_grid grid = grid_of(2, (int64_t[]){10 + i, 7});
        assert_ok(pp_homes_choose(homes, &grid, 8, &again));
        assert_int_equal(pp_homes_choose(homes, &grid, 9, &other), PARAPET_ERR_MEMORY);
    }
    pp_memory_hook_set(NULL, NULL);
    assert_memory_equal(again.multipliers, first.multipliers, sizeof first.multipliers);
    free(homes);
}

static void test_homes__of_an_array_follow_those_of_the_arrays_before(void **state)
{
    pp_homes *homes = calloc(1, sizeof *homes);
    pp_grid five = grid_of(1, (int64_t[]){5}), scalar = grid_of(0, NULL);
    pp_grid endless = grid_of(1, (int64_t[]){INT64_MAX - 3});
    pp_lattice lattice;
    (void)state;
    assert_ok(pp_homes_choose(homes, &five, 4, &lattice));
    assert_int_equal(pp_lattice_turn(&lattice, 1, (int64_t[]){4}, 4), 0);
    assert_ok(pp_homes_choose(homes, &scalar, 4, &lattice));
    assert_int_equal(pp_lattice_turn(&lattice, 0, NULL, 4), 1);
    assert_ok(pp_homes_choose(homes, &scalar, 4, &lattice));
    assert_int_equal(pp_lattice_turn(&lattice, 0, NULL, 4), 2);
    assert_ok(pp_homes_choose(homes, &endless, 4, &lattice));
    assert_int_equal(lattice.phase, 7);
    assert_ok(pp_homes_choose(homes, &scalar, 4, &lattice));
    assert_int_equal(lattice.phase, 0); /* it starts again */
    free(homes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lattice__of_cubes_on_4_and_8_servers_is_exact_in_every_direction),
        cmocka_unit_test(test_lattice__gives_no_server_two_shards_of_an_array_of_few),
        cmocka_unit_test(test_lattice__is_good_for_an_array_that_grows_from_nothing),
        cmocka_unit_test(test_lattice__can_be_chosen_for_any_extents),
        cmocka_unit_test(test_lattice__for_thousands_of_servers_with_weights_is_chosen_in_little_time),
        cmocka_unit_test(test_homes__remember_what_was_chosen_for_a_shape),
        cmocka_unit_test(test_homes__of_an_array_follow_those_of_the_arrays_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
