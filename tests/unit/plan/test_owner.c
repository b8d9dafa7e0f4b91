/* Who owns a shard, against a count of who holds its elements. */
#include "scene.h"

#include "plan/owner.h"

#define MOST_GROUPS 2000

typedef struct home_filter {
    const test_scene *scene;
    int server_count, home;
} home_filter;

static bool is_at_home(void *context, int target, int64_t shard)
{
    const home_filter *filter = context;
    return pp_home_of(&filter->scene->targets[target], shard, filter->server_count) == filter->home;
}

static void test_home__of_the_shards_of_all_arrays_goes_round_the_servers(void **state)
{
    test_scene scene;
    int64_t shard, next = 0;
    int target;
    (void)state;
    scene_open(&scene, 2);
    scene_add_target(&scene, grid_of(1, (int64_t[]){50}, (int64_t[]){5}), (int64_t[]){5}, 1);
    scene_add_target(&scene, grid_of(2, (int64_t[]){7, 7}, (int64_t[]){3, 3}), (int64_t[]){1, 1}, 1);
    scene_add_target(&scene, grid_of(0, NULL, NULL), NULL, 1);
    for (target = 0; target < 3; target++)
        for (shard = 0; shard < scene.tilings[target].shards.cell_count; shard++)
            assert_int_equal(pp_home_of(&scene.targets[target], shard, 4), next++ % 4);
    assert_int_equal(next, 20);
    scene_close(&scene);
}

static void test_owner__strategies_go_by_number(void **state)
{
    (void)state;
    assert_ptr_equal(pp_owner_strategy_of(PARAPET_OWNERSHIP_ROUND_ROBIN), &pp_owner_round_robin);
    assert_false(pp_owner_round_robin.moves);
    assert_ptr_equal(pp_owner_strategy_of(PARAPET_OWNERSHIP_LOCALITY), &pp_owner_locality);
    assert_true(pp_owner_locality.moves);
    assert_null(pp_owner_strategy_of(PARAPET_OWNERSHIP_CHOOSE));
    assert_ptr_equal(pp_owner_strategy_of(PARAPET_OWNERSHIP_DYNAMIC), &pp_owner_locality);
    assert_null(pp_owner_strategy_of((parapet_ownership)4));
}

/* Elements of a shard that a rank holds, counted one by one. */
static int64_t held_slowly(const test_scene *scene, int target, int64_t shard, int rank)
{
    const pp_target *its = &scene->targets[target];
    pp_box whole = box_of(its->tiling->shards.ndim, NULL, its->tiling->shards.shape);
    int64_t position[SCENE_NDIM], chunk, held = 0;
    bool more;
    size_t i;
    for (more = pp_box_first(&whole, position); more; more = pp_box_next(&whole, position)) {
        if (scene_shard_of(its, position, &chunk) != shard)
            continue;
        for (i = 0; i < scene->claims.list.count; i++) {
            const int64_t *claim = pp_claims_at(&scene->claims, i);
            pp_box box;
            if (claim[PP_CLAIM_TARGET] != target || claim[PP_CLAIM_RANK] != rank)
                continue;
            box = scene_claim_box(scene, i);
            held += box_has(&box, position);
        }
    }
    return held;
}

static int nearest_slowly(const pp_owner_case *owner_case, const test_scene *scene, const pp_work *work)
{
    int64_t most = 0;
    int i, nearest = owner_case->home;
    int64_t at_home = held_slowly(scene, work->target, work->shard, owner_case->servers[owner_case->home]);
    for (i = 0; i < owner_case->server_count; i++) {
        int64_t held = held_slowly(scene, work->target, work->shard, owner_case->servers[i]);
        if (held > most) {
            most = held;
            nearest = i;
        }
    }
    return at_home == most ? owner_case->home : nearest;
}

/* Checks one home and returns how many of its shards moved because of where they are held, and stayed for balance. */
static void check_home(const test_scene *scene, pp_owner_case *owner_case, int *moved, int *stayed)
{
    int owners[MOST_GROUPS], given[SCENE_RANKS] = {0}, group = 0, groups = 0, most;
    const pp_worklist *list = owner_case->list;
    size_t first;
    for (first = 0; first < list->count; first = pp_worklist_group_end(list, first))
        groups++;
    assert_true(groups <= MOST_GROUPS);
    most = 2 * ((groups + owner_case->server_count - 1) / owner_case->server_count);
    assert_ok(pp_owner_locality.choose(owner_case, owners));
    for (first = 0; first < list->count; first = pp_worklist_group_end(list, first), group++) {
        int nearest = nearest_slowly(owner_case, scene, &list->work[first]);
        bool fits = given[nearest]++ < most;
        assert_int_equal(owners[group], fits ? nearest : owner_case->home);
        *moved += owners[group] != owner_case->home;
        *stayed += !fits && nearest != owner_case->home;
    }
    assert_ok(pp_owner_round_robin.choose(owner_case, owners));
    while (group-- > 0)
        assert_int_equal(owners[group], owner_case->home);
}

static int choose_servers(test_random *random, int *servers)
{
    int rank, count = 0;
    for (rank = 0; rank < SCENE_RANKS; rank++)
        if (test_random_between(random, 0, 1) == 1)
            servers[count++] = rank;
    if (count == 0)
        servers[count++] = 2;
    return count;
}

static void test_owner__by_locality_is_the_server_that_holds_most_within_balance(void **state)
{
    test_random random = test_random_start();
    int round, moved = 0, stayed = 0;
    (void)state;
    for (round = 0; round < 2000; round++) {
        int servers[SCENE_RANKS], server_count = choose_servers(&random, servers);
        home_filter filter;
        pp_worklist list;
        test_scene scene;
        scene_choose_targets(&scene, &random);
        scene_claim_all_disjoint(&scene, &random, (int)test_random_between(&random, 0, 4));
        filter = (home_filter){&scene, server_count, (int)test_random_between(&random, 0, server_count - 1)};
        assert_ok(pp_worklist_build(&list, &scene.plan, is_at_home, &filter, &scene.budget));
        check_home(&scene, &(pp_owner_case){&scene.plan, &list, servers, server_count, filter.home}, &moved, &stayed);
        pp_worklist_clear(&list);
        scene_close(&scene);
    }
    assert_true(moved > 500);
    assert_true(stayed > 100);
}

/* Every rank serves and holds two shards of its own: no data need move. */
static void test_owner__by_locality_keeps_shards_where_their_data_is(void **state)
{
    int servers[SCENE_RANKS], owners[2 * SCENE_RANKS], home, rank, i;
    test_scene scene;
    (void)state;
    scene_open(&scene, 1);
    scene_add_target(&scene, grid_of(1, (int64_t[]){100}, (int64_t[]){10}), (int64_t[]){5}, 8);
    for (rank = 0; rank < SCENE_RANKS; rank++) {
        pp_box box = box_of(1, (int64_t[]){20 * rank}, (int64_t[]){20});
        servers[rank] = rank;
        scene_claim(&scene, 0, rank, &box);
    }
    for (home = 0; home < SCENE_RANKS; home++) {
        home_filter filter = {&scene, SCENE_RANKS, home};
        pp_worklist list;
        assert_ok(pp_worklist_build(&list, &scene.plan, is_at_home, &filter, &scene.budget));
        assert_int_equal(list.count, 2);
        assert_ok(pp_owner_locality.choose(&(pp_owner_case){&scene.plan, &list, servers, SCENE_RANKS, home}, owners));
        for (i = 0; i < 2; i++)
            assert_int_equal(owners[i], list.work[i].shard / 2);
        pp_worklist_clear(&list);
    }
    scene_close(&scene);
}

static int refuse_all(void *context, size_t bytes)
{
    (void)context;
    (void)bytes;
    return 1;
}

static void test_owner__by_locality_reports_that_the_machine_has_no_memory(void **state)
{
    int servers[1] = {0}, owners[1];
    pp_worklist list = {0};
    test_scene scene;
    (void)state;
    scene_open(&scene, 1);
    pp_memory_hook_set(refuse_all, NULL);
    assert_int_equal(pp_owner_locality.choose(&(pp_owner_case){&scene.plan, &list, servers, 1, 0}, owners),
                     PARAPET_ERR_MEMORY);
    pp_memory_hook_set(NULL, NULL);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_home__of_the_shards_of_all_arrays_goes_round_the_servers),
        cmocka_unit_test(test_owner__strategies_go_by_number),
        cmocka_unit_test(test_owner__by_locality_is_the_server_that_holds_most_within_balance),
        cmocka_unit_test(test_owner__by_locality_keeps_shards_where_their_data_is),
        cmocka_unit_test(test_owner__by_locality_reports_that_the_machine_has_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
