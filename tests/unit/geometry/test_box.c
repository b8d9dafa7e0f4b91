#include "support.h"

#include <stdbool.h>

#include "geometry/box.h"

#define SPACE 5

static pp_box make_box(int ndim, const int64_t *start, const int64_t *count)
{
    pp_box box;
    assert_ok(pp_box_init(&box, ndim, start, count));
    return box;
}

static bool has_cell(const pp_box *box, const int64_t *cell)
{
    int d;
    for (d = 0; d < box->ndim; d++)
        if (cell[d] < box->start[d] || cell[d] >= box->start[d] + box->count[d])
            return false;
    return true;
}

/* All boxes of one dimension inside SPACE, the empty ones too. */
static int all_intervals(int64_t (*intervals)[2])
{
    int found = 0, start, count;
    for (start = 0; start <= SPACE; start++)
        for (count = 0; start + count <= SPACE; count++) {
            intervals[found][0] = start;
            intervals[found++][1] = count;
        }
    return found;
}

/* Compares every function of two boxes with what membership of each cell of the space says. */
static void check_pair(const pp_box *a, const pp_box *b)
{
    const int64_t side[2] = {SPACE + 1, SPACE + 1};
    pp_box space = make_box(a->ndim, NULL, side), common;
    int64_t cell[2], in_both = 0, in_b = 0;
    bool is_inside = true, more, meets = pp_box_intersect(a, b, &common);
    for (more = pp_box_first(&space, cell); more; more = pp_box_next(&space, cell)) {
        bool both = has_cell(a, cell) && has_cell(b, cell);
        if (both != has_cell(&common, cell))
            fail_msg("cell (%d, ...) is wrong in an intersection", (int)cell[0]);
        in_both += both;
        in_b += has_cell(b, cell);
        is_inside = is_inside && (!has_cell(b, cell) || has_cell(a, cell));
    }
    assert_int_equal(meets, in_both > 0);
    assert_int_equal(pp_box_is_empty(&common), in_both == 0);
    assert_int_equal(pp_box_element_count(&common), in_both);
    assert_int_equal(pp_box_element_count(b), in_b);
    assert_int_equal(pp_box_contains(a, b), is_inside);
}

static void test_box__every_pair_in_one_dimension_agrees_with_membership(void **state)
{
    int64_t intervals[64][2];
    int count = all_intervals(intervals), i, j;
    (void)state;
    for (i = 0; i < count; i++)
        for (j = 0; j < count; j++) {
            pp_box a = make_box(1, &intervals[i][0], &intervals[i][1]);
            pp_box b = make_box(1, &intervals[j][0], &intervals[j][1]);
            check_pair(&a, &b);
            assert_int_equal(pp_box_equals(&a, &b), i == j);
        }
}

static void test_box__every_pair_in_two_dimensions_agrees_with_membership(void **state)
{
    int64_t intervals[64][2];
    int count = all_intervals(intervals), i, j, k, l;
    (void)state;
    for (i = 0; i < count; i++)
        for (j = 0; j < count; j++)
            for (k = 0; k < count; k++)
                for (l = 0; l < count; l++) {
                    pp_box a = make_box(2, (int64_t[]){intervals[i][0], intervals[j][0]},
                                        (int64_t[]){intervals[i][1], intervals[j][1]});
                    pp_box b = make_box(2, (int64_t[]){intervals[k][0], intervals[l][0]},
                                        (int64_t[]){intervals[k][1], intervals[l][1]});
                    check_pair(&a, &b);
                    assert_int_equal(pp_box_equals(&a, &b), i == k && j == l);
                }
}

static void test_box__intersection_may_overwrite_either_box(void **state)
{
    const pp_box a = make_box(2, (int64_t[]){0, 5}, (int64_t[]){10, 10});
    const pp_box b = make_box(2, (int64_t[]){4, 0}, (int64_t[]){10, 8});
    const pp_box expected = make_box(2, (int64_t[]){4, 5}, (int64_t[]){6, 3});
    pp_box first = a, second = b;
    (void)state;
    assert_true(pp_box_intersect(&first, &b, &first));
    assert_true(pp_box_equals(&first, &expected));
    assert_true(pp_box_intersect(&a, &second, &second));
    assert_true(pp_box_equals(&second, &expected));
}

static void test_box__intersection_of_boxes_at_both_ends_of_the_numbers_is_empty(void **state)
{
    pp_box low = make_box(1, (int64_t[]){INT64_MIN}, (int64_t[]){5});
    pp_box high = make_box(1, (int64_t[]){INT64_MAX - 5}, (int64_t[]){5}), common;
    (void)state;
    assert_false(pp_box_intersect(&low, &high, &common));
    assert_int_equal(pp_box_element_count(&common), 0);
    assert_false(pp_box_intersect(&high, &low, &common));
}

static void test_box__boxes_of_different_ndim_are_not_equal(void **state)
{
    pp_box line = make_box(1, NULL, (int64_t[]){3}), square = make_box(2, NULL, (int64_t[]){3, 3});
    (void)state;
    assert_false(pp_box_equals(&line, &square));
    assert_true(pp_box_equals(&square, &square));
}

static void test_box__init_without_start_starts_at_zero(void **state)
{
    pp_box box = make_box(3, NULL, (int64_t[]){1, 2, 3});
    (void)state;
    assert_int_equal(box.start[0] | box.start[1] | box.start[2], 0);
    assert_int_equal(pp_box_element_count(&box), 6);
}

static void test_box__init_refuses_what_cannot_be_a_box(void **state)
{
    pp_box box;
    int64_t many[PARAPET_MAX_NDIM + 1] = {0};
    (void)state;
    assert_ok(pp_box_init(&box, PARAPET_MAX_NDIM, many, many));
    assert_fails(pp_box_init(&box, PARAPET_MAX_NDIM + 1, many, many), PARAPET_ERR_ARGUMENT, "33");
    assert_fails(pp_box_init(&box, -1, many, many), PARAPET_ERR_ARGUMENT, "-1");
    assert_fails(pp_box_init(&box, 2, NULL, (int64_t[]){1, -7}), PARAPET_ERR_ARGUMENT, "-7 in dimension 1");
    assert_ok(pp_box_init(&box, 1, (int64_t[]){INT64_MAX - 7}, (int64_t[]){7}));
    assert_fails(pp_box_init(&box, 1, (int64_t[]){INT64_MAX - 7}, (int64_t[]){8}), PARAPET_ERR_ARGUMENT,
                 "dimension 0");
}

static void test_box__an_empty_box_has_no_elements_however_large_its_other_counts(void **state)
{
    pp_box box = make_box(3, NULL, (int64_t[]){INT64_MAX, INT64_MAX, 0});
    (void)state;
    assert_true(pp_box_is_empty(&box));
    assert_int_equal(pp_box_element_count(&box), 0);
}

static void check_print(const pp_box *box, const char *expected)
{
    pp_text text = {0};
    char *printed;
    pp_box_print(box, &text);
    assert_ok(pp_text_finish(&text, &printed));
    assert_string_equal(printed, expected);
    pp_free(printed);
}

static void test_box__prints_start_and_end_per_dimension(void **state)
{
    pp_box scalar = make_box(0, NULL, NULL);
    pp_box line = make_box(1, (int64_t[]){-3}, (int64_t[]){5});
    pp_box square = make_box(2, (int64_t[]){0, 5}, (int64_t[]){10, 15});
    (void)state;
    check_print(&scalar, "[]");
    check_print(&line, "[-3:2]");
    check_print(&square, "[0:10, 5:20]");
}

static void test_box__walk_visits_every_cell_in_c_order(void **state)
{
    pp_box box = make_box(3, (int64_t[]){-1, 7, 2}, (int64_t[]){2, 3, 4});
    int64_t cell[3], visited = 0;
    bool more;
    (void)state;
    for (more = pp_box_first(&box, cell); more; more = pp_box_next(&box, cell)) {
        int64_t number = ((cell[0] + 1) * 3 + cell[1] - 7) * 4 + cell[2] - 2;
        assert_true(has_cell(&box, cell));
        assert_int_equal(number, visited);
        visited++;
    }
    assert_int_equal(visited, 24);
}

static void test_box__walk_of_no_dimensions_has_one_cell(void **state)
{
    pp_box box = make_box(0, NULL, NULL);
    int64_t cell[1] = {77};
    (void)state;
    assert_int_equal(pp_box_element_count(&box), 1);
    assert_true(pp_box_first(&box, cell));
    assert_false(pp_box_next(&box, cell));
    assert_int_equal(cell[0], 77);
}

static void test_box__walk_of_an_empty_box_has_no_cell(void **state)
{
    int64_t cell[3];
    int hole;
    (void)state;
    for (hole = 0; hole < 3; hole++) {
        int64_t count[3] = {2, 3, 4};
        pp_box box;
        count[hole] = 0;
        box = make_box(3, NULL, count);
        assert_false(pp_box_first(&box, cell));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_box__every_pair_in_one_dimension_agrees_with_membership),
        cmocka_unit_test(test_box__every_pair_in_two_dimensions_agrees_with_membership),
        cmocka_unit_test(test_box__intersection_may_overwrite_either_box),
        cmocka_unit_test(test_box__intersection_of_boxes_at_both_ends_of_the_numbers_is_empty),
        cmocka_unit_test(test_box__boxes_of_different_ndim_are_not_equal),
        cmocka_unit_test(test_box__init_without_start_starts_at_zero),
        cmocka_unit_test(test_box__init_refuses_what_cannot_be_a_box),
        cmocka_unit_test(test_box__an_empty_box_has_no_elements_however_large_its_other_counts),
        cmocka_unit_test(test_box__prints_start_and_end_per_dimension),
        cmocka_unit_test(test_box__walk_visits_every_cell_in_c_order),
        cmocka_unit_test(test_box__walk_of_no_dimensions_has_one_cell),
        cmocka_unit_test(test_box__walk_of_an_empty_box_has_no_cell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
