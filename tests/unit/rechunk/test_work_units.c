/* Work units and templates as boxes: they tile the array, in order, and never cut a target chunk or share a shard. */
#include "copy_case.h"

#define CASES 3000
#define ELEMENTS_MOST 4096

static unsigned char seen[ELEMENTS_MOST];

static size_t element_of(const copy_case *its, const int64_t *position)
{
    size_t element = 0;
    int d;
    for (d = 0; d < its->ndim; d++)
        element = element * (size_t)its->shape[d] + (size_t)position[d];
    return element;
}

static void mark(const copy_case *its, const pp_box *box)
{
    int64_t high[CASE_NDIM] = {0}, position[CASE_NDIM] = {0};
    int d;
    assert_int_equal(box->ndim, its->ndim);
    for (d = 0; d < its->ndim; d++) {
        assert_true(box->count[d] > 0 && box->start[d] + box->count[d] <= its->shape[d]);
        high[d] = box->start[d] + box->count[d];
        position[d] = box->start[d];
    }
    do
        seen[element_of(its, position)]++;
    while (case_next(its->ndim, box->start, high, position));
}

static void assert_all_seen_once(const copy_case *its)
{
    int64_t i, elements = case_product(its->ndim, its->shape);
    for (i = 0; i < elements; i++)
        assert_int_equal(seen[i], 1);
    memset(seen, 0, sizeof seen);
}

/* Starts at a multiple of the cell, and ends at one or at the edge of the array. */
static void assert_whole_cells(const copy_case *its, const pp_box *box, const int64_t *cell)
{
    int d;
    for (d = 0; d < its->ndim; d++) {
        int64_t end = box->start[d] + box->count[d];
        assert_int_equal(box->start[d] % cell[d], 0);
        assert_true(end % cell[d] == 0 || end == its->shape[d]);
    }
}

static void assert_inside(const pp_box *outer, const pp_box *inner, const int64_t *most)
{
    int d;
    assert_true(pp_box_contains(outer, inner));
    for (d = 0; d < inner->ndim; d++)
        assert_true(inner->count[d] <= most[d]);
}

/* C order: the first element of each box comes after that of the one before. */
static void assert_later(const copy_case *its, const pp_box *box, int64_t number, size_t *last)
{
    size_t first = element_of(its, box->start);
    assert_true(number == 0 || first > *last);
    *last = first;
}

static int64_t check_work_unit(const copy_case *its, int64_t work_unit, const pp_box *work_unit_box)
{
    int64_t number, templates = pp_rechunk_work_unit_template_count(its->ndim, its->shape, &its->pass, work_unit);
    size_t last = 0;
    for (number = 0; number < templates; number++) {
        pp_box box;
        pp_rechunk_template_box(its->ndim, its->shape, &its->pass, work_unit, number, &box);
        assert_inside(work_unit_box, &box, its->pass.template_shape);
        assert_whole_cells(its, &box, its->pass.target.chunk);
        assert_later(its, &box, number, &last);
        mark(its, &box);
    }
    return templates;
}

static void test_work_units__and_their_templates_tile_the_array(void **state)
{
    test_random random = test_random_start();
    int i;
    (void)state;
    for (i = 0; i < CASES; i++) {
        copy_case its;
        int64_t work_unit, work_units, templates = 0;
        size_t last = 0;
        case_choose(&its, &random);
        work_units = pp_rechunk_work_unit_count(its.ndim, its.shape, &its.pass);
        for (work_unit = 0; work_unit < work_units; work_unit++) {
            pp_box box;
            pp_rechunk_work_unit_box(its.ndim, its.shape, &its.pass, work_unit, &box);
            assert_whole_cells(&its, &box, its.pass.target.shard);
            assert_later(&its, &box, work_unit, &last);
            templates += check_work_unit(&its, work_unit, &box);
        }
        assert_all_seen_once(&its);
        pp_rechunk_count(its.ndim, its.shape, 1, &its.pass);
        assert_int_equal(work_units, its.pass.counts.work_units);
        assert_int_equal(templates, its.pass.counts.templates);
    }
}

static void test_work_units__cut_the_last_template_of_each_short(void **state)
{
    static const int64_t starts[] = {0, 4, 6, 10}, counts[] = {4, 2, 4, 1};
    copy_case its = {.ndim = 1, .shape = {11}};
    int i;
    (void)state;
    its.pass.target.chunk[0] = 2;
    its.pass.target.shard[0] = 6;
    its.pass.template_shape[0] = 4;
    pp_rechunk_set_work_unit(1, its.shape, &its.pass);
    assert_int_equal(pp_rechunk_work_unit_count(1, its.shape, &its.pass), 2);
    for (i = 0; i < 4; i++) {
        pp_box box;
        pp_rechunk_template_box(1, its.shape, &its.pass, i / 2, i % 2, &box);
        assert_int_equal(box.start[0], starts[i]);
        assert_int_equal(box.count[0], counts[i]);
    }
}

static void test_work_units__of_an_empty_array_are_none(void **state)
{
    copy_case its = {.ndim = 2, .shape = {3, 0}};
    (void)state;
    its.pass.work_unit_shape[0] = its.pass.template_shape[0] = 1;
    its.pass.work_unit_shape[1] = its.pass.template_shape[1] = 1;
    assert_int_equal(pp_rechunk_work_unit_count(2, its.shape, &its.pass), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_work_units__and_their_templates_tile_the_array),
        cmocka_unit_test(test_work_units__cut_the_last_template_of_each_short),
        cmocka_unit_test(test_work_units__of_an_empty_array_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
