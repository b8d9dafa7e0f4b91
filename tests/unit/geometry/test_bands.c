/* Bands of a box against a walk over its elements. */
#include "support.h"

#include "geometry/bands.h"

static void draw_box(test_random *random, pp_box *box)
{
    int d;
    box->ndim = (int)test_random_between(random, 0, 4);
    for (d = 0; d < box->ndim; d++) {
        box->start[d] = test_random_between(random, 0, 9);
        box->count[d] = test_random_between(random, 1, 6);
    }
}

static void draw_inside(test_random *random, const pp_box *whole, pp_box *inside)
{
    int d;
    inside->ndim = whole->ndim;
    for (d = 0; d < whole->ndim; d++) {
        int64_t skip = test_random_between(random, 0, whole->count[d] - 1);
        inside->start[d] = whole->start[d] + skip;
        inside->count[d] = test_random_between(random, 1, whole->count[d] - skip);
    }
}

/* One run of the whole box, behind the one before; returns where it ends. */
static int64_t check_run(const pp_box *whole, const pp_box *band, int64_t end)
{
    int64_t cell[PARAPET_MAX_NDIM], first, count, next;
    pp_box again, one = {.ndim = whole->ndim};
    bool more;
    int d;
    pp_band_to_run(whole, band, &first, &count);
    assert_true(first >= end);
    pp_band_of_run(whole, first, count, &again);
    assert_true(pp_box_equals(&again, band));
    next = first;
    for (more = pp_box_first(band, cell); more; more = pp_box_next(band, cell)) {
        int64_t position, single;
        for (d = 0; d < whole->ndim; d++) {
            one.start[d] = cell[d];
            one.count[d] = 1;
        }
        pp_band_to_run(whole, &one, &position, &single);
        assert_int_equal(position, next++);
    }
    assert_int_equal(next, first + count);
    return next;
}

static void test_bands__are_runs_in_order_that_hold_all_of_interest(void **state)
{
    test_random random = test_random_start();
    int round;
    (void)state;
    for (round = 0; round < 2000; round++) {
        size_t element = (size_t)test_random_between(&random, 1, 3),
               most = (size_t)test_random_between(&random, 1, 99);
        pp_box whole, inside, band, common;
        int64_t end = 0, found = 0;
        pp_bands bands;
        draw_box(&random, &whole);
        draw_inside(&random, &whole, &inside);
        pp_bands_init(&bands, &whole, &inside, element, most);
        while (pp_bands_next(&bands, &band)) {
            end = check_run(&whole, &band, end);
            assert_true(pp_box_contains(&whole, &band));
            assert_true((size_t)pp_box_element_count(&band) * element <= most || pp_box_element_count(&band) == 1);
            assert_true(pp_box_intersect(&band, &inside, &common));
            found += pp_box_element_count(&common);
        }
        assert_int_equal(found, pp_box_element_count(&inside));
    }
}

static void test_bands__of_nothing_are_none(void **state)
{
    pp_box whole = {.ndim = 1, .count = {4}}, nothing = {.ndim = 1}, band;
    pp_bands bands;
    (void)state;
    pp_bands_init(&bands, &whole, &nothing, 8, 64);
    assert_false(pp_bands_next(&bands, &band));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bands__are_runs_in_order_that_hold_all_of_interest),
        cmocka_unit_test(test_bands__of_nothing_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
