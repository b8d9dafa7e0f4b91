#include "support.h"

#include <stdbool.h>

#include "geometry/grid.h"

static pp_grid make_grid(int ndim, const int64_t *shape, const int64_t *cell_shape)
{
    pp_grid grid;
    assert_ok(pp_grid_init(&grid, ndim, shape, cell_shape, 1));
    return grid;
}

/* Every element of the array must be in exactly one clipped cell, the one that division gives. */
static void check_cells_cover_array(const pp_grid *grid)
{
    pp_box array, cells, box, whole;
    int64_t element[2], cell[2], position[2], covered = 0, number = 0;
    bool more, inner;
    assert_ok(pp_box_init(&array, grid->ndim, NULL, grid->shape));
    assert_ok(pp_box_init(&cells, grid->ndim, NULL, grid->cells));
    for (more = pp_box_first(&cells, cell); more; more = pp_box_next(&cells, cell), number++) {
        int d;
        assert_int_equal(pp_grid_cell_number(grid, cell), number);
        pp_grid_cell_position(grid, number, position);
        pp_grid_cell_box(grid, cell, &box);
        pp_grid_cell_whole_box(grid, cell, &whole);
        assert_int_equal(pp_box_element_count(&whole), pp_grid_cell_elements(grid));
        assert_true(pp_box_contains(&whole, &box) && pp_box_contains(&array, &box) && !pp_box_is_empty(&box));
        for (d = 0; d < grid->ndim; d++)
            assert_true(position[d] == cell[d] && whole.start[d] == box.start[d]);
        for (inner = pp_box_first(&box, element); inner; inner = pp_box_next(&box, element), covered++)
            for (d = 0; d < grid->ndim; d++)
                assert_int_equal(element[d] / grid->cell_shape[d], cell[d]);
    }
    assert_int_equal(number, grid->cell_count);
    assert_int_equal(covered, pp_box_element_count(&array));
}

static void test_grid__cells_cover_every_small_array_exactly_once(void **state)
{
    int64_t shape[2], cell_shape[2];
    (void)state;
    for (shape[0] = 0; shape[0] <= 7; shape[0]++)
        for (shape[1] = 0; shape[1] <= 7; shape[1]++)
            for (cell_shape[0] = 1; cell_shape[0] <= 8; cell_shape[0]++)
                for (cell_shape[1] = 1; cell_shape[1] <= 8; cell_shape[1]++) {
                    pp_grid grid = make_grid(2, shape, cell_shape);
                    check_cells_cover_array(&grid);
                }
}

/* A cell is touched when one of its elements is in the box. */
static void check_cells_of_box(const pp_grid *grid, const pp_box *elements)
{
    pp_box all, touched, box, common;
    int64_t cell[2], expected = 0;
    bool more;
    int d;
    pp_grid_cells_of_box(grid, elements, &touched);
    assert_ok(pp_box_init(&all, grid->ndim, NULL, grid->cells));
    for (more = pp_box_first(&all, cell); more; more = pp_box_next(&all, cell)) {
        bool is_in = true;
        pp_grid_cell_box(grid, cell, &box);
        for (d = 0; d < grid->ndim; d++)
            is_in = is_in && cell[d] >= touched.start[d] && cell[d] < touched.start[d] + touched.count[d];
        assert_int_equal(is_in, pp_box_intersect(&box, elements, &common));
        expected += is_in;
    }
    assert_int_equal(touched.ndim, grid->ndim);
    assert_int_equal(pp_box_element_count(&touched), expected);
}

static void test_grid__cells_of_every_small_box_are_those_it_meets(void **state)
{
    int64_t shape, cell_shape, start, count;
    (void)state;
    for (shape = 0; shape <= 9; shape++)
        for (cell_shape = 1; cell_shape <= 10; cell_shape++)
            for (start = -2; start <= 12; start++)
                for (count = 0; count <= 14; count++) {
                    pp_grid grid = make_grid(1, &shape, &cell_shape);
                    pp_box elements;
                    assert_ok(pp_box_init(&elements, 1, &start, &count));
                    check_cells_of_box(&grid, &elements);
                }
}

static void test_grid__cells_of_random_boxes_in_two_dimensions_are_those_they_meet(void **state)
{
    test_random random = test_random_start();
    int i, d;
    (void)state;
    for (i = 0; i < 20000; i++) {
        int64_t shape[2], cell_shape[2], start[2], count[2];
        pp_grid grid;
        pp_box elements;
        for (d = 0; d < 2; d++) {
            shape[d] = test_random_between(&random, 0, 12);
            cell_shape[d] = test_random_between(&random, 1, 6);
            start[d] = test_random_between(&random, -2, 13);
            count[d] = test_random_between(&random, 0, 13);
        }
        grid = make_grid(2, shape, cell_shape);
        assert_ok(pp_box_init(&elements, 2, start, count));
        check_cells_of_box(&grid, &elements);
    }
}

static void test_grid__cells_may_take_the_place_of_the_elements(void **state)
{
    pp_grid grid = make_grid(1, (int64_t[]){100}, (int64_t[]){10});
    pp_box box;
    (void)state;
    assert_ok(pp_box_init(&box, 1, (int64_t[]){15}, (int64_t[]){20}));
    pp_grid_cells_of_box(&grid, &box, &box);
    assert_int_equal(box.start[0], 1);
    assert_int_equal(box.count[0], 3);
}

static void test_grid__numbers_and_positions_agree_in_many_dimensions(void **state)
{
    const int64_t shape[5] = {5, 1, 7, 4, 9}, cell_shape[5] = {2, 3, 7, 1, 4};
    pp_grid grid = make_grid(5, shape, cell_shape);
    int64_t number, cell[5];
    (void)state;
    assert_int_equal(grid.cell_count, 3 * 1 * 1 * 4 * 3);
    for (number = 0; number < grid.cell_count; number++) {
        pp_grid_cell_position(&grid, number, cell);
        assert_int_equal(((cell[0] * 1 + cell[1]) * 1 + cell[2]) * 12 + cell[3] * 3 + cell[4], number);
        assert_int_equal(pp_grid_cell_number(&grid, cell), number);
    }
}

static void test_grid__no_dimensions_is_one_cell_of_one_element(void **state)
{
    pp_grid grid = make_grid(0, NULL, NULL);
    pp_box scalar, cells;
    int64_t cell[1] = {0};
    (void)state;
    assert_int_equal(grid.cell_count, 1);
    assert_int_equal(pp_grid_cell_elements(&grid), 1);
    assert_int_equal(pp_grid_cell_number(&grid, cell), 0);
    pp_grid_cell_position(&grid, 0, cell);
    pp_grid_cell_box(&grid, cell, &scalar);
    assert_int_equal(scalar.ndim, 0);
    assert_int_equal(pp_box_element_count(&scalar), 1);
    pp_grid_cells_of_box(&grid, &scalar, &cells);
    assert_int_equal(cells.ndim, 0);
    assert_false(pp_box_is_empty(&cells));
}

static void test_grid__a_shape_of_zero_has_no_cells(void **state)
{
    pp_grid grid = make_grid(3, (int64_t[]){4, 0, INT64_MAX / 4}, (int64_t[]){2, 5, 1});
    (void)state;
    assert_int_equal(grid.cells[0], 2);
    assert_int_equal(grid.cells[1], 0);
    assert_int_equal(grid.cell_count, 0);
    assert_int_equal(pp_grid_cell_elements(&grid), 10);
    grid = make_grid(3, (int64_t[]){INT64_MAX / 4, 4, 0}, (int64_t[]){1, 1, 1});
    assert_int_equal(grid.cell_count, 0);
    assert_fails(pp_grid_init(&grid, 3, (int64_t[]){4, 0, INT64_MAX}, (int64_t[]){2, 5, 1}, 1), PARAPET_ERR_ARGUMENT,
                 "from dimension 2");
}

static void test_grid__up_to_32_dimensions(void **state)
{
    int64_t ones[PARAPET_MAX_NDIM + 1];
    pp_grid grid;
    int d;
    (void)state;
    for (d = 0; d <= PARAPET_MAX_NDIM; d++)
        ones[d] = 1;
    grid = make_grid(PARAPET_MAX_NDIM, ones, ones);
    assert_int_equal(grid.cell_count, 1);
    assert_fails(pp_grid_init(&grid, PARAPET_MAX_NDIM + 1, ones, ones, 1), PARAPET_ERR_ARGUMENT, "33");
    assert_fails(pp_grid_init(&grid, -1, ones, ones, 1), PARAPET_ERR_ARGUMENT, "-1");
}

static void test_grid__refuses_shapes_below_zero_and_cells_below_one(void **state)
{
    pp_grid grid;
    (void)state;
    assert_fails(pp_grid_init(&grid, 2, (int64_t[]){3, -4}, (int64_t[]){1, 1}, 1), PARAPET_ERR_ARGUMENT,
                 "-4 in dimension 1");
    assert_fails(pp_grid_init(&grid, 3, (int64_t[]){3, 4, 5}, (int64_t[]){1, 1, 0}, 1), PARAPET_ERR_ARGUMENT,
                 "0 in dimension 2");
    assert_fails(pp_grid_init(&grid, 1, (int64_t[]){0}, (int64_t[]){-9}, 1), PARAPET_ERR_ARGUMENT,
                 "-9 in dimension 0");
    assert_fails(pp_grid_init(&grid, 1, (int64_t[]){INT64_MIN}, (int64_t[]){1}, 1), PARAPET_ERR_ARGUMENT,
                 "dimension 0");
}

static void test_grid__refuses_what_63_bits_cannot_count(void **state)
{
    const int64_t half = INT64_C(1) << 32, large[2] = {half, half};
    pp_grid grid;
    (void)state;
    assert_fails(pp_grid_init(&grid, 2, large, (int64_t[]){half, half / 2}, 1), PARAPET_ERR_ARGUMENT,
                 "shape has more bytes than 63 bits can count, from dimension 1 with its 4294967296");
    assert_fails(pp_grid_init(&grid, 2, (int64_t[]){5, 5}, large, 1), PARAPET_ERR_ARGUMENT,
                 "chunk or shard shape has more bytes");
    /* elements that can be counted, of bytes that cannot */
    grid = make_grid(1, (int64_t[]){INT64_MAX / 8}, (int64_t[]){1});
    assert_ok(pp_grid_init(&grid, 1, (int64_t[]){INT64_MAX / 8}, (int64_t[]){1}, 8));
    assert_fails(pp_grid_init(&grid, 1, (int64_t[]){INT64_MAX / 8 + 1}, (int64_t[]){1}, 8), PARAPET_ERR_ARGUMENT,
                 "shape has more bytes");
    assert_fails(pp_grid_init(&grid, 2, (int64_t[]){0, INT64_MAX / 8 + 1}, (int64_t[]){1, 1}, 8),
                 PARAPET_ERR_ARGUMENT, "shape has more bytes");
    assert_fails(pp_grid_init(&grid, 1, (int64_t[]){INT64_MAX}, (int64_t[]){INT64_MAX - 1}, 1), PARAPET_ERR_ARGUMENT,
                 "dimension 0");
}

static void test_grid__accepts_the_largest_counts_that_fit(void **state)
{
    pp_grid grid = make_grid(1, (int64_t[]){INT64_MAX}, (int64_t[]){1});
    const int64_t last[1] = {INT64_MAX - 1};
    pp_box box;
    (void)state;
    assert_true(grid.cell_count == INT64_MAX);
    pp_grid_cell_box(&grid, last, &box);
    assert_true(box.start[0] == INT64_MAX - 1 && box.count[0] == 1);
    grid = make_grid(1, (int64_t[]){INT64_MAX}, (int64_t[]){INT64_MAX});
    assert_int_equal(grid.cell_count, 1);
    grid = make_grid(2, (int64_t[]){INT64_C(1) << 31, INT64_C(1) << 31}, (int64_t[]){1, 1});
    assert_true(grid.cell_count == INT64_C(1) << 62);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grid__cells_cover_every_small_array_exactly_once),
        cmocka_unit_test(test_grid__cells_of_every_small_box_are_those_it_meets),
        cmocka_unit_test(test_grid__cells_of_random_boxes_in_two_dimensions_are_those_they_meet),
        cmocka_unit_test(test_grid__cells_may_take_the_place_of_the_elements),
        cmocka_unit_test(test_grid__numbers_and_positions_agree_in_many_dimensions),
        cmocka_unit_test(test_grid__no_dimensions_is_one_cell_of_one_element),
        cmocka_unit_test(test_grid__a_shape_of_zero_has_no_cells),
        cmocka_unit_test(test_grid__up_to_32_dimensions),
        cmocka_unit_test(test_grid__refuses_shapes_below_zero_and_cells_below_one),
        cmocka_unit_test(test_grid__refuses_what_63_bits_cannot_count),
        cmocka_unit_test(test_grid__accepts_the_largest_counts_that_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
