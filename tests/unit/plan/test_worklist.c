/* Lists of (shard, part) against slow references that look at every shard of the array. */
#include "support.h"

#include "plan/worklist.h"

#define BUDGET_BYTES ((size_t)1 << 20)
#define MOST_PARTS 6

static pp_budget budget;

static pp_grid grid_of(int ndim, const int64_t *shape, const int64_t *cell)
{
    pp_grid grid;
    assert_ok(pp_grid_init(&grid, ndim, shape, cell));
    return grid;
}

static pp_box box_of(int ndim, const int64_t *start, const int64_t *count)
{
    pp_box box;
    assert_ok(pp_box_init(&box, ndim, start, count));
    return box;
}

static void start_budget(size_t bytes)
{
    pp_budget_init(&budget, bytes);
}

static void assert_all_given_back(void)
{
    assert_int_equal(pp_budget_available(&budget), budget.limit_bytes);
}

static void choose_grid(test_random *random, pp_grid *grid)
{
    int64_t shape[4], cell[4];
    int d, ndim = (int)test_random_between(random, 0, 4);
    for (d = 0; d < ndim; d++) {
        shape[d] = test_random_between(random, 0, 9);
        cell[d] = test_random_between(random, 1, 5);
    }
    *grid = grid_of(ndim, shape, cell);
}

static void choose_boxes(test_random *random, const pp_grid *grid, pp_box *boxes, int count)
{
    int i, d;
    for (i = 0; i < count; i++) {
        int64_t start[4], size[4];
        for (d = 0; d < grid->ndim; d++) {
            start[d] = test_random_between(random, 0, grid->shape[d]);
            size[d] = test_random_between(random, 0, grid->shape[d] - start[d]);
        }
        boxes[i] = box_of(grid->ndim, start, size);
    }
}

/* Every shard of the array against every part, in order: what the list must be. */
static size_t list_slowly(const pp_grid *grid, const pp_box *boxes, int count, pp_work *work)
{
    size_t found = 0;
    int64_t shard, cell[4];
    int i;
    for (shard = 0; shard < grid->cell_count; shard++) {
        pp_box shard_box, common;
        pp_grid_cell_position(grid, shard, cell);
        pp_grid_cell_box(grid, cell, &shard_box);
        for (i = 0; i < count; i++)
            if (pp_box_intersect(&shard_box, &boxes[i], &common))
                work[found++] = (pp_work){.shard = shard, .part = i};
    }
    return found;
}

static void assert_same_work(const pp_worklist *list, const pp_work *work, size_t count)
{
    size_t i;
    assert_int_equal(list->count, count);
    for (i = 0; i < count; i++) {
        assert_int_equal(list->work[i].shard, work[i].shard);
        assert_int_equal(list->work[i].part, work[i].part);
    }
}

static void test_worklist__holds_every_shard_and_part_that_meet_in_order(void **state)
{
    static pp_work expected[100000];
    test_random random = test_random_start();
    long live = pp_memory_live_count();
    int round;
    (void)state;
    start_budget(BUDGET_BYTES);
    for (round = 0; round < 3000; round++) {
        pp_grid grid;
        pp_box boxes[MOST_PARTS];
        pp_worklist list;
        int count = (int)test_random_between(&random, 0, MOST_PARTS);
        choose_grid(&random, &grid);
        choose_boxes(&random, &grid, boxes, count);
        assert_ok(pp_worklist_build(&list, &grid, boxes, count, &budget));
        assert_same_work(&list, expected, list_slowly(&grid, boxes, count, expected));
        assert_int_equal(budget.limit_bytes - pp_budget_available(&budget), list.count * sizeof(pp_work));
        pp_worklist_clear(&list);
        assert_all_given_back();
    }
    assert_int_equal(pp_memory_live_count(), live);
}

static void test_worklist__groups_cut_the_list_where_the_shard_changes(void **state)
{
    pp_work work[] = {{3, 0}, {3, 1}, {3, 4}, {7, 0}, {9, 2}, {9, 3}};
    pp_worklist list = {.work = work, .count = 6};
    (void)state;
    assert_int_equal(pp_worklist_group_end(&list, 0), 3);
    assert_int_equal(pp_worklist_group_end(&list, 1), 3);
    assert_int_equal(pp_worklist_group_end(&list, 3), 4);
    assert_int_equal(pp_worklist_group_end(&list, 4), 6);
    assert_int_equal(pp_worklist_group_end(&list, 6), 6);
}

static bool is_at_marked_edge(const pp_grid *grid, const bool *is_marked, const int64_t *cell)
{
    int d;
    for (d = 0; d < grid->ndim; d++)
        if (is_marked[d] && (cell[d] + 1) * grid->cell_shape[d] > grid->shape[d])
            return true;
    return false;
}

static size_t list_edge_slowly(const pp_grid *grid, const bool *is_marked, pp_work *work)
{
    size_t found = 0;
    int64_t shard, cell[4];
    for (shard = 0; shard < grid->cell_count; shard++) {
        pp_grid_cell_position(grid, shard, cell);
        if (is_at_marked_edge(grid, is_marked, cell))
            work[found++] = (pp_work){.shard = shard, .part = PP_NO_PART};
    }
    return found;
}

static void check_every_marking(const pp_grid *grid)
{
    static pp_work expected[10000];
    int marks, d;
    for (marks = 0; marks < 1 << grid->ndim; marks++) {
        bool is_marked[4] = {false};
        pp_worklist list;
        for (d = 0; d < grid->ndim; d++)
            is_marked[d] = (marks >> d & 1) != 0;
        assert_ok(pp_worklist_build_edge(&list, grid, is_marked, &budget));
        assert_same_work(&list, expected, list_edge_slowly(grid, is_marked, expected));
        pp_worklist_clear(&list);
        assert_all_given_back();
    }
}

static void test_worklist__edge_has_the_shards_that_overhang_in_every_marked_combination(void **state)
{
    test_random random = test_random_start();
    int round;
    (void)state;
    start_budget(BUDGET_BYTES);
    for (round = 0; round < 1000; round++) {
        pp_grid grid;
        choose_grid(&random, &grid);
        check_every_marking(&grid);
    }
}

static void test_worklist__edge_of_a_scalar_and_of_an_empty_array_is_empty(void **state)
{
    bool is_marked[2] = {true, true};
    pp_grid scalar = grid_of(0, NULL, NULL), empty = grid_of(2, (int64_t[]){0, 7}, (int64_t[]){4, 4});
    pp_worklist list;
    (void)state;
    start_budget(BUDGET_BYTES);
    assert_ok(pp_worklist_build_edge(&list, &scalar, is_marked, &budget));
    assert_int_equal(list.count, 0);
    pp_worklist_clear(&list);
    assert_ok(pp_worklist_build_edge(&list, &empty, is_marked, &budget));
    assert_int_equal(list.count, 0);
    pp_worklist_clear(&list);
    assert_all_given_back();
}

static void test_worklist__scalar_has_one_shard_per_part(void **state)
{
    pp_grid grid = grid_of(0, NULL, NULL);
    pp_box boxes[1] = {box_of(0, NULL, NULL)};
    pp_worklist list;
    (void)state;
    start_budget(BUDGET_BYTES);
    assert_ok(pp_worklist_build(&list, &grid, boxes, 1, &budget));
    assert_int_equal(list.count, 1);
    assert_int_equal(list.work[0].shard, 0);
    assert_int_equal(pp_worklist_covered(&list, 0, 1, boxes, &boxes[0]), 1);
    pp_worklist_clear(&list);
    assert_all_given_back();
}

static void test_worklist__empty_parts_touch_nothing_and_overlap_nothing(void **state)
{
    pp_grid grid = grid_of(2, (int64_t[]){10, 10}, (int64_t[]){3, 3});
    pp_box boxes[3] = {box_of(2, (int64_t[]){2, 2}, (int64_t[]){0, 5}),
                       box_of(2, (int64_t[]){0, 0}, (int64_t[]){10, 10}),
                       box_of(2, (int64_t[]){10, 10}, (int64_t[]){0, 0})};
    pp_worklist list;
    size_t i;
    (void)state;
    start_budget(BUDGET_BYTES);
    assert_ok(pp_worklist_build(&list, &grid, boxes, 3, &budget));
    assert_int_equal(list.count, 16);
    for (i = 0; i < list.count; i++)
        assert_int_equal(list.work[i].part, 1);
    assert_ok(pp_worklist_check_disjoint(&list, boxes));
    pp_worklist_clear(&list);
    assert_ok(pp_worklist_build(&list, &grid, NULL, 0, &budget));
    assert_int_equal(list.count, 0);
    pp_worklist_clear(&list);
    assert_all_given_back();
}

static bool overlap_slowly(const pp_box *boxes, int count)
{
    pp_box common;
    int i, j;
    for (i = 0; i < count; i++)
        for (j = i + 1; j < count; j++)
            if (pp_box_intersect(&boxes[i], &boxes[j], &common))
                return true;
    return false;
}

static void test_worklist__refuses_overlap_exactly_when_two_parts_share_an_element(void **state)
{
    test_random random = test_random_start();
    int round, disjoint = 0, refused = 0;
    (void)state;
    start_budget(BUDGET_BYTES);
    for (round = 0; round < 3000; round++) {
        pp_grid grid;
        pp_box boxes[3];
        pp_worklist list;
        choose_grid(&random, &grid);
        choose_boxes(&random, &grid, boxes, 3);
        assert_ok(pp_worklist_build(&list, &grid, boxes, 3, &budget));
        if (overlap_slowly(boxes, 3)) {
            assert_fails(pp_worklist_check_disjoint(&list, boxes), PARAPET_ERR_ARGUMENT, "overlap in [");
            refused++;
        } else {
            assert_ok(pp_worklist_check_disjoint(&list, boxes));
            disjoint++;
        }
        pp_worklist_clear(&list);
    }
    assert_true(disjoint > 300 && refused > 300);
}

static void test_worklist__overlap_names_both_parts_and_the_box(void **state)
{
    pp_grid grid = grid_of(2, (int64_t[]){100, 100}, (int64_t[]){10, 10});
    pp_box boxes[4] = {
        box_of(2, (int64_t[]){0, 0}, (int64_t[]){5, 100}), box_of(2, (int64_t[]){5, 0}, (int64_t[]){60, 50}),
        box_of(2, (int64_t[]){5, 50}, (int64_t[]){10, 50}), box_of(2, (int64_t[]){63, 47}, (int64_t[]){37, 53})};
    pp_worklist list;
    (void)state;
    start_budget(BUDGET_BYTES);
    assert_ok(pp_worklist_build(&list, &grid, boxes, 4, &budget));
    assert_fails(pp_worklist_check_disjoint(&list, boxes), PARAPET_ERR_ARGUMENT,
                 "parts 1 and 3 overlap in [63:65, 47:50]");
    pp_worklist_clear(&list);
    assert_all_given_back();
}

static int64_t covered_slowly(const pp_box *boxes, int count, const pp_box *box)
{
    int64_t cell[4], covered = 0;
    bool more;
    int i;
    for (more = pp_box_first(box, cell); more; more = pp_box_next(box, cell)) {
        pp_box element = {.ndim = box->ndim};
        int d;
        for (d = 0; d < box->ndim; d++) {
            element.start[d] = cell[d];
            element.count[d] = 1;
        }
        for (i = 0; i < count; i++)
            covered += pp_box_contains(&boxes[i], &element);
    }
    return covered;
}

/* Parts that do not overlap: the two halves of a box, cut somewhere. */
static void choose_disjoint(test_random *random, const pp_grid *grid, pp_box boxes[2])
{
    int d = (int)test_random_between(random, 0, grid->ndim - 1);
    choose_boxes(random, grid, boxes, 1);
    boxes[1] = boxes[0];
    boxes[0].count[d] = test_random_between(random, 0, boxes[1].count[d]);
    boxes[1].start[d] += boxes[0].count[d];
    boxes[1].count[d] -= boxes[0].count[d];
}

static void test_worklist__covered_counts_the_elements_that_parts_of_a_group_hold(void **state)
{
    test_random random = test_random_start();
    int round;
    (void)state;
    start_budget(BUDGET_BYTES);
    for (round = 0; round < 2000; round++) {
        pp_grid grid;
        pp_box boxes[2], asked;
        pp_worklist list;
        size_t first, end;
        do
            choose_grid(&random, &grid);
        while (grid.ndim == 0);
        choose_disjoint(&random, &grid, boxes);
        assert_ok(pp_worklist_build(&list, &grid, boxes, 2, &budget));
        for (first = 0; first < list.count; first = end) {
            int64_t cell[4];
            end = pp_worklist_group_end(&list, first);
            pp_grid_cell_position(&grid, list.work[first].shard, cell);
            pp_grid_cell_box(&grid, cell, &asked);
            assert_int_equal(pp_worklist_covered(&list, first, end, boxes, &asked), covered_slowly(boxes, 2, &asked));
        }
        pp_worklist_clear(&list);
    }
}

static void test_worklist__shards_of_an_edge_list_are_covered_by_nothing(void **state)
{
    pp_grid grid = grid_of(1, (int64_t[]){10}, (int64_t[]){4});
    pp_box whole = box_of(1, (int64_t[]){0}, (int64_t[]){10});
    bool is_marked[1] = {true};
    pp_worklist list;
    (void)state;
    start_budget(BUDGET_BYTES);
    assert_ok(pp_worklist_build_edge(&list, &grid, is_marked, &budget));
    assert_int_equal(list.count, 1);
    assert_int_equal(pp_worklist_covered(&list, 0, 1, NULL, &whole), 0);
    pp_worklist_clear(&list);
}

static void test_worklist__takes_what_it_needs_of_the_budget_and_not_a_byte_more(void **state)
{
    pp_grid grid = grid_of(2, (int64_t[]){100, 100}, (int64_t[]){10, 10});
    pp_box whole = box_of(2, NULL, grid.shape);
    pp_worklist list;
    long live = pp_memory_live_count();
    (void)state;
    start_budget(100 * sizeof(pp_work));
    assert_ok(pp_worklist_build(&list, &grid, &whole, 1, &budget));
    assert_int_equal(pp_budget_available(&budget), 0);
    pp_worklist_clear(&list);
    start_budget(100 * sizeof(pp_work) - 1);
    assert_fails(pp_worklist_build(&list, &grid, &whole, 1, &budget), PARAPET_ERR_MEMORY, "1600 would do");
    pp_worklist_clear(&list);
    assert_all_given_back();
    assert_int_equal(pp_memory_live_count(), live);
}

static int refuse_all(void *context, size_t bytes)
{
    (void)context;
    (void)bytes;
    return 1;
}

static void test_worklist__gives_the_budget_back_when_the_machine_has_no_memory(void **state)
{
    pp_grid grid = grid_of(1, (int64_t[]){10}, (int64_t[]){4});
    pp_box whole = box_of(1, NULL, grid.shape);
    bool is_marked[1] = {true};
    pp_worklist list;
    (void)state;
    start_budget(BUDGET_BYTES);
    pp_memory_hook_set(refuse_all, NULL);
    assert_int_equal(pp_worklist_build(&list, &grid, &whole, 1, &budget), PARAPET_ERR_MEMORY);
    assert_all_given_back();
    assert_int_equal(pp_worklist_build_edge(&list, &grid, is_marked, &budget), PARAPET_ERR_MEMORY);
    pp_memory_hook_set(NULL, NULL);
    assert_all_given_back();
}

/* 10^18 shards: what is not touched must cost nothing. */
static void test_worklist__of_a_huge_grid_costs_what_the_parts_touch(void **state)
{
    int64_t million = 1000000;
    pp_grid grid = grid_of(3, (int64_t[]){million, million, million}, (int64_t[]){1, 1, 1});
    pp_box boxes[2] = {box_of(3, (int64_t[]){million - 1, million - 1, million - 3}, (int64_t[]){1, 1, 3}),
                       box_of(3, (int64_t[]){0, 0, 0}, (int64_t[]){1, 1, 1})};
    pp_worklist list;
    (void)state;
    start_budget(BUDGET_BYTES);
    assert_ok(pp_worklist_build(&list, &grid, boxes, 2, &budget));
    assert_int_equal(list.count, 4);
    assert_int_equal(list.work[0].shard, 0);
    assert_int_equal(list.work[3].shard, grid.cell_count - 1);
    pp_worklist_clear(&list);
}

static void test_worklist__of_more_shards_than_fit_is_refused_at_once(void **state)
{
    int64_t side = INT64_C(3000000000);
    pp_grid grid = grid_of(2, (int64_t[]){side, side}, (int64_t[]){1, 1});
    pp_grid odd = grid_of(2, (int64_t[]){side + 1, side + 1}, (int64_t[]){2, 2});
    pp_box boxes[2] = {box_of(2, NULL, grid.shape), box_of(2, NULL, grid.shape)};
    bool is_marked[2] = {true, true};
    pp_worklist list;
    (void)state;
    start_budget(BUDGET_BYTES);
    assert_fails(pp_worklist_build(&list, &grid, boxes, 2, &budget), PARAPET_ERR_MEMORY, "shards");
    assert_fails(pp_worklist_build(&list, &grid, boxes, 1, &budget), PARAPET_ERR_MEMORY, "shards");
    assert_fails(pp_worklist_build_edge(&list, &odd, is_marked, &budget), PARAPET_ERR_MEMORY, "shards");
    assert_all_given_back();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worklist__holds_every_shard_and_part_that_meet_in_order),
        cmocka_unit_test(test_worklist__groups_cut_the_list_where_the_shard_changes),
        cmocka_unit_test(test_worklist__edge_has_the_shards_that_overhang_in_every_marked_combination),
        cmocka_unit_test(test_worklist__edge_of_a_scalar_and_of_an_empty_array_is_empty),
        cmocka_unit_test(test_worklist__scalar_has_one_shard_per_part),
        cmocka_unit_test(test_worklist__empty_parts_touch_nothing_and_overlap_nothing),
        cmocka_unit_test(test_worklist__refuses_overlap_exactly_when_two_parts_share_an_element),
        cmocka_unit_test(test_worklist__overlap_names_both_parts_and_the_box),
        cmocka_unit_test(test_worklist__covered_counts_the_elements_that_parts_of_a_group_hold),
        cmocka_unit_test(test_worklist__shards_of_an_edge_list_are_covered_by_nothing),
        cmocka_unit_test(test_worklist__takes_what_it_needs_of_the_budget_and_not_a_byte_more),
        cmocka_unit_test(test_worklist__gives_the_budget_back_when_the_machine_has_no_memory),
        cmocka_unit_test(test_worklist__of_a_huge_grid_costs_what_the_parts_touch),
        cmocka_unit_test(test_worklist__of_more_shards_than_fit_is_refused_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
