/* Boxes in place of the flat index, against every element on its own. */
#include "support.h"

#include "geometry/flat.h"

#define ELEMENTS_MOST 4096
#define UNIT 4

/* Where in memory each element is; -1: it is not selected. */
typedef struct marks {
    const pp_flat *flat;
    int64_t boxes, at[ELEMENTS_MOST];
} marks;

static void mark(marks *made, int64_t element, int64_t offset)
{
    assert_in_range(element, 0, made->flat->bytes / UNIT - 1);
    assert_int_equal(made->at[element], -1);
    made->at[element] = offset;
}

static parapet_status mark_box(void *context, const pp_flat_box *box)
{
    marks *made = context;
    int64_t cell[PARAPET_MAX_NDIM];
    bool more;
    int d;
    made->boxes++;
    for (more = pp_box_first(&box->box, cell); more; more = pp_box_next(&box->box, cell)) {
        int64_t element = 0, offset = box->offset_bytes;
        for (d = 0; d < box->box.ndim; d++) {
            assert_in_range(cell[d], 0, made->flat->shape[d] - 1);
            element += cell[d] * made->flat->step[d];
            offset += (cell[d] - box->box.start[d]) * box->strides_bytes[d];
        }
        mark(made, element, offset);
    }
    return PARAPET_OK;
}

static void mark_loops(marks *made, const pp_loops *loops)
{
    int64_t position[PARAPET_MAX_NDIM] = {0}, i;
    pp_place at = loops->origin;
    do
        for (i = 0; i < (int64_t)loops->run_bytes; i += UNIT)
            mark(made, ((int64_t)at.to + i) / UNIT, (int64_t)at.from + i);
    while (pp_loops_next(loops, loops->ndim, position, &at));
}

static void start_marks(marks *made, const pp_flat *flat)
{
    made->flat = flat;
    made->boxes = 0;
    memset(made->at, -1, sizeof made->at);
}

/* Ascending loops around a run, from the inside outwards; they may leave the array, which is then not asked for. */
static int64_t draw_loops(test_random *random, pp_loops *loops)
{
    int64_t span, bytes;
    int i;
    *loops = (pp_loops){.ndim = (int)test_random_between(random, 0, 3)};
    bytes = span = UNIT * test_random_between(random, 1, 12);
    loops->run_bytes = (size_t)span;
    for (i = loops->ndim - 1; i >= 0; i--) {
        pp_loop *loop = &loops->axes[i];
        *loop = (pp_loop){test_random_between(random, 2, 4), span + UNIT * test_random_between(random, 0, 9), bytes};
        span += (loop->count - 1) * loop->to;
        bytes *= loop->count;
    }
    loops->origin.to = (uint64_t)(UNIT * test_random_between(random, 0, 30));
    return (int64_t)loops->origin.to + span;
}

static void test_flat__boxes_have_the_elements_of_the_loops(void **state)
{
    static marks expected, found;
    test_random random = test_random_start();
    int compared = 0, i, d;
    (void)state;
    for (i = 0; i < 20000; i++) {
        int64_t shape[4];
        int ndim = (int)test_random_between(&random, 1, 4);
        pp_loops loops;
        pp_flat flat;
        for (d = 0; d < ndim; d++)
            shape[d] = test_random_between(&random, 1, ndim == 1 ? 500 : 8);
        assert_ok(pp_flat_init(&flat, ndim, shape, UNIT));
        if (draw_loops(&random, &loops) > flat.bytes)
            continue;
        start_marks(&expected, &flat);
        start_marks(&found, &flat);
        mark_loops(&expected, &loops);
        assert_ok(pp_flat_visit_boxes(&flat, &loops, mark_box, &found));
        assert_memory_equal(expected.at, found.at, sizeof found.at);
        compared++;
    }
    assert_true(compared > 5000);
}

static void test_flat__a_run_takes_two_boxes_less_one_for_each_dimension(void **state)
{
    const int64_t shape[3] = {5, 4, 6};
    static marks found;
    int64_t first, count;
    pp_flat flat;
    (void)state;
    assert_ok(pp_flat_init(&flat, 3, shape, UNIT));
    for (first = 0; first < 120; first++)
        for (count = 1; count <= 120 - first; count++) {
            pp_loops run = {.run_bytes = (size_t)(count * UNIT), .origin = {(uint64_t)(first * UNIT), 0}};
            start_marks(&found, &flat);
            assert_ok(pp_flat_visit_boxes(&flat, &run, mark_box, &found));
            assert_in_range(found.boxes, 1, 5);
            if (first == 0 && count % 24 == 0)
                assert_int_equal(found.boxes, 1);
        }
}

static void test_flat__what_passes_several_rows_is_columns(void **state)
{
    const int64_t shape[2] = {50, 12};
    pp_loops thirds = {.ndim = 1, .axes = {{200, 3 * UNIT, UNIT}}, .run_bytes = UNIT},
             fifths = {.ndim = 1, .axes = {{120, 5 * UNIT, UNIT}}, .run_bytes = UNIT};
    static marks found;
    pp_flat flat;
    (void)state;
    assert_ok(pp_flat_init(&flat, 2, shape, UNIT));
    start_marks(&found, &flat);
    assert_ok(pp_flat_visit_boxes(&flat, &thirds, mark_box, &found));
    assert_int_equal(found.boxes, 4);
    start_marks(&found, &flat);
    assert_ok(pp_flat_visit_boxes(&flat, &fifths, mark_box, &found));
    assert_int_equal(found.boxes, 120);
}

static void test_flat__a_scalar_is_one_box(void **state)
{
    pp_loops run = {.run_bytes = UNIT};
    static marks found;
    pp_flat flat;
    (void)state;
    assert_ok(pp_flat_init(&flat, 0, NULL, UNIT));
    start_marks(&found, &flat);
    assert_ok(pp_flat_visit_boxes(&flat, &run, mark_box, &found));
    assert_int_equal(found.boxes, 1);
}

static void test_flat__parts_of_elements_and_sizes_that_do_not_fit_are_refused(void **state)
{
    const int64_t shape[2] = {8, 8}, vast[2] = {INT64_C(1) << 31, INT64_C(1) << 31};
    pp_loops half = {.run_bytes = UNIT / 2}, late = {.run_bytes = UNIT, .origin = {1, 0}},
             odd = {.ndim = 1, .axes = {{2, UNIT + 1, UNIT}}, .run_bytes = UNIT};
    static marks found;
    pp_flat flat;
    (void)state;
    assert_ok(pp_flat_init(&flat, 2, shape, UNIT));
    start_marks(&found, &flat);
    assert_fails(pp_flat_visit_boxes(&flat, &half, mark_box, &found), PARAPET_ERR_ARGUMENT, "parts of elements");
    assert_fails(pp_flat_visit_boxes(&flat, &late, mark_box, &found), PARAPET_ERR_ARGUMENT, "at byte 1");
    assert_fails(pp_flat_visit_boxes(&flat, &odd, mark_box, &found), PARAPET_ERR_ARGUMENT, "4 bytes");
    assert_int_equal(found.boxes, 0);
    assert_fails(pp_flat_init(&flat, 2, vast, UNIT), PARAPET_ERR_UNSUPPORTED, "64 bits");
    assert_fails(pp_flat_init(&flat, 2, shape, 0), PARAPET_ERR_UNSUPPORTED, "no bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flat__boxes_have_the_elements_of_the_loops),
        cmocka_unit_test(test_flat__a_run_takes_two_boxes_less_one_for_each_dimension),
        cmocka_unit_test(test_flat__what_passes_several_rows_is_columns),
        cmocka_unit_test(test_flat__a_scalar_is_one_box),
        cmocka_unit_test(test_flat__parts_of_elements_and_sizes_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
