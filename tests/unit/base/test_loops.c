/* Loops over boxes in two memories, against every element on its own. */
#include "support.h"

#include "base/loops.h"

#define SIDE 5
#define NDIM_MOST 4

/* Where a byte of `to` comes from; -1: nowhere. */
typedef struct marks {
    int from[4096];
} marks;

static void mark_run(marks *made, pp_place at, size_t bytes)
{
    size_t i;
    for (i = 0; i < bytes; i++) {
        assert_true(at.to + i < 4096);
        assert_int_equal(made->from[at.to + i], -1);
        made->from[at.to + i] = (int)(at.from + i);
    }
}

static void walk_loops(const pp_loop_box *box, bool lengthens, marks *made, int64_t *runs)
{
    int64_t position[PARAPET_MAX_NDIM] = {0};
    pp_loops loops;
    pp_place at;
    memset(made, -1, sizeof *made);
    *runs = 0;
    if (!pp_loops_init(&loops, box))
        return;
    if (lengthens)
        pp_loops_lengthen_run(&loops);
    at = loops.origin;
    do {
        mark_run(made, at, loops.run_bytes);
        ++*runs;
    } while (pp_loops_next(&loops, loops.ndim, position, &at));
}

static void walk_elements(const pp_loop_box *box, marks *made)
{
    int64_t cell[NDIM_MOST] = {0};
    int d;
    memset(made, -1, sizeof *made);
    for (d = 0; d < box->ndim; d++)
        if (box->count[d] == 0)
            return;
    for (;;) {
        pp_place at = box->origin;
        for (d = 0; d < box->ndim; d++) {
            at.to += (uint64_t)(cell[d] * box->to_strides[d]);
            at.from += (uint64_t)(cell[d] * (box->from_strides != NULL ? box->from_strides[d] : 0));
        }
        mark_run(made, at, box->element_bytes);
        for (d = box->ndim - 1; d >= 0 && ++cell[d] == box->count[d]; d--)
            cell[d] = 0;
        if (d < 0)
            return;
    }
}

/* Strides of an array of SIDE in every dimension, its dimensions in any order, some of them backwards. */
static void random_strides(test_random *random, int ndim, int64_t element_bytes, int64_t *strides, uint64_t *origin)
{
    int64_t stride = element_bytes;
    int taken = 0, d;
    *origin = 0;
    while (taken < ndim) {
        d = (int)test_random_between(random, 0, ndim - 1);
        if (strides[d] != 0)
            continue;
        strides[d] = stride;
        if (test_random_between(random, 0, 2) == 0) {
            *origin += (uint64_t)(stride * (SIDE - 1));
            strides[d] = -stride;
        }
        stride *= SIDE;
        taken++;
    }
}

static void test_loops__reach_every_element_once(void **state)
{
    test_random random = test_random_start();
    int round, d;
    (void)state;
    for (round = 0; round < 2000; round++) {
        int64_t count[NDIM_MOST], to[NDIM_MOST] = {0}, from[NDIM_MOST] = {0}, runs;
        pp_loop_box box = {.ndim = (int)test_random_between(&random, 0, NDIM_MOST),
                           .element_bytes = (size_t)test_random_between(&random, 1, 4),
                           .count = count,
                           .to_strides = to,
                           .from_strides = test_random_between(&random, 0, 3) == 0 ? NULL : from};
        marks expected, found;
        random_strides(&random, box.ndim, (int64_t)box.element_bytes, to, &box.origin.to);
        random_strides(&random, box.ndim, (int64_t)box.element_bytes, from, &box.origin.from);
        for (d = 0; d < box.ndim; d++)
            count[d] = test_random_between(&random, 0, SIDE);
        walk_elements(&box, &expected);
        walk_loops(&box, false, &found, &runs);
        assert_memory_equal(&found, &expected, sizeof found);
        walk_loops(&box, true, &found, &runs);
        assert_memory_equal(&found, &expected, sizeof found);
    }
}

static void test_loops__over_a_dense_box_are_one_run(void **state)
{
    static const int64_t count[3] = {3, 4, 5}, strides[3] = {160, 40, 8}, backwards[3] = {-160, -40, -8};
    pp_loop_box box = {.ndim = 3, .element_bytes = 8, .count = count, .to_strides = strides, .from_strides = strides};
    marks found;
    int64_t runs;
    (void)state;
    walk_loops(&box, true, &found, &runs);
    assert_int_equal(runs, 1);
    box.to_strides = box.from_strides = backwards;
    box.origin = (pp_place){472, 472};
    walk_loops(&box, true, &found, &runs);
    assert_int_equal(runs, 1);
    assert_int_equal(found.from[0], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loops__reach_every_element_once),
        cmocka_unit_test(test_loops__over_a_dense_box_are_one_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
