/* The search for claims that overlap against every pair of claims, and its time for many that do not. */
#include "scene.h"

#include <time.h>

#include "base/status.h"

#define MANY_BUDGET_BYTES ((size_t)1 << 28)
/* Of the processor: forty times what the longest search takes. To compare every pair of 10^5 claims takes longer. */
#define SECONDS_MOST 5.0

static bool do_overlap(const test_scene *scene, size_t i, size_t j, pp_box *common)
{
    pp_box a, b;
    if (scene_claim_target(scene, i) != scene_claim_target(scene, j))
        return false;
    a = scene_claim_box(scene, i);
    b = scene_claim_box(scene, j);
    return pp_box_intersect(&a, &b, common);
}

static bool overlap_slowly(const test_scene *scene)
{
    pp_box common;
    size_t i, j;
    for (i = 0; i < scene->claims.list.count; i++)
        for (j = i + 1; j < scene->claims.list.count; j++)
            if (do_overlap(scene, i, j, &common))
                return true;
    return false;
}

static void print_sentence(const test_scene *scene, size_t i, size_t j, const pp_box *common, char *text,
                           size_t bytes)
{
    const int64_t *a = pp_claims_at(&scene->claims, i), *b = pp_claims_at(&scene->claims, j);
    int d, used;
    used = snprintf(text, bytes, "part %d of rank %d and part %d of rank %d overlap in [", (int)a[PP_CLAIM_PART],
                    (int)a[PP_CLAIM_RANK], (int)b[PP_CLAIM_PART], (int)b[PP_CLAIM_RANK]);
    for (d = 0; d < common->ndim; d++)
        used += snprintf(text + used, bytes - (size_t)used, "%s%d:%d", d > 0 ? ", " : "", (int)common->start[d],
                         (int)(common->start[d] + common->count[d]));
    snprintf(text + used, bytes - (size_t)used, "]");
}

/* Whether the sentence is the one of some two claims that do overlap, the lower rank and part first. */
static bool is_sentence_true(const test_scene *scene, const char *sentence)
{
    char text[512];
    pp_box common;
    size_t i, j;
    for (i = 0; i < scene->claims.list.count; i++) {
        for (j = 0; j < scene->claims.list.count; j++) {
            const int64_t *a = pp_claims_at(&scene->claims, i), *b = pp_claims_at(&scene->claims, j);
            if (a[PP_CLAIM_RANK] * 1000000 + a[PP_CLAIM_PART] >= b[PP_CLAIM_RANK] * 1000000 + b[PP_CLAIM_PART] ||
                !do_overlap(scene, i, j, &common))
                continue;
            print_sentence(scene, i, j, &common, text, sizeof text);
            if (strcmp(text, sentence) == 0)
                return true;
        }
    }
    return false;
}

/* Asserts the right answer and returns whether it was a refusal. */
static bool check_against_pairs(test_scene *scene)
{
    bool is_refused = overlap_slowly(scene), is_disjoint;
    pp_worklist list;
    assert_ok(pp_worklist_build(&list, &scene->plan, NULL, NULL, &scene->budget));
    assert_ok(pp_worklist_is_disjoint(&list, &scene->plan, &is_disjoint));
    assert_int_equal(is_disjoint, !is_refused);
    if (is_refused) {
        assert_fails(pp_worklist_check_disjoint(&list, &scene->plan, SCENE_RANKS), PARAPET_ERR_ARGUMENT,
                     "overlap in");
        if (!is_sentence_true(scene, pp_failure_message()))
            fail_msg("no two claims do that: %s", pp_failure_message());
    } else {
        assert_ok(pp_worklist_check_disjoint(&list, &scene->plan, SCENE_RANKS));
    }
    pp_worklist_clear(&list);
    return is_refused;
}

static void test_overlap__is_refused_exactly_when_two_of_a_few_claims_share_an_element(void **state)
{
    test_random random = test_random_start();
    int round, refused = 0;
    (void)state;
    for (round = 0; round < 4000; round++) {
        test_scene scene;
        scene_choose_targets(&scene, &random);
        scene_claim_anything(&scene, &random, 6);
        refused += check_against_pairs(&scene);
        scene_close(&scene);
    }
    assert_true(refused > 500 && refused < 3500);
}

/* One array of one or two large shards. */
static void choose_large_shards(test_scene *scene, test_random *random)
{
    static const int64_t longest[SCENE_NDIM + 1] = {0, 400, 24, 10, 6, 4};
    int64_t shape[SCENE_NDIM], shard[SCENE_NDIM];
    int d, ndim = (int)test_random_between(random, 1, SCENE_NDIM);
    for (d = 0; d < ndim; d++)
        shard[d] = shape[d] = longest[ndim];
    shard[0] -= test_random_between(random, 0, 1);
    scene_open(scene, ndim);
    scene_add_target(scene, grid_of(ndim, shape, shard), shard, 8);
}

/* One element more that is sure to be in a claim. */
static void claim_twice(test_scene *scene, test_random *random)
{
    size_t i = (size_t)test_random_between(random, 0, (int64_t)scene->claims.list.count - 1);
    pp_box box = scene_claim_box(scene, i);
    int d;
    for (d = 0; d < box.ndim; d++) {
        box.start[d] += test_random_between(random, 0, box.count[d] - 1);
        box.count[d] = 1;
    }
    scene_claim(scene, 0, (int)test_random_between(random, 0, SCENE_RANKS - 1), &box);
}

static void test_overlap__is_found_among_many_claims_of_one_shard(void **state)
{
    test_random random = test_random_start();
    int round, refused = 0;
    size_t most = 0;
    (void)state;
    for (round = 0; round < 300; round++) {
        test_scene scene;
        choose_large_shards(&scene, &random);
        scene_claim_all_disjoint(&scene, &random, (int)test_random_between(&random, 4, 9));
        if (round % 2 == 0 && scene.claims.list.count > 0)
            claim_twice(&scene, &random);
        most = scene.claims.list.count > most ? scene.claims.list.count : most;
        refused += check_against_pairs(&scene);
        scene_close(&scene);
    }
    assert_true(refused > 120 && refused <= 150);
    assert_true(most > 100);
}

static void test_overlap__names_only_parts_on_a_single_rank(void **state)
{
    static const int64_t boxes[4][2][2] = {
        {{0, 0}, {5, 100}}, {{5, 0}, {60, 50}}, {{5, 50}, {10, 50}}, {{63, 47}, {37, 53}}};
    pp_worklist list;
    test_scene scene;
    int i;
    (void)state;
    scene_open(&scene, 2);
    scene_add_target(&scene, grid_of(2, (int64_t[]){100, 100}, (int64_t[]){10, 10}), (int64_t[]){5, 5}, 8);
    for (i = 0; i < 4; i++) {
        pp_box box = box_of(2, boxes[i][0], boxes[i][1]);
        scene_claim(&scene, 0, 0, &box);
    }
    assert_ok(pp_worklist_build(&list, &scene.plan, NULL, NULL, &scene.budget));
    assert_fails(pp_worklist_check_disjoint(&list, &scene.plan, 1), PARAPET_ERR_ARGUMENT,
                 "parts 1 and 3 overlap in [63:65, 47:50]");
    assert_fails(pp_worklist_check_disjoint(&list, &scene.plan, 2), PARAPET_ERR_ARGUMENT,
                 "part 1 of rank 0 and part 3 of rank 0 overlap in [63:65, 47:50]");
    pp_worklist_clear(&list);
    scene_close(&scene);
}

static void test_overlap__of_scalars_is_any_two_claims(void **state)
{
    pp_box box = box_of(0, NULL, NULL);
    pp_worklist list;
    test_scene scene;
    int i;
    (void)state;
    scene_open(&scene, 0);
    scene_add_target(&scene, grid_of(0, NULL, NULL), NULL, 8);
    for (i = 0; i < 40; i++) {
        scene_claim(&scene, 0, i % SCENE_RANKS, &box);
        assert_ok(pp_worklist_build(&list, &scene.plan, NULL, NULL, &scene.budget));
        assert_int_equal(list.count, i + 1);
        if (i == 0)
            assert_ok(pp_worklist_check_disjoint(&list, &scene.plan, 5));
        else
            assert_fails(pp_worklist_check_disjoint(&list, &scene.plan, 5), PARAPET_ERR_ARGUMENT, "overlap in []");
        pp_worklist_clear(&list);
    }
    scene_close(&scene);
}

static void open_large(test_scene *scene, int ndim, const int64_t *shape)
{
    scene_open(scene, ndim);
    pp_budget_init(&scene->budget, MANY_BUDGET_BYTES);
    scene_add_target(scene, grid_of(ndim, shape, shape), shape, 8);
}

/* Asserts that all are found apart in time, and that one more claim, on the last element of another, is found. */
static void check_many(test_scene *scene)
{
    pp_box box = scene_claim_box(scene, scene->claims.list.count / 3);
    pp_worklist list;
    double seconds;
    clock_t start;
    int d;
    assert_ok(pp_worklist_build(&list, &scene->plan, NULL, NULL, &scene->budget));
    assert_int_equal(list.count, scene->claims.list.count);
    start = clock();
    assert_ok(pp_worklist_check_disjoint(&list, &scene->plan, SCENE_RANKS));
    seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    printf("%zu claims of %d dimensions: %.3f s\n", list.count, box.ndim, seconds);
    assert_true(seconds < TEST_SLOWNESS * SECONDS_MOST);
    pp_worklist_clear(&list);
    for (d = 0; d < box.ndim; d++) {
        box.start[d] += box.count[d] - 1;
        box.count[d] = 1;
    }
    scene_claim(scene, 0, 0, &box);
    assert_ok(pp_worklist_build(&list, &scene->plan, NULL, NULL, &scene->budget));
    assert_fails(pp_worklist_check_disjoint(&list, &scene->plan, SCENE_RANKS), PARAPET_ERR_ARGUMENT, "overlap in");
    pp_worklist_clear(&list);
    scene_close(scene);
}

/* Cells of a grid over the shape, each a claim: in order of their numbers, or stepping through them. */
static void claim_cells(test_scene *scene, const int64_t *cell_shape, int64_t step)
{
    pp_grid grid = grid_of(scene->tilings[0].shards.ndim, scene->tilings[0].shards.shape, cell_shape);
    int64_t i, cell[SCENE_NDIM];
    for (i = 0; i < grid.cell_count; i++) {
        pp_box box;
        pp_grid_cell_position(&grid, i * step % grid.cell_count, cell);
        pp_grid_cell_box(&grid, cell, &box);
        scene_claim(scene, 0, (int)(i % SCENE_RANKS), &box);
    }
}

static void test_overlap__of_a_hundred_thousand_one_cell_claims_is_searched_fast(void **state)
{
    int64_t one[3] = {1, 1, 1};
    test_scene scene;
    (void)state;
    open_large(&scene, 1, (int64_t[]){100000});
    claim_cells(&scene, one, 7919);
    check_many(&scene);
    open_large(&scene, 3, (int64_t[]){50, 40, 50});
    claim_cells(&scene, one, 1);
    check_many(&scene);
}

static void test_overlap__of_long_rows_and_columns_is_searched_fast(void **state)
{
    test_scene scene;
    int64_t i;
    (void)state;
    open_large(&scene, 2, (int64_t[]){20000, 4000000});
    claim_cells(&scene, (int64_t[]){1, 4000000}, 1);
    check_many(&scene);
    /* Rows before, columns after: neither dimension separates all of them. */
    open_large(&scene, 2, (int64_t[]){20000, 20000});
    for (i = 0; i < 10000; i++) {
        pp_box row = box_of(2, (int64_t[]){i, 0}, (int64_t[]){1, 20000});
        pp_box column = box_of(2, (int64_t[]){10000, i}, (int64_t[]){10000, 1});
        scene_claim(&scene, 0, 0, &row);
        scene_claim(&scene, 0, 1, &column);
    }
    check_many(&scene);
}

/* Bars along each of three dimensions that pass by each other: every plane cuts a third of them. */
static void claim_bars(test_scene *scene, int64_t n, test_random *random)
{
    int64_t i, j, length = 2 * n;
    for (i = 0; i < n; i++) {
        for (j = 0; j < n; j++) {
            int64_t starts[3][3] = {{0, 2 * i, 2 * j}, {2 * i, 0, 2 * j + 1}, {2 * i + 1, 2 * j + 1, 0}};
            int d;
            for (d = 0; d < 3; d++) {
                int64_t counts[3] = {1, 1, 1};
                pp_box bar;
                int64_t from = random != NULL ? test_random_between(random, 0, length / 2) : 0;
                counts[d] = random != NULL ? test_random_between(random, 1, length - from) : length;
                starts[d][d] = from;
                bar = box_of(3, starts[d], counts);
                scene_claim(scene, 0, d, &bar);
            }
        }
    }
}

static void test_overlap__of_crossing_bars_is_searched_fast(void **state)
{
    test_scene scene;
    (void)state;
    open_large(&scene, 3, (int64_t[]){120, 120, 120});
    claim_bars(&scene, 60, NULL);
    check_many(&scene);
}

/* Claims that a cut crosses have to be compared with those on either side of it. */
static void test_overlap__is_found_across_cuts(void **state)
{
    test_random random = test_random_start();
    int round;
    (void)state;
    for (round = 0; round < 300; round++) {
        test_scene scene;
        open_large(&scene, 3, (int64_t[]){10, 10, 10});
        claim_bars(&scene, 5, &random);
        if (round % 10 > 0)
            claim_twice(&scene, &random);
        assert_int_equal(check_against_pairs(&scene), round % 10 > 0);
        scene_close(&scene);
    }
}

static int refuse_all(void *context, size_t bytes)
{
    (void)context;
    (void)bytes;
    return 1;
}

static void test_overlap__search_takes_a_pointer_per_claim_and_gives_it_back(void **state)
{
    int64_t one[1] = {1};
    size_t available, bytes = 1000 * sizeof(void *);
    bool is_disjoint = true;
    pp_worklist list;
    test_scene scene;
    (void)state;
    open_large(&scene, 1, (int64_t[]){1000});
    claim_cells(&scene, one, 1);
    assert_ok(pp_worklist_build(&list, &scene.plan, NULL, NULL, &scene.budget));
    available = pp_budget_available(&scene.budget);
    pp_memory_hook_set(refuse_all, NULL);
    assert_int_equal(pp_worklist_check_disjoint(&list, &scene.plan, 2), PARAPET_ERR_MEMORY);
    pp_memory_hook_set(NULL, NULL);
    assert_int_equal(pp_budget_available(&scene.budget), available);
    assert_ok(pp_budget_reserve(&scene.budget, available - bytes, "this test"));
    assert_ok(pp_worklist_check_disjoint(&list, &scene.plan, 2));
    assert_ok(pp_budget_reserve(&scene.budget, 1, "this test"));
    assert_fails(pp_worklist_check_disjoint(&list, &scene.plan, 2), PARAPET_ERR_MEMORY, "overlap");
    assert_fails(pp_worklist_is_disjoint(&list, &scene.plan, &is_disjoint), PARAPET_ERR_MEMORY, "overlap");
    assert_false(is_disjoint);
    pp_budget_release(&scene.budget, available - bytes + 1);
    assert_int_equal(pp_budget_available(&scene.budget), available);
    pp_worklist_clear(&list);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overlap__is_refused_exactly_when_two_of_a_few_claims_share_an_element),
        cmocka_unit_test(test_overlap__is_found_among_many_claims_of_one_shard),
        cmocka_unit_test(test_overlap__names_only_parts_on_a_single_rank),
        cmocka_unit_test(test_overlap__of_scalars_is_any_two_claims),
        cmocka_unit_test(test_overlap__of_a_hundred_thousand_one_cell_claims_is_searched_fast),
        cmocka_unit_test(test_overlap__of_long_rows_and_columns_is_searched_fast),
        cmocka_unit_test(test_overlap__of_crossing_bars_is_searched_fast),
        cmocka_unit_test(test_overlap__is_found_across_cuts),
        cmocka_unit_test(test_overlap__search_takes_a_pointer_per_claim_and_gives_it_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
