/* Views of a copy against the definition, element by element. */
#include "support.h"

#include "copy/view.h"

#define ROUNDS 2000

/* A view of a source that is cut somehow; the chain is not needed. */
typedef struct viewed {
    pp_layout layout;
    int64_t shape[PARAPET_MAX_NDIM]; /* of the source */
    pp_copy_view view;
    pp_rechunk_side side;
} viewed;

static void make_random(test_random *random, viewed *made)
{
    int ndim = (int)test_random_between(random, 0, 4), d, other, axis;
    int64_t chunk[PARAPET_MAX_NDIM], shard[PARAPET_MAX_NDIM];
    pp_grid shards;
    memset(made, 0, sizeof *made);
    for (d = 0; d < ndim; d++) {
        made->shape[d] = test_random_between(random, 1, 9);
        chunk[d] = test_random_between(random, 1, 4);
        shard[d] = chunk[d] * test_random_between(random, 1, 3);
    }
    assert_ok(pp_grid_init(&shards, ndim, made->shape, shard, 1));
    assert_ok(pp_tiling_init(&made->layout.tiling, &shards, chunk, 1));
    pp_copy_view_init(&made->view, ndim, made->shape);
    for (d = ndim - 1; d > 0; d--) {
        other = (int)test_random_between(random, 0, d);
        axis = made->view.axis[d];
        made->view.axis[d] = made->view.axis[other];
        made->view.axis[other] = axis;
    }
    for (d = 0; d < ndim; d++) {
        made->view.start[d] = test_random_between(random, 0, made->shape[made->view.axis[d]] - 1);
        made->view.shape[d] = test_random_between(random, 1, made->shape[made->view.axis[d]] - made->view.start[d]);
        made->view.is_reversed[d] = test_random_between(random, 0, 1) == 1;
    }
    pp_copy_view_side(&made->view, &made->layout, &made->side);
}

/* Where an element of the target comes from, as view.h defines it. */
static void source_of(const pp_copy_view *view, const int64_t *target, int64_t *source)
{
    int d;
    for (d = 0; d < view->ndim; d++)
        source[view->axis[d]] =
            view->is_reversed[d] ? view->start[d] + view->shape[d] - 1 - target[d] : view->start[d] + target[d];
}

static void test_copy_view__a_box_holds_exactly_the_elements_of_the_other(void **state)
{
    test_random random = test_random_start();
    int round, d;
    (void)state;
    for (round = 0; round < ROUNDS; round++) {
        viewed made;
        pp_box target, source, point;
        int64_t cell[PARAPET_MAX_NDIM], found = 0;
        bool more;
        make_random(&random, &made);
        target.ndim = point.ndim = made.view.ndim;
        for (d = 0; d < made.view.ndim; d++) {
            target.start[d] = test_random_between(&random, 0, made.view.shape[d] - 1);
            target.count[d] = test_random_between(&random, 0, made.view.shape[d] - target.start[d]);
            point.count[d] = 1;
        }
        pp_copy_view_box(&made.view, &target, &source);
        assert_int_equal(source.ndim, target.ndim);
        for (more = pp_box_first(&target, cell); more; more = pp_box_next(&target, cell)) {
            source_of(&made.view, cell, point.start);
            assert_true(pp_box_contains(&source, &point));
            found++;
        }
        assert_int_equal(pp_box_element_count(&source), found);
    }
}

static int64_t cell_of(int64_t element, int64_t origin, int64_t extent)
{
    return (element + origin) / extent;
}

/* Two neighbours lie in one cell of the view exactly if they lie in one cell of the source. */
static void check_borders(const viewed *made, int d)
{
    int a = made->view.axis[d];
    int64_t shard = made->layout.tiling.shards.cell_shape[a], chunk = made->layout.tiling.chunks.cell_shape[a], i;
    const pp_rechunk_side *side = &made->side;
    int64_t first[PARAPET_MAX_NDIM] = {0}, next[PARAPET_MAX_NDIM] = {0}, from[PARAPET_MAX_NDIM], to[PARAPET_MAX_NDIM];
    assert_true(side->origin[d] >= 0 && side->origin[d] < side->shard[d]);
    for (i = 0; i + 1 < made->view.shape[d]; i++) {
        first[d] = i;
        next[d] = i + 1;
        source_of(&made->view, first, from);
        source_of(&made->view, next, to);
        assert_int_equal(from[a] / shard == to[a] / shard, cell_of(i, side->origin[d], side->shard[d]) ==
                                                               cell_of(i + 1, side->origin[d], side->shard[d]));
        assert_int_equal(from[a] / chunk == to[a] / chunk, cell_of(i, side->origin[d], side->chunk[d]) ==
                                                               cell_of(i + 1, side->origin[d], side->chunk[d]));
    }
}

/* Element 0 has as many elements of its shard before it, in the direction of the target, as origin says. */
static void check_origin(const viewed *made, int d)
{
    int a = made->view.axis[d];
    int64_t zero[PARAPET_MAX_NDIM] = {0}, source[PARAPET_MAX_NDIM], shard = made->layout.tiling.shards.cell_shape[a],
            inside;
    source_of(&made->view, zero, source);
    inside = source[a] % shard;
    assert_int_equal(made->side.origin[d], made->view.is_reversed[d] ? shard - 1 - inside : inside);
}

static void test_copy_view__cells_of_the_side_are_those_of_the_source(void **state)
{
    test_random random = test_random_start();
    int round, d;
    (void)state;
    for (round = 0; round < ROUNDS; round++) {
        viewed made;
        make_random(&random, &made);
        for (d = 0; d < made.view.ndim; d++) {
            assert_int_equal(made.side.chunk[d], made.layout.tiling.chunks.cell_shape[made.view.axis[d]]);
            assert_int_equal(made.side.shard[d], made.layout.tiling.shards.cell_shape[made.view.axis[d]]);
            check_borders(&made, d);
            check_origin(&made, d);
        }
    }
}

/* Walks a source chunk as it is stored: the dimension of the target that moves is the one that stored_order says. */
static void test_copy_view__stored_order_is_that_of_the_source(void **state)
{
    test_random random = test_random_start();
    int round, place;
    (void)state;
    for (round = 0; round < ROUNDS; round++) {
        viewed made;
        make_random(&random, &made);
        for (place = 0; place < made.view.ndim; place++) {
            int d = made.side.stored_order[place];
            int64_t at[PARAPET_MAX_NDIM] = {0}, before[PARAPET_MAX_NDIM], after[PARAPET_MAX_NDIM];
            int a;
            assert_true(d >= 0 && d < made.view.ndim);
            source_of(&made.view, at, before);
            at[d] = 1;
            source_of(&made.view, at, after);
            for (a = 0; a < made.view.ndim; a++)
                assert_int_equal(before[a] != after[a], a == place);
        }
    }
}

static void test_copy_view__without_changes_everything_is_where_it_was(void **state)
{
    const int64_t shape[3] = {5, 0, 7};
    const pp_box box = {.ndim = 3, .start = {1, 0, 2}, .count = {4, 0, 5}};
    pp_copy_view view;
    pp_box source;
    (void)state;
    pp_copy_view_init(&view, 3, shape);
    pp_copy_view_box(&view, &box, &source);
    assert_true(pp_box_equals(&box, &source));
    assert_memory_equal(view.shape, shape, sizeof shape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copy_view__a_box_holds_exactly_the_elements_of_the_other),
        cmocka_unit_test(test_copy_view__cells_of_the_side_are_those_of_the_source),
        cmocka_unit_test(test_copy_view__stored_order_is_that_of_the_source),
        cmocka_unit_test(test_copy_view__without_changes_everything_is_where_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
