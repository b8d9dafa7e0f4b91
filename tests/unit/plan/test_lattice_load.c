/* Loads of a lattice, against cells that are visited one by one. */
#include "support.h"

#include "geometry/box.h"
#include "plan/lattice.h"
#include "plan/lattice_load.h"

static int64_t count_slowly(const pp_box *cells, const pp_lattice *lattice, int turns, int64_t *counts)
{
    int64_t cell[PARAPET_MAX_NDIM], most = 0;
    bool more;
    memset(counts, 0, (size_t)turns * sizeof counts[0]);
    for (more = pp_box_first(cells, cell); more; more = pp_box_next(cells, cell)) {
        int turn = pp_lattice_turn(lattice, cells->ndim, cell, turns);
        most = ++counts[turn] > most ? counts[turn] : most;
    }
    return most;
}

static void test_load__is_that_of_cells_visited_one_by_one_wherever_the_box_is(void **state)
{
    test_random random = test_random_start();
    int round, d, turn;
    (void)state;
    for (round = 0; round < 2000; round++) {
        int ndim = (int)test_random_between(&random, 0, 5), turns = (int)test_random_between(&random, 1, 40);
        int64_t counts[40], most;
        pp_box box = {.ndim = ndim};
        pp_lattice lattice = {0};
        pp_lattice_load load;
        for (d = 0; d < ndim; d++) {
            box.count[d] = test_random_between(&random, 1, ndim > 3 ? 5 : 30);
            lattice.multipliers[d] = test_random_between(&random, 0, turns - 1);
        }
        assert_ok(pp_lattice_load_init(&load, turns));
        most = pp_lattice_load_count(&load, ndim, box.count, lattice.multipliers);
        assert_int_equal(most, count_slowly(&box, &lattice, turns, counts));
        for (turn = 0; turn < turns; turn++)
            assert_int_equal(load.counts[turn], counts[turn]);
        lattice.phase = test_random_between(&random, 0, INT64_MAX - 1);
        for (d = 0; d < ndim; d++)
            box.start[d] = test_random_between(&random, 0, INT64_C(1) << 40);
        assert_int_equal(most, count_slowly(&box, &lattice, turns, counts));
        pp_lattice_load_clear(&load);
    }
}

/* As many cells as 63 bits can count, in no time. */
static void test_load__of_very_many_cells_is_counted_without_visiting_them(void **state)
{
    const int64_t extents[2] = {INT64_C(1) << 31, (INT64_C(1) << 31) - 1}, multipliers[2] = {5, 1};
    pp_lattice_load load;
    (void)state;
    assert_ok(pp_lattice_load_init(&load, 128));
    assert_int_equal(pp_lattice_load_count(&load, 2, extents, multipliers), extents[0] / 128 * extents[1]);
    pp_lattice_load_clear(&load);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_load__is_that_of_cells_visited_one_by_one_wherever_the_box_is),
        cmocka_unit_test(test_load__of_very_many_cells_is_counted_without_visiting_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
