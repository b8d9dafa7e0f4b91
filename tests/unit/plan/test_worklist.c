/* Lists of (shard, claim) against slow references that look at every shard and every element of the arrays. */
#include "scene.h"

#include "plan/pieces.h"

#define MOST_CLAIMS 12

static pp_work expected[100000];

/* Any fixed choice of about two thirds of the shards. */
static bool is_accepted(void *context, int target, int64_t shard)
{
    const uint64_t *salt = context;
    return ((uint64_t)shard * 7 + (uint64_t)target * 5 + *salt) * UINT64_C(2654435761) % 97 % 3 != 0;
}

static bool is_before(const int64_t *a, const int64_t *b)
{
    return a[PP_CLAIM_RANK] != b[PP_CLAIM_RANK] ? a[PP_CLAIM_RANK] < b[PP_CLAIM_RANK]
                                                : a[PP_CLAIM_PART] < b[PP_CLAIM_PART];
}

/* Indices of the claims on a target in order of rank and part. */
static size_t order_slowly(const test_scene *scene, int target, size_t *order)
{
    size_t i, j, count = 0;
    for (i = 0; i < scene->claims.list.count; i++) {
        if (scene_claim_target(scene, i) != target)
            continue;
        for (j = count++;
             j > 0 && is_before(pp_claims_at(&scene->claims, i), pp_claims_at(&scene->claims, order[j - 1])); j--)
            order[j] = order[j - 1];
        order[j] = i;
    }
    return count;
}

/* Whether a claim has elements in a shard, and in which chunks, from the chunk of every element that it has. */
static bool meets_slowly(const test_scene *scene, size_t claim, pp_work *work)
{
    const pp_target *target = &scene->targets[work->target];
    pp_box box = scene_claim_box(scene, claim);
    int64_t position[SCENE_NDIM], chunk;
    bool more, meets = false;
    for (more = pp_box_first(&box, position); more; more = pp_box_next(&box, position)) {
        if (scene_shard_of(target, position, &chunk) != work->shard)
            continue;
        work->first_chunk = !meets || chunk < work->first_chunk ? chunk : work->first_chunk;
        work->last_chunk = !meets || chunk > work->last_chunk ? chunk : work->last_chunk;
        meets = true;
    }
    return meets;
}

static size_t list_slowly(const test_scene *scene, uint64_t *salt)
{
    size_t found = 0, order[MOST_CLAIMS], i, count;
    int64_t shard;
    int target;
    for (target = 0; target < scene->plan.target_count; target++) {
        count = order_slowly(scene, target, order);
        for (shard = 0; shard < scene->tilings[target].shards.cell_count; shard++) {
            for (i = 0; i < count; i++) {
                const int64_t *claim = pp_claims_at(&scene->claims, order[i]);
                pp_work work = {.target = target, .shard = shard, .claim = (int64_t)order[i]};
                work.rank = (int32_t)claim[PP_CLAIM_RANK];
                work.part = claim[PP_CLAIM_PART];
                if ((salt == NULL || is_accepted(salt, target, shard)) && meets_slowly(scene, order[i], &work))
                    expected[found++] = work;
            }
        }
    }
    return found;
}

static void assert_same_work(const pp_worklist *list, size_t count)
{
    size_t i;
    assert_int_equal(list->count, count);
    for (i = 0; i < count; i++) {
        assert_int_equal(list->work[i].target, expected[i].target);
        assert_int_equal(list->work[i].shard, expected[i].shard);
        assert_int_equal(list->work[i].rank, expected[i].rank);
        assert_int_equal(list->work[i].part, expected[i].part);
        assert_int_equal(list->work[i].claim, expected[i].claim);
        assert_int_equal(list->work[i].first_chunk, expected[i].first_chunk);
        assert_int_equal(list->work[i].last_chunk, expected[i].last_chunk);
    }
}

static void test_worklist__holds_every_shard_and_claim_that_meet_in_order(void **state)
{
    test_random random = test_random_start();
    long live = pp_memory_live_count();
    int round;
    (void)state;
    for (round = 0; round < 3000; round++) {
        uint64_t salt = test_random_next(&random) % 1000;
        size_t taken;
        pp_worklist list;
        test_scene scene;
        scene_choose_targets(&scene, &random);
        scene_claim_anything(&scene, &random, MOST_CLAIMS);
        taken = pp_budget_available(&scene.budget);
        assert_ok(pp_worklist_build(&list, &scene.plan, NULL, NULL, &scene.budget));
        assert_same_work(&list, list_slowly(&scene, NULL));
        assert_int_equal(taken - pp_budget_available(&scene.budget), list.count * sizeof(pp_work));
        pp_worklist_clear(&list);
        assert_ok(pp_worklist_build(&list, &scene.plan, is_accepted, &salt, &scene.budget));
        assert_same_work(&list, list_slowly(&scene, &salt));
        assert_int_equal(taken - pp_budget_available(&scene.budget), list.count * sizeof(pp_work));
        pp_worklist_clear(&list);
        scene_close(&scene);
    }
    assert_int_equal(pp_memory_live_count(), live);
}

static size_t end_slowly(const pp_worklist *list, size_t first, bool by_rank)
{
    size_t end = first;
    while (end < list->count && list->work[end].target == list->work[first].target &&
           list->work[end].shard == list->work[first].shard &&
           (!by_rank || list->work[end].rank == list->work[first].rank))
        end++;
    return end;
}

static void check_ends_and_find(const pp_worklist *list)
{
    size_t i, first, end;
    for (i = 0; i <= list->count; i++) {
        size_t group_end = end_slowly(list, i, false);
        assert_int_equal(pp_worklist_group_end(list, i), group_end);
        assert_int_equal(end_slowly(list, pp_worklist_group_start(list, group_end), false), group_end);
        assert_true(pp_worklist_group_start(list, group_end) <= i);
        assert_int_equal(pp_worklist_rank_end(list, i, group_end), end_slowly(list, i, true));
        if (i == list->count)
            break;
        assert_true(pp_worklist_find(list, list->work[i].target, list->work[i].shard, &first, &end));
        assert_true(first <= i && i < end);
        assert_int_equal(end, end_slowly(list, first, false));
        assert_true(first == 0 || list->work[first - 1].shard != list->work[first].shard ||
                    list->work[first - 1].target != list->work[first].target);
    }
}

static bool has_shard(const pp_worklist *list, int target, int64_t shard)
{
    size_t i;
    for (i = 0; i < list->count; i++)
        if (list->work[i].target == target && list->work[i].shard == shard)
            return true;
    return false;
}

static void test_worklist__finds_the_ranges_of_shards_and_ranks(void **state)
{
    test_random random = test_random_start();
    int round, i;
    (void)state;
    for (round = 0; round < 3000; round++) {
        uint64_t salt = test_random_next(&random) % 1000;
        size_t first, end;
        pp_worklist list;
        test_scene scene;
        scene_choose_targets(&scene, &random);
        scene_claim_anything(&scene, &random, MOST_CLAIMS);
        assert_ok(pp_worklist_build(&list, &scene.plan, is_accepted, &salt, &scene.budget));
        check_ends_and_find(&list);
        for (i = 0; i < 20; i++) {
            int target = (int)test_random_between(&random, 0, SCENE_TARGETS);
            int64_t shard = test_random_between(&random, 0, 20);
            assert_int_equal(pp_worklist_find(&list, target, shard, &first, &end), has_shard(&list, target, shard));
        }
        pp_worklist_clear(&list);
        scene_close(&scene);
    }
}

static bool is_at_marked_edge(const pp_grid *grid, const bool *is_marked, const int64_t *cell)
{
    int d;
    for (d = 0; d < grid->ndim; d++)
        if (is_marked[d] && (cell[d] + 1) * grid->cell_shape[d] > grid->shape[d])
            return true;
    return false;
}

static size_t list_edge_slowly(const pp_grid *grid, const bool *is_marked)
{
    size_t found = 0;
    int64_t shard, cell[SCENE_NDIM];
    for (shard = 0; shard < grid->cell_count; shard++) {
        pp_grid_cell_position(grid, shard, cell);
        if (is_at_marked_edge(grid, is_marked, cell))
            expected[found++] = (pp_work){.shard = shard, .claim = PP_NO_CLAIM};
    }
    return found;
}

static void check_every_marking(const pp_grid *grid, pp_budget *budget)
{
    int marks, d;
    for (marks = 0; marks < 1 << grid->ndim; marks++) {
        bool is_marked[SCENE_NDIM] = {false};
        pp_worklist list;
        for (d = 0; d < grid->ndim; d++)
            is_marked[d] = (marks >> d & 1) != 0;
        assert_ok(pp_worklist_build_edge(&list, grid, is_marked, budget));
        assert_same_work(&list, list_edge_slowly(grid, is_marked));
        pp_worklist_clear(&list);
    }
}

static void test_worklist__edge_has_the_shards_that_overhang_in_every_marked_combination(void **state)
{
    test_random random = test_random_start();
    int round;
    (void)state;
    for (round = 0; round < 500; round++) {
        test_scene scene;
        scene_choose_targets(&scene, &random);
        check_every_marking(&scene.tilings[0].shards, &scene.budget);
        scene_close(&scene);
    }
}

static void test_worklist__edge_of_a_scalar_and_of_an_empty_array_is_empty(void **state)
{
    bool is_marked[2] = {true, true};
    pp_grid scalar = grid_of(0, NULL, NULL), empty = grid_of(2, (int64_t[]){0, 7}, (int64_t[]){4, 4});
    pp_worklist list;
    test_scene scene;
    (void)state;
    scene_open(&scene, 0);
    assert_ok(pp_worklist_build_edge(&list, &scalar, is_marked, &scene.budget));
    assert_int_equal(list.count, 0);
    pp_worklist_clear(&list);
    assert_ok(pp_worklist_build_edge(&list, &empty, is_marked, &scene.budget));
    assert_int_equal(list.count, 0);
    pp_worklist_clear(&list);
    scene_close(&scene);
}

static void test_worklist__of_an_empty_array_and_of_no_claims_is_empty(void **state)
{
    pp_box empty = box_of(2, NULL, (int64_t[]){0, 7});
    pp_worklist list;
    test_scene scene;
    (void)state;
    scene_open(&scene, 2);
    scene_add_target(&scene, grid_of(2, (int64_t[]){0, 7}, (int64_t[]){4, 4}), (int64_t[]){2, 2}, 8);
    assert_ok(pp_worklist_build(&list, &scene.plan, NULL, NULL, &scene.budget));
    assert_int_equal(list.count, 0);
    assert_ok(pp_worklist_check_disjoint(&list, &scene.plan, 1));
    pp_worklist_clear(&list);
    scene_claim(&scene, 0, 0, &empty);
    assert_ok(pp_worklist_build(&list, &scene.plan, NULL, NULL, &scene.budget));
    assert_int_equal(list.count, 0);
    assert_int_equal(pp_worklist_group_end(&list, 0), 0);
    pp_worklist_clear(&list);
    scene_close(&scene);
}

/* How many claims have the elements of a chunk, or of a shard if chunk is -1. */
static int64_t covered_slowly(const test_scene *scene, int target, int64_t shard, int64_t chunk)
{
    const pp_target *its = &scene->targets[target];
    int64_t position[SCENE_NDIM], in, covered = 0;
    size_t i;
    for (i = 0; i < scene->claims.list.count; i++) {
        pp_box box = scene_claim_box(scene, i);
        bool more;
        if (scene_claim_target(scene, i) != target)
            continue;
        for (more = pp_box_first(&box, position); more; more = pp_box_next(&box, position))
            covered += scene_shard_of(its, position, &in) == shard && (chunk < 0 || in == chunk);
    }
    return covered;
}

static void check_covered(const test_scene *scene, const pp_worklist *list, size_t first, size_t end)
{
    int target = list->work[first].target;
    int64_t shard = list->work[first].shard, chunk, cell[SCENE_NDIM];
    pp_box box;
    pp_grid_cell_position(&scene->tilings[target].shards, shard, cell);
    pp_grid_cell_box(&scene->tilings[target].shards, cell, &box);
    assert_int_equal(pp_worklist_covered_shard(list, &scene->plan, first, end, &box),
                     covered_slowly(scene, target, shard, -1));
    for (chunk = 0; chunk < scene->tilings[target].chunks.cell_count; chunk += 2) {
        pp_tiling_chunk_box(&scene->tilings[target], shard, chunk, &box);
        assert_int_equal(pp_worklist_covered(list, &scene->plan, first, end, chunk, &box),
                         covered_slowly(scene, target, shard, chunk));
    }
}

static void test_worklist__covered_counts_the_elements_that_claims_of_a_group_hold(void **state)
{
    test_random random = test_random_start();
    int round;
    (void)state;
    for (round = 0; round < 1500; round++) {
        size_t first, end;
        pp_worklist list;
        test_scene scene;
        scene_choose_targets(&scene, &random);
        scene_claim_all_disjoint(&scene, &random, 3);
        assert_ok(pp_worklist_build(&list, &scene.plan, NULL, NULL, &scene.budget));
        for (first = 0; first < list.count; first = end) {
            end = pp_worklist_group_end(&list, first);
            if (test_random_between(&random, 0, 7) == 0)
                check_covered(&scene, &list, first, end);
        }
        pp_worklist_clear(&list);
        scene_close(&scene);
    }
}

static void test_worklist__shards_of_an_edge_list_are_covered_by_nothing(void **state)
{
    pp_grid grid = grid_of(1, (int64_t[]){10}, (int64_t[]){4});
    pp_box whole = box_of(1, NULL, grid.shape);
    pp_worklist list;
    test_scene scene;
    (void)state;
    scene_open(&scene, 1);
    assert_ok(pp_worklist_build_edge(&list, &grid, (bool[]){true}, &scene.budget));
    assert_int_equal(list.count, 1);
    assert_int_equal(pp_worklist_covered(&list, NULL, 0, 1, 0, &whole), 0);
    assert_int_equal(pp_worklist_covered_shard(&list, NULL, 0, 1, &whole), 0);
    pp_worklist_clear(&list);
    scene_close(&scene);
}

static bool is_even(void *context, int target, int64_t shard)
{
    (void)context;
    (void)target;
    return shard % 2 == 0;
}

/* A scene of one array, and of one claim on all of it. */
static void open_whole(test_scene *scene, pp_grid grid, const int64_t *chunk_shape)
{
    pp_box whole = box_of(grid.ndim, NULL, grid.shape);
    scene_open(scene, grid.ndim);
    scene_add_target(scene, grid, chunk_shape, 8);
    scene_claim(scene, 0, 0, &whole);
}

static void test_worklist__takes_what_it_needs_of_the_budget_and_not_a_byte_more(void **state)
{
    pp_grid grid = grid_of(2, (int64_t[]){100, 100}, (int64_t[]){10, 10});
    pp_budget budget;
    pp_worklist list;
    test_scene scene;
    long live;
    (void)state;
    open_whole(&scene, grid, grid.cell_shape);
    live = pp_memory_live_count();
    pp_budget_init(&budget, 100 * sizeof(pp_work));
    assert_ok(pp_worklist_build(&list, &scene.plan, NULL, NULL, &budget));
    assert_int_equal(pp_budget_available(&budget), 0);
    pp_worklist_clear(&list);
    pp_budget_init(&budget, 100 * sizeof(pp_work) - 1);
    assert_fails(pp_worklist_build(&list, &scene.plan, NULL, NULL, &budget), PARAPET_ERR_MEMORY, "at least 4800");
    assert_ok(pp_worklist_build(&list, &scene.plan, is_even, NULL, &budget));
    assert_int_equal(list.count, 50);
    pp_worklist_clear(&list);
    pp_budget_init(&budget, 50 * sizeof(pp_work) - 1);
    assert_fails(pp_worklist_build(&list, &scene.plan, is_even, NULL, &budget), PARAPET_ERR_MEMORY,
                 "set memory_bytes to at least");
    pp_worklist_clear(&list);
    assert_int_equal(pp_budget_available(&budget), budget.limit_bytes);
    assert_int_equal(pp_memory_live_count(), live);
    scene_close(&scene);
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
    pp_worklist list;
    test_scene scene;
    (void)state;
    open_whole(&scene, grid, grid.cell_shape);
    pp_memory_hook_set(refuse_all, NULL);
    assert_int_equal(pp_worklist_build(&list, &scene.plan, NULL, NULL, &scene.budget), PARAPET_ERR_MEMORY);
    assert_int_equal(pp_worklist_build_edge(&list, &grid, (bool[]){true}, &scene.budget), PARAPET_ERR_MEMORY);
    pp_memory_hook_set(NULL, NULL);
    scene_close(&scene);
}

/* 10^18 shards: what is not touched must cost nothing. */
static void test_worklist__of_a_huge_grid_costs_what_the_claims_touch(void **state)
{
    int64_t million = 1000000, one[3] = {1, 1, 1};
    pp_box last = box_of(3, (int64_t[]){million - 1, million - 1, million - 3}, (int64_t[]){1, 1, 3});
    pp_box first = box_of(3, (int64_t[]){0, 0, 0}, one);
    pp_worklist list;
    test_scene scene;
    (void)state;
    scene_open(&scene, 3);
    scene_add_target(&scene, grid_of(3, (int64_t[]){million, million, million}, one), one, 8);
    scene_claim(&scene, 0, 0, &last);
    scene_claim(&scene, 0, 1, &first);
    assert_ok(pp_worklist_build(&list, &scene.plan, NULL, NULL, &scene.budget));
    assert_int_equal(list.count, 4);
    assert_int_equal(list.work[0].shard, 0);
    assert_int_equal(list.work[3].shard, scene.tilings[0].shards.cell_count - 1);
    pp_worklist_clear(&list);
    scene_close(&scene);
}

static void test_worklist__of_more_shards_than_fit_is_refused_at_once(void **state)
{
    int64_t side = INT64_C(3000000000), one[2] = {1, 1};
    pp_grid odd = grid_of(2, (int64_t[]){side + 1, side + 1}, (int64_t[]){2, 2});
    pp_box whole = box_of(2, NULL, (int64_t[]){side, side});
    pp_worklist list;
    test_scene scene;
    (void)state;
    open_whole(&scene, grid_of(2, whole.count, one), one);
    assert_fails(pp_worklist_build(&list, &scene.plan, NULL, NULL, &scene.budget), PARAPET_ERR_MEMORY, "shards");
    scene_claim(&scene, 0, 1, &whole);
    assert_fails(pp_worklist_build(&list, &scene.plan, NULL, NULL, &scene.budget), PARAPET_ERR_MEMORY, "shards");
    assert_fails(pp_worklist_build_edge(&list, &odd, (bool[]){true, true}, &scene.budget), PARAPET_ERR_MEMORY,
                 "shards");
    scene_close(&scene);
}

static void test_worklist__with_a_filter_stops_where_the_budget_does(void **state)
{
    int64_t one[2] = {1, 1}, side = INT64_C(100000000);
    pp_worklist list;
    test_scene scene;
    (void)state;
    open_whole(&scene, grid_of(2, (int64_t[]){side, side}, one), one);
    assert_fails(pp_worklist_build(&list, &scene.plan, is_even, NULL, &scene.budget), PARAPET_ERR_MEMORY,
                 "set memory_bytes to at least");
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worklist__holds_every_shard_and_claim_that_meet_in_order),
        cmocka_unit_test(test_worklist__finds_the_ranges_of_shards_and_ranks),
        cmocka_unit_test(test_worklist__edge_has_the_shards_that_overhang_in_every_marked_combination),
        cmocka_unit_test(test_worklist__edge_of_a_scalar_and_of_an_empty_array_is_empty),
        cmocka_unit_test(test_worklist__of_an_empty_array_and_of_no_claims_is_empty),
        cmocka_unit_test(test_worklist__covered_counts_the_elements_that_claims_of_a_group_hold),
        cmocka_unit_test(test_worklist__shards_of_an_edge_list_are_covered_by_nothing),
        cmocka_unit_test(test_worklist__takes_what_it_needs_of_the_budget_and_not_a_byte_more),
        cmocka_unit_test(test_worklist__gives_the_budget_back_when_the_machine_has_no_memory),
        cmocka_unit_test(test_worklist__of_a_huge_grid_costs_what_the_claims_touch),
        cmocka_unit_test(test_worklist__of_more_shards_than_fit_is_refused_at_once),
        cmocka_unit_test(test_worklist__with_a_filter_stops_where_the_budget_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
